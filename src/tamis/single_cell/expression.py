"""Expression as it comes: counts, log-normalised or scaled, in memory or on disk; a sample of it on the log scale."""

from typing import Any, NamedTuple
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse

from tamis.io.readers.tenx import GENES
from tamis.io.sources import as_source
from tamis.reprs import counted
from tamis.single_cell.families import PanelWarning
from tamis.structure.find import MIN_ROWS
from tamis.verdict import MAX_REPEATED

MAX_CELLS = 4000
"""Cells that are drawn to choose genes by; the statistics of genes are of all cells."""

MAX_LOG = 30.0
"""No logarithm of a count reaches it, so that larger values are on a linear scale."""

MAX_COUNT = 2.0**31
"""No cell has as many molecules, so that larger values are intensities, even if they are whole."""

MAX_OFFSET = 0.5
"""Scaled genes have a mean that is at most this part of their standard deviation, clipping included."""

DEPTH_QUANTILES = 0.1, 0.01
"""Depths are made equal to the first quantile of the totals, and those of shallower cells to the second."""

MAX_ROUNDING = 0.01
"""Largest distance from whole numbers of values that are taken as counts, relative to them."""

MIN_WHOLE = 0.99
"""Share of the cells that have to hold counts; of an odd cell no gene has a count of one."""

MIN_WHOLE_VALUES = 0.5
"""Share of whole numbers among the values above zero of counts of which some are estimates."""

DOMINANT, TIMES_EVEN, DOMINATED = 0.05, 20, 0.01
"""A gene dominates if it has more than the first part of the counts, and more than so many times an even share, in more
than the last part of the cells."""

BLOCK_ROWS = 1024

UNEQUAL_DEPTH = (
    "No counts are found behind the values, so that genes are tested on these; where cells differ in depth, genes that "
    "have nothing in common then seem to depend on each other. Name a layer with counts by layer."
)
REPEATED = (
    "Many cells occur more than once, as when samples were joined twice, so that genes agree by that alone; remove the "
    "repeated cells."
)


class Expression(NamedTuple):
    """Cells × genes with a sample of cells on the log scale: log(1 + x), of counts over size factors."""

    genes: NDArray[np.str_]  # symbols
    var: Any  # the table of the genes
    kind: str  # what the matrix holds: "counts", "linear", "log" or "scaled"
    cells: NDArray[np.intp]  # sorted positions of the sampled cells
    sample: NDArray[np.float32]  # their expression
    tested: Any  # what dependence is tested on: counts of equal depth where there are counts, else the sample
    shallow: NDArray[np.bool_]  # cells whose counts are too few for that depth, so that theirs is a smaller one
    mean: NDArray[np.float64]  # of that expression, over all cells; NaN if it is scaled
    detection: NDArray[np.float64]  # share of all cells in which the gene is detected; NaN if it is scaled


def read_expression(
    adata: Any,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    gene_key: str | None = None,
    batch: NDArray[Any] | None = None,
    max_cells: int = MAX_CELLS,
    random_state: int | None = 0,
) -> Expression:
    """Read the matrix of an AnnData object, which is not changed, and normalise a sample of its cells.

    The size factor of a cell is its total, divided by the median total of the sampled cells. Of each batch, enough
    cells for a test are drawn, if it has as many.
    """
    if random_state is not None and not 0 <= random_state < 2**32:
        raise ValueError(f"random_state takes a whole number of at least 0, below 2**32; got {random_state}.")
    check_annotated(adata)
    X, var, place = _matrix(adata, layer, use_raw)
    _check_modalities(var)
    genes = _symbols(var, gene_key)
    cells = _drawn(X.shape[0], max_cells, batch, random_state)
    raw = _rows(X, cells)
    kind = recognise(raw, place)
    target = float(np.median(_totals(raw))) if kind in ("counts", "linear") else None
    mean, detection = _statistics(X, target, place)
    if kind == "scaled":  # No zeros are left that stand for absence, and all means are about zero.
        mean = detection = np.full(len(genes), np.nan)
    sample = normalised(raw, target)
    dense = np.asarray(sample.toarray() if issparse(sample) else sample, dtype=np.float32)
    counts = raw if kind == "counts" else None if kind == "scaled" else counts_behind(raw, kind)
    tested, shallow = dense, np.zeros(len(cells), dtype=bool)
    if counts is not None:
        tested, shallow = equal_depth(counts, np.random.default_rng(random_state))
    return Expression(genes, var, kind, cells, dense, tested, shallow, mean, detection)


def warn_of_cells(data: Expression) -> None:
    """Warn of cells whose genes depend on each other for no reason of theirs."""
    if data.tested is data.sample:
        warn(UNEQUAL_DEPTH, PanelWarning, stacklevel=3)
    if len({cell.tobytes() for cell in data.sample}) <= (1 - MAX_REPEATED) * len(data.cells):
        warn(REPEATED, PanelWarning, stacklevel=3)


