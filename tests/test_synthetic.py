import numpy as np
import pytest

from research.synthetic import moons_with_uniform, point_clusters
from tamis.synthetic import blobs_with_copies, make_cells, moons_with_copies


def test_moons_with_copies():
    table = moons_with_copies(5, seed=1, n_samples=4000)
    assert table.X.shape == (4000, 14)
    assert len(table.names) == 14
    np.testing.assert_array_equal(table.X[:, 4:9], table.X[:, 9:])
    correlations = np.corrcoef(table.X[:, 4:9], rowvar=False)
    assert correlations[0, 1] == pytest.approx(-0.25, abs=0.06)
    assert correlations[0, 2] == pytest.approx(0.0625, abs=0.06)
    assert np.corrcoef(table.X[:, 0], table.X[:, 2])[0, 1] > 0.99


def test_near_copies_differ():
    table = moons_with_copies(3, seed=1, nuisance_copy_noise=0.05)
    assert (table.X[:, 4:7] - table.X[:, 7:]).std() == pytest.approx(0.05, rel=0.1)


def test_answers():
    table = moons_with_copies(3, seed=0)
    assert table.is_solved_by(np.array([0, 3]))
    assert not table.is_solved_by(np.array([0, 2]))
    assert not table.is_solved_by(np.array([1, 5]))
    assert table.nuisance_picked(np.array([1, 5])) == 1
    assert table.groups_found(np.array([1, 3, 5])) == 1


def test_uniform_nuisance():
    table = moons_with_uniform(10, seed=0)
    assert table.X.shape == (1200, 12)
    assert table.X[:, 2:].min() >= 0
    assert table.X[:, 2:].max() <= 1


def test_blobs():
    table = blobs_with_copies(25, seed=0)
    assert table.X.shape == (600, 45)
    assert len(table.names) == 45
    assert table.groups.tolist().count(3) == 4
    assert np.corrcoef(table.X[:, 3], table.X[:, 8])[0, 1] > 0.9


def test_a_seed_gives_the_same_table():
    np.testing.assert_array_equal(moons_with_uniform(3, seed=5).X, moons_with_uniform(3, seed=5).X)
    assert (moons_with_uniform(3, seed=5).X != moons_with_uniform(3, seed=6).X).all()


def test_point_clusters_are_points_on_a_line_with_noise_beside_them():
    X, labels = point_clusters(2000, 0, distance=3.0, n_samples=10, spread=0.5)
    assert set(X[labels == 0, 0]) == {0.0}
    assert set(X[labels == 1, 0]) == {3.0}
    assert abs(X[:, 1:].std() - 0.5) < 0.02
    assert X.shape == (10, 2001)
    again, _ = point_clusters(2000, 0, distance=3.0, n_samples=10, spread=0.5)
    assert (again == X).all()


def test_cells_have_types_donors_and_a_rare_type():
    pytest.importorskip("anndata", reason="anndata is not installed")
    adata = make_cells(1000, 50, random_state=1)
    X, rare = adata.X.toarray(), adata.obs["cell_type"] == "dendritic cell"
    assert adata.shape == (1000, 98)
    assert (X.round() == X).all()
    assert 5 <= rare.sum() <= 30
    assert X[rare, adata.var_names.get_loc("CLEC4C")].mean() > 5 * X[~rare, adata.var_names.get_loc("CLEC4C")].mean()
    second = adata.obs["donor"] == "donor 2"
    assert X[second, -50:-30].mean() > 2 * X[~second, -50:-30].mean()
    assert (make_cells(50).X != make_cells(50).X).nnz == 0
