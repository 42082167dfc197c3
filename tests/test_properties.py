"""What holds for every method on every table: exactly k features, whatever the storage, units and order of the data."""

import json
import multiprocessing
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import Parallel, delayed
from quick_selectors import QUICK, make
from scipy.sparse import csr_array
from sklearn.base import clone
from threadpoolctl import threadpool_info

import tamis
from tamis import SELECTORS

every_method = pytest.mark.parametrize("method", SELECTORS)
few = settings(max_examples=2, deadline=None, derandomize=True)
tables = st.tuples(st.integers(0, 2**31), st.integers(12, 30), st.integers(5, 9)).map(lambda drawn: table(*drawn))

BY_POSITION = ("srcfs", "aefs", "dufs", "random", "lscae", "cae", "concrete-laplacian", "structure-pursuit")
"""Methods that draw numbers for the features by their position."""

BY_ROW = (*BY_POSITION, "ndfs")
"""Methods that draw numbers for the rows, the features or both."""


def table(seed, n, d):
    """Two clusters in two features, counts, and every value exact in half precision."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[: n // 2, :2] += 4
    X[rng.random(size=(n, d)) < 0.2] = 0
    return X.astype(np.float16).astype(np.float64)


def same(one, other):
    return np.array_equal(one.selected_, other.selected_) and np.array_equal(one.scores_, other.scores_)


@every_method
@few
@given(X=tables, k=st.integers(1, 3))
def test_exactly_k_features_and_the_lists_are_obeyed(method, X, k):
    original = X.copy()
    selector = make(method, k, must_keep=[3], never=[1]).fit(X)
    assert np.array_equal(X, original)
    assert len(set(selector.selected_.tolist())) == selector.support_.sum() == min(k, len(selector.selected_)) == k
    assert selector.selected_[0] == 3
    assert 1 not in selector.selected_
    assert sorted(selector.ranking_) == list(range(1, X.shape[1] + 1))
    assert set(np.flatnonzero(selector.ranking_ <= k)) == set(selector.selected_)
    assert selector.transform(X).shape == (len(X), k)


@every_method
@few
@given(X=tables)
def test_storage_changes_nothing(method, X):
    pandas = pytest.importorskip("pandas")
    expected = make(method, 3).fit(X)
    for other in (csr_array(X), X.astype(np.float32), np.asfortranarray(X), pandas.DataFrame(X).add_prefix("f")):
        assert same(make(method, 3).fit(other), expected)


@pytest.mark.parametrize("method", [name for name in SELECTORS if name != "variance"])
@few
@given(X=tables, exponents=st.lists(st.integers(-60, 60), min_size=9, max_size=9))
def test_units_change_nothing_where_features_are_standardised(method, X, exponents):
    """Powers of two are exact, so that the scores have the same bits."""
    units = np.ldexp(1.0, exponents[: X.shape[1]])
    assert same(make(method, 3).fit(X * units), make(method, 3).fit(X))


@pytest.mark.parametrize("method", [name for name in SELECTORS if name not in BY_ROW])
@few
@given(X=tables, seed=st.integers(0, 2**31))
def test_the_order_of_rows_changes_nothing(method, X, seed):
    expected = make(method, 3).fit(X)
    found = make(method, 3).fit(X[np.random.default_rng(seed).permutation(len(X))])
    assert np.allclose(found.scores_, expected.scores_, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("method", [name for name in SELECTORS if name not in BY_POSITION])
@few
@given(X=tables, seed=st.integers(0, 2**31))
def test_the_order_of_features_changes_nothing(method, X, seed):
    order = np.random.default_rng(seed).permutation(X.shape[1])
    expected = make(method, 3).fit(X)
    assert np.allclose(make(method, 3).fit(X[:, order]).scores_, expected.scores_[order], rtol=1e-4, atol=1e-7)


@every_method
def test_clones_and_files_are_the_same_selector(method, tmp_path):
    X = table(0, 30, 8)
    selector = make(method, 3).fit(X)
    assert same(clone(selector).fit(X), selector)
    read = tamis.load(selector.save(tmp_path / "selector.tamis"))
    assert same(read, selector)
    assert np.array_equal(read.transform(X), selector.transform(X))
    assert same(clone(read).fit(X), selector)


def digest(selector):
    return [*selector.selected_.tolist(), *(float(score).hex() for score in selector.scores_)]


def state():
    pools = sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())
    numpy_state = np.random.get_state()[1].tobytes()  # noqa: NPY002
    return pools, torch.get_num_threads(), numpy_state, torch.get_rng_state().tolist(), np.geterr()


def fit_alone(method):
    # A worker of loky that grows by as much as torch takes after its first task is taken for a leak and replaced, which
    # may hang on a busy machine.
    import torch  # noqa: F401

    return digest(make(method, 3).fit(table(0, 30, 8)))


@pytest.fixture(scope="module")
def alone():
    return {method: fit_alone(method) for method in SELECTORS}


def test_sixteen_fits_in_threads_have_the_same_bits_and_leave_no_trace(alone):
    before = state()
    with ThreadPoolExecutor(16) as pool:
        for _ in range(2):
            assert dict(zip(SELECTORS, pool.map(fit_alone, SELECTORS), strict=True)) == alone
    assert state() == before


@every_method
def test_a_fit_that_fails_leaves_no_trace(method):
    before = state()
    with pytest.raises(ValueError, match=r"holds .*inf"):
        make(method, 3).fit(np.full((30, 8), np.inf))
    assert state() == before


def test_an_error_in_the_middle_of_a_fit_leaves_no_trace(alone):
    def stumble(epoch):
        raise RuntimeError("a callback stumbled")

    before = state()
    with pytest.raises(RuntimeError, match="a callback stumbled"):
        make("lscae", 3).set_params(callbacks=stumble).fit(table(0, 30, 8))
    assert state() == before
    assert fit_alone("lscae") == alone["lscae"]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_fits_by_joblib_have_the_same_bits_and_leave_no_trace(alone, backend):
    before = state()
    found = Parallel(n_jobs=2, backend=backend)(delayed(fit_alone)(method) for method in SELECTORS)
    assert dict(zip(SELECTORS, found, strict=True)) == alone
    assert state() == before


def test_other_processes_have_the_same_bits(alone):
    folders = [str(Path(__file__).parent), str(Path(__file__).parent / "selectors")]
    code = (
        f"import json, sys; sys.path += {folders}; import test_properties as t; "
        "print(json.dumps({method: t.fit_alone(method) for method in t.SELECTORS}))"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    assert [json.loads(process.communicate()[0]) for process in running] == [alone, alone]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python's word against forks of processes with threads
def test_a_forked_process_has_the_same_bits(alone):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map_async(fit_alone, list(QUICK)).get(timeout=120) == [alone[method] for method in QUICK]
