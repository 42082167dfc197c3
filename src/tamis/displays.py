"""Plots of selections, structures and numbers of features, made and used as scikit-learn's displays are."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from tamis.extras import require
from tamis.reprs import names_of
from tamis.sizes import KCurve
from tamis.structure import Structure
from tamis.structure.sample import MAX_KEPT_CELLS, sample_rows
from tamis.verdict import explained_shares, structure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tamis.base import FeatureSelector

BLUE, GREY, ORANGE = "#0072B2", "#999999", "#D55E00"
MIN_PVALUE = 1e-16
"""Smaller p-values are drawn as this one."""


class _Display:
    """What all displays share: axes to draw on."""

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
            The display, with the attributes ``ax_`` and ``figure_``.
        """
        require(type(self).__name__, "matplotlib")
        from matplotlib import pyplot

        self.ax_ = pyplot.subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        return self

    def _draw(self, ax: "Axes") -> None:
        raise NotImplementedError


@dataclass
class StructureDisplay(_Display):
    """Plot the evidence of every feature, the strongest first, and which features are above chance.

    Parameters
    ----------
    structure : Structure
        What :func:`tamis.find_structure` returned.
    selected : array of int, default=()
        Features that are circled.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from tamis import StructureDisplay, find_structure
    >>> display = StructureDisplay(find_structure(load_wine().data, random_state=0)).plot()
    >>> display.ax_.get_xlabel()
    'features, by their evidence'
    """

    structure: Structure
    selected: ArrayLike = ()

    @classmethod
    def from_estimator(cls, selector: "FeatureSelector", X: Any, *, ax: "Axes | None" = None) -> Self:
        """Plot the structure of a table, and circle the features that a selector chose.

        Parameters
        ----------
        selector : FeatureSelector
            A fitted selector.
        X : array, DataFrame, sparse matrix or source of shape (n_samples, n_features)
            The table that it was fitted to; used if the selector tests no structure.
        ax : Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        StructureDisplay
            What was drawn.
        """
        return cls(_sample_and_structure(selector, X)[1], selector.selected_).plot(ax)

    def _draw(self, ax: "Axes") -> None:
        found, order = self.structure, self.structure.order
        heights = -np.log10(np.maximum(found.pvalues[order], MIN_PVALUE))
        places, passed, chosen = np.arange(1, len(order) + 1), found.structured[order], np.isin(order, self.selected)
        for which, colour, label in ((passed, BLUE, "structured"), (~passed, GREY, "chance")):
            ax.scatter(places[which], heights[which], 14, colour, label=f"{label} ({which.sum()})")
        if chosen.any():
            label = f"selected ({chosen.sum()})"
            ax.scatter(places[chosen], heights[chosen], 60, "none", edgecolors=ORANGE, label=label)
        ax.set(xlabel="features, by their evidence", ylabel="−log₁₀ p", title=f"Structure at fdr = {found.fdr:g}")
        ax.legend()


@dataclass
class CurveDisplay(_Display):
    """Plot the share of the structure that k features explain on rows held out, for several k.

    Parameters
    ----------
    sizes : array of int
        Numbers of features.
    explained : array of float
        Share that each explains.
    errors : array of float, optional
        Their standard errors.
    k : int, optional
        The number that is marked.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from tamis import CurveDisplay, choose_k
    >>> CurveDisplay.from_curve(choose_k(load_wine().data)).ax_.get_xlabel()
    'number of features'
    """

    sizes: ArrayLike
    explained: ArrayLike
    errors: ArrayLike | None = None
    k: int | None = None

    @classmethod
    def from_curve(cls, curve: KCurve, *, ax: "Axes | None" = None) -> Self:
        """Plot what :func:`tamis.choose_k` returned.

        Parameters
        ----------
        curve : KCurve
            The curve.
        ax : Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        CurveDisplay
            What was drawn.
        """
        sizes, most = np.arange(1, len(curve.explained) + 1), curve.n_directions
        return cls(sizes, curve.explained / most, curve.errors / most, curve.k).plot(ax)

    @classmethod
    def from_estimator(cls, selector: "FeatureSelector", X: Any, *, ax: "Axes | None" = None) -> Self:
        """Plot what the first, the first two, ... and all selected features explain.

        Parameters
        ----------
        selector : FeatureSelector
            A fitted selector.
        X : array, DataFrame, sparse matrix or source of shape (n_samples, n_features)
            A table with the features that it was fitted to.
        ax : Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        CurveDisplay
            What was drawn.
        """
        sample, structure = _sample_and_structure(selector, X)
        sizes = np.unique(np.geomspace(1, len(selector.selected_), 30).round().astype(int))
        halves = np.array_split(np.random.default_rng(0).permutation(sample.shape[0]), 2)
        shares = explained_shares(sample, [selector.selected_[:size] for size in sizes], structure, halves)
        return cls(sizes, shares).plot(ax)

    def _draw(self, ax: "Axes") -> None:
        ax.errorbar(np.asarray(self.sizes), np.asarray(self.explained), self.errors, color=BLUE, marker="o", ms=3)
        if self.k is not None:
            ax.axvline(self.k, color=ORANGE, linestyle="--", label=f"k = {self.k}")
            ax.legend()
        ax.set(xlabel="number of features", ylabel="share of the structure explained", ylim=(0, 1.02))


@dataclass
class SelectionDisplay(_Display):
    """Plot the selected features and their scores, the best first; those without structure are marked as filler.

    Parameters
    ----------
    names : sequence of str
        Names of the features, the best first.
    scores : array of float
        Score of each.
    filler : array of bool
        Which features have no structure above chance.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from tamis import SelectionDisplay, StructurePursuit
    >>> selector = StructurePursuit(3).fit(load_wine(as_frame=True).data)
    >>> len(SelectionDisplay.from_estimator(selector).names)
    3
    """

    names: list[str]
    scores: NDArray[np.float64]
    filler: NDArray[np.bool_]

    @classmethod
    def from_estimator(cls, selector: "FeatureSelector", *, max_features: int = 30, ax: "Axes | None" = None) -> Self:
        """Plot the best features of a fitted selector.

        Parameters
        ----------
        selector : FeatureSelector
            A fitted selector.
        max_features : int, default=30
            Number of features to show.
        ax : Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SelectionDisplay
            What was drawn.
        """
        check_is_fitted(selector)
        best = selector.selected_[:max_features]
        return cls(names_of(selector, best), selector.scores_[best], selector.filler_[best]).plot(ax)

    def _draw(self, ax: "Axes") -> None:
        places = np.arange(len(self.names))
        for which, colour, label in ((~self.filler, BLUE, None), (self.filler, ORANGE, "filler: no structure")):
            ax.barh(places[which], self.scores[which], color=colour, label=label)
        ax.set_yticks(places, self.names, parse_math=False)
        ax.invert_yaxis()
        ax.set(xlabel="score", title=f"Selected features ({len(places)})")
        if self.filler.any():
            ax.legend()


def _sample_and_structure(selector: "FeatureSelector", X: Any) -> tuple[Any, Structure]:
    """Return some rows of a table, and the structure that the selector found or, without one, theirs."""
    check_is_fitted(selector)
    sample, _ = sample_rows(X, np.random.default_rng(0), MAX_KEPT_CELLS, 100)
    return sample, getattr(selector, "structure_", None) or structure_of(sample, selector._kept_rows.owner)
