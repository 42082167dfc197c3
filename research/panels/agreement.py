"""Scores of panels by tamis beside those by Spapros: ``python -m research.panels.agreement``, with both installed."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import tamis
from research.ledger import Ledger
from research.panels.rivals import loadings, random
from research.panels.sets import load

RESULTS = Path(__file__).parent / "results" / "agreement.jsonl"
SIZE, MAX_CELLS = 50, 800


def by_spapros(adata: Any, genes: list[str]) -> dict[str, float]:
    """Return the scores of Spapros's evaluator under the names of tamis."""
    from spapros.evaluation import metrics

    sizes = [5, 10, 15, 20, 25, 30]
    whole, panel = (metrics.knns(adata, genes=some, ks=sizes, verbosity=0) for some in ("all", genes))
    overlap = metrics.summary_knn_AUC(metrics.mean_overlaps(panel, whole, sizes, verbosity=0))
    correlation = metrics.correlation_matrix(adata, var_names=genes, verbosity=0)
    clusters = [metrics.leiden_clusterings(some, [5, 60], verbosity=0) for some in (adata[:, genes], adata)]
    similarity = metrics.clustering_nmis(*clusters, [5, 60], verbosity=0)
    return {
        "knn_overlap": float(overlap),
        "correlation": float(metrics.summary_metric_correlation_mean(correlation)),
        "correlation_share": float(metrics.summary_metric_correlation_percentage(correlation)),
        **metrics.summary_nmi_AUCs(similarity, [[5, 20], [21, 60]]),
    }


def main() -> int:
    """Write the scores of two panels of pbmc3k by both."""
    adata = load("pbmc3k")
    adata = adata[np.sort(np.random.default_rng(0).permutation(adata.n_obs)[:MAX_CELLS])].copy()
    for way in (loadings, random):
        genes = adata.var_names[way(adata, [SIZE])[0]].tolist()
        ours = tamis.evaluate_panel(adata, genes, references=False).loc["panel"]
        for name, value in by_spapros(adata, genes).items():
            trial = {"panel": way.__name__, "score": name}
            Ledger(RESULTS).append({"trial": trial, "tamis": round(float(ours[name]), 4), "spapros": round(value, 4)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
