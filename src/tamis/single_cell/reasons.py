"""Why a gene is in a panel: its programme, the genes it stands for, its evidence and its expression."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.metrics import reconstruction_errors
from tamis.single_cell.alignment import Array, Mask, Programmes
from tamis.single_cell.expression import Expression
from tamis.structure import Structure
from tamis.structure.sample import Indices

N_STANDS_FOR = 5
MIN_CORRELATION = 0.2
"""Least correlation with a selected gene of those that it stands for."""

MIN_LOST = 0.1
"""Least share of a gene that the programmes explain and the panel does not, for it to be called missed."""


def gene_table(data: Expression, values: Array, structure: Structure, programmes: Programmes, selected: Indices) -> Any:
    """Return a DataFrame with a row per gene, as :func:`tamis.select_genes` documents it."""
    import pandas

    Z = values / np.maximum(np.linalg.norm(values, axis=0), 1e-12)
    follows = programmes.shares(values)
    score = follows.sum(axis=0).astype(np.float64)
    names = np.array([*(str(number + 1) for number in range(len(follows))), ""], dtype=object)
    columns = {
        "tamis_selected": np.isin(np.arange(len(score)), selected),
        "tamis_rank": _ranks(score, selected),
        "tamis_score": score,
        "tamis_pvalue": structure.pvalues,
        "tamis_structured": structure.structured,
        "tamis_programme": names[np.where(structure.structured, follows.argmax(axis=0), -1)],
        "tamis_stands_for": _stands_for(Z, data.genes, structure.structured, selected),
        "tamis_explained": _explained(Z, structure.structured, selected),
        "tamis_detection": data.detection,
        "tamis_mean": data.mean,
    }
    table = pandas.DataFrame(columns, data.var.index)
    for name in ("tamis_programme", "tamis_stands_for"):
        # anndata makes categories of texts, and not every version can write the strings of every version of pandas.
        table[name] = pandas.Categorical(columns[name], pandas.Index(sorted(set(columns[name])), dtype=object))
    return table


def _explained(Z: Array, structured: Mask, selected: Indices) -> NDArray[np.float64]:
    """Return the share of each structured gene that the selected ones predict on cells held out, else NaN."""
    genes = np.union1d(np.flatnonzero(structured), selected)
    errors = reconstruction_errors(Z[:, genes] * np.sqrt(len(Z)), np.searchsorted(genes, selected))
    shares = np.full(len(structured), np.nan)
    shares[genes] = 1 - np.minimum(errors, 1.0)
    return shares


def _ranks(score: NDArray[np.float64], selected: Indices) -> Indices:
    """Return the place of each gene: the selected ones in their order, then the others by their scores."""
    order = np.argsort(-score, kind="stable")
    return np.argsort(np.r_[selected, order[~np.isin(order, selected)]]) + 1


def _stands_for(Z: Array, genes: NDArray[np.str_], structured: Mask, selected: Indices) -> NDArray[np.str_]:
    """Return, for each selected gene, the other structured genes that correlate most with it among the panel."""
    others = np.setdiff1d(np.flatnonzero(structured), selected)
    correlation = Z[:, selected].T @ Z[:, others]
    texts = np.full(len(genes), "", dtype=object)
    nearest, strength = correlation.argmax(axis=0), correlation.max(axis=0)
    for place, gene in enumerate(selected):
        own = np.flatnonzero((nearest == place) & (strength >= MIN_CORRELATION))
        own = own[np.argsort(-strength[own], kind="stable")][:N_STANDS_FOR]
        texts[gene] = ", ".join(genes[others[own]])
    return texts


def programme_table(table: Any) -> Any:
    """Return a row per programme of what :func:`tamis.select_genes` wrote, in order.

    ``n_genes`` counts its structured genes, ``selected`` lists those of the panel by rank, ``covered`` is how much the
    panel predicts of what the programmes explain of its genes, and ``missed`` lists those of which it misses most.
    """
    import pandas

    rows = {}
    own = table[table["tamis_programme"].astype(str) != ""].sort_values("tamis_rank")
    for name, genes in own.groupby(own["tamis_programme"].astype(str)):
        inside, score = genes["tamis_selected"].astype(bool), genes["tamis_score"]
        lost = (score - genes["tamis_explained"].clip(upper=score)).sort_values(ascending=False)
        rows[name] = {
            "n_genes": len(genes),
            "selected": genes.index[inside].tolist(),
            "covered": float(1 - lost.sum() / score.sum()),
            "missed": lost.index[lost > MIN_LOST][:N_STANDS_FOR].tolist(),
        }
    ordered = sorted(rows, key=int)
    return pandas.DataFrame([rows[name] for name in ordered], ordered, ["n_genes", "selected", "covered", "missed"])
