"""How many parts a default fit has: every named function of tamis that it calls, and the modules they are in."""

import subprocess
import sys
from pathlib import Path

CODE = """
import sys, warnings
import numpy as np
import tamis

warnings.simplefilter("ignore")
X = np.random.default_rng(0).standard_normal((300, 40))
X[:, 1:6] += 2 * X[:, :1]
selector, called = tamis.LSCAE(5, random_state=0), set()

def profile(frame, event, _):
    code = frame.f_code
    if event == "call" and "/tamis/" in code.co_filename and not code.co_name.startswith("<"):
        called.add((code.co_filename, code.co_qualname))

tamis.LSCAE(5, random_state=0).fit(X)  # what is computed once in a process is no part of a fit
sys.setprofile(profile)
selector.fit(X)
sys.setprofile(None)
print(len(called), len({file for file, _ in called}))
"""

MAX_FUNCTIONS, MAX_MODULES = 80, 20
"""What is reached. A new part needs a reason."""


def test_a_default_fit_has_few_parts():
    source = str(Path(__file__).parents[1] / "src")
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r})\n{CODE}"],
        capture_output=True,
        text=True,
        check=True,
    )
    n_functions, n_modules = map(int, done.stdout.split())
    assert n_functions <= MAX_FUNCTIONS
    assert n_modules <= MAX_MODULES
