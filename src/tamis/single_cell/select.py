"""select_genes: a gene panel from an AnnData object, with the reason for every gene."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from tamis.extras import require
from tamis.reprs import counted
from tamis.single_cell.alignment import Array, Mask, Programmes, align, find_programmes, leading_directions, serve
from tamis.single_cell.expression import (
    Expression,
    check_annotated,
    column,
    labels,
    read_expression,
    warn_of_cells,
)
from tamis.single_cell.families import PanelWarning, matching_genes
from tamis.single_cell.reasons import gene_table
from tamis.sizes import NoStructureError, k_curve
from tamis.structure import Structure, find_structure
from tamis.structure.candidates import FillerWarning
from tamis.structure.evidence import STRICT_FDR, discoveries
from tamis.structure.find import MIN_ROWS
from tamis.structure.sample import Indices

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
    the programmes; genes that follow none are left out. The panel begins with genes that explain the programmes
    together, as many as there are programmes. The others are chosen one by one so that the similarities of cells by
    the panel agree with those by all genes with structure.

    Parameters
    ----------
    adata : AnnData
        Cells × genes: counts, which are normalised, or log-normalised or scaled expression. A backed object stays on
        disk, dask and sparse data are read in pieces, and the matrix is not changed.
    n_genes : int or "auto"
        Number of genes, those of ``must_keep`` included; "auto" takes as many as explain the structure within batches,
        as in :func:`tamis.choose_k`.
    layer : str, optional
        The layer to use instead of ``adata.X``.
    use_raw : bool, default=False
        Whether to use ``adata.raw``.
    gene_key : str, optional
        Column of ``adata.var`` with the symbols that the lists below name; by default ``adata.var_names``.
    batch_key : str, optional
        Column of ``adata.obs`` with the batch of each cell, none missing; only differences within batches count.
    batches : {"any", "all"}, default="any"
        Whether structure within batches is enough that shows over all of them together, or it has to show in each, of
        which each needs at least 30 cells.
    must_keep : sequence of str
        Genes of the panel that are chosen already.
    never : str or sequence of str
        Genes that are not chosen: names, globs such as ``"HLA-*"`` and the families "mitochondrial", "ribosomal",
        "haemoglobin", "sex" and "cell-cycle". They still count as data to be explained.
    expression : (float, float), optional
        Bounds of the mean log-normalised expression, None for no bound: probes miss dimmer genes and crowd in brighter
        ones.
    penalty : str, optional
        Column of ``adata.var`` with numbers from 0 (none) to 1 (chosen last): the part of its gain that a gene loses in
        every comparison with others.
    groups : str, optional
        Column of ``adata.var``; of genes with the same value, such as isoforms, one is chosen at most.
    random_state : int, default=0
        Seed of the cells that are drawn, of the test and of the directions.
    inplace : bool, default=True
        Whether the result is written into ``adata``; else it is returned. Of genes that only ``adata.raw`` has, a
        result in ``adata`` holds the names alone.
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
        - ``tamis_stands_for``: for selected genes, up to five genes that rise and fall with it more than with any other
          selected one;
        - ``tamis_explained``: the share of the variance of a structured gene that the panel predicts in cells held out;
        - ``tamis_detection`` and ``tamis_mean``: share of cells that show it, and mean log-normalised expression, NaN
          if expression is scaled;

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
    check_annotated(adata)
    batch = _batch_labels(adata, batch_key, batches)
    which: Any = {"layer": layer, "use_raw": use_raw, "gene_key": gene_key}
    data = read_expression(adata, **which, batch=batch, random_state=random_state)
    if inplace and use_raw:
        _check_room_for_raw(adata)
    costs, families = _penalties(data, penalty), _groups(data, groups)
    kept, free = _limits(data, must_keep, never, expression, families)
    n_usable = len(kept) + len(np.unique(families[free]))
    k = 0 if n_genes == "auto" and n_usable else _size(n_genes, len(data.genes), len(kept), n_usable)
    warn_of_cells(data)
    say(f"Testing {len(data.genes)} genes in {len(data.cells)} cells")
    values, structure = _structure(data, batch[data.cells], batches, random_state)
    programmes = find_programmes(values, _structured(structure, free), random_state or 0)
    # What passed by chance follows no programme.
    structure = replace(structure, structured=structure.structured & programmes.followed_by(values))
    k = k or min(_suggested(values, structure, kept, random_state or 0), n_usable)
    goal = leading_directions(values[:, _structured(structure, free)], random_state or 0)
    say(f"Choosing {counted(k, 'gene')} among {structure.n_structured} with structure")
    in_batches = f"; types of cells that {batch_key!r} parts from each other do not count" if batch_key else ""
    selected = _chosen(values, programmes, goal, structure, kept, free, k, families, costs, in_batches)
    say("Collecting the reasons")
    table = gene_table(data, values, structure, programmes, selected)
    of_programmes = programmes.directions.shape[1] if structure.n_structured else 0
    table.attrs = {
        "layer": "raw" if use_raw else layer or "X",
        **_read_as(data),
        "genes": data.genes[selected].tolist(),
    }
    table.attrs |= {"n_programmes": of_programmes, "batch_key": batch_key or ""}
    table.attrs["n_filler"] = int((~structure.structured[selected[len(kept) :]]).sum())
    if not inplace:
        return table
    # Everything is computed before the first change, so that a failure leaves adata as it was.
    _write(adata, table, use_raw)
    return None


def _read_as(data: Expression) -> dict[str, str]:
    return {
        "input": data.kind,
        "normalisation": "size factors (median total) and log1p" if data.kind in ("counts", "linear") else "none",
        "tested_on": "values" if data.tested is data.sample else "counts of equal depth",
    }


def _check_room_for_raw(adata: Any) -> None:
    """Raise an error if the table of the genes cannot hold what is found of those of ``adata.raw``."""
    if n_absent := int((~adata.var_names.isin(adata.raw.var_names)).sum()):
        fault = f"adata.raw lacks {counted(n_absent, 'gene')} of adata.var, which would get no result"
        raise ValueError(f"{fault}; pass inplace=False.")
    if not adata.raw.var_names.is_unique:
        raise ValueError("Some names of adata.raw.var_names occur twice; pass inplace=False, or make them differ.")


def _write(adata: Any, table: Any, use_raw: bool) -> None:
    """Write the columns of the table, and what it says of all genes, into an AnnData object."""
    shown = table.loc[adata.var_names] if use_raw else table
    for name in table:
        adata.var[name] = shown[name]
    adata.uns["tamis"] = table.attrs | {"genes": np.array(table.attrs["genes"], dtype=object)}
    if n_absent := int(table["tamis_selected"].sum() - shown["tamis_selected"].sum()):
        where = "adata.var cannot hold; adata.uns['tamis']['genes'] lists all"
        fault = f"{n_absent} of the {len(table.attrs['genes'])} selected genes are in adata.raw alone"
        warn(f"{fault}, which {where}.", PanelWarning, stacklevel=3)


def _batch_labels(adata: Any, batch_key: str | None, batches: str) -> NDArray[Any]:
    """Return the batch of each cell, 0 for all cells without a key."""
    if batches not in ("any", "all"):
        raise ValueError(f"batches takes 'any' or 'all'; got {batches!r}.")
    if batch_key is None:
        return np.zeros(adata.n_obs, np.intp)
    found = labels(adata, batch_key, "batch_key")
    names, counts = np.unique(found, return_counts=True)
    least, why = (MIN_ROWS, " for batches='all'") if batches == "all" else (MIN_BATCH, "")
    if counts.min() < least:
        fault = f"The batch {names[counts.argmin()]!r} has {counted(counts.min(), 'cell')}"
        remedy = "merge it with another one, or remove its cells"
        raise ValueError(f"{fault}, and a batch needs at least {least}{why}; {remedy}.")
    return found


def _limits(
    data: Expression, must_keep: Sequence[str], never: str | Sequence[str], expression: Any, groups: Indices
) -> tuple[Indices, Mask]:
    """Return the genes that are chosen already, and the mask of those that may be."""
    kept, banned = matching_genes(must_keep, data.genes, "must_keep"), matching_genes(never, data.genes, "never")
    if both := sorted(set(kept) & set(banned)):
        raise ValueError(f"must_keep and never both name {data.genes[both[0]]!r}; remove it from one of them.")
    low, high = _bounds(expression)
    if expression is not None and data.kind == "scaled":
        raise ValueError("expression bounds means, and those of scaled genes are zero; name a layer, or use_raw=True.")
    free = (np.ptp(data.sample, axis=0) > 0) & ~((data.mean < low) | (data.mean > high))
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


def _size(n_genes: int | str, n_all: int, n_kept: int, n_usable: int) -> int:
    given_well = isinstance(n_genes, int | np.integer) and not isinstance(n_genes, bool) and n_genes >= 1
    if not given_well and n_genes != "auto":
        raise ValueError(f"n_genes takes a positive number of genes or 'auto'; got {n_genes!r}.")
    if n_genes == "auto" or not n_kept <= int(n_genes) <= n_usable:
        raise ValueError(
            f"n_genes={n_genes!r}, but {n_usable} of {n_all} genes can be selected, of which must_keep holds {n_kept}. "
            "Genes with one value, in never, outside the bounds of expression, or of a group of which one is chosen "
            "already, are left out."
        )
    return int(n_genes)


def _structure(
    data: Expression, batch: NDArray[Any], batches: str, random_state: int | None
) -> tuple[Array, Structure]:
    """Return the sampled expression, centred within batches, and the test of its genes.

    Within batches, shallow cells are compared with each other alone.
    """
    names, number, counts = np.unique(batch, return_inverse=True, return_counts=True)
    # Of a rare batch fewer cells may have been drawn than can be compared.
    parts = [np.flatnonzero(number == each) for each in np.flatnonzero(counts >= min(MIN_BATCH, counts.max()))]
    n_shallow = np.bincount(number[data.shallow], minlength=len(names))
    split = np.minimum(n_shallow, counts - n_shallow) >= MIN_BATCH
    strata = number + len(names) * (data.shallow & split[number])

    def found_in(cells: Indices) -> Structure:
        return find_structure(data.tested[cells], batch=strata[cells], random_state=random_state)

    structure = found_in(np.concatenate(parts))
    if batches == "all":
        in_each = [found_in(part).structured for part in parts]
        structure = replace(structure, structured=structure.structured & np.all(in_each, axis=0))
    return np.vstack([data.sample[part] - data.sample[part].mean(axis=0) for part in parts]), structure


def _suggested(values: Array, structure: Structure, kept: Indices, random_state: int) -> int:
    """Return how many genes, those kept among them, explain the structure of those that are beyond doubt."""
    sure = structure.structured & discoveries(structure.pvalues, STRICT_FDR)
    if not sure.any():
        raise NoStructureError("No gene depends on others above chance, so that no number of genes is suggested.")
    rng = np.random.default_rng(random_state)
    return k_curve(values, replace(structure, structured=sure), rng, kept=kept).k


def _structured(structure: Structure, free: Mask) -> Indices:
    """Return the structured genes by their evidence; without any, all that may be chosen."""
    found = structure.order[structure.structured[structure.order]]
    return found if len(found) else np.flatnonzero(free)


def _chosen(
    values: Array, programmes: Programmes, goal: Array, structure: Structure, kept: Indices, free: Mask, k: int,
    groups: Indices, penalty: NDArray[np.float64], in_batches: str,
) -> Indices:  # fmt: skip
    """Return k genes in order: those to keep, those that serve programmes, and those that align."""
    n_free = k - len(kept)
    order = structure.order[free[structure.order]]
    order = order[np.argsort(~structure.structured[order], kind="stable")]
    # Of a group one gene can be chosen, so that its first one stands for it.
    firsts = order[np.sort(np.unique(groups[order], return_index=True)[1])]
    n_good = int(structure.structured[firsts].sum())
    if n_good < n_free:
        what = counted(n_good, "gene" if len(firsts) == len(order) else "group") if n_good else "No gene"
        enough = f"Select at most {counted(len(kept) + n_good, 'gene')}, or c" if len(kept) + n_good else "C"
        warn(
            f"{'Only ' * bool(n_good)}{what} with structure above chance may be chosen; filler takes {n_free - n_good} "
            f"of the {k} places. {enough}ollect more cells{in_batches}.",
            FillerWarning,
            stacklevel=3,
        )
    # Nobody needs a doubtful gene where there are others.
    good = free & structure.structured & discoveries(structure.pvalues, STRICT_FDR)
    good[firsts[:n_free]] = True
    weights = 1 - penalty + 1e-9  # a penalty of all genes changes nothing
    serving = serve(programmes, kept, good, n_free, weights)
    given = np.r_[kept, serving[np.sort(np.unique(groups[serving], return_index=True)[1])]]
    return np.concatenate([given, align(values, goal, given, good, k - len(given), groups, weights)])


def _penalties(data: Expression, penalty: str | None) -> NDArray[np.float64]:
    if penalty is None:
        return np.zeros(len(data.genes))
    import pandas

    costs = np.asarray(pandas.to_numeric(column(data.var, penalty, "penalty", "adata.var"), "coerce"), np.float64)
    if not ((costs >= 0) & (costs <= 1)).all():
        raise ValueError(f"penalty={penalty!r}: the column holds values that are not between 0 and 1.")
    return costs


def _groups(data: Expression, groups: str | None) -> Indices:
    """Return a number for each gene, the same for those that exclude each other."""
    import pandas

    own = np.arange(len(data.genes))
    if groups is None:
        return own
    names = column(data.var, groups, "groups", "adata.var").astype(object)
    codes, _ = pandas.factorize(names.where(names != "", None))
    return np.where(codes >= 0, codes, len(own) + own)
