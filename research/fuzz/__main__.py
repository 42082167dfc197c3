"""``python -m research.fuzz --files N --seconds S``: damage files of every format, read them, sort the outcomes."""

import argparse
import os
import shutil
import sys
import time
from collections import Counter
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from research.fuzz import page
from research.fuzz.child import FAULTS, OUTCOMES, Job, Outcome, run
from research.fuzz.seeds import Files, all_seeds, files_of

BATCH = 50
"""Files that one process reads, unless one of them ends it."""


def main() -> int:
    """Run, print the table of outcomes, and return 1 if there was a fault."""
    options = _options()
    seeds = _seeds_from_child()
    _warm_up()
    counts: dict[str, Counter[str]] = {}
    last = options.first + options.files
    batches = [range(first, min(first + BATCH, last)) for first in range(options.first, last, BATCH)]
    end = time.monotonic() + options.seconds
    with TemporaryDirectory(prefix="fuzz-") as folder, get_context("fork").Pool(options.jobs) as pool:
        work = partial(_batch, Path(folder), seeds, Path(options.keep), end)
        for found in pool.imap_unordered(work, batches):
            for ending, kinds in found.items():
                counts.setdefault(ending, Counter()).update(kinds)
    print(page.outcome_table(counts, OUTCOMES))
    if options.write:
        page.write("fuzz", {name: dict(found) for name, found in sorted(counts.items())})
    return int(any(found[kind] for found in counts.values() for kind in FAULTS))


def _batch(folder: Path, seeds: dict[str, Files], keep: Path, end: float, numbers: range) -> dict[str, Counter[str]]:
    """Damage and read some files, unless the time is over, and count the outcomes by format."""
    counts: dict[str, Counter[str]] = {}
    if time.monotonic() < end:
        jobs = _jobs(folder, seeds, numbers)
        for job, outcome in zip(jobs, run(jobs), strict=True):
            _note(counts, job, outcome, keep)
    return counts


def _jobs(folder: Path, seeds: dict[str, Files], numbers: range) -> list[Job]:
    names = [sorted(seeds)[number % len(seeds)] for number in numbers]
    paths = [folder / str(number) / f"t{_ending(name)}" for number, name in zip(numbers, names, strict=True)]
    for path in paths:
        path.parent.mkdir()
    return [Job(*job) for job in zip(paths, names, [seeds[name] for name in names], numbers, strict=True)]


def _note(counts: dict[str, Counter[str]], job: Job, outcome: Outcome, keep: Path) -> None:
    """Count an outcome, and keep the file if it is a fault."""
    counts.setdefault((f".{_ending(job.name).split('.')[1]}" if "." in job.name else "folder"), Counter())[
        outcome.kind
    ] += 1
    if outcome.kind in FAULTS:
        print(f"{job.number} {job.name}: {outcome.kind} {outcome.detail}", file=sys.stderr, flush=True)
        _keep(job, outcome, keep)
    shutil.rmtree(job.path.parent, ignore_errors=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m research.fuzz", description=__doc__)
    parser.add_argument("--files", type=int, default=500, help="how many damaged files")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many seconds")
    parser.add_argument("--jobs", type=int, default=1, help="processes that read at a time")
    parser.add_argument("--first", type=int, default=0, help="number of the first file, which is its seed")
    parser.add_argument("--keep", default="build/fuzz", help="folder for the smallest file of every kind of fault")
    parser.add_argument("--write", action="store_true", help="write the outcomes to docs/reliability.md")
    return parser.parse_args()


def _seeds_from_child() -> dict[str, Files]:
    """Make the valid files in another process: a thread that a library starts here would be missing after a fork."""
    import pickle

    reader, writer = os.pipe()
    if os.fork() == 0:
        with os.fdopen(writer, "wb") as stream:
            pickle.dump(all_seeds(), stream)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        seeds: dict[str, Files] = pickle.load(stream)
    os.wait()
    return seeds


def _warm_up() -> None:
    """Import what the readers import, so that no child has to."""
    import h5py  # noqa: F401
    import pyarrow.csv
    import pyarrow.dataset
    import pyarrow.feather
    import pyarrow.parquet  # noqa: F401
    import safetensors.numpy  # noqa: F401
    import zarr  # noqa: F401

    import tamis.io.readers
    import tamis.io.readers.arrow
    import tamis.io.readers.hdf
    import tamis.io.readers.matlab
    import tamis.io.readers.matrix_market
    import tamis.io.sources.parquet
    import tamis.io.sources.stores

    tamis.LaplacianScore  # noqa: B018 (imports it)
    tamis.VarianceScore  # noqa: B018


def _ending(name: str) -> str:
    return "".join(Path(name).suffixes)


def _keep(job: Job, outcome: Outcome, folder: Path) -> None:
    """Keep the smallest file of every kind of fault."""
    path = job.path
    label = f"{outcome.kind} {_ending(job.name)} {outcome.detail}"[:100]
    label = "".join(sign if sign.isalnum() or sign in ".-" else "_" for sign in label)
    size = sum(map(len, files_of(path).values())) if path.exists() else 0
    before = [old for old in folder.glob(f"{label}@*") if int(old.name.rsplit("@")[-1].split("-")[0]) <= size]
    if before or not path.exists():
        return
    for old in folder.glob(f"{label}@*"):
        shutil.rmtree(old)
    kept = folder / f"{label}@{size}-{job.number}"
    kept.mkdir(parents=True)
    shutil.move(path, kept / path.name)


if __name__ == "__main__":
    sys.exit(main())
