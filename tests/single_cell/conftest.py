import numpy as np
import pytest
from scipy.sparse import csr_matrix

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
pandas = pytest.importorskip("pandas")

N_CELLS, N_MARKERS, N_NOISE, N_RARE = 400, 8, 60, 6
GENES = [
    *(f"{kind}{i}" for kind in "ABC" for i in range(N_MARKERS)),
    *(f"RARE{i}" for i in range(N_RARE)),
    *(f"MT-N{i}" for i in range(4)),
    *(f"N{i}" for i in range(N_NOISE - 4)),
]


def plain(names):
    return pandas.DataFrame(index=pandas.Index(names, dtype=object))


def _categorical(values):
    return pandas.Categorical(values, categories=pandas.Index(sorted(set(values)), dtype=object))


def make_counts(seed=0, rare_share=0.02):
    """Three common cell types with markers, a rare one with six genes of its own, and genes that are noise."""
    rng = np.random.default_rng(seed)
    types = rng.choice(["A", "B", "C"], N_CELLS, p=[0.5, 0.3, 0.2]).astype(object)
    types[: int(rare_share * N_CELLS)] = "RARE"
    rates = np.full((N_CELLS, len(GENES)), 1.0)
    for place, gene in enumerate(GENES):
        kind = gene.rstrip("0123456789")
        if kind in ("A", "B", "C", "RARE"):
            rates[:, place] = np.where(types == kind, 8.0, 0.02 if kind == "RARE" else 0.4)
    depth = rng.lognormal(0, 0.2, (N_CELLS, 1))
    return rng.poisson(rates * depth), types


@pytest.fixture(scope="session")
def counts():
    return make_counts()


@pytest.fixture
def adata(counts):
    X, types = counts
    made = anndata.AnnData(csr_matrix(X.astype(np.float32)), plain([f"c{i}" for i in range(len(X))]), plain(GENES))
    # Categories of plain objects: not every version of anndata can write the strings of every version of pandas.
    made.obs["type"] = _categorical(types)
    made.obs["batch"] = _categorical(np.array(["b0", "b1"], dtype=object)[np.arange(len(X)) % 2])
    return made
