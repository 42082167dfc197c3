"""Memory and time of ``tamis select`` on a CSV file of about 1 GB (50,000 × 2,000): ``python benchmarks/large_csv.py``.

The file is made in a temporary folder unless it is given. The peak is that of the whole process, as the kernel
counts it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def make(path, rows, columns):
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((10, columns))
    with path.open("wb") as file:
        file.write((",".join(f"feature_{i}" for i in range(columns)) + "\n").encode())
        for _ in range(rows // 500):
            block = rng.standard_normal((500, 10)) @ factors + rng.standard_normal((500, columns))
            np.savetxt(file, block, fmt="%.7f", delimiter=",")


def run(path, folder, further):
    begun = time.monotonic()
    command = [sys.executable, "-m", "tamis", "select", str(path), "-k", "20", "-o", str(folder / "out"), *further]
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss / 2**20, time.monotonic() - begun


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--columns", type=int, default=2_000)
    options, further = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        path = options.file or Path(name) / "large.csv"
        if not path.exists():
            make(path, options.rows, options.columns)
        code, peak, seconds = run(path, Path(name), further)
        print(f"{path.stat().st_size / 1e9:.2f} GB: exit code {code}, peak {peak:.2f} GiB, {seconds:.0f} s")
        sys.exit(code)
