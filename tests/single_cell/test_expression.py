import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from tamis.single_cell import expression
from tamis.single_cell.expression import counts_behind, equal_depth, normalised, read_expression, recognise

anndata = pytest.importorskip("anndata", reason="anndata is not installed")

pytestmark = pytest.mark.filterwarnings("ignore:The 'mode.chained_assignment' option")  # Set by anndata's views.


def log_normalised(X):
    totals = X.sum(axis=1, keepdims=True)
    return np.log1p(X / totals * np.median(totals))


def test_what_a_matrix_holds_is_recognised(counts):
    X = counts[0]
    logged = log_normalised(X)
    assert recognise(csr_array(X)) == recognise(X.astype(float)) == "counts"
    assert recognise(X * 0.7) == "log"  # No value is large enough to tell it from logarithms.
    assert recognise(X * 10.7) == "linear"
    assert recognise(logged) == recognise(csr_array(logged)) == "log"
    scaled = (logged - logged.mean(axis=0)) / logged.std(axis=0)
    assert recognise(np.minimum(scaled, 10)) == "scaled"


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_normalisation_is_size_factors_and_log(counts, form):
    X = counts[0]
    got = normalised(form(X), float(np.median(X.sum(axis=1))))
    np.testing.assert_allclose(got.toarray() if form is csr_array else got, log_normalised(X))


def test_counts_are_found_behind_logarithms(counts):
    X = counts[0]
    np.testing.assert_array_equal(counts_behind(log_normalised(X).astype(np.float32)), X)
    assert counts_behind(np.log1p(np.random.default_rng(0).gamma(2, 1, (20, 30))).astype(np.float32)) is None


@pytest.mark.parametrize(
    ("kind", "scale"),
    [
        ("linear", lambda X: X),
        ("log", np.log1p),
        ("log", lambda X: np.log2(1 + X)),
        ("log", lambda X: np.log10(1 + X)),
    ],
    ids=["linear", "e", "2", "10"],
)
def test_counts_are_found_behind_every_normalisation(counts, kind, scale):
    X = counts[0]
    given = scale(X / X.sum(axis=1, keepdims=True) * 1e4)
    assert recognise(given) == kind
    np.testing.assert_array_equal(counts_behind(given.astype(np.float32), kind), X)


def test_an_odd_cell_hides_no_counts_and_rounding_makes_none(counts):
    X = counts[0].copy()
    X[0] = np.where(X[0] == 1, 0, X[0])
    np.testing.assert_array_equal(counts_behind(log_normalised(X).astype(np.float32))[1:], X[1:])
    rounded = np.random.default_rng(0).gamma(2, 20, (60, 30)).round(1)
    assert counts_behind(rounded, "linear") is None


def test_estimated_counts_are_counts(counts, rng):
    X = counts[0].astype(float)
    estimated = X - 0.37 * ((rng.random(X.shape) < 0.05) & (X > 0))
    assert recognise(estimated) == "counts"
    assert recognise(np.log2(1 + X)) == "log"
    thinned, _ = equal_depth(estimated, rng)
    assert (thinned.toarray() <= np.ceil(estimated)).all()


def test_genes_that_dominate_some_cells_do_not_thin_the_others(rng):
    X = rng.poisson(2.0, (400, 500))
    X[:100, :2] = rng.poisson(600, (100, 2))
    totals = equal_depth(csr_array(X), rng)[0][:, 2:].sum(axis=1)
    assert totals[:100].mean() == pytest.approx(totals[100:].mean(), rel=0.05)


def test_depths_are_made_equal(rng):
    X = rng.poisson(rng.lognormal(0, 1, (300, 1)) * np.full(50, 10.0))
    given = csr_array(X)
    thinned, shallow = equal_depth(given, rng)
    np.testing.assert_array_equal(given.toarray(), X)
    assert (thinned.toarray() <= X).all()
    assert shallow.sum() == 30
    totals, before = thinned.sum(axis=1), X.sum(axis=1)
    for some, quantile in ((~shallow, 0.1), (shallow, 0.01)):
        depth = np.quantile(before, quantile)
        np.testing.assert_allclose(np.quantile(totals[some], [0.05, 0.95]), depth, atol=3 * np.sqrt(depth))


