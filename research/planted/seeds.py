"""Which seeds of random tables may choose a default, and which only confirm it."""

from collections.abc import Sequence

FIRST = {"choosing": 0, "confirming": 100}
"""The first seed of each half; seeds from 100 on only confirm."""

HALVES = tuple(FIRST)


def seeds_of(half: str | None, n_seeds: int, named: Sequence[int] = ()) -> list[int]:
    """Return so many seeds of one half, or of both if none is named; named seeds replace them."""
    if named:
        return list(named)
    return [first + number for name, first in FIRST.items() if half in (None, name) for number in range(n_seeds)]


def half_of(seed: int) -> str:
    """Return the half that a seed belongs to."""
    return "confirming" if seed >= FIRST["confirming"] else "choosing"
