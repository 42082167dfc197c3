from typing import Any

from numpy.typing import NDArray

def graph_step(
    sizes: tuple[int, ...],
    numbers: tuple[float, ...],
    terms: tuple[float, int, float, int],
    table: NDArray[Any],
    rows: NDArray[Any],
    goal: NDArray[Any],
    pool: NDArray[Any],
    start: int,
    stride: int,
    logits: NDArray[Any],
    mean: NDArray[Any],
    square: NDArray[Any],
    values: NDArray[Any],
) -> None: ...
def use_product(capsule: object) -> None: ...
def hard_values(
    sizes: tuple[int, ...],
    numbers: tuple[float, float],
    codes: NDArray[Any],
    goal: NDArray[Any],
    values: NDArray[Any],
) -> None: ...
