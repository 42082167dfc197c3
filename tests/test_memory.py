"""Peak memory of the stages that need most, against the formulae of docs/performance.md."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak is read from Linux")

CODE = """
import json, pathlib, re, warnings
import numpy as np, tamis
warnings.simplefilter("ignore")

def read(name):
    return int(re.search(name + r":\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) * 1024

def peak(work):
    # The smaller of two: memory that earlier work has freed may count as used or not.
    found = []
    for _ in range(2):
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        before = read("VmRSS")
        work()
        found.append(read("VmHWM") - before)
    return min(found)

def table(n, d):
    X = np.random.default_rng(0).standard_normal((n, d))
    X[:, :50] += X[:, :1]
    return X

# What is imported and computed once is no part of a fit.
tamis.LSCAE(3, random_state=0).fit(table(1500, 60))
X = table(1500, 3000)
print(json.dumps({"fit": peak(lambda: tamis.LSCAE(20, random_state=0).fit(X)),
                  "test": peak(lambda: tamis.find_structure(X, random_state=0))}))
"""

N, D, NULL = 1500, 3000, 1000


@pytest.fixture(scope="module")
def peaks():
    environment = {
        "PYTHONPATH": str(Path(__file__).parents[1] / "src"),
        "OMP_NUM_THREADS": "1",
        "MALLOC_TRIM_THRESHOLD_": "0",
    }
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def test_the_test_of_structure_takes_what_the_page_says(peaks):
    assert peaks["test"] == pytest.approx(8 * N * D + 16 * N * (D + NULL), rel=0.3)


def test_a_fit_takes_no_more_than_the_test(peaks):
    assert peaks["fit"] == pytest.approx(8 * N * D + 16 * N * (D + NULL), rel=0.3)
