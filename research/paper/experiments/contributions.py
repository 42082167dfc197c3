"""How much every feature adds to the Laplacian score: before, during and after training."""

from pathlib import Path
from typing import Any

import numpy as np

from research.ledger import Row, Trial
from research.pages import Rows, select_rows
from research.paper.datasets import z_scores
from research.paper.experiment import Experiment, values_of
from research.paper.fits import fit
from research.paper.kernels import contributions, gaussian_kernel
from research.style import COLOURS, figure, not_run_yet
from research.synthetic import moons_with_uniform

NUISANCE = 10
MOMENTS = {"all": "graph on all features", "training": "during training", "selected": "graph on the selected features"}
PART = 0.05
"""Share of the epochs after which the layer is examined; set after seeing that a quarter is too late."""


def trials(quick: bool) -> list[Trial]:
    """Return a trial for every moment and seed."""
    n, seeds, mark = (200, 1, {"quick": True}) if quick else (1000, 10, {})
    return [
        {"moment": moment, "n": n, "seed": seed, **({} if moment == "all" else {"method": "lscae"}), **mark}
        for moment in MOMENTS
        for seed in range(seeds)
    ]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Return ``w_j² f_jᵀ P f_j`` with the gates w of the moment, P from the gated features."""
    planted = moons_with_uniform(NUISANCE, trial["seed"], n_samples=trial["n"])
    gates, found = _gates(trial, planted.X)
    Z = z_scores(planted.X).astype(np.float64)
    added = gates**2 * contributions(Z, gaussian_kernel(Z * gates))
    return {
        **found,
        "gates": [round(float(gate), 4) for gate in gates],
        "contributions": [round(float(value), 5) for value in added],
        "names": planted.names,
    }


def _gates(trial: Trial, X: Any) -> tuple[Any, Row]:
    """Return gates: all open, or relative probabilities of the features early in training, or the selected ones."""
    if trial["moment"] == "all":
        return np.ones(X.shape[1]), {}
    early = {"callbacks": [lambda epoch: epoch.number >= PART * epoch.total]} if trial["moment"] == "training" else {}
    selector, found = fit(trial["method"], X, 2, trial["seed"], quick=trial.get("quick", False), **early)
    probabilities: Any = selector.selection_probs_
    gates = selector.support_.astype(float) if not early else probabilities.max(axis=0) / probabilities.max()
    return gates, found


def draw(rows: Rows, folder: Path) -> list[Path]:
    """Draw bars for every feature at every moment: means over the seeds, and their range."""
    path = folder / "fig-ls"
    with figure(path, 1, 3, 2.6) as axes:
        for axis, (moment, title) in zip(axes, MOMENTS.items(), strict=True):
            found = np.array([row["contributions"] for row in select_rows(rows, moment=moment)])
            axis.set_title(title)
            if not found.size:
                not_run_yet(axis)
                continue
            mean, places = found.mean(axis=0), np.arange(found.shape[1])
            colours = [COLOURS[0], COLOURS[0]] + ["#999999"] * (len(places) - 2)
            axis.bar(
                places,
                mean,
                color=colours,
                yerr=[mean - found.min(axis=0), found.max(axis=0) - mean],
                error_kw={"elinewidth": 0.8, "ecolor": "#333333"},
            )
            axis.set_xticks([0.5, (2 + len(places) - 1) / 2], ["moons", "nuisance"])
            axis.grid(False, axis="x")
        axes[0].set_ylabel("contribution wᵢ² fᵢᵀP fᵢ")
    return [path.with_suffix(".png")]


def verdict(rows: Rows) -> str:
    """Compare moon and nuisance features at every moment that was run."""
    parts = []
    for moment in [moment for moment in MOMENTS if moment in values_of(rows, "moment")]:
        found = np.array([row["contributions"] for row in select_rows(rows, moment=moment)])
        parts.append(f"{MOMENTS[moment]}: {found[:, :2].mean():.3f} against {found[:, 2:].mean():.3f}")
    first = np.array([row["contributions"] for row in select_rows(rows, moment="all")])
    apart = sum(one[:2].min() > one[2:].max() for one in first)
    text = (
        f"Mean contribution of a moon feature against that of a nuisance feature, {'; '.join(parts)}. With all "
        f"features in the graph, both moon features stand above every nuisance feature in {apart} of {len(first)} "
        "draws, which is the small lead that the paper says starts the learning."
    )
    return text if len(parts) == len(MOMENTS) else text + " The two moments of training have not all been run yet."


EXPERIMENT = Experiment(
    id="fig-ls",
    title="Contribution of each feature to the Laplacian score",
    question=(
        f"Two moons and {NUISANCE} uniform nuisance features, z-scored. Features f of length one are multiplied by "
        "gates w and span the graph; the bars show w² fᵀPf, means and ranges of the draws. Gates are all open (left), "
        f"the selection probabilities after {100 * PART:.0f} % of the epochs, the largest being 1 (middle), or open "
        "for the selected features only (right)."
    ),
    trials=trials,
    work=work,
    verdict=verdict,
    draw=draw,
)
