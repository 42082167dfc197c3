"""A sparse atlas of up to 1,000,000 × 2,000 that stays on disk: ``python -m benchmarks.out_of_core FOLDER``.

First the time per epoch for growing atlases (one restart, one pass), then ``tamis select -k 50`` on the largest one,
in a process of its own whose peak memory the kernel counts. The atlases are made once and kept in the folder. Writes
``out-of-core.json`` there; ``--page docs`` draws the figure and the table of the docs from it.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import atlas
from benchmarks.marked import put_between_marks

SIZES = (125_000, 250_000, 500_000, 1_000_000)
COLUMNS, K = 2_000, 50


def atlas_of(folder, rows):
    path = folder / f"atlas-{rows}.h5ad"
    if not path.exists():
        atlas.write(path, rows, COLUMNS)
    return path


def epoch_seconds(path):
    """Give the CPU time of one pass over the rows, of one restart; the machine may have other work to do."""
    from tamis import LSCAE
    from tamis.sources import open_source

    source, told = open_source(path), []
    source.column_statistics()
    begun = time.process_time()
    LSCAE(
        K,
        n_init=1,
        max_epochs=1,
        random_state=0,
        callbacks=lambda _: told.append(time.process_time() - begun),
    ).fit(source)
    return told[-1]


def select(path, folder):
    """Run the command; give its picks, its peak memory in GiB and its seconds."""
    out, begun = folder / "picked.json", time.monotonic()
    command = [sys.executable, "-m", "tamis", "select", str(path), "-k", str(K), "--in-pieces", "--json"]
    with out.open("w") as stream:
        process = subprocess.Popen([*command, "-o", str(folder / "selection")], stdout=stream)
        _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit("tamis select failed")
    picked = [entry["column"] for entry in json.loads(out.read_text())["selected"]]
    return picked, usage.ru_maxrss / 2**20, time.monotonic() - begun


def groups_found(path, columns):
    import h5py

    with h5py.File(path) as file:
        groups = file["var/group"][:]
    return len(set(groups[columns].tolist()) - {-1}), int(groups.max()) + 1, int((groups[columns] < 0).sum())


def measure(folder, sizes):
    found = {"epochs": [], "columns": COLUMNS, "k": K}
    for rows in sizes:
        found["epochs"].append({"rows": rows, "seconds": epoch_seconds(atlas_of(folder, rows))})
        print(found["epochs"][-1], flush=True)
    picked, peak, seconds = select(atlas_of(folder, sizes[-1]), folder)
    hits, planted, nuisance = groups_found(atlas_of(folder, sizes[-1]), picked)
    found["select"] = {"rows": sizes[-1], "groups_found": hits, "groups": planted, "nuisance": nuisance,
                       "peak_gib": peak, "seconds": seconds}  # fmt: skip
    print(found["select"])
    return found


def table(found):
    """Give the lines of the table, times as multiples of the smallest atlas."""
    first = found["epochs"][0]
    lines = ["| rows | CPU time per epoch | per row |", "|---|---|---|"]
    for entry in found["epochs"]:
        ratio, rows = entry["seconds"] / first["seconds"], entry["rows"] / first["rows"]
        lines.append(f"| {entry['rows']:,} | {ratio:.2f} × | {ratio / rows:.2f} × |")
    return lines


def draw(found, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [entry["rows"] / 1e6 for entry in found["epochs"]]
    times = [entry["seconds"] / found["epochs"][0]["seconds"] for entry in found["epochs"]]
    figure, axes = pyplot.subplots(figsize=(5, 3.2), layout="constrained")
    axes.plot(rows, [row / rows[0] for row in rows], color="0.7", label="in proportion to the rows")
    axes.plot(rows, times, "o", color="#0b5394", label="measured")
    axes.set(xlabel="rows, in millions", ylabel=f"CPU time per epoch\n({found['epochs'][0]['rows']:,} rows = 1)")
    axes.set(xlim=(0, None), ylim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def write_page(found, docs):
    """Put the table and the sentence on ``select`` between the marks of docs/out-of-core.md."""
    chosen = found["select"]
    draw(found, docs / "images" / "out-of-core.png")
    sentence = (
        f"`tamis select -k {found['k']} --in-pieces` on {chosen['rows']:,} × {found['columns']:,} found "
        f"{chosen['groups_found']} of {chosen['groups']} planted groups and {chosen['nuisance']} nuisance columns, "
        f"with a peak of {chosen['peak_gib']:.2f} GiB of memory."
    )
    put_between_marks(docs / "out-of-core.md", "measured", [*table(found), "", sentence])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--page", type=Path, help="Only write the results of an earlier run into this folder of docs.")
    options = parser.parse_args()
    results = options.folder / "out-of-core.json"
    if options.page:
        write_page(json.loads(results.read_text()), options.page)
    else:
        options.folder.mkdir(parents=True, exist_ok=True)
        results.write_text(json.dumps(measure(options.folder, options.sizes), indent=1))