def _drawn(n_cells: int, size: int, batch: NDArray[Any] | None, random_state: int | None) -> NDArray[np.intp]:
    """Return the sorted positions of cells drawn at random, the first few of each batch before all others."""
    import pandas

    cells = np.random.default_rng(random_state).permutation(n_cells)
    own = np.zeros(n_cells, np.intp) if batch is None else batch[cells]
    place = pandas.Series(own).groupby(own).cumcount().to_numpy()
    return np.sort(cells[np.argsort(place >= MIN_ROWS, kind="stable")][:size])


def recognise(block: Any, place: str = "X") -> str:
    """Return what cells × genes hold: "counts", "linear", "log" or "scaled"."""
    values = block.data if issparse(block) else block
    if values.min(initial=0.0) < 0:
        dense = np.asarray(block.toarray() if issparse(block) else block, dtype=np.float64)
        offset = np.abs(dense.mean(axis=0)) / np.maximum(dense.std(axis=0), 1e-12)
        if np.median(offset) > MAX_OFFSET:
            fault = "its genes are not centred, so that it is neither expression nor scaled expression"
            remedy = "name a layer with counts or log-normalised values"
            raise ValueError(f"{place} holds negative values, and {fault}; {remedy}.")
        return "scaled"
    whole = values == np.round(values)
    # Some counts are estimates, such as those of molecules that two genes share; powers of two are logarithms.
    powers = np.exp2(np.minimum(values[~whole], MAX_LOG))
    logarithms = (np.abs(powers - np.round(powers)) <= MAX_ROUNDING).all()
    mostly = whole[values > 0].mean() >= MIN_WHOLE_VALUES and not logarithms
    if (whole.all() or mostly) and values.max(initial=0.0) <= MAX_COUNT:
        return "counts"
    return "linear" if values.max(initial=0.0) > MAX_LOG else "log"


def normalised(block: Any, target: float | None) -> Any:
    """Return ``log(1 + x · target / total)`` of each cell; the block itself if there is no target."""
    if target is None:
        return block
    factors = target / np.maximum(_totals(block), 1e-12)
    return csr_array(diags_array(factors) @ block).log1p() if issparse(block) else np.log1p(block * factors[:, None])


def counts_behind(block: Any, kind: str = "log") -> NDArray[np.float64] | None:
    """Return the counts of normalised cells, whatever the base of their logarithm; None if there are none.

    The smallest value of a cell stands for a count of one, and the others are then whole. If it is the same in all
    cells, values were rounded to it, unless it is one.
    """
    values = np.asarray(block.toarray() if issparse(block) else block, dtype=np.float64)
    for linear in [values] if kind == "linear" else (np.expm1(values * np.log(base)) for base in (np.e, 2, 10)):
        smallest = np.where(linear > 0, linear, np.inf).min(axis=1)
        counts = linear / np.where(np.isfinite(smallest), smallest, 1.0)[:, None]
        whole = np.round(counts)
        of_counts = (np.abs(counts - whole) <= MAX_ROUNDING * np.maximum(counts, 1)).all(axis=1)
        rounded = np.ptp(smallest) <= MAX_ROUNDING * smallest.min() and abs(smallest.min() - 1) > MAX_ROUNDING
        if of_counts.mean() >= MIN_WHOLE and not rounded:
            return whole
    return None


def equal_depth(counts: Any, rng: np.random.Generator) -> tuple[Any, NDArray[np.bool_]]:
    """Return a CSR array of counts, each kept or not by chance, so that totals are alike, and which cells are shallow.

    Normalised counts that were ties are ordered by the depth of their cells, so that genes that have nothing in common
    would seem to depend on each other. Shallow cells, a tenth, can only be alike at a smaller depth: genes depend on
    each other among them, or among the others. Dominating genes are not counted, since all others have less where these
    have much.
    """
    given = csr_array(counts)
    totals = _totals_of_others(given)
    depth, smaller = np.quantile(totals, DEPTH_QUANTILES)
    shallow = totals < depth
    kept = np.minimum(1.0, np.where(shallow, smaller, depth) / np.maximum(totals, 1.0))
    drawn = rng.binomial(np.rint(given.data).astype(np.int64), np.repeat(kept, np.diff(given.indptr)))
    thinned = csr_array((drawn.astype(np.float32), given.indices, given.indptr), shape=given.shape, copy=True)
    thinned.eliminate_zeros()
    return thinned, shallow


def _totals_of_others(counts: csr_array) -> NDArray[np.float64]:
    """Return the totals of cells without the genes that dominate some of them, if others are left in each."""
    totals, part = _totals(counts), max(DOMINANT, TIMES_EVEN / counts.shape[1])
    most = diags_array(1 / np.maximum(totals, 1e-12)) @ counts > part
    others = _totals(counts[:, np.asarray(most.mean(axis=0)).ravel() <= DOMINATED])
    return others if others.min() > 0 else totals


