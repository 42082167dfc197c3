"""Why a gene is in a panel: its programme, the genes it stands for, its evidence and its expression."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.single_cell.alignment import Programmes
from tamis.single_cell.expression import Expression
from tamis.structure import Structure

N_STANDS_FOR = 5
MIN_CORRELATION = 0.2
"""Least correlation with a selected gene of those that it stands for."""


def gene_table(
    data: Expression,
    values: NDArray[np.float32],
    structure: Structure,
    programmes: Programmes,
    selected: NDArray[np.intp],
) -> Any:
    """Return a DataFrame with a row per gene, as :func:`tamis.select_genes` documents it."""
    import pandas

    Z = values / np.maximum(np.linalg.norm(values, axis=0), 1e-12)
    scores = programmes.scores
    follows = scores.T @ Z
    # Programmes of rare genes overlap with the others.
    score = ((np.linalg.qr(scores)[0].T @ Z) ** 2).sum(axis=0)
    names = np.array([*programmes.names, ""], dtype=object)
    best = np.where(structure.structured, np.abs(follows).argmax(axis=0), len(names) - 1)
    columns = {
        "tamis_selected": np.isin(np.arange(len(score)), selected),
        "tamis_rank": _ranks(score, selected),
        "tamis_score": score.astype(np.float64),
        "tamis_pvalue": structure.pvalues,
        "tamis_structured": structure.structured,
        "tamis_programme": names[best],
        "tamis_stands_for": _stands_for(Z, data.genes, structure.structured, selected),
        "tamis_detection": data.detection,
        "tamis_mean": data.mean,
    }
    # Texts stay objects: not every version of anndata can write the strings of every version of pandas.
    return pandas.DataFrame(
        {name: pandas.Series(column, data.var.index, dtype=column.dtype) for name, column in columns.items()}
    )


def _ranks(score: NDArray[np.float32], selected: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the place of each gene: the selected ones in their order, then the others by their scores."""
    order = np.argsort(-score, kind="stable")
    ranks = np.empty(len(score), dtype=np.intp)
    ranks[np.r_[selected, order[~np.isin(order, selected)]]] = np.arange(1, len(score) + 1)
    return ranks


def _stands_for(
    Z: NDArray[np.float32], genes: NDArray[np.str_], structured: NDArray[np.bool_], selected: NDArray[np.intp]
) -> NDArray[np.str_]:
    """Return, for each selected gene, the other structured genes that correlate most with it among the panel."""
    others = np.setdiff1d(np.flatnonzero(structured), selected)
    correlation = np.abs(Z[:, selected].T @ Z[:, others])
    texts = np.full(len(genes), "", dtype=object)
    if not len(others):
        return texts
    nearest, strength = correlation.argmax(axis=0), correlation.max(axis=0)
    for place, gene in enumerate(selected):
        own = np.flatnonzero((nearest == place) & (strength >= MIN_CORRELATION))
        own = own[np.argsort(-strength[own], kind="stable")][:N_STANDS_FOR]
        texts[gene] = ", ".join(genes[others[own]])
    return texts


def notes(
    data: Expression,
    structure: Structure,
    programmes: Programmes,
    selected: NDArray[np.intp],
    method: str,
    layer: str | None,
    use_raw: bool,
    parameters: dict[str, Any],
) -> dict[str, Any]:
    """Return what ``adata.uns`` tells of a panel: text and numbers, which h5ad can hold."""
    is_linear = data.kind in ("counts", "linear")
    return {
        "method": method,
        "layer": "raw" if use_raw else "X" if layer is None else layer,
        "input": data.kind,
        "normalisation": "size factors (median total) and log1p" if is_linear else "none",
        "tested_on": "values" if data.tested is data.sample else "counts of equal depth",
        "genes": data.genes[selected].astype(object),
        "n_programmes": len(programmes.names),
        "n_filler": int((~structure.structured[selected]).sum()),
        "parameters": {name: str(value) for name, value in parameters.items() if value is not None},
    }
