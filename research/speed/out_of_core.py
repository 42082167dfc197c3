"""A sparse atlas of up to 1,000,000 × 2,000 that stays on disk: time per epoch, and one ``tamis select``.

The atlases are made once and kept in ``build/speed``.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from research.ledger import Row, Trial
from research.pages import Table, replace_parts, select_rows
from research.speed import atlas
from research.speed.measure import Measure
from research.style import COLOURS, figure

SCRATCH = Path(__file__).parents[2] / "build" / "speed"
SIZES = (125_000, 250_000, 500_000, 1_000_000)
N_FEATURES, K = 2_000, 50


def trials() -> list[Trial]:
    """Return an epoch per size, and a selection on the largest atlas."""
    epochs = [{"what": "epoch", "rows": rows, "features": N_FEATURES, "k": K} for rows in SIZES]
    return [*epochs, epochs[-1] | {"what": "select"}]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Make the atlas if it is not there, and measure."""
    path = SCRATCH / f"atlas-{trial['rows']}.h5ad"
    if not path.exists():
        SCRATCH.mkdir(parents=True, exist_ok=True)
        atlas.write(path, trial["rows"], trial["features"])
    return {"epoch": _epoch, "select": _select}[trial["what"]](path, trial["k"])


def _epoch(path: Path, k: int) -> Row:
    """Measure the CPU time of one pass over the rows, of one restart; the machine may have other work to do."""
    from tamis import LSCAE
    from tamis.io.sources import open_source

    source, told = open_source(path), []
    source.column_statistics()
    begun = time.process_time()
    callback = lambda _: told.append(time.process_time() - begun)  # noqa: E731
    LSCAE(k, n_init=1, max_epochs=1, random_state=0, callbacks=[callback]).fit(source)
    return {"epoch_seconds": told[-1]}


def _select(path: Path, k: int) -> Row:
    """Run the command in a process of its own whose peak memory the kernel counts."""
    out, begun = SCRATCH / "picked.json", time.monotonic()
    command = [sys.executable, "-m", "tamis", "select", str(path), "-k", str(k), "--in-pieces", "--json"]
    with out.open("w") as stream:
        process = subprocess.Popen([*command, "-o", str(SCRATCH / "selection")], stdout=stream)
        _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"{' '.join(command)} failed")
    picked = [entry["column"] for entry in json.loads(out.read_text())["selected"]]
    peak = {"peak_gib": usage.ru_maxrss / 2**20, "select_seconds": time.monotonic() - begun}
    return _groups_found(path, picked) | peak


def _groups_found(path: Path, picked: list[int]) -> Row:
    import h5py

    with h5py.File(path) as file:
        groups = file["var/group"][:]
    hits, nuisance = len(set(groups[picked].tolist()) - {-1}), int((groups[picked] < 0).sum())
    return {"groups_found": hits, "groups": int(groups.max()) + 1, "nuisance": nuisance}


def write(rows: list[Row], docs: Path) -> list[Path]:
    """Draw the times, and write them with a sentence on the selection."""
    epochs = sorted(select_rows(rows, what="epoch"), key=lambda row: row["trial"]["rows"])
    selections = select_rows(rows, what="select")
    if not epochs or not selections:
        return []
    sizes = [row["trial"]["rows"] for row in epochs]
    times = [row["epoch_seconds"] / epochs[0]["epoch_seconds"] for row in epochs]
    _draw(sizes, times, docs / "images" / "out-of-core")
    lines = [[f"{n:,}", f"{t:.2f} ×", f"{t * sizes[0] / n:.2f} ×"] for n, t in zip(sizes, times, strict=True)]
    table = Table("out-of-core", "Beyond memory", ["rows", "CPU time per epoch", "per row"], lines)
    part = f"{table.markdown()}\n\n{_sentence(selections[-1])}"
    return [replace_parts(docs / "out-of-core.md", {"measured": part})]


def _sentence(row: Row) -> str:
    trial = row["trial"]
    return (
        f"`tamis select -k {trial['k']} --in-pieces` on {trial['rows']:,} × {trial['features']:,} found "
        f"{row['groups_found']} of {row['groups']} planted groups and {row['nuisance']} nuisance features, with a peak "
        f"of {row['peak_gib']:.2f} GiB of memory."
    )


def _draw(sizes: list[int], times: list[float], path: Path) -> None:
    with figure(path, 1, 1, 3.2) as (axis,):
        millions = [n / 1e6 for n in sizes]
        axis.plot(millions, [n / sizes[0] for n in sizes], color="0.7", label="in proportion to the rows")
        axis.plot(millions, times, "o", color=COLOURS[0], label="measured")
        axis.set(xlabel="rows, in millions", ylabel=f"CPU time per epoch\n({sizes[0]:,} rows = 1)")
        axis.set(xlim=(0, None), ylim=(0, None))
        axis.legend()


MEASURE = Measure("out-of-core", "epochs and a selection on atlases that stay on disk", trials, work, write)
