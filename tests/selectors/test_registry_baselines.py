"""What every baseline promises: the estimator contract, unchanged input, sparse input, and degenerate tables."""

import doctest
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from naive_baselines import blobs
from scipy.io import loadmat
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from tamis import SELECTORS
from tamis.features import UnusableFeaturesWarning

FAST = {
    "aefs": {"max_epochs": 20},
    "dufs": {"max_epochs": 5},
    "srcfs": {"n_subspaces": 3, "n_partitions": 2},
}
BASELINES = (
    "structure-pursuit",
    "laplacian-score",
    "spec",
    "mcfs",
    "udfs",
    "ndfs",
    "llcfs",
    "srcfs",
    "rsr",
    "aefs",
    "dufs",
    "variance",
    "random",
)


def make(name, k=None, **parameters):
    selector = SELECTORS[name](k, **FAST.get(name, {}), **parameters)
    return selector.set_params(random_state=0) if "random_state" in selector.get_params() else selector


def variants():
    for name in BASELINES:
        yield make(name)
    yield make("spec", ranking="phi1")
    yield make("spec", ranking="phi3")
    yield make("spec", exponent=2.0)
    yield make("dufs", loss="penalised", gate_noise="sample")


@parametrize_with_checks(list(variants()))
def test_estimator_contract(estimator, check):
    check(estimator)


def check_result(selector, k, d):
    assert not np.isnan(selector.scores_).any()
    assert sorted(selector.ranking_) == list(range(1, d + 1))
    assert len(set(selector.selected_.tolist())) == k


every_baseline = pytest.mark.parametrize("name", BASELINES)


@every_baseline
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_input_is_not_changed(name, kind):
    X = np.random.default_rng(0).poisson(2.0, size=(20, 6)).astype(float)
    given = kind(X)
    make(name, 3).fit(given)
    assert np.array_equal(given.toarray() if kind is csr_matrix else given, X)


@every_baseline
@pytest.mark.parametrize("kind", [csr_matrix, csc_matrix, csr_array])
@pytest.mark.parametrize("shape", [(40, 10), (15, 40)])
def test_sparse_input_gives_the_same_scores(name, kind, shape):
    X = np.random.default_rng(0).poisson(0.7, size=shape).astype(np.uint8)
    dense, sparse = make(name, 4).fit(X), make(name, 4).fit(kind(X))
    assert np.array_equal(dense.scores_, sparse.scores_)
    assert np.array_equal(dense.ranking_, sparse.ranking_)


every_degenerate_table = pytest.mark.parametrize(
    "X",
    [
        pytest.param(np.vstack([blobs(8, 6)] * 4), id="duplicate rows"),
        pytest.param(np.repeat(blobs(3, 6), 10, axis=0), id="three distinct rows"),
        pytest.param(np.hstack([blobs(20, 3)] * 2), id="duplicate columns"),
        pytest.param(np.repeat(blobs(12, 1), 6, axis=1), id="one column six times"),
        pytest.param(blobs(4, 6), id="fewer rows than neighbours"),
        pytest.param(blobs(3, 6), id="three rows"),
        pytest.param(np.vstack([blobs(8, 6), blobs(8, 6) + 1e4, blobs(8, 6) - 1e4]), id="disconnected graph"),
        pytest.param(np.vstack([blobs(15, 6), np.full((1, 6), 1e9)]), id="an outlier"),
        pytest.param(np.eye(12)[:, :6], id="unit rows"),
        pytest.param(blobs(20, 6) * 1e-150, id="tiny values"),
        pytest.param(blobs(20, 6) * 1e120, id="huge values"),
        pytest.param((blobs(20, 6) > 0).astype(bool).astype(np.int8), id="two values"),
    ],
)


@every_baseline
@every_degenerate_table
def test_degenerate_tables_give_a_ranking(name, X):
    check_result(make(name, 3).fit(X), 3, 6)


@pytest.mark.parametrize("name", ["structure-pursuit", "variance"])
@every_degenerate_table
def test_degenerate_tables_get_a_verdict(name, X):
    verdict = make(name, 3).fit(X).verdict_
    assert verdict.trusted in (True, False)
    assert str(verdict).startswith(verdict.headline)


@every_baseline
def test_constant_columns_come_last(name):
    X = blobs(20, 8)
    X[:, [0, 5]] = 7
    with pytest.warns(UnusableFeaturesWarning):
        selector = make(name, 4).fit(X)
    check_result(selector, 4, 8)
    assert selector.ranking_[[0, 5]].min() == 7