def _matrix(adata: Any, layer: str | None, use_raw: bool) -> tuple[Any, Any, str]:
    """Return the matrix that was asked for, the table of its genes, and what messages call it."""
    if use_raw and layer is not None:
        raise ValueError(f"use_raw=True and layer={layer!r} name two matrices; leave one of them out.")
    if use_raw and adata.raw is None:
        raise ValueError("use_raw=True, but adata.raw is empty; name a layer instead.")
    if layer is not None and layer not in adata.layers:
        known = ", ".join(adata.layers) or "there are none"
        raise ValueError(f"layer={layer!r} is not among the layers of adata: {known}.")
    X = adata.raw.X if use_raw else adata.X if layer is None else adata.layers[layer]
    if X is None:
        raise ValueError("adata has no X; name a layer with layer=.")
    if 0 in X.shape:
        raise ValueError(f"adata has {X.shape[0]} × {X.shape[1]} cells × genes; both are needed.")
    place = "adata.raw" if use_raw else "adata.X" if layer is None else f"the layer {layer!r}"
    stored = csr_array(X) if issparse(X) else as_source(X)
    return X if stored is None else stored, adata.raw.var if use_raw else adata.var, place


def check_annotated(adata: Any) -> None:
    """Raise an error if this is no AnnData object."""
    if not (hasattr(adata, "var_names") and hasattr(adata, "layers")):
        raise TypeError(f"adata takes an AnnData object; got {type(adata).__name__}. Pass anndata.AnnData(table).")


def _check_modalities(var: Any) -> None:
    """Raise an error if some columns hold no expression, such as antibodies, whose counts are of another kind."""
    types = var.get("feature_types", default=[])
    others = sorted({str(one) for one in types} - {GENES})
    if others and GENES in set(types):
        genes = f"adata[:, adata.var['feature_types'] == {GENES!r}].copy()"
        raise ValueError(f"Some columns hold no genes but {others[0]!r} (feature_types); select from {genes}.")


def column(table: Any, name: str, parameter: str, place: str = "adata.obs") -> Any:
    """Return a column of the cells or genes; raise an error that lists the columns if there is none."""
    if name not in table:
        raise ValueError(f"{parameter}={name!r} is not a column of {place}: {', '.join(map(str, table.columns))}.")
    return table[name]


def labels(adata: Any, key: str, parameter: str, complete: bool = True) -> NDArray[np.str_]:
    """Return the label of each cell as text, empty where it is missing; raise an error if all cells need one."""
    given = column(adata.obs, key, parameter)
    texts = np.where(given.isna(), "", np.asarray(given.astype(str), dtype=object))
    if (n_missing := int((texts == "").sum())) and (complete or n_missing == len(texts)):
        remedy = f"fill the column, or leave these cells out by adata[adata.obs[{key!r}].notna()]"
        raise ValueError(f"{parameter}={key!r} has no value in {n_missing} of {len(texts)} cells; {remedy}.")
    return texts


def _symbols(var: Any, gene_key: str | None) -> NDArray[np.str_]:
    given = var.index if gene_key is None else column(var, gene_key, "gene_key", "adata.var")
    genes = np.array(given.astype(str), dtype=object)
    if n_missing := int(given.isna().sum()):
        where = "adata.var_names" if gene_key is None else f"gene_key={gene_key!r}"
        raise ValueError(f"{where} has no symbol for {n_missing} of {len(genes)} genes; fill them in.")
    names, counts = np.unique(genes, return_counts=True)
    if (twice := np.flatnonzero(counts > 1)).size:
        remedy = "fill the column so that they differ"
        if gene_key is None:
            remedy = "make the names differ by adata.var_names_make_unique(), or name a column with others by gene_key"
        raise ValueError(f"The gene {names[twice[0]]!r} occurs {counts[twice[0]]} times; {remedy}.")
    return genes


def _rows(X: Any, rows: NDArray[np.intp] | slice) -> Any:
    """Return some cells as an array or a CSR array, wherever they are stored."""
    part = X[rows]
    block = part.compute() if hasattr(part, "compute") else part
    block = csr_array(block) if issparse(block) else np.asarray(block)
    return block.astype(np.float32) if block.dtype == np.float16 else block


def _totals(block: Any) -> NDArray[np.float64]:
    return np.asarray(block.sum(axis=1), dtype=np.float64).ravel()


def _statistics(X: Any, target: float | None, place: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean expression and the detection rate of each gene over all cells, in one pass."""
    sums, detected, n_empty = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0
    for start in range(0, X.shape[0], BLOCK_ROWS):
        block = _rows(X, slice(start, start + BLOCK_ROWS))
        if not np.isfinite(block.data if issparse(block) else block).all():
            raise ValueError(f"{place} holds NaN or infinite values; replace them, or name another layer.")
        n_empty += 0 if target is None else int((_totals(block) <= 0).sum())
        values = normalised(block, target)
        sums += np.asarray(values.sum(axis=0), dtype=np.float64).ravel()
        detected += np.asarray((values > 0).sum(axis=0)).ravel()
    if n_empty:
        raise ValueError(f"{place} holds {counted(n_empty, 'cell')} without counts; remove them (sc.pp.filter_cells).")
    return sums / X.shape[0], detected / X.shape[0]
