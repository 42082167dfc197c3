"""The neighbourhood graph, its Laplacians and eigenvectors."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

from tamis.columns import summarise_columns
from tamis.scaling import scale_table
from tamis.selectors import neighbour_graph as graphs


def table_of(X, scale=None):
    return scale_table(X, summarise_columns(X), scale)


@pytest.fixture(name="X")
def normal_table():
    return np.random.default_rng(0).normal(size=(30, 4))


def test_neighbours_equal_those_of_scikit_learn(X):
    found = graphs.nearest_neighbours(table_of(X), 5)
    distances, indices = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X)
    assert np.array_equal(found.indices, indices[:, 1:])
    assert np.allclose(found.distances, distances[:, 1:])


def test_blocks_change_nothing(X, monkeypatch):
    whole = graphs.nearest_neighbours(table_of(X), 5)
    monkeypatch.setattr(graphs, "BLOCK_VALUES", 8)
    monkeypatch.setattr(graphs, "DISTANCE_VALUES", 60)
    blocks = graphs.nearest_neighbours(table_of(X), 5)
    assert np.array_equal(whole.indices, blocks.indices)
    assert np.allclose(whole.distances, blocks.distances)


@pytest.mark.parametrize("scale", ["standard", "center", None])
def test_sparse_and_dense_tables_give_equal_bits(scale):
    X = np.random.default_rng(1).poisson(0.5, size=(40, 12))
    dense = graphs.build_graph(table_of(X, scale), 4)
    sparse = graphs.build_graph(table_of(csr_array(X), scale), 4)
    assert np.array_equal(dense.toarray(), sparse.toarray())


def test_a_row_is_never_its_own_neighbour_among_copies(X):
    copies = np.vstack([X[:3]] * 4)
    found = graphs.nearest_neighbours(table_of(copies, "standard"), 3)
    assert not (found.indices == np.arange(12)[:, None]).any()
    assert np.array_equal(found.distances, np.zeros((12, 3)))
    assert (found.indices % 3 == np.arange(12)[:, None] % 3).all()


def test_all_rows_equal_to_their_neighbours_have_weight_one(X):
    W = graphs.build_graph(table_of(np.vstack([X[:2]] * 4)), 2)
    assert set(W.data) == {1.0}


def test_fewer_rows_than_neighbours_take_all_others(X):
    found = graphs.nearest_neighbours(table_of(X[:4]), 10)
    assert np.array_equal(np.sort(found.indices, axis=1), [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])


def test_far_from_zero_distances_keep_their_digits(X):
    near, far = graphs.nearest_neighbours(table_of(X), 5), graphs.nearest_neighbours(table_of(X + 1e8), 5)
    assert np.array_equal(near.indices, far.indices)
    assert np.allclose(near.distances, far.distances, atol=1e-6)


def test_graph_is_symmetric_sparse_and_without_loops(X):
    W = graphs.build_graph(table_of(X), 3)
    assert W.nnz <= 2 * 30 * 3
    assert not W.diagonal().any()
    assert np.array_equal(W.toarray(), W.toarray().T)


@pytest.mark.parametrize("bandwidth", ["neighbors", "pairwise", 0.7])
def test_weights_follow_the_bandwidth(X, bandwidth):
    neighbours = graphs.nearest_neighbours(table_of(X), 3)
    every = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    sigma = {"neighbors": neighbours.distances.mean(), "pairwise": every.sum() / (30 * 29)}.get(bandwidth, bandwidth)
    W = graphs.build_graph(table_of(X), 3, bandwidth).toarray()
    assert np.allclose(W[W > 0], np.exp(-(every[W > 0] ** 2) / (2 * sigma**2)))


def test_mean_distance_of_many_rows_is_that_of_some(X, monkeypatch):
    monkeypatch.setattr(graphs, "PAIRWISE_ROWS", 10)
    rows = np.linspace(0, 29, 10).astype(int)
    every = np.sqrt(((X[rows][:, None] - X[rows]) ** 2).sum(axis=2))
    assert graphs.mean_distance(table_of(X)) == pytest.approx(every.sum() / 90)


@pytest.mark.parametrize("dense_rows", [0, 1000])
def test_spectrum_leaves_out_the_trivial_vector(X, monkeypatch, dense_rows):
    monkeypatch.setattr(graphs, "DENSE_ROWS", dense_rows)
    W = graphs.build_graph(table_of(X), 5)
    values, vectors = graphs.smooth_spectrum(W, 4)
    expected, basis = np.linalg.eigh(np.eye(30) - graphs.normalised_adjacency(W).toarray())
    assert np.allclose(values, expected[1:5], atol=1e-7)
    assert np.allclose(np.abs(np.sum(vectors * basis[:, 1:5], axis=0)), 1, atol=1e-6)
    assert np.allclose(graphs.trivial_vector(W) @ vectors, 0, atol=1e-6)


def test_lanczos_without_convergence_falls_back_to_the_dense_way(X, monkeypatch):
    def fail(*args, **options):
        raise graphs.ArpackNoConvergence("", [], [])

    W = graphs.build_graph(table_of(X), 5)
    expected = graphs.smooth_spectrum(W, 3)[1]
    monkeypatch.setattr(graphs, "eigsh", fail)
    monkeypatch.setattr(graphs, "DENSE_ROWS", 0)
    assert np.allclose(graphs.smooth_spectrum(W, 3)[1], expected)


def test_disconnected_graph_has_further_zero_eigenvalues(X):
    apart = np.vstack([X, X + 100, X - 100])
    W = graphs.build_graph(table_of(apart), 3)
    values, _ = graphs.smooth_spectrum(W, 5)
    assert np.allclose(values[:2], 0, atol=1e-12)
    assert values[2] > 1e-4
    assert graphs.count_clusters(graphs.build_graph(table_of(apart), 12)) == 3


def test_rows_without_neighbours_stay_finite():
    W = csr_array(np.array([[0, 1.0, 0], [1, 0, 0], [0, 0, 0]]))
    assert np.isfinite(graphs.smooth_spectrum(W, 2)[1]).all()
    assert np.array_equal(graphs.inverse_roots(graphs.degrees(W)), [1, 1, 0])


def test_two_rows_make_one_cluster():
    assert graphs.count_clusters(csr_array(np.array([[0, 1.0], [1, 0]]))) == 1


def test_repeated_eigenvalues_are_found_too():
    matrix = np.full((8, 8), 0.86878654) + 0.00868787 * np.eye(8)
    values, vectors = graphs.some_eigenpairs(matrix, 0, 5)
    assert np.allclose(values, 0.00868787)
    assert np.allclose(vectors.T @ vectors, np.eye(6))
