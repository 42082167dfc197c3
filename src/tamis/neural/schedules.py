"""Pure functions from progress (0 at the first step, 1 at the last) to a temperature, weight or number of steps."""

import math
from collections.abc import Callable

Schedule = Callable[[float], float]


def linear(start: float, end: float) -> Schedule:
    """Go from start to end in equal differences."""
    return lambda progress: start + (end - start) * progress


def exponential(start: float, end: float) -> Schedule:
    """Go from start to end (both positive) in equal ratios."""
    return lambda progress: start * (end / start) ** progress


def constant(value: float) -> Schedule:
    """Stay at one value."""
    return lambda _: value


def warm_up(share: float) -> Schedule:
    """Rise linearly from 0 to 1 over the given share of training, then stay at 1; share 0 is 1 throughout."""
    if share == 0:
        return constant(1.0)
    return lambda progress: min(1.0, progress / share)


def doubling(start: int, end: int) -> Callable[[float], int]:
    """Double from start up to end, each value for an equal share of training: 1, 2, 4, ..., end."""
    doublings = max(0, math.ceil(math.log2(end / start)))
    return lambda progress: min(end, start * 2 ** min(doublings, int(progress * (doublings + 1))))


ANNEALING: dict[str, Callable[[float, float], Schedule]] = {"linear": linear, "exponential": exponential}
