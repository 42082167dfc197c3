"""What can be said of a selection without labels, computed on a bounded sample of the rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.metrics import Array, Sample, dense_sample, random_columns, reconstruction_errors, score_columns

RANDOM_LISTS = 10
BLOCK_COLUMNS = 2000


@dataclass(frozen=True)
class Analysis:
    """Numbers behind the page.

    Attributes
    ----------
    sample : Sample
        The rows that everything below was computed on.
    selected : ndarray of int
        The chosen columns, best first.
    errors : ndarray of shape (d,)
        Error of every column predicted from the chosen ones on rows held out; 0 for the chosen.
    nearest : ndarray of int, shape (d,)
        The chosen column, other than itself, with which each column is most correlated; -1 if there is none.
    correlation : ndarray of shape (d,)
        The correlation with it.
    scores : dict
        :func:`tamis.metrics.score_columns` of the selection.
    random_scores : list of dict
        The same for random lists of the same size.
    random_errors : ndarray
        Errors of all columns predicted from one random list, for comparison.
    view_chosen, view_all : ndarray of shape (rows, 2)
        Principal components of the chosen columns, turned towards those of all, and those of all columns.
    """

    sample: Sample
    selected: NDArray[np.intp]
    errors: Array
    nearest: NDArray[np.intp]
    correlation: Array
    scores: dict[str, float]
    random_scores: list[dict[str, float]]
    random_errors: Array
    view_chosen: Array
    view_all: Array

    @property
    def others(self) -> NDArray[np.intp]:
        """The columns that were not chosen and are not constant."""
        return np.setdiff1d(np.flatnonzero(self.sample.Z.any(axis=0)), self.selected)

    def represented(self) -> dict[int, NDArray[np.intp]]:
        """Give, for every chosen column, the others to which it is nearest, the most correlated first."""
        order = self.others[np.argsort(-np.abs(self.correlation[self.others]), kind="stable")]
        return {int(column): order[self.nearest[order] == column] for column in self.selected}

    def random_mean(self, score: str) -> float:
        """Give the mean of a score over the random lists."""
        return float(np.mean([scores[score] for scores in self.random_scores]))


def analyse(selector: Any, X: Any, labels: Any = None, random_state: int = 0) -> Analysis:
    """Look at a fitted selector's choice on the data it was fitted on, or on new data with the same columns."""
    sample = dense_sample(X, random_state=random_state)
    Z, selected = sample.Z, np.asarray(selector.selected_)
    lists = random_columns(sample, len(selected), RANDOM_LISTS, random_state)
    nearest, correlation = nearest_chosen(Z, selected)
    view_all = components(Z, random_state)
    return Analysis(
        sample,
        selected,
        reconstruction_errors(Z, selected),
        nearest,
        correlation,
        score_columns(sample, selected, labels, random_state=random_state),
        [score_columns(sample, columns, labels, random_state=random_state) for columns in lists],
        reconstruction_errors(Z, lists[0]),
        turned(components(Z[:, selected], random_state), view_all),
        view_all,
    )


def nearest_chosen(Z: Array, selected: NDArray[np.intp]) -> tuple[NDArray[np.intp], Array]:
    """Give every column's most correlated chosen column, other than itself, and the correlation."""
    d = Z.shape[1]
    nearest, correlation = np.full(d, -1, dtype=np.intp), np.zeros(d)
    for start in range(0, d, BLOCK_COLUMNS):
        block = np.arange(start, min(start + BLOCK_COLUMNS, d))
        table = Z[:, block].T @ Z[:, selected] / len(Z)
        table[block[:, None] == selected] = 0.0
        best = np.abs(table).argmax(axis=1)
        value = table[np.arange(len(block)), best]
        nearest[block] = np.where(value != 0, selected[best], -1)
        correlation[block] = np.clip(value, -1, 1)
    return nearest, correlation


def components(Z: Array, random_state: int) -> Array:
    """Give two principal components; a missing second one is 0."""
    from sklearn.utils.extmath import randomized_svd

    wanted = min(2, *Z.shape)
    left, values, _ = randomized_svd(Z - Z.mean(axis=0), n_components=wanted, random_state=random_state)
    view = np.zeros((len(Z), 2))
    view[:, :wanted] = left * values
    return view


def turned(view: Array, towards: Array) -> Array:
    """Rotate and mirror a view so that it lies as near to another as it can (Procrustes), keeping its scale."""
    left, _, right = np.linalg.svd(view.T @ towards)
    return view @ (left @ right)
