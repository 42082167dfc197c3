"""Pure functions from progress (0 at the first step, 1 at the last) to a temperature, weight or number of steps."""

from collections.abc import Callable

Schedule = Callable[[float], float]


def linear(start: float, end: float) -> Schedule:
    """Go from start to end in equal differences."""
    return lambda progress: start + (end - start) * progress


def exponential(start: float, end: float) -> Schedule:
    """Go from start to end (both positive) in equal ratios."""
    return lambda progress: start * (end / start) ** progress


ANNEALING: dict[str, Callable[[float, float], Schedule]] = {"linear": linear, "exponential": exponential}
