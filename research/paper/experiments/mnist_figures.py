"""The three figures of noisy MNIST: examples, the curve, and the chosen pixels."""

from pathlib import Path
from typing import Any

import numpy as np

from research.pages import Rows, select_rows
from research.paper.experiment import values_of
from research.style import METHOD_COLOURS, METHOD_LABELS, METHOD_MARKS, figure, plain_axis

PIXELS_SHOWN = 15
"""The size of the selection whose pixels are drawn, as in the paper."""


def mean_accuracy(rows: Rows, method: str, k: object) -> float:
    """Return the mean accuracy over the repetitions, nan if there are none."""
    values = [row["accuracy"] for row in select_rows(rows, method=method, k=k)]
    return float(np.mean(values)) if values else float("nan")


def mean_and_sd(rows: Rows, method: str, k: object) -> str:
    """Write mean ± standard deviation over the repetitions, in percent."""
    values = [100 * row["accuracy"] for row in select_rows(rows, method=method, k=k)]
    if not values:
        return "–"
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else f"{values[0]:.1f}"


def draw(rows: Rows, folder: Path) -> list[Path]:
    """Draw what there is."""
    fits, examples = select_rows(rows, kind="fit"), select_rows(rows, kind="examples")
    paths = [_examples(examples[0], folder / "mnist-examples")] if examples else []
    if fits:
        paths.append(_curve(fits, folder / "ablation-mnist"))
        if any(select_rows(fits, k=PIXELS_SHOWN, seed=0, method=m) for m in METHOD_LABELS):
            paths.append(_pixels(fits, folder / "mnist-pixels"))
    return paths


def _examples(row: dict[str, Any], path: Path) -> Path:
    with figure(path, 1, len(row["images"]), 2.3) as axes:
        for axis, image in zip(axes, row["images"], strict=True):
            pixels = np.frombuffer(bytes.fromhex(image), dtype=np.uint8).reshape(row["side"], row["side"])
            axis.imshow(pixels, cmap="gray_r", vmin=0, vmax=255)
            plain_axis(axis)
    return path.with_suffix(".png")


def _curve(fits: Rows, path: Path) -> Path:
    with figure(path, 1, 1, 3.0) as (axis,):
        for method in [method for method in METHOD_LABELS if method in values_of(fits, "method")]:
            sizes = values_of(select_rows(fits, method=method), "k")
            groups = [[100 * row["accuracy"] for row in select_rows(fits, method=method, k=k)] for k in sizes]
            means = [np.mean(values) for values in groups]
            colour = METHOD_COLOURS[method]
            axis.fill_between(sizes, [min(g) for g in groups], [max(g) for g in groups], color=colour, alpha=0.15, lw=0)
            axis.plot(sizes, means, color=colour, marker=METHOD_MARKS[method], label=METHOD_LABELS[method])
        axis.set(xlabel="selected pixels k", ylabel="test accuracy in percent", xticks=values_of(fits, "k"))
        axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return path.with_suffix(".png")


def _pixels(fits: Rows, path: Path) -> Path:
    shown = {m: select_rows(fits, k=PIXELS_SHOWN, seed=0, method=m) for m in METHOD_LABELS}
    shown = {method: found for method, found in shown.items() if found}
    with figure(path, 1, len(shown), 2.1) as axes:
        for axis, (method, found) in zip(axes, shown.items(), strict=True):
            side = found[0]["side"]
            image = np.zeros(side * side)
            image[found[0]["selected"]] = 1
            axis.imshow(image.reshape(side, side), cmap="Blues", vmin=0, vmax=1.2)
            axis.set_title(METHOD_LABELS[method])
            plain_axis(axis)
    return path.with_suffix(".png")
