"""What packages do with the same tables: ``python -m research.comparison`` writes the table of docs/comparison.md.

Every package is used as its documentation shows, on standardised features where it does not scale; what raises an error
counts as no. ``pip install -r research/requirements.txt`` brings them.
"""

import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.estimator_checks import check_estimator

from research.pages import Table, replace_parts
from research.planted.fits import ALL_KINDS, compare_picks
from research.planted.kinds import planted_table
from tamis import LSCAE, StructurePursuit, __version__
from tamis.synthetic import moons_with_copies

PAGE = Path(__file__).parents[1] / "docs" / "comparison.md"
SEED = 100
"""Of the confirming half of the planted tables."""

Picks = NDArray[np.intp]
HEADINGS = [
    "package", "failed estimator checks", "sparse", "names", "missing cells", "says that noise is noise",
    "of 2 moons found among copies", "share found, planted tables",
]  # fmt: skip


def variance(X: Any, y: Any) -> Any:  # noqa: ARG001
    """Return the variance of each feature, a score for SelectKBest."""
    return StandardScaler(with_mean=False).fit(X).var_


class Tamis:
    """A selector of tamis."""

    def __init__(self, kind: Any, **parameters: Any) -> None:
        self.kind, self.parameters, self.package = kind, parameters, "tamis"
        self.name = f"tamis `{kind.__name__}`"

    def estimator(self, k: int) -> Any:
        """Return the selector, not fitted."""
        return self.kind(k, **self.parameters)

    def select(self, X: Any, k: int) -> Picks:
        """Return the selected features."""
        return np.asarray(self.estimator(k).fit(X).selected_)


class Sklearn:
    """scikit-learn's filter with an own score, here the variance."""

    name, package = "scikit-learn `SelectKBest(variance)`", "scikit-learn"

    def estimator(self, k: int) -> Any:
        """Return the selector, not fitted."""
        return SelectKBest(variance, k=k)

    def select(self, X: Any, k: int) -> Picks:
        """Return the selected features."""
        return np.asarray(self.estimator(k).fit(X).get_support(indices=True))


class FastCan:
    """fastcan, unsupervised as its documentation shows: the targets are principal components."""

    name, package = "fastcan `FastCan` of PCA", "fastcan"

    def estimator(self, k: int) -> Any:
        """Return the selector, not fitted."""
        from fastcan import FastCan as Selector

        return Selector(k, verbose=0)

    def select(self, X: Any, k: int) -> Picks:
        """Return the selected features."""
        Z = scale(X)
        return np.asarray(self.estimator(k).fit(Z, PCA(min(k, *X.shape)).fit_transform(Z)).get_support(indices=True))


class Skfeature:
    """The Laplacian score of scikit-feature, a function."""

    name, package = "skfeature `lap_score`", "skfeature-chappers"

    def select(self, X: Any, k: int) -> Picks:
        """Return the features with the smallest scores."""
        from skfeature.function.similarity_based.lap_score import lap_score
        from skfeature.utility.construct_W import construct_W

        Z = scale(X)
        return np.asarray(lap_score(Z, mode="index", W=construct_W(Z, k=5)))[:k]


PACKAGES: list[Any] = [Tamis(LSCAE, random_state=0), Tamis(StructurePursuit), Sklearn(), FastCan(), Skfeature()]


def works(probe: Callable[[], Any]) -> str:
    """Return "yes" if a probe returns something true without an error."""
    try:
        return "yes" if probe() else "no"
    except Exception:
        return "no"


def failed_checks(package: Any) -> str:
    """Return how many of scikit-learn's checks an estimator fails, as its own or with the targets it needs."""
    if not hasattr(package, "estimator"):
        return "no estimator"
    results = check_estimator(package.estimator(1), on_skip=None, on_fail=None)
    return f"{sum(result['status'] == 'failed' for result in results)} of {len(results)}"


def keeps_names(package: Any, table: pd.DataFrame) -> bool:
    """Return whether the names of a frame come out."""
    scores = PCA(2).fit_transform(table)
    return bool(set(package.estimator(2).fit(table, scores).get_feature_names_out()) <= set(table.columns))


def tells_noise(package: Any, noise: Any) -> bool:
    """Return whether there is a warning, or a verdict, on a table without structure."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        package.select(noise, 5)
    return any(issubclass(warning.category, UserWarning) for warning in caught)


def share_found(package: Any) -> float:
    """Return the mean share of informative features found, over one table of every kind."""
    shares = []
    for kind in ALL_KINDS:
        table = planted_table(kind, SEED)
        shares.append(compare_picks(table, package.select(table.X, table.k))["share_found"])
    return float(np.mean(shares))


def row(package: Any) -> list[str]:
    """Measure one package."""
    rng = np.random.default_rng(0)
    moons, noise = moons_with_copies(6, seed=0, n_samples=400), rng.standard_normal((200, 30))
    X = np.hstack([np.repeat(rng.standard_normal((200, 3)), 3, axis=1) + 0.3 * noise[:, :9], noise[:, 9:]])
    frame, gaps = pd.DataFrame(X).add_prefix("f"), np.where(rng.random(X.shape) < 0.05, np.nan, X)
    found = {group for group in moons.groups[package.select(moons.X, 2)] if group >= 0}
    return [
        f"{package.name} {__version__ if package.package == 'tamis' else version(package.package)}",
        failed_checks(package),
        works(lambda: len(package.select(csr_matrix(X * (X > 0)), 3)) == 3),
        works(lambda: keeps_names(package, frame)),
        works(lambda: len(package.select(gaps, 3)) == 3),
        works(lambda: tells_noise(package, noise)),
        str(len(found)),
        f"{share_found(package):.2f}",
    ]


def main(page: Path = PAGE) -> Path:
    """Measure all packages, and write the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = Table("packages", "Packages", HEADINGS, [row(package) for package in PACKAGES])
    return replace_parts(page, {"packages": table.markdown()})


if __name__ == "__main__":
    print(main())
