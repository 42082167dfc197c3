"""The experiments by their ids; a module is imported only when its experiment is asked for."""

from difflib import get_close_matches
from importlib import import_module

from research.paper.experiment import Experiment

HOMES = {
    "fig-twomoons": "two_moons",
    "fig-chi": "eigenvector",
    "bound": "bound",
    "fig-ls": "contributions",
    "ablation-moons": "ablation_moons",
    "ablation-mnist": "ablation_mnist",
    "table-stats": "data_statistics",
    "table-results": "selection_table",
    "table-tuning": "tuning",
}
"""In the order of the paper."""


def experiment(name: str) -> Experiment:
    """Return an experiment by its id."""
    if name not in HOMES:
        close = get_close_matches(name, HOMES, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise KeyError(f"There is no experiment {name!r}.{hint} Known: {', '.join(HOMES)}.")
    return import_module(f"research.paper.experiments.{HOMES[name]}").EXPERIMENT


def experiments() -> list[Experiment]:
    """Return all experiments, in the order of the paper."""
    return [experiment(name) for name in HOMES]
