"""Plots of gene panels in scanpy's manner: each draws on axes and returns them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.extras import require
from tamis.single_cell.expression import labels, read_expression
from tamis.single_cell.reasons import programme_table

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes
    from pandas import DataFrame

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")


def panel_heatmap(
    adata: "AnnData", groupby: str, *, layer: str | None = None, gene_key: str | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw the mean expression of the selected genes, in order of their programmes, by groups of cells.

    Genes that follow no programme come last; cells without a group are left out.

    Parameters
    ----------
    adata : AnnData
        After :func:`tamis.select_genes`.
    groupby : str
        Column of ``adata.obs``, such as cell types.
    layer : str, optional
        The layer to use instead of ``adata.X``.
    gene_key : str, optional
        Column of ``adata.var`` with the symbols to show; by default ``adata.var_names``.
    ax : Axes, optional
        Where to draw.
    """
    table, own = _panel(adata), labels(adata, groupby, "groupby", complete=False)
    selected = np.flatnonzero(table["tamis_selected"])
    programmes = [int(name or 10**9) for name in table["tamis_programme"].astype(str).iloc[selected]]
    selected = selected[np.lexsort((table["tamis_rank"].iloc[selected], programmes))]
    data = read_expression(adata, layer=layer, gene_key=gene_key)
    genes, values, own = data.genes[selected], data.sample[:, selected], own[data.cells]
    groups = sorted(set(own) - {""})
    means = np.array([values[own == group].mean(axis=0) for group in groups])
    low, high = means.min(axis=0), means.max(axis=0)
    ax = _axes(ax, (max(4.0, 0.2 * len(genes)), 0.3 * len(groups) + 1.5))
    image = ax.imshow((means - low) / np.maximum(high - low, 1e-12), aspect="auto", cmap="viridis")
    ax.set_xticks(range(len(genes)), genes, rotation=90, fontsize=6)
    ax.set_yticks(range(len(groups)), groups)
    ax.figure.colorbar(image, ax=ax, label="mean, 0 to 1 by gene")
    return ax


def panel_coverage(adata: "AnnData", *, ax: "Axes | None" = None) -> "Axes":
    """Draw how much of the genes of each programme the panel predicts, with the numbers of genes selected."""
    table = programme_table(_panel(adata))
    ax = _axes(ax, (6.0, 0.25 * len(table) + 1.0))
    bars = ax.barh(table.index, table["covered"], color=COLOURS[0])
    counts = [f"{len(own)} of {n}" for own, n in zip(table["selected"], table["n_genes"], strict=True)]
    ax.bar_label(bars, counts, padding=3)
    ax.invert_yaxis()
    ax.set(
        xlim=(0, 1.2),
        xticks=np.linspace(0, 1, 6),
        xlabel="share of the programme's genes that the panel predicts",
        ylabel="programme",
    )
    return ax


def panel_comparison(scores: "DataFrame", *, columns: Sequence[str] | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the scores that :func:`tamis.compare_panels` returns, a group of bars for each score."""
    shown = scores if columns is None else scores[list(columns)]
    ax = _axes(ax, (6.0, 0.16 * shown.size + 1.0))
    shown.T.plot.barh(ax=ax, width=0.8, color=_colours(len(shown)), xlim=(0, 1))
    ax.invert_yaxis()
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    return ax


def panel_umap(adata: "AnnData", color: str, *, layer: str | None = None, random_state: int = 0) -> "Sequence[Axes]":
    """Draw cells by all genes and by the selected ones, side by side; it needs umap-learn.

    Parameters
    ----------
    adata : AnnData
        After :func:`tamis.select_genes`.
    color : str
        Column of ``adata.obs``, such as cell types.
    layer : str, optional
        The layer to use instead of ``adata.X``.
    random_state : int, default=0
        Seed of the cells that are drawn and of the embedding.
    """
    try:
        from umap import UMAP
    except ImportError as error:
        raise ImportError("panel_umap needs umap-learn; run pip install umap-learn.", name="umap") from error
    require("Plots", "matplotlib")
    from matplotlib import pyplot as plt

    from tamis.single_cell.scores import principal_components

    kept = _panel(adata)["tamis_selected"].to_numpy(bool)
    data = read_expression(adata, layer=layer, random_state=random_state)
    own = labels(adata, color, "color", complete=False)[data.cells]
    groups = sorted(set(own) - {""})
    _, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for ax, X, title in zip(axes, (data.sample, data.sample[:, kept]), ("all genes", "panel"), strict=True):
        points = UMAP(random_state=random_state, n_jobs=1).fit_transform(principal_components(X, random_state))
        for group, colour in zip(groups, _colours(len(groups)), strict=True):
            ax.scatter(*points[own == group].T, s=4, label=group, color=colour)
        ax.set(title=title, xticks=[], yticks=[])
    axes[1].legend(frameon=False, markerscale=3, loc="upper left", bbox_to_anchor=(1, 1))
    return list(axes)


def _panel(adata: Any) -> "DataFrame":
    """Return the table of genes, if there is a panel."""
    if "tamis_selected" not in adata.var:
        raise ValueError("adata holds no panel; call tamis.select_genes(adata, k) first.")
    return adata.var


def _colours(n: int) -> list[Any]:
    """Return as many different colours."""
    from matplotlib import colormaps

    return list(COLOURS[:n]) if n <= len(COLOURS) else list(colormaps["turbo"](np.linspace(0.05, 0.95, n)))


def _axes(ax: "Axes | None", size: tuple[float, float]) -> Any:
    require("Plots", "matplotlib")
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax
