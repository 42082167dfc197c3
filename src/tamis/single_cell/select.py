"""select_genes: a gene panel from an AnnData object, with the reason for every gene."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from tamis.extras import require
from tamis.reprs import counted
from tamis.single_cell.alignment import Programmes, align, find_programmes, leading_directions, serve
from tamis.single_cell.expression import Expression, column, labels, read_expression
from tamis.single_cell.families import matching_genes
from tamis.single_cell.reasons import gene_table
from tamis.sizes import NoStructureError, choose_k
from tamis.structure import Structure, find_structure
from tamis.structure.candidates import FillerWarning

if TYPE_CHECKING:
    import anndata
    import pandas

MIN_BATCH = 3


def select_genes(
    adata: "anndata.AnnData",
    n_genes: int | str,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    gene_key: str | None = None,
    batch_key: str | None = None,
    batches: str = "any",
    must_keep: Sequence[str] = (),
    never: str | Sequence[str] = (),
    expression: tuple[float | None, float | None] | None = None,
    penalty: str | None = None,
    groups: str | None = None,
    random_state: int | None = 0,
    inplace: bool = True,
    verbose: bool = False,
) -> "pandas.DataFrame | None":
    """Select genes that tell cells apart as the whole transcriptome does, without cell types.

    Genes are tested for dependence on others, above chance (:func:`tamis.find_structure`), on counts thinned to equal
    depth if counts can be had. The principal directions above chance of those that pass, each gene counting alike, are
    the programmes; genes that follow none are left out. The panel begins with the genes that explain the programmes,
    one for each. The others are chosen one by one so that the similarities of cells by the panel agree with those by
    all genes with structure.

    Parameters
    ----------
    adata : AnnData
        Cells × genes: counts, which are normalised, or log-normalised or scaled expression. A backed object stays on
        disk, dask and sparse data are read in pieces, and the matrix is not changed.
    n_genes : int or "auto"
        Number of genes, those of ``must_keep`` included; "auto" takes as many as explain the structure
        (see :func:`tamis.choose_k`).
    layer : str, optional
        The layer to use instead of ``adata.X``.
    use_raw : bool, default=False
        Whether to use ``adata.raw``.
    gene_key : str, optional
        Column of ``adata.var`` with the symbols that the lists below name; by default ``adata.var_names``.
    batch_key : str, optional
        Column of ``adata.obs`` with the batch of each cell, none missing; only differences within batches count.
    batches : {"any", "all"}, default="any"
        Whether structure within batches is enough that shows over all of them together, or it has to show in each.
    must_keep : sequence of str
        Genes of the panel that are chosen already.
    never : str or sequence of str
        Genes that are not chosen: names, globs such as ``"HLA-*"`` and the families "mitochondrial", "ribosomal",
        "haemoglobin", "sex" and "cell-cycle". They still count as data to be explained.
    expression : (float, float), optional
        Bounds of the mean log-normalised expression, None for no bound: probes miss dimmer genes and crowd in brighter
        ones.
    penalty : str, optional
        Column of ``adata.var`` with numbers from 0 (none) to 1 (chosen last).
    groups : str, optional
        Column of ``adata.var``; of genes with the same value, such as isoforms, one is chosen at most.
    random_state : int, default=0
        Seed of the cells that are drawn, of the test and of the directions.
    inplace : bool, default=True
        Whether the result is written into ``adata``; else it is returned.
    verbose : bool, default=False
        Whether each stage is printed.

    Returns
    -------
    DataFrame or None
        With ``inplace=False`` a row per gene. Else its columns are set in ``adata.var``:

        - ``tamis_selected`` and ``tamis_rank`` (1 is the first that was chosen);
        - ``tamis_score``: the share of the gene's variance that the programmes explain;
        - ``tamis_pvalue``: evidence that it depends on other genes;
        - ``tamis_structured``: whether it does above chance, and follows a programme;
        - ``tamis_programme``: the direction that it follows most, for structured genes;
        - ``tamis_stands_for``: for selected genes, up to five others that follow it more than any other selected one;
        - ``tamis_explained``: the share of the variance of a structured gene that the panel predicts in cells held out;
        - ``tamis_detection`` and ``tamis_mean``: share of cells that show it, and mean log-normalised expression;

        and ``adata.uns["tamis"]`` holds ``layer``, ``input`` (what the matrix was recognised as), ``normalisation``,
        ``tested_on``, ``genes`` (in order), ``n_programmes``, ``n_filler`` and ``batch_key``; so do the ``attrs`` of a
        DataFrame.

    Examples
    --------
    >>> tamis.select_genes(adata, 100, batch_key="donor", never="mitochondrial")  # doctest: +SKIP
    >>> panel = adata.var.query("tamis_selected").sort_values("tamis_rank")  # doctest: +SKIP
    """
    require("select_genes", "anndata")
    say: Any = print if verbose else str
    say("Reading the expression")
    data = read_expression(adata, layer=layer, use_raw=use_raw, gene_key=gene_key, random_state=random_state)
    batch = _batch_labels(adata, batch_key, batches)
    costs, families = _penalties(data, penalty), _groups(data, groups)
    kept, free = _limits(data, must_keep, never, expression, families)
    k = _size(n_genes, data, kept, len(np.unique(families[free])))
    say(f"Testing {len(data.genes)} genes in {len(data.cells)} cells")
    values, structure = _structure(data, batch[data.cells], batches, random_state)
    if n_genes == "auto" and not structure.n_structured:
        raise NoStructureError("No gene depends on others above chance, so that no number of genes is suggested.")
    programmes = find_programmes(values, _structured(structure, free), random_state or 0)
    # What passed by chance follows no programme.
    structure = replace(structure, structured=structure.structured & programmes.followed_by(values))
    goal = leading_directions(values[:, _structured(structure, free)], random_state or 0)
    say(f"Choosing {counted(k, 'gene')} among {structure.n_structured} with structure")
    selected = _chosen(values, programmes, goal, structure, kept, free, k, families, costs)
    say("Collecting the reasons")
    table = gene_table(data, values, structure, programmes, selected)
    table.attrs = {
        "layer": "raw" if use_raw else layer or "X",
        "input": data.kind,
        "normalisation": "size factors (median total) and log1p" if data.kind in ("counts", "linear") else "none",
        "tested_on": "values" if data.tested is data.sample else "counts of equal depth",
        "genes": data.genes[selected].astype(object),
        "n_programmes": programmes.directions.shape[1],
        "n_filler": int((~structure.structured[selected]).sum()),
        "batch_key": batch_key or "",
    }
    if not inplace:
        return table
    # Everything is computed before the first change, so that a failure leaves adata as it was.
    for name in table:
        adata.var[name] = table[name].reindex(adata.var.index) if use_raw else table[name]
    adata.uns["tamis"] = table.attrs
    return None


def _batch_labels(adata: Any, batch_key: str | None, batches: str) -> NDArray[Any]:
    """Return the batch of each cell, 0 for all cells without a key."""
    if batches not in ("any", "all"):
        raise ValueError(f"batches takes 'any' or 'all'; got {batches!r}.")
    if batch_key is None:
        return np.zeros(adata.n_obs, np.intp)
    found = labels(adata, batch_key, "batch_key")
    names, counts = np.unique(found, return_counts=True)
    if counts.min() < MIN_BATCH:
        raise ValueError(
            f"The batch {names[counts.argmin()]!r} has {counted(counts.min(), 'cell')}, and a batch needs at "
            f"least {MIN_BATCH}; merge it with another one, or remove its cells."
        )
    return found


def _limits(
    data: Expression, must_keep: Sequence[str], never: str | Sequence[str], expression: Any, groups: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the genes that are chosen already, and the mask of those that may be."""
    kept, banned = matching_genes(must_keep, data.genes, "must_keep"), matching_genes(never, data.genes, "never")
    if both := sorted(set(kept) & set(banned)):
        raise ValueError(f"must_keep and never both name {data.genes[both[0]]!r}; remove it from one of them.")
    low, high = _bounds(expression)
    free = (np.ptp(data.sample, axis=0) > 0) & (data.mean >= low) & (data.mean <= high)
    free[banned] = free[np.isin(groups, groups[kept])] = False
    return kept, free


