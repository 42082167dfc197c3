"""docs/performance.md and its plot, from the kept measurements."""

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("agg")
from matplotlib import pyplot as plt

DOCS = Path(__file__).parent.parent / "docs"
AXES = {
    "d": "columns d (1,000 rows, k = 100)",
    "n": "rows n (500 columns, k = 20)",
    "k": "columns selected k (1,000 × 5,000)",
}

IN_README = ("two moons, d = 15", "TOX-171", "pixraw10P")


def write(rows: list[dict[str, Any]]) -> str:
    """Write the page and draw the growth; give the page."""
    slopes = _draw([row for row in rows if row["what"] == "growth"])
    parts = [
        HEAD,
        _peer(rows),
        _step(rows),
        GROWTH_WORDS,
        _slopes(slopes),
        _memory(rows),
        BEYOND,
        f"Machine: {rows[-1]['machine']}, one thread.",
    ]
    page = "\n\n".join(parts) + "\n"
    (DOCS / "performance.md").write_text(page)
    _into_readme([row for row in rows if row["what"] == "peer"])
    return page


HEAD = """# Speed and memory

Made by `python -m benchmarks.performance`; ratios of times within one run, since seconds are those of one machine. Fits
are whole: validation, scaling, screening, training, the last exchanges and the look at other rows."""

GROWTH_WORDS = """## Growth

Seconds relative to the smallest table, at fixed epochs (50; 20 for rows), and the slope of log time on log size.

![growth of time with columns, rows and selected columns](performance/growth.svg)"""


PEER_WORDS = """## Against the authors' package

The peer is `lscae` from PyPI: same table, batch (64), epochs (300) and one thread; the two alternate, best of two. Its
time is scaled linearly from the epochs it ran. "Defaults" is `LSCAE(k)` with all its restarts.

| table | k | epochs of the peer | equal epochs, one restart | defaults |
|---|---|---|---|---|"""

STEP_WORDS = """## A step against matrix products

The products are those that a plain step of a concrete autoencoder cannot do without, `X Zᵀ` and the gradient by Z, at
full size. Screening leaves 8 columns for each unit (up to 256 if that is more and loses nothing), and the graph as
decoder needs products of rows × rows only, so that a step can cost less than they do. What is left of a step is drawing
from k × 8k probabilities, two softmaxes and Adam; its own products are small beside that. Without screening and
narrowing, a step draws from all k × d.

| case | a step | 320 steps with all before and after, per step | a step without screening | a step / its own products |
|---|---|---|---|---|"""

MEMORY_WORDS = """## Memory

Peak resident memory above that of a process that has only imported what it needs; the table itself counts.

| fit | above, GiB | whole process, GiB |
|---|---|---|"""


BEYOND = """## Beyond memory

A pass over a sparse table on disk takes time in proportion to its rows ([how it is done, and what it was measured
on](out-of-core.md)).

![Time per epoch grows in proportion to the rows](images/out-of-core.png)"""


def _peer(rows: list[dict[str, Any]]) -> str:
    lines = [
        f"| {row['case']} | {row['k']} | {row['peer_epochs']} | {row['equal']:.0f} × faster "
        f"| {row['defaults']:.0f} × faster |"
        for row in rows
        if row["what"] == "peer"
    ]
    return "\n".join([PEER_WORDS, *lines])


def _step(rows: list[dict[str, Any]]) -> str:
    lines = [
        f"| {row['case']} | "
        + " | ".join(f"{row[name]:.2f} ×" for name in ("step", "whole", "unscreened", "own"))
        + " |"
        for row in rows
        if row["what"] == "step"
    ]
    return "\n".join([STEP_WORDS, *lines])


def _slopes(slopes: dict[str, float]) -> str:
    return "\n".join(
        ["| in | slope |", "|---|---|", *(f"| {AXES[axis]} | {slope:.2f} |" for axis, slope in slopes.items())]
    )


def _memory(rows: list[dict[str, Any]]) -> str:
    lines = [f"| {row['case']} | {row['above']:.2f} | {row['peak']:.2f} |" for row in rows if row["what"] == "memory"]
    return "\n".join([MEMORY_WORDS, *lines])


def _into_readme(peers: list[dict[str, Any]]) -> None:
    """Put three lines between the marks of the README."""
    path = DOCS.parent / "README.md"
    text = path.read_text()
    begin, end = "<!-- performance: begin -->", "<!-- performance: end -->"
    lines = [
        f"  - {row['case']}, k = {row['k']}: {row['equal']:.0f} × faster at equal epochs, "
        f"{row['defaults']:.0f} × with the defaults"
        for row in peers
        if row["case"] in IN_README
    ]
    before, after = text.split(begin)[0], text.split(end)[1]
    path.write_text("\n".join([f"{before}{begin}", *lines, f"  {end}{after}"]))


def _draw(rows: list[dict[str, Any]]) -> dict[str, float]:
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained")
    slopes = {}
    for axis, (name, label) in zip(axes, AXES.items(), strict=True):
        points = sorted((row[name], row["seconds"]) for row in rows if row["axis"] == name)
        if len(points) < 2:
            continue
        sizes, seconds = np.array(points).T
        slopes[name] = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
        axis.loglog(sizes, seconds / seconds[0], "o-", color="#0072B2", label="measured")
        axis.loglog(sizes, sizes / sizes[0], "--", color="#999999", label="linear")
        axis.set(xlabel=label, ylabel="time, relative")
        axis.legend(frameon=False)
    (DOCS / "performance").mkdir(exist_ok=True)
    with plt.rc_context({"svg.hashsalt": "growth"}):
        figure.savefig(DOCS / "performance" / "growth.svg", metadata={"Date": None})
    plt.close(figure)
    return slopes
