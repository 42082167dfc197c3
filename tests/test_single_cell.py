import numpy as np
import pytest
from scipy.sparse import csr_matrix

import tamis

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
pandas = pytest.importorskip("pandas")


def plain(names):
    return pandas.DataFrame(index=pandas.Index(names, dtype=object))


@pytest.fixture
def adata(blobs):
    X = np.round(np.abs(blobs.X), 3)
    made = anndata.AnnData(csr_matrix(X), plain([f"c{i}" for i in range(len(X))]), plain(blobs.names))
    made.layers["twice"] = csr_matrix(2 * X[:, ::-1])
    return made


def test_it_writes_where_scanpy_users_look(adata, quick):
    assert tamis.select_genes(adata, 3, **quick) is None
    assert adata.var["tamis_selected"].sum() == 3
    assert sorted(adata.var["tamis_rank"]) == list(range(1, 11))
    assert adata.var["tamis_rank"][adata.var["tamis_selected"]].max() == 3
    assert np.isfinite(adata.var["tamis_score"]).all()
    notes = adata.uns["tamis"]
    assert notes["method"] == "lscae"
    assert set(notes["genes"]) == set(adata.var_names[adata.var["tamis_selected"]])
    assert adata[:, adata.var["tamis_selected"]].shape == (90, 3)


def test_it_returns_a_table_and_changes_nothing_if_asked(adata, quick):
    found = tamis.select_genes(adata, 3, inplace=False, **quick)
    assert found.columns.tolist() == ["tamis_selected", "tamis_rank", "tamis_score"]
    assert found.index.tolist() == adata.var_names.tolist()
    assert "tamis" not in adata.uns
    assert not any(name.startswith("tamis") for name in adata.var)


def test_layers_lists_and_seed(adata, quick):
    found = tamis.select_genes(
        adata, 3, layer="twice", must_keep=["nuisance_0"], never=["signal_0"], inplace=False, **quick
    )
    assert found.loc["nuisance_0", "tamis_rank"] == 1
    assert not found.loc["signal_0", "tamis_selected"]
    plain_found = tamis.select_genes(adata, 3, inplace=False, **quick)
    assert not plain_found["tamis_score"].equals(found["tamis_score"])
    assert plain_found.equals(tamis.select_genes(adata, 3, inplace=False, **quick))


def test_sparse_layers_stay_sparse(adata, quick, monkeypatch):
    from tamis import LSCAE

    seen = []
    inner = LSCAE.fit
    monkeypatch.setattr(LSCAE, "fit", lambda self, X, y=None: (seen.append(X), inner(self, X))[1])
    tamis.select_genes(adata, 3, **quick)
    assert seen[0].format == "csr"


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_a_backed_file_gives_the_same_genes(adata, quick, tmp_path, monkeypatch, kind):
    del adata.layers["twice"]
    if kind == "dense":
        adata.X = adata.X.toarray().astype(np.float32)
    adata.write_h5ad(tmp_path / "a.h5ad")
    expected = tamis.select_genes(adata, 3, inplace=False, **quick)
    monkeypatch.setattr("tamis.single_cell.BATCH_ROWS", 20)
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    try:
        tamis.select_genes(backed, 3, **quick)
        assert backed.var["tamis_rank"].tolist() == expected["tamis_rank"].tolist()
    finally:
        backed.file.close()


def test_the_result_can_be_written_and_read(adata, quick, tmp_path):
    tamis.select_genes(adata, 3, **quick)
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad")
    assert again.uns["tamis"]["method"] == "lscae"
    assert again.var["tamis_selected"].sum() == 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"layer": "none"}, r"layer='none' is not among the layers of adata: twice"),
        ({"must_keep": ["none"]}, r"must_keep names 'none', which is not among adata.var_names"),
        ({"n_genes": 99}, r"n_features_to_select=99"),
    ],
)
def test_mistakes_are_named_and_change_nothing(adata, quick, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        tamis.select_genes(adata, **({"n_genes": 3} | quick | options))
    assert "tamis" not in adata.uns


def test_options_are_keyword_only(adata):
    with pytest.raises(TypeError):
        tamis.select_genes(adata, 3, "twice")
