"""``python -m research.faults``: disturb runs of the command line, and check what they leave behind."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

from research.faults.disturbances import Reference, Row, change_table, fill_disk, kill, lose_folder
from research.faults.runs import COMMANDS
from research.fuzz import page

FAULTS = ("inputs changed", "half-written files", "wrong exits", "resumed otherwise")
Disturbance = Callable[[str, Reference, Random], tuple[Row, list[str]]]


def main() -> int:
    """Disturb, print the table, and return 1 if something was lost or wrong."""
    options = _options()
    reference = Reference()
    rows: dict[str, Row] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        tasks = [(label, pool.submit(work, name, reference, Random(seed))) for label, work, name, seed in plan(options)]
        for label, task in tasks:
            row, notes = task.result()
            rows.setdefault(label, Counter()).update(row)
            for note in notes:
                print(note, file=sys.stderr, flush=True)
    counts = {
        label: {name: row[name] for name in ("runs", "before the first line", "resumed fits", *FAULTS)}
        for label, row in rows.items()
    }
    print(page.fault_table(counts))
    if options.write:
        page.write("faults", counts)
    return int(any(row[name] for row in rows.values() for name in FAULTS))


def plan(options: argparse.Namespace) -> Iterator[tuple[str, Disturbance, str, int]]:
    """Yield what is done to which command; a third of the kills hit a fit that keeps checkpoints."""
    names = [name for name in COMMANDS if name != "select in pieces"]
    turns = [*names, "checkpointed select", "checkpointed select"]
    for number in range(options.kills):
        name = turns[number % len(turns)]
        yield f"killed: {name}", kill, name, number
    for number in range(options.full_disks):
        yield "full disk", fill_disk, names[number % len(names)], 1000 + number
    for number in range(options.changes):
        if number % 2:
            yield "folder vanishes", lose_folder, names[number % len(names)], 2000 + number
        else:
            yield "table changes or vanishes", change_table, "select in pieces", 2000 + number


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m research.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--full-disks", type=int, default=20)
    parser.add_argument("--changes", type=int, default=20, help="vanishing or changing files and folders")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--write", action="store_true", help="write the outcomes to docs/reliability.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
