"""Parameter constraints that several selectors share, in scikit-learn's form."""

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from tamis.graph import BANDWIDTHS

Constraints = dict[str, list[Any]]

COUNT = [Interval(Integral, 1, None, closed="left")]
POSITIVE = [Interval(Real, 0, None, closed="neither")]
NON_NEGATIVE = [Interval(Real, 0, None, closed="left")]

SCALE: Constraints = {"scale": [StrOptions({"standard", "center"}), None]}
SEED: Constraints = {"random_state": ["random_state"]}
GRAPH: Constraints = {**SCALE, "n_neighbors": COUNT, "bandwidth": [StrOptions(set(BANDWIDTHS)), *POSITIVE]}
ITERATIONS: Constraints = {"max_iter": COUNT, "tol": NON_NEGATIVE}
GRADIENT: Constraints = {
    **SCALE,
    **SEED,
    "max_epochs": COUNT,
    "batch_size": [Interval(Integral, 3, None, closed="left")],
    "learning_rate": POSITIVE,
    "device": [str],
    "n_jobs": [Integral, None],
}
