"""Gene panels from AnnData objects, in scanpy's manners."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from tamis.extras import require
from tamis.io.sources import as_source
from tamis.selectors import SELECTORS

if TYPE_CHECKING:
    import anndata
    import pandas

BATCH_ROWS = 2048


def select_genes(
    adata: "anndata.AnnData",
    n_genes: int,
    *,
    layer: str | None = None,
    method: str = "lscae",
    must_keep: Sequence[str] = (),
    never: Sequence[str] = (),
    random_state: int | None = 0,
    inplace: bool = True,
    **parameters: Any,
) -> "pandas.DataFrame | None":
    """Choose genes that carry the structure of the cells, without cell types.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, best logarithmised. A backed object stays on disk; sparse data stay sparse.
    n_genes : int
        How many genes; exactly so many are chosen.
    layer : str, optional
        The layer to use instead of ``adata.X``.
    method : str, default="lscae"
        A name in ``tamis.SELECTORS``.
    must_keep, never : sequence of str
        Genes that are always or never chosen.
    random_state : int, default=0
        Seed, for methods that take one.
    inplace : bool, default=True
        Whether the result is written into ``adata``; else it is returned.
    **parameters
        Further parameters of the method, such as ``max_epochs``.

    Returns
    -------
    DataFrame or None
        With ``inplace=False``, a row per gene: ``tamis_selected``, ``tamis_rank`` (1 is best) and ``tamis_score``.
        Else these columns are set in ``adata.var``, and then ``adata.uns["tamis"]`` (method, parameters, verdict).

    Examples
    --------
    >>> tamis.select_genes(adata, 100, never=["MALAT1"])  # doctest: +SKIP
    >>> panel = adata[:, adata.var["tamis_selected"]]  # doctest: +SKIP
    """
    require("select_genes", "anndata")
    genes = [str(name) for name in adata.var_names]
    selector = _selector(method, n_genes, random_state, genes, must_keep, never, parameters)
    selector.fit(_matrix(adata, layer, in_pieces=type(selector)._from_disk is not None))
    selector.feature_names_in_ = np.array(genes, dtype=object)
    found = _frame(selector, adata.var_names)
    if not inplace:
        return found
    # Everything is computed before the first change, so that a failure leaves adata as it was.
    notes = _notes(selector, method, layer, genes)
    for column in found:
        adata.var[column] = found[column]
    adata.uns["tamis"] = notes
    return None


def _selector(
    method: str,
    n_genes: int,
    seed: int | None,
    genes: list[str],
    keep: Sequence[str],
    never: Sequence[str],
    further: Any,
) -> Any:
    cls = SELECTORS[method]
    if "random_state" in cls._get_param_names():
        further = {"random_state": seed, **further}
    lists = {"must_keep": _positions(keep, genes, "must_keep"), "never": _positions(never, genes, "never")}
    return cls(n_features_to_select=n_genes, **lists, **further)


def _positions(wanted: Sequence[str], genes: list[str], parameter: str) -> list[int]:
    places = {gene: position for position, gene in enumerate(genes)}
    missing = [gene for gene in wanted if gene not in places]
    if missing:
        raise ValueError(f"{parameter} names {missing[0]!r}, which is not among adata.var_names.")
    return [places[gene] for gene in wanted]


def _matrix(adata: Any, layer: str | None, in_pieces: bool = False) -> Any:
    if layer is not None and layer not in adata.layers:
        raise ValueError(
            f"layer={layer!r} is not among the layers of adata: {', '.join(adata.layers) or 'there are none'}."
        )
    X = adata.X if layer is None else adata.layers[layer]
    if X is None:
        raise ValueError("adata has no X; name a layer with layer=.")
    if issparse(X):
        return csr_array(X)
    if isinstance(X, np.ndarray):
        return np.asarray(X)
    source = as_source(X) if in_pieces else None
    return _read_batches(X) if source is None else source


def _read_batches(X: Any) -> Any:
    """Read a backed matrix: a sparse one as it is stored, a dense one a few rows at a time, into float32."""
    if hasattr(X, "to_memory"):
        return csr_array(X.to_memory())
    n, d = X.shape
    whole = np.empty((n, d), dtype=np.float32)
    for start in range(0, n, BATCH_ROWS):
        whole[start : start + BATCH_ROWS] = X[start : start + BATCH_ROWS]
    return whole


def _frame(selector: Any, names: Any) -> "pandas.DataFrame":
    import pandas

    columns = {
        "tamis_selected": selector.get_support(),
        "tamis_rank": selector.ranking_,
        "tamis_score": selector.scores_,
    }
    return pandas.DataFrame(columns, index=names)


def _notes(selector: Any, method: str, layer: str | None, genes: list[str]) -> dict[str, Any]:
    """Give what h5ad can hold: text and numbers only."""
    parameters = {
        k: v for k, v in selector.get_params(deep=False).items() if k not in ("callbacks", "must_keep", "never")
    }
    return {
        "method": method,
        "layer": "X" if layer is None else layer,
        "genes": np.array([genes[column] for column in selector.selected_], dtype=object),
        "parameters": {name: str(value) for name, value in parameters.items()},
        "verdict": str(selector.verdict_),
    }