def _bounds(expression: Any) -> tuple[float, float]:
    try:
        low, high = (None, None) if expression is None else expression
        found = -np.inf if low is None else float(low), np.inf if high is None else float(high)
    except (TypeError, ValueError):
        found = np.inf, -np.inf
    if not found[0] <= found[1]:
        raise ValueError(f"expression takes a lower and an upper bound, such as (0.02, 3); got {expression!r}.")
    return found


def _size(n_genes: int | str, data: Expression, kept: NDArray[np.intp], n_free: int) -> int:
    usable = len(kept) + n_free
    if n_genes == "auto":
        return min(max(choose_k(data.sample, random_state=0).k, len(kept) + 1), usable)
    if isinstance(n_genes, bool) or not isinstance(n_genes, int | np.integer) or n_genes < 1:
        raise ValueError(f"n_genes takes a positive number of genes or 'auto'; got {n_genes!r}.")
    if not len(kept) <= n_genes <= usable:
        raise ValueError(
            f"n_genes={n_genes}, but must_keep holds {counted(len(kept), 'gene')} and {usable} of {len(data.genes)} "
            "can be selected; genes with one value, in never, outside of the bounds of expression or of a group that "
            "is chosen from already cannot."
        )
    return int(n_genes)


def _structure(
    data: Expression, batch: NDArray[Any], batches: str, random_state: int | None
) -> tuple[NDArray[np.float32], Structure]:
    """Return the sampled expression, centred within batches, and the test of its genes."""
    names, counts = np.unique(batch, return_counts=True)
    # Of a rare batch fewer cells may have been drawn than can be compared.
    parts = [np.flatnonzero(batch == name) for name in names[counts >= min(MIN_BATCH, counts.max())]]
    cells = np.concatenate(parts)
    structure = find_structure(data.tested[cells], batch=batch[cells], random_state=random_state)
    if batches == "all":
        in_each = [find_structure(data.tested[part], random_state=random_state).structured for part in parts]
        structure = replace(structure, structured=structure.structured & np.all(in_each, axis=0))
    return np.vstack([data.sample[part] - data.sample[part].mean(axis=0) for part in parts]), structure


