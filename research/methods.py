"""What benches know of the registered methods."""

import inspect

from tamis.base import FeatureSelector

NESTED = (
    "laplacian-score", "spec", "udfs", "ndfs", "llcfs", "srcfs", "rsr", "aefs", "dufs", "variance", "random",
)  # fmt: skip
"""Methods that rank all features without regard to k: a smaller selection is the beginning of a larger one."""


def takes_seed(kind: type[FeatureSelector]) -> bool:
    """Tell whether the picks of a selector depend on a seed."""
    return "random_state" in inspect.signature(kind.__init__).parameters
