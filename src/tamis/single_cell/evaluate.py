"""evaluate_panel and compare_panels: scores of any list of genes, beside random and highly variable ones."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

from tamis.extras import require
from tamis.metrics import reconstruction_errors
from tamis.single_cell import scores
from tamis.single_cell.expression import Expression, labels, read_expression
from tamis.single_cell.families import matching_genes

if TYPE_CHECKING:
    import anndata
    import pandas

MIN_CELLS, MAX_CELLS = 10, 3000
N_PROGRAMMES = 20
REFERENCES = ("random", "highly variable")


def evaluate_panel(adata: "anndata.AnnData", genes: Sequence[str], **options: Any) -> "pandas.DataFrame":
    """Score a list of genes beside random and highly variable ones.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, as for :func:`tamis.select_genes`.
    genes : sequence of str, or mask of shape (n_genes,)
        The panel; ``adata.var["tamis_selected"]`` is one.
    **options : dict
        Passed to :func:`tamis.compare_panels`.

    Returns
    -------
    DataFrame
        As of :func:`tamis.compare_panels`; the row of the list is named "panel".
    """
    return compare_panels(adata, {"panel": genes}, **options)


def compare_panels(
    adata: "anndata.AnnData",
    panels: Mapping[str, Sequence[str]],
    *,
    cell_type_key: str | None = None,
    batch_key: str | None = None,
    layer: str | None = None,
    use_raw: bool = False,
    gene_key: str | None = None,
    references: bool = True,
    clusters: bool = True,
    random_state: int = 0,
) -> "pandas.DataFrame":
    """Score lists of genes, however they were chosen.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, as for :func:`tamis.select_genes`; at most :data:`MAX_CELLS` cells are drawn.
    panels : mapping of str to sequence of str, or mask of shape (n_genes,)
        Names of panels to their genes.
    cell_type_key, batch_key : str, optional
        Columns of ``adata.obs``; they add the scores that need them. Cells without a type take no part in the scores
        of types; every cell needs a batch.
    layer, use_raw, gene_key : str, bool, str, optional
        As for :func:`tamis.select_genes`.
    references : bool, default=True
        Whether random and highly variable lists as long as the first panel are added; of scaled expression, which has
        no highly variable genes, a random one.
    clusters : bool, default=True
        Whether the similarity of clusters, which needs igraph, is computed.
    random_state : int, default=0
        Seed of the cells that are drawn, of random lists and of clusters.

    Returns
    -------
    DataFrame
        A row per panel; larger is better in all scores:

        - ``nmi_5_20``, ``nmi_21_60``: agreement of Leiden clusters by the panel and by all genes, over their number;
        - ``knn_overlap``: share of the 5 to 30 nearest cells by all genes that are nearest by the panel;
        - ``correlation``, ``correlation_share``: 1 − mean absolute correlation of two genes, and share of genes that
          correlate with no other by 0.8 (these five are the scores of Spapros);
        - ``programmes``: share of the variance of the 20 leading directions of all genes that is predicted in cells
          held out;
        - ``r2``, ``r2_total``: share of the variance of genes so predicted, each gene alike or by its variance;
        - with cell types ``f1``, ``f1_knn``, ``f1_rare``: macro F1 by logistic regression and by 15 nearest cells, and
          the former of types with at most 5 % of the cells, or of the rarest one; ``.attrs["confusion"]`` holds, for
          each panel, the share of the cells of a type that are taken for another one,
          ``["panel"]["B cell"]["T cell"]``;
        - with batches ``batch_mixing``: share of the nearest cells that are of other batches, 1 as by chance.
    """
    import pandas

    _check_panels(panels, references)
    if clusters:
        require("The similarity of clusters", "igraph")
    which: dict[str, Any] = {"layer": layer, "use_raw": use_raw, "gene_key": gene_key}
    data = read_expression(adata, **which, max_cells=MAX_CELLS, random_state=random_state)
    if len(data.cells) < MIN_CELLS:
        raise ValueError(f"Panels are compared by the neighbours of cells, of which {MIN_CELLS} are needed at least.")
    types = None if cell_type_key is None else labels(adata, cell_type_key, "cell_type_key", complete=False)[data.cells]
    batch = None if batch_key is None else labels(adata, batch_key, "batch_key")[data.cells]
    lists = {name: _positions(genes, data, name) for name, genes in panels.items()}
    if references:
        lists |= _references(data, len(next(iter(lists.values()))), random_state)
    whole, confusion = WholeScores(data.sample, clusters, random_state), dict[str, Any]()
    rows: dict[str, Any] = {name: whole.of(genes) for name, genes in lists.items()}
    for name, genes in lists.items():
        X = data.sample[:, genes]
        if types is not None:
            found, shares = scores.classification(X, types)
            rows[name] |= found
            confusion[name] = shares.T.to_dict()
        if batch is not None:
            rows[name]["batch_mixing"] = scores.batch_mixing(X, batch)
    table = pandas.DataFrame(rows).T
    table.attrs["confusion"] = confusion
    return table


class WholeScores:
    """Scores of panels against all genes, of which neighbours, clusters and directions are computed once."""

    def __init__(self, X: NDArray[np.float32], clusters: bool, seed: int):
        components = scores.principal_components(X, seed)
        self.X, self.seed, self.near = X, seed, scores.nearest(components)
        self.clusters = scores.partitions(components, seed) if clusters else None
        centred = X - X.mean(axis=0)
        self.directions, singular, _ = randomized_svd(centred, min(N_PROGRAMMES, *X.shape), random_state=seed)
        self.energy, spread = singular.astype(np.float64) ** 2, centred.std(axis=0)
        self.varies = np.flatnonzero(spread > 0)
        self.Z = (centred / np.where(spread > 0, spread, 1)).astype(np.float64)
        self.variance = spread[self.varies].astype(np.float64) ** 2

    def of(self, genes: NDArray[np.intp]) -> dict[str, float]:
        """Return the scores of a panel."""
        components = scores.principal_components(self.X[:, genes], self.seed)
        found: dict[str, float] = {}
        if self.clusters is not None:
            found |= scores.partition_similarity(self.clusters, scores.partitions(components, self.seed))
        found["knn_overlap"] = scores.neighbour_overlap(self.near, scores.nearest(components))
        found |= scores.correlations(self.X[:, genes])
        table = np.hstack([self.Z[:, genes], self.directions / self.directions.std(axis=0)])
        lost = reconstruction_errors(table, np.arange(len(genes)), targets=np.arange(len(genes), table.shape[1]))
        errors = np.minimum(reconstruction_errors(self.Z, genes, targets=self.varies), 1.0)
        found["programmes"] = float(1 - np.average(np.minimum(lost, 1.0), weights=self.energy))
        found["r2"] = float(1 - errors.mean())
        found["r2_total"] = float(1 - np.average(errors, weights=self.variance))
        return found


def _check_panels(panels: Mapping[str, Sequence[str]], references: bool) -> None:
    if not isinstance(panels, Mapping) or not panels:
        raise ValueError(f"panels takes a mapping of names to genes, such as {{'mine': genes}}; got {panels!r:.60}.")
    if references and (taken := [name for name in panels if name in REFERENCES]):
        raise ValueError(f"panels holds {taken[0]!r}, which names a reference; rename it, or pass references=False.")


def _positions(genes: Sequence[str], data: Expression, name: str) -> NDArray[np.intp]:
    """Return the positions of the genes of a panel: names, or a mask of all genes."""
    mask = np.asarray(genes)
    if mask.dtype == bool and mask.shape == data.genes.shape:
        found = np.flatnonzero(mask)
    else:
        found = matching_genes(genes, data.genes, f"The panel {name!r}")
    if (n_varying := int((np.ptp(data.sample[:, found], axis=0) > 0).sum())) < 2:
        raise ValueError(f"A panel needs at least 2 genes that vary, and {name!r} has {n_varying}.")
    return found


def _references(data: Expression, size: int, seed: int) -> dict[str, NDArray[np.intp]]:
    """Return a random list of genes that vary, and those whose variance exceeds that of genes alike in mean most.

    Scaled genes vary alike, so that none is highly variable.
    """
    varies = np.flatnonzero(data.sample.std(axis=0) > 0)
    lists = [np.random.default_rng(seed).permutation(varies)[:size]]
    if data.kind != "scaled":
        excess = scores.excess_variance(data.sample[:, varies].astype(np.float64))
        lists.append(varies[np.argsort(-excess, kind="stable")[:size]])
    return dict(zip(REFERENCES, lists, strict=False))
