"""What packages do with the same tables: ``python -m research.comparison`` writes the table of docs/comparison.md.

Every package is used as its documentation shows, on standardised features where it does not scale; what raises an error
counts as no. ``pip install -r research/requirements-comparison.txt`` brings them.
"""

import os
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


class FeatureEngine:
    """feature-engine's choice of one feature of each correlated group; it takes no number of features."""

    name, package = "feature-engine `SmartCorrelatedSelection`", "feature-engine"

    def estimator(self, k: int) -> Any:  # noqa: ARG002
        """Return the selector, not fitted."""
        from feature_engine.selection import SmartCorrelatedSelection

        return SmartCorrelatedSelection(selection_method="variance", missing_values="ignore")

    def select(self, X: Any, k: int) -> Picks:
        """Return the features that are kept."""
        return np.asarray(self.estimator(k).fit(X).get_support(indices=True))


class Stg:
    """Stochastic gates, the package of their authors; it needs a target."""

    name, package = "stg `STG`", "stg"

    def select(self, X: Any, k: int) -> Picks:
        """Return the features whose gates are most open when the first feature is the target."""
        from stg import STG

        y = X[:, :1]
        model = STG(
            device="cpu", task_type="regression", input_dim=X.shape[1], output_dim=1, hidden_dims=[20], batch_size=50,
            random_state=1,
        )  # fmt: skip
        model.fit(X, y, nr_epochs=5, valid_X=X, valid_y=y)
        return np.argsort(-model.get_gates(mode="prob"))[:k]


class ConcreteAutoencoder:
    """The concrete autoencoder, the package of its authors, on Keras with torch."""

    name, package = "concrete-autoencoder", "concrete-autoencoder"

    def select(self, X: Any, k: int) -> Picks:
        """Return the selected features."""
        os.environ.setdefault("KERAS_BACKEND", "torch")
        from concrete_autoencoder import ConcreteAutoencoderFeatureSelector
        from keras.layers import Dense

        selector = ConcreteAutoencoderFeatureSelector(k, Dense(X.shape[1]), num_epochs=5)
        return np.asarray(selector.fit(X, X).get_support(indices=True))


PACKAGES: list[Any] = [
    Tamis(LSCAE, random_state=0), Tamis(StructurePursuit), Sklearn(), FastCan(), Skfeature(), FeatureEngine(), Stg(),
    ConcreteAutoencoder(),
]  # fmt: skip


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


def informative(package: Any, X: Any) -> int:
    """Return how many of three picks are of the nine features that carry structure in the table of ``probes``."""
    return int(np.sum(package.select(X, 3)[:3] < 9))


def probes(package: Any) -> list[str]:
    """Return what a package does with sparse tables, names, missing cells and noise."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((200, 30))
    X = np.hstack([np.repeat(rng.standard_normal((200, 3)), 3, axis=1) + 0.3 * noise[:, :9], noise[:, 9:]])
    frame, gaps = pd.DataFrame(X).add_prefix("f"), np.where(rng.random(X.shape) < 0.05, np.nan, X)
    return [
        works(lambda: len(package.select(csr_matrix(X * (X > 0)), 3)) == 3),
        works(lambda: keeps_names(package, frame)),
        works(lambda: informative(package, gaps) >= informative(package, X)),
        works(lambda: tells_noise(package, noise)),
    ]


def found_of_k(package: Any) -> list[str]:
    """Return how much of the moons and of the planted tables a package finds, if it selects a given number."""
    moons = moons_with_copies(6, seed=0, n_samples=400)
    picks = package.select(moons.X, 2)
    if len(picks) != 2:
        return ["takes no k"] * 2
    return [str(len({group for group in moons.groups[picks] if group >= 0})), f"{share_found(package):.2f}"]


def row(package: Any) -> list[str]:
    """Measure one package; of one that cannot fit, return the error instead."""
    name = f"{package.name} {__version__ if package.package == 'tamis' else version(package.package)}"
    try:
        package.select(np.random.default_rng(0).standard_normal((100, 5)), 2)
    except Exception as error:
        return [name, f"does not run: {error}", *[""] * (len(HEADINGS) - 2)]
    return [name, failed_checks(package), *probes(package), *found_of_k(package)]


def main(page: Path = PAGE) -> Path:
    """Measure all packages, and write the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = Table("packages", "Packages", HEADINGS, [row(package) for package in PACKAGES])
    return replace_parts(page, {"packages": table.markdown()})


if __name__ == "__main__":
    print(main())
