"""The numbers that the paper prints, from one file."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

METHODS = {
    "LS": "laplacian-score",
    "MCFS": "mcfs",
    "NDFS": "ndfs",
    "LLCFS": "llcfs",
    "SRCFS": "srcfs",
    "CAE": "cae",
    "LS-CAE": "lscae",
}
"""The methods of the paper's table, in its order, and what they are called here."""


@cache
def printed() -> dict[str, Any]:
    """Return ``statistics``, ``results`` (accuracy in percent and best k), ``mean_rank`` and ``median_rank``."""
    return json.loads((files("research.paper") / "printed.json").read_text(encoding="utf-8"))
