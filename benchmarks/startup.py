"""How long ``tamis select`` takes until training starts, on a table of 1,000 × 5,000: ``python benchmarks/startup.py``.

Each run is a new process, as a user starts it. Two moments are told: when the selector's ``fit`` is called, and when
the first batch of rows is taken, after torch has imported what its optimisers need. Times are those of the clock and,
in brackets, of the processor, which other work on the machine does not lengthen as much.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PROBE = """
import sys, time
begun = time.time() - float(sys.argv.pop())
import os
from tamis.cli import fitting
inner = fitting.fit
def fit(selector, table, bar, state, title="Training"):
    from tamis.selectors.rows import StandardisedRows
    called = f"{time.time() - started:.2f} {time.process_time():.2f}"
    def first(self, rows):
        print(called, f"{time.time() - started:.2f} {time.process_time():.2f}", flush=True)
        os._exit(0)
    StandardisedRows.take = first
    return inner(selector, table, bar, state, title)
started = time.time() - begun
fitting.fit = fit
from tamis.cli import main
main(sys.argv[1:])
"""


def make(folder, rows, columns):
    from pyarrow import Table, array, csv, parquet

    X = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    table = Table.from_arrays([array(X[:, i]) for i in range(columns)], names=[f"gene_{i}" for i in range(columns)])
    parquet.write_table(table, folder / "table.parquet")
    csv.write_csv(table, folder / "table.csv")
    np.save(folder / "table.npy", X)


def run(path, folder):
    import time

    arguments = [
        sys.executable,
        "-c",
        PROBE,
        "select",
        str(path),
        "-k",
        "50",
        "-o",
        str(folder / "out"),
        str(time.time()),
    ]
    result = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return [float(part) for part in result.stdout.split()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, 1000, 5000)
        for path in sorted(folder.glob("table.*")):
            runs = [run(path, folder) for _ in range(repeat)]
            fit, fit_cpu, batch, batch_cpu = (min(values) for values in zip(*runs, strict=True))
            print(
                f"{path.suffix:>9}: fit after {fit:.2f} s ({fit_cpu:.2f}), first batch {batch:.2f} s ({batch_cpu:.2f})"
            )
