import numpy as np
import pytest
from scipy.sparse import csr_array

from tamis.io.readers import Request, read
from tamis.io.readers.dispatch import COUNTS

RNG = np.random.default_rng(0)
TABLES = {
    "counts": (RNG.poisson(RNG.lognormal(-1, 1, 60), (100, 60)), True),
    "few features": (RNG.poisson(0.5, (100, 20)), False),
    "answers": (RNG.integers(1, 6, (100, 60)), False),
    "pixels": (RNG.integers(0, 256, (100, 60)), False),
    "flags": (RNG.integers(0, 2, (100, 60)), False),
    "logarithms": (np.log1p(RNG.poisson(0.5, (100, 60))), False),
    "differences": (RNG.poisson(0.5, (100, 60)) - RNG.poisson(0.5, (100, 60)), False),
}


@pytest.mark.parametrize("kind", TABLES)
def test_counts_are_noticed(kind, tmp_path):
    X, noticed = TABLES[kind]
    np.save(tmp_path / "x.npy", X)
    assert (COUNTS in read(tmp_path / "x.npy").report.findings) is noticed


def test_counts_are_not_told_of_where_rows_are_made_alike(tmp_path):
    from scipy.sparse import save_npz

    save_npz(tmp_path / "x.npz", csr_array(TABLES["counts"][0]))
    assert COUNTS in read(tmp_path / "x.npz").report.findings
    for request in (Request(scale=True), Request(log1p=True)):
        assert COUNTS not in read(tmp_path / "x.npz", request).report.findings
