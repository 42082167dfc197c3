import numpy as np
import pytest

import tamis

pytest.importorskip("anndata", reason="anndata is not installed")
pytest.importorskip("igraph", reason="igraph is not installed")

MARKERS = ["A0", "A1", "A2", "B0", "B1", "B2", "C0", "C1", "C2", "RARE0", "RARE1"]
NOISE = [f"N{i}" for i in range(11)]


def test_markers_are_better_than_noise_and_references(adata):
    table = tamis.compare_panels(adata, {"markers": MARKERS, "noise": NOISE}, cell_type_key="type", batch_key="batch")
    assert table.index.tolist() == ["markers", "noise", "random", "highly variable"]
    for score in ("nmi_5_20", "knn_overlap", "programmes", "r2_total", "f1", "f1_knn", "f1_rare"):
        assert table.loc["markers", score] > table.loc["noise", score], score
    assert table.loc["noise", "correlation"] > table.loc["markers", "correlation"]
    assert table.loc["markers", "batch_mixing"] > 0.9
    assert table.attrs["confusion"]["markers"]["RARE"]["RARE"] > 0.8
    assert np.isfinite(table.to_numpy()).all()


def test_one_panel_and_what_may_be_left_out(adata):
    table = tamis.evaluate_panel(adata, MARKERS, clusters=False, references=False)
    assert table.index.tolist() == ["panel"]
    assert table.columns.tolist() == ["knn_overlap", "correlation", "correlation_share", "programmes", "r2", "r2_total"]
    adata.var["symbol"] = np.array([f"S-{gene}" for gene in adata.var_names], dtype=object)
    named = [f"S-{gene}" for gene in MARKERS]
    again = tamis.evaluate_panel(adata, named, gene_key="symbol", clusters=False, references=False)
    assert again.equals(table)
    mask = adata.var_names.isin(MARKERS)
    by_mask = tamis.evaluate_panel(adata, mask, clusters=False, references=False)
    np.testing.assert_allclose(by_mask.to_numpy(), table.to_numpy(), rtol=1e-5)


def test_all_genes_are_as_good_as_all_genes(adata):
    found = tamis.evaluate_panel(adata, list(adata.var_names), references=False).loc["panel"]
    for score in ("nmi_5_20", "nmi_21_60", "knn_overlap", "r2", "r2_total"):
        assert found[score] == pytest.approx(1)
    assert found["programmes"] > 0.9


@pytest.mark.parametrize("dtype", [object, "category"])
def test_cells_without_a_type_do_not_score(adata, dtype):
    options = {"cell_type_key": "known", "clusters": False, "references": False}
    adata.obs["known"] = adata.obs["type"].astype(object).where(adata.obs["type"] != "C").astype(dtype)
    table = tamis.evaluate_panel(adata, MARKERS, **options)
    assert list(table.attrs["confusion"]["panel"]) == ["A", "B", "RARE"]
    assert table.loc["panel", "f1"] > 0.8


def test_types_are_needed(adata):
    adata.obs["none"], adata.obs["one"] = np.nan, "A"
    with pytest.raises(ValueError, match="cell_type_key='none' has no value in 400 of 400 cells"):
        tamis.evaluate_panel(adata, MARKERS, cell_type_key="none", clusters=False)
    with pytest.raises(ValueError, match="need 2 types with at least 2 cells each; got 1"):
        tamis.evaluate_panel(adata, MARKERS, cell_type_key="one", clusters=False)


@pytest.mark.parametrize(
    ("genes", "options", "sentence"),
    [
        (["A0", "none"], {}, "The panel 'panel' names 'none', which matches no gene"),
        (["A0"], {}, "A panel needs at least 2 genes that vary, and 'panel' has 1"),
        (MARKERS, {"cell_type_key": "none"}, "cell_type_key='none' is not a column of adata.obs: type, batch"),
        (MARKERS, {"batch_key": "none"}, "batch_key='none' is not a column of adata.obs"),
    ],
)
def test_mistakes_are_named(adata, genes, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        tamis.evaluate_panel(adata, genes, **options)


@pytest.mark.parametrize(
    ("panels", "sentence"),
    [
        ({}, r"panels takes a mapping of names to genes.*got \{\}"),
        ([MARKERS], r"panels takes a mapping of names to genes.*got \[\["),
        ({"random": MARKERS}, "panels holds 'random', which names a reference; rename it, or pass references=False"),
    ],
)
def test_panels_need_names_of_their_own(adata, panels, sentence):
    with pytest.raises(ValueError, match=sentence):
        tamis.compare_panels(adata, panels)


def test_any_name_may_be_used_without_references(adata):
    table = tamis.compare_panels(adata, {"random": MARKERS}, references=False, clusters=False)
    assert table.index.tolist() == ["random"]


def test_scaled_genes_have_no_highly_variable_reference(adata):
    X = np.log1p(adata.X.toarray())
    adata.X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    assert tamis.evaluate_panel(adata, MARKERS, clusters=False).index.tolist() == ["panel", "random"]


def test_genes_that_do_not_vary_are_no_panel(adata):
    X = adata.X.toarray()
    X[:, adata.var_names.get_indexer(["A0", "A1"])] = 0
    adata.X = X
    for genes, n_varying in ((["A0", "A1"], 0), (["A0", "B0"], 1)):
        with pytest.raises(ValueError, match=f"genes that vary, and 'panel' has {n_varying}"):
            tamis.evaluate_panel(adata, genes, clusters=False)


def test_tables_can_be_joined_and_written(adata, tmp_path):
    pandas = pytest.importorskip("pandas")
    scores = tamis.evaluate_panel(adata, MARKERS, cell_type_key="type", clusters=False)
    genes = tamis.select_genes(adata, 10, inplace=False)
    for table in (scores, genes):
        assert len(pandas.concat([table, table])) == 2 * len(table)
        table.to_parquet(tmp_path / "t.parquet")