def _structured(structure: Structure, free: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the structured genes by their evidence; without any, all that may be chosen."""
    found = structure.order[structure.structured[structure.order]]
    return found if len(found) else np.flatnonzero(free)


def _chosen(
    values: NDArray[np.float32],
    programmes: Programmes,
    goal: NDArray[np.float32],
    structure: Structure,
    kept: NDArray[np.intp],
    free: NDArray[np.bool_],
    k: int,
    groups: NDArray[np.intp],
    penalty: NDArray[np.float64],
) -> NDArray[np.intp]:
    """Return k genes in order: those to keep, those that serve programmes, and those that align."""
    n_free = k - len(kept)
    order = structure.order[free[structure.order]]
    order = order[np.argsort(~structure.structured[order], kind="stable")]
    # Of a group one gene can be chosen, so that its first one stands for it.
    firsts = order[np.sort(np.unique(groups[order], return_index=True)[1])]
    n_good = int(structure.structured[firsts].sum())
    if n_good < n_free:
        what = counted(n_good, "gene" if len(firsts) == len(order) else "group") if n_good else "No gene"
        enough = (
            f"Select at most {counted(len(kept) + n_good, 'gene')}, or collect" if len(kept) + n_good else "Collect"
        )
        warn(
            f"{'Only ' * bool(n_good)}{what} with structure above chance may be chosen; filler takes {n_free - n_good} "
            f"of the {k} places. {enough} more cells.",
            FillerWarning,
            stacklevel=3,
        )
    good = free & structure.structured
    good[firsts[n_good:n_free]] = True
    serving = serve(programmes, good & (penalty == 0), n_free)
    given = np.r_[kept, serving[np.sort(np.unique(groups[serving], return_index=True)[1])]]
    return np.concatenate([given, align(values, goal, given, good, k - len(given), groups, penalty)])


def _penalties(data: Expression, penalty: str | None) -> NDArray[np.float64]:
    if penalty is None:
        return np.zeros(len(data.genes))
    import pandas

    costs = np.asarray(pandas.to_numeric(column(data.var, penalty, "penalty", "adata.var"), "coerce"), np.float64)
    if not ((costs >= 0) & (costs <= 1)).all():
        raise ValueError(f"penalty={penalty!r}: the column holds values that are not between 0 and 1.")
    return costs


def _groups(data: Expression, groups: str | None) -> NDArray[np.intp]:
    """Return a number for each gene, the same for those that exclude each other."""
    import pandas

    own = np.arange(len(data.genes))
    codes = -1 if groups is None else pandas.factorize(column(data.var, groups, "groups", "adata.var"))[0]
    return np.where(np.asarray(codes) >= 0, codes, len(own) + own)
