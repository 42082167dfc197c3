"""Synthetic tables with a known answer: which features carry structure, which copy others, which are nuisance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons


@dataclass(frozen=True)
class PlantedTable:
    """A table and its answer.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The data.
    names : list of str
        A name per feature.
    groups : ndarray of int
        The informative group of each feature, -1 for nuisance; the features of a group are copies of each other.
    labels : ndarray of int
        The cluster of each row.
    """

    X: NDArray[np.float64]
    names: list[str]
    groups: NDArray[np.intp]
    labels: NDArray[np.intp]

    def groups_found(self, columns: NDArray[np.intp]) -> int:
        """Count the informative groups that the features represent."""
        return len(set(self.groups[columns].tolist()) - {-1})

    def nuisance_picked(self, columns: NDArray[np.intp]) -> int:
        """Count the nuisance features among the features."""
        return int((self.groups[columns] == -1).sum())

    def is_solved_by(self, columns: NDArray[np.intp]) -> bool:
        """Return whether the features are one of each informative group, and nothing else."""
        return self.groups_found(columns) == len(columns) == len(set(self.groups.tolist()) - {-1})


def moons_with_copies(
    n_nuisance: int, seed: int, *, n_samples: int = 1200, noise: float = 0.05, nuisance_copy_noise: float = 0.0
) -> PlantedTable:
    """Make the paper's ablation table of ``2 n_nuisance + 4`` features.

    Two moons, a noisy copy of both coordinates, Gaussian nuisance features with covariance ``(−0.25)^|i−j|``, and a
    second copy of those, exact unless ``nuisance_copy_noise`` is set.
    """
    rng = np.random.default_rng(seed)
    moons, labels = make_moons(n_samples, noise=noise, random_state=seed)
    places = np.arange(n_nuisance)
    covariance = (-0.25) ** np.abs(places[:, None] - places)
    nuisance = rng.multivariate_normal(np.zeros(n_nuisance), covariance, size=n_samples)
    copy = moons + noise * rng.standard_normal(moons.shape)
    second = nuisance + nuisance_copy_noise * rng.standard_normal(nuisance.shape)
    names = ["moon_x", "moon_y", "moon_x_copy", "moon_y_copy"]
    names += [f"nuisance_{i}{tag}" for tag in ("", "_copy") for i in places]
    groups = np.array([0, 1, 0, 1] + [-1] * (2 * n_nuisance))
    return PlantedTable(np.hstack([moons, copy, nuisance, second]), names, groups, labels)


def blobs_with_copies(
    n_nuisance: int, seed: int, *, n_samples: int = 600, n_informative: int = 5, n_clusters: int = 4,
    n_copies: int = 3, copy_noise: float = 0.3,
) -> PlantedTable:  # fmt: skip
    """Make Gaussian clusters in a few informative features, noisy copies of each, and Gaussian nuisance features."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_clusters, size=n_samples)
    centers = 3 * rng.standard_normal((n_clusters, n_informative))
    informative = centers[labels] + rng.standard_normal((n_samples, n_informative))
    spread = informative.std(axis=0)
    copies = [informative + copy_noise * spread * rng.standard_normal(informative.shape) for _ in range(n_copies)]
    nuisance = rng.standard_normal((n_samples, n_nuisance))
    signals = range(n_informative)
    names = [f"signal_{i}" for i in signals] + [f"signal_{i}_copy_{c}" for c in range(n_copies) for i in signals]
    names += [f"nuisance_{i}" for i in range(n_nuisance)]
    groups = np.concatenate([np.tile(np.arange(n_informative), n_copies + 1), np.full(n_nuisance, -1)])
    return PlantedTable(np.hstack([informative, *copies, nuisance]), names, groups, labels)


_CELLS = {
    "T cell": (0.45, "CD3D CD3E CD3G CD2 IL7R TRAC LTB CD27"),
    "B cell": (0.2, "CD19 MS4A1 CD79A CD79B CD22 BANK1 PAX5 FCRL1"),
    "NK cell": (0.15, "NKG7 GNLY PRF1 KLRD1 KLRF1 NCAM1 FGFBP2 GZMB"),
    "monocyte": (0.185, "LYZ S100A8 S100A9 CD14 FCN1 VCAN CST3 CTSS"),
    "dendritic cell": (0.015, "CLEC4C LILRA4 IL3RA TCF4 IRF7 SERPINF1"),
}
_STATES = {"MKI67 TOP2A PCNA TYMS CDK1 CENPF": (0.1, 0.15), "MT-CO1 MT-ND1 MT-CYB MT-ATP6": (0.3, 3.0)}
"""Genes of dividing and of stressed cells: the share of these among all cells, and the rate in the others."""


def make_cells(n_cells: int = 600, n_other: int = 300, random_state: int = 0) -> Any:
    """Make the counts of blood cells of two donors, as AnnData.

    Each of five cell types has markers, the rarest 1.5 % of the cells; cells of any type divide or are stressed. The
    second donor differs in twenty of the other genes, which have no structure beyond that. ``obs`` holds ``cell_type``
    and ``donor``. Counts are negative binomial, and the depths of cells log-normal.
    """
    import anndata
    import pandas
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(random_state)
    types = rng.choice(list(_CELLS), n_cells, p=[share for share, _ in _CELLS.values()])
    donor = rng.integers(2, size=n_cells)
    sets = {markers: (types == kind, 0.15) for kind, (_, markers) in _CELLS.items()}
    sets |= {genes: (rng.random(n_cells) < share, rate) for genes, (share, rate) in _STATES.items()}
    blocks = [np.where(on[:, None], rng.uniform(3, 15, len(own.split())), rate) for own, (on, rate) in sets.items()]
    others = np.tile(rng.lognormal(-0.5, 1.2, n_other), (n_cells, 1))
    others[:, :20] *= np.where(donor, 3.0, 1.0)[:, None]
    rates = np.hstack([*blocks, others]) * rng.lognormal(0, 0.3, (n_cells, 1))
    counts = rng.poisson(rates * rng.gamma(4.0, 0.25, rates.shape)).astype(np.float32)
    names = [*" ".join(sets).split(), *(f"GENE{i + 1}" for i in range(n_other))]
    index = pandas.Index([f"cell{i + 1}" for i in range(n_cells)], dtype=object)
    obs = {"cell_type": types.astype(object), "donor": np.where(donor, "donor 2", "donor 1").astype(object)}
    var = pandas.DataFrame(index=pandas.Index(names, dtype=object))
    return anndata.AnnData(csr_matrix(counts), pandas.DataFrame(obs, index, dtype=object), var)
