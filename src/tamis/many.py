"""Many fits at once, on whatever engine joblib is told to use: processes, Dask or Ray."""

from collections.abc import Iterable
from typing import Any

from joblib import Parallel, delayed
from sklearn.base import clone


def fit_many(selectors: Iterable[Any], X: Any, *, n_jobs: int | None = None) -> list[Any]:
    """Fit clones of several selectors to one table, such as a curve over k, several seeds or several methods.

    Parameters
    ----------
    selectors : iterable of FeatureSelector
        What to fit; they are not changed. Callbacks stay behind.
    X : array, DataFrame, sparse matrix or source
        The table. One that :func:`tamis.io.sources.open_source` has opened is opened anew where a fit runs.
    n_jobs : int, optional
        Fits at a time; None means what ``joblib.parallel_config`` says, or 1. Each computes on one thread. A process
        takes seconds to start: ``joblib.parallel_config("threading")`` is quicker for short fits.

    Returns
    -------
    list of FeatureSelector
        Fitted, in the order given; each as it would be if fitted alone.

    Examples
    --------
    >>> import joblib
    >>> from tamis import LSCAE, fit_many
    >>> with joblib.parallel_config("dask"):  # doctest: +SKIP
    ...     curve = fit_many([LSCAE(k, random_state=0) for k in (10, 20, 50)], X)
    """
    ready = [clone(selector) for selector in selectors]
    for selector in ready:
        if hasattr(selector, "callbacks"):
            selector.set_params(callbacks=())
    return list(Parallel(n_jobs=n_jobs)(delayed(selector.fit)(X) for selector in ready))
