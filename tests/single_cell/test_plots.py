import pytest

import tamis

pytest.importorskip("anndata", reason="anndata is not installed")
matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("agg")


@pytest.fixture
def panel(adata):
    tamis.select_genes(adata, 10)
    yield adata
    matplotlib.pyplot.close("all")


def test_heatmap_has_a_column_per_gene_and_a_row_per_group(panel):
    ax = tamis.pl.panel_heatmap(panel, "type")
    assert ax.images[0].get_array().shape == (4, 10)
    assert {label.get_text() for label in ax.get_xticklabels()} == set(panel.uns["tamis"]["genes"])


def test_coverage_has_a_bar_per_programme(panel):
    ax = tamis.pl.panel_coverage(panel)
    programmes = set(panel.var["tamis_programme"]) - {""}
    assert len(ax.patches) == 2 * len(programmes)
    assert sum(patch.get_width() for patch in ax.patches[len(programmes) :]) == 10


def test_comparison_draws_into_given_axes(panel):
    scores = tamis.evaluate_panel(panel, panel.uns["tamis"]["genes"], clusters=False)
    own = matplotlib.pyplot.figure().subplots()
    assert tamis.pl.panel_comparison(scores, columns=["knn_overlap", "r2"], ax=own) is own
    assert len(own.patches) == 3 * 2


def test_what_is_missing_is_named(adata, monkeypatch):
    with pytest.raises(ValueError, match="adata holds no panel"):
        tamis.pl.panel_heatmap(adata, "type")
    monkeypatch.setitem(__import__("sys").modules, "umap", None)
    with pytest.raises(ImportError, match="panel_umap needs umap-learn"):
        tamis.pl.panel_umap(adata, "type")