def test_statistics_are_of_all_cells_and_adata_stays(adata, counts, monkeypatch):
    monkeypatch.setattr(expression, "BLOCK_ROWS", 64)
    before = adata.X.copy()
    data = read_expression(adata)
    expected = log_normalised(counts[0])
    np.testing.assert_allclose(data.sample, expected, rtol=1e-5)
    np.testing.assert_allclose(data.mean, expected.mean(axis=0))
    np.testing.assert_allclose(data.detection, (counts[0] > 0).mean(axis=0))
    assert data.kind == "counts"
    assert (before != adata.X).nnz == 0
    some = read_expression(adata, max_cells=50)
    assert some.sample.shape[0] == len(some.cells) == 50
    np.testing.assert_allclose(some.detection, data.detection)


@pytest.mark.parametrize("form", ["sparse", "dense", "dask"])
def test_what_is_stored_elsewhere_reads_the_same(adata, tmp_path, form):
    expected = read_expression(adata, max_cells=100)
    if form == "dask":
        array = pytest.importorskip("dask.array")
        adata.X = array.from_array(adata.X.toarray(), chunks=(70, 50))
        got = read_expression(adata, max_cells=100)
    else:
        adata.X = adata.X.toarray() if form == "dense" else adata.X
        adata.write_h5ad(tmp_path / "a.h5ad")
        backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
        got = read_expression(backed, max_cells=100)
        backed.file.close()
    np.testing.assert_allclose(got.sample, expected.sample, rtol=1e-6)
    np.testing.assert_allclose(got.mean, expected.mean, rtol=1e-6)


def test_layers_raw_and_symbols(adata):
    adata.layers["twice"] = adata.X * 2
    adata.raw = adata.copy()
    adata.var["symbol"] = [f"S{i}" for i in range(adata.n_vars)]
    assert read_expression(adata, layer="twice", gene_key="symbol").genes[0] == "S0"
    less = adata[:, :40].copy()
    assert read_expression(less, use_raw=True).sample.shape[1] == adata.n_vars


def _negative(adata):
    adata.X = csr_matrix(adata.X.toarray() - 0.5)


def _nan(adata):
    adata.X.data[3] = np.nan


def _empty_cell(adata):
    adata.X = csr_matrix(np.vstack([np.zeros((1, adata.n_vars)), adata.X.toarray()[1:]]))


def _twice(adata):
    adata.var_names = ["same", "same", *adata.var_names[2:]]


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
@pytest.mark.parametrize(
    ("spoil", "options", "sentence"),
    [
        (_negative, {}, "adata.X holds negative values, and its genes are not centred"),
        (_nan, {}, "adata.X holds NaN or infinite values"),
        (_nan, {"max_cells": 2}, "adata.X holds NaN or infinite values"),
        (_empty_cell, {}, "adata.X holds 1 cell without counts; remove them"),
        (_twice, {}, "The gene 'same' occurs 2 times; make the names differ"),
        (None, {"layer": "none"}, "layer='none' is not among the layers of adata: there are none"),
        (None, {"gene_key": "none"}, "gene_key='none' is not a column of adata.var"),
        (None, {"use_raw": True}, "adata.raw is empty"),
        (None, {"use_raw": True, "layer": "a"}, "name two matrices"),
    ],
)
def test_bad_input_gets_one_sentence(adata, spoil, options, sentence):
    if spoil is not None:
        spoil(adata)
    with pytest.raises(ValueError, match=sentence):
        read_expression(adata, **options)


def test_no_cells_and_no_matrix(adata):
    with pytest.raises(ValueError, match="adata has 0 × 90 cells × genes; both are needed"):
        read_expression(adata[:0])
    adata.X = None
    with pytest.raises(ValueError, match="adata has no X; name a layer"):
        read_expression(adata)