@every_baseline
def test_one_column_can_be_selected(name):
    check_result(make(name, 1).fit(blobs(10, 1, informative=(0,))), 1, 1)


@every_baseline
def test_must_keep_and_never_are_obeyed(name):
    selector = make(name, 3, must_keep=[2], never=[1]).fit(blobs())
    assert selector.selected_[0] == 2
    assert 1 not in selector.selected_


# The gradient methods need more steps than the tests here give them, and have this test in their own files.
@pytest.mark.parametrize("name", [name for name in BASELINES if name not in ("random", "aefs", "dufs")])
def test_every_method_finds_what_is_plain(name):
    parameters = {"mcfs": {"n_eigenvectors": 1}, "rsr": {"sparsity": 40.0}, "srcfs": {"n_subspaces": 2}}
    X = blobs(60, 10, informative=(1, 4, 7), shift=8.0)
    selector = make(name, 3).set_params(**parameters.get(name, {}))
    assert set(selector.fit(X).selected_) == {1, 4, 7}


@every_baseline
def test_example_in_the_docstring(name):
    selector = SELECTORS[name]
    (example,) = doctest.DocTestFinder(recurse=False).find(selector, globs={})
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


CHANGES = {
    "laplacian-score": {"n_neighbors": 2, "bandwidth": "pairwise", "scale": None},
    "spec": {"ranking": "phi1", "exponent": 2.0, "n_neighbors": 2, "bandwidth": 0.5, "scale": "center"},
    "mcfs": {"n_eigenvectors": 2, "n_nonzero": 6, "n_neighbors": 2, "bandwidth": 0.5, "scale": None},
    "udfs": {
        "n_clusters": 4,
        "n_neighbors": 2,
        "ridge": 50.0,
        "sparsity": 1.0,
        "max_iter": 1,
        "tol": 0.9,
        "scale": None,
    },
    "ndfs": {
        "n_clusters": 4,
        "alpha": 50.0,
        "beta": 0.1,
        "gamma": 1.0,
        "max_iter": 1,
        "tol": 0.9999,
        "n_neighbors": 2,
        "bandwidth": 0.1,
        "scale": None,
    },
    "llcfs": {"n_clusters": 4, "n_neighbors": 4, "beta": 5.0, "max_iter": 1, "tol": 1.0, "scale": "center"},
    "srcfs": {
        "n_subspaces": 2,
        "n_partitions": 1,
        "n_neighbors": 2,
        "bandwidth": 9.0,
        "scale": None,
        "random_state": 1,
    },
    "rsr": {"sparsity": 1.0, "max_iter": 1, "tol": 0.9, "scale": "center"},
    "aefs": {
        "n_hidden": 2,
        "sparsity": 1.0,
        "weight_decay": 1.0,
        "max_epochs": 5,
        "batch_size": 7,
        "learning_rate": 0.1,
        "scale": None,
        "random_state": 1,
    },
    "dufs": {
        "loss": "penalised",
        "gate_noise": "sample",
        "sigma": 0.2,
        "n_neighbors": 4,
        "bandwidth": 1.0,
        "max_epochs": 3,
        "batch_size": 7,
        "learning_rate": 0.1,
        "scale": None,
        "random_state": 1,
    },
    "random": {"random_state": 1},
}


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [(name, parameter, value) for name, changes in CHANGES.items() for parameter, value in changes.items()],
)
def test_every_parameter_changes_something(name, parameter, value):
    X = blobs(40, 10, shift=2.0) * np.linspace(1, 3, 10) + 1
    before, after = make(name, 3).fit(X), make(name, 3).set_params(**{parameter: value}).fit(X)
    assert not np.allclose(before.scores_, after.scores_, rtol=1e-9, atol=0)


def test_classical_selectors_do_not_import_torch():
    classical = [name for name in BASELINES if name not in ("aefs", "dufs")]
    code = f"import sys, tamis; [tamis.SELECTORS[name] for name in {classical!r}]; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@every_baseline
def test_tox_171_takes_less_than_a_minute(name):
    folder = os.environ.get("TAMIS_DATA")
    path = Path(folder or ".") / "TOX-171.mat"
    if not folder or not path.exists():
        pytest.skip("TAMIS_DATA names no folder with TOX-171.mat")
    X = loadmat(path)["X"]
    start = time.perf_counter()
    check_result(SELECTORS[name](50).fit(X), 50, X.shape[1])
    assert time.perf_counter() - start < 60
