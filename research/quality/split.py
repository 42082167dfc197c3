"""Which sets choose a default and which only confirm it: one throw of a coin, kept in a file."""

import json
from pathlib import Path

import numpy as np

from research.quality.sets import SETS
from tamis.io.files import write_text

SEED = 0
HALVES = ("choosing", "confirming")
PATH = Path(__file__).with_name("split.json")


def deal(names: list[str], seed: int) -> dict[str, list[str]]:
    """Shuffle the names, which are sorted first, and cut them in two; the first half chooses."""
    shuffled = np.random.default_rng(seed).permutation(sorted(names)).tolist()
    cut = (len(shuffled) + 1) // 2
    return {"choosing": sorted(shuffled[:cut]), "confirming": sorted(shuffled[cut:])}


def write_split(path: Path = PATH) -> Path:
    """Write the split of all sets, with its seed."""
    return write_text(path, json.dumps({"seed": SEED, **deal(list(SETS), SEED)}, indent=2) + "\n")


def half(name: str) -> list[str]:
    """Return the sets of one half."""
    if name not in HALVES:
        raise ValueError(f"--half takes {' or '.join(HALVES)}; got {name!r}.")
    return json.loads(PATH.read_text(encoding="utf-8"))[name]
