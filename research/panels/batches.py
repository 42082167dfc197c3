"""Panels of sets with batches: ``python -m research.panels.batches`` runs what has no row yet."""

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamis
from research.commands import data_option
from research.data import using_folder
from research.ledger import Ledger, Row, Trial
from research.panels.sets import load
from research.runner import Runner, report
from tamis.single_cell.expression import read_expression

RESULTS = Path(__file__).parent / "results" / "batches.jsonl"
SIZES = (20, 50, 100)
SETS = ("mixology", "zeisel", "pbmc_scannotate")
N_PLANTED = 50
"""Genes of a set without batches that are shuffled over cells, then tripled in half of them."""


def with_batches(name: str) -> tuple[Any, NDArray[np.intp]]:
    """Return a set with batches, its own or planted ones, and the genes whose structure is the batch alone."""
    adata = load(name)
    if "batch" in adata.obs:
        return adata, np.arange(0)
    rng = np.random.default_rng(0)
    X = np.asarray(adata.X.toarray() if issparse(adata.X) else adata.X)
    batch = rng.permutation(np.arange(len(X)) % 2)
    planted = np.sort(rng.permutation(np.flatnonzero((X > 0).mean(axis=0) > 0.2))[:N_PLANTED])
    # Shares of the totals are shuffled: shuffled counts would, once normalised, depend on the depth of their cells.
    totals = X.sum(axis=1, keepdims=True) if (np.round(X) == X).all() else np.ones((len(X), 1))
    shuffled = rng.permuted(X[:, planted] / totals, axis=0) * totals
    # Rounded at random: to the nearest number, few counts would vanish in shallow cells, and so tell of depth.
    X[:, planted] = np.floor(shuffled + rng.random(shuffled.shape)) if totals.max() > 1 else shuffled
    X[np.ix_(batch == 1, planted)] *= 3
    adata.X = csr_array(X)
    adata.obs["batch"] = batch.astype(str)
    return adata, planted


def by_tamis(adata: Any, size: int) -> NDArray[np.intp]:
    """Select by structure within batches."""
    table: Any = tamis.select_genes(adata, size, batch_key="batch", inplace=False)
    return np.flatnonzero(table["tamis_selected"])


def _dispersion(adata: Any, **options: Any) -> Any:
    """Return the table of scanpy's highly variable genes of the flavour "seurat"."""
    import anndata
    import scanpy

    given = anndata.AnnData(read_expression(adata).sample, adata.obs)
    return scanpy.pp.highly_variable_genes(given, inplace=False, **options)


def by_batch_key(adata: Any, size: int) -> NDArray[np.intp]:
    """Select by scanpy's highly variable genes with its batch_key."""
    return np.flatnonzero(_dispersion(adata, n_top_genes=size, batch_key="batch")["highly_variable"])[:size]


def by_union(adata: Any, size: int) -> NDArray[np.intp]:
    """Select the first highly variable genes of each batch in turn."""
    batch = adata.obs["batch"].to_numpy()
    scores = [_dispersion(adata[batch == one])["dispersions_norm"].fillna(-np.inf) for one in np.unique(batch)]
    ranks = np.argsort(np.argsort(-np.array(scores), axis=1), axis=1)
    return np.argsort(ranks.min(axis=0), kind="stable")[:size]


WAYS = {"select_genes": by_tamis, "HVG batch_key": by_batch_key, "HVG union": by_union}


def work(data_dir: Path | None, trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Select, then score types in each batch by a classifier of the other one."""
    with using_folder(data_dir), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata, planted = with_batches(trial["set"])
        genes = WAYS[trial["way"]](adata, trial["k"])
    X, batch, types = read_expression(adata).sample[:, genes], adata.obs["batch"].to_numpy(), adata.obs["type"]
    scores = []
    for known in (batch == one for one in np.unique(batch)):
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500)).fit(X[known], types[known])
        scores.append(f1_score(types[~known], model.predict(X[~known]), average="macro"))
    return {"f1": round(float(np.mean(scores)), 4), "n_batch_only": len(np.intersect1d(genes, planted))}


def main() -> int:
    """Run the trials that have no row yet."""
    options = argparse.ArgumentParser(parents=[data_option()], description=__doc__).parse_args()
    trials = [{"way": way, "set": name, "k": k} for name in SETS for way in WAYS for k in SIZES]
    outcomes = Runner(Ledger(RESULTS), partial(work, options.data_dir)).run(trials)
    return 1 if report(outcomes, lambda row: f"{row['trial']}: f1={row['f1']} batch-only={row['n_batch_only']}") else 0


if __name__ == "__main__":
    sys.exit(main())
