import sys
from types import SimpleNamespace

import pytest

import tamis

pytest.importorskip("anndata", reason="anndata is not installed")
matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("agg")


def panelled(adata):
    tamis.select_genes(adata, 10)
    return adata


@pytest.fixture
def panel(adata):
    yield panelled(adata)
    matplotlib.pyplot.close("all")


def test_heatmap_has_a_column_per_gene_and_a_row_per_group(panel):
    ax = tamis.pl.panel_heatmap(panel, "type")
    assert ax.images[0].get_array().shape == (4, 10)
    assert {label.get_text() for label in ax.get_xticklabels()} == set(panel.uns["tamis"]["genes"])


def test_heatmap_shows_genes_without_a_programme_and_symbols(adata):
    tamis.select_genes(adata, 6, must_keep=["N7"])
    adata.var["symbol"] = [f"S-{gene}" for gene in adata.var_names]
    adata.obs["known"] = adata.obs["type"].astype(object).where(adata.obs["type"] != "C")
    ax = tamis.pl.panel_heatmap(adata, "known", gene_key="symbol")
    assert ax.get_xticklabels()[-1].get_text() == "S-N7"
    assert ax.images[0].get_array().shape == (3, 6)


def test_many_panels_have_different_colours(panel):
    genes = panel.uns["tamis"]["genes"]
    scores = tamis.compare_panels(panel, {str(i): genes for i in range(8)}, clusters=False, references=False)
    ax = tamis.pl.panel_comparison(scores, columns=["r2"])
    assert len({patch.get_facecolor() for patch in ax.patches}) == 8


def test_coverage_has_a_bar_per_programme(panel):
    ax = tamis.pl.panel_coverage(panel)
    programmes = set(panel.var["tamis_programme"]) - {""}
    assert len(ax.patches) == len(programmes)
    assert all(0 <= patch.get_width() <= 1 for patch in ax.patches)
    assert sum(int(text.get_text().split()[0]) for text in ax.texts) == 10


def test_comparison_draws_into_given_axes(panel):
    scores = tamis.evaluate_panel(panel, panel.uns["tamis"]["genes"], clusters=False)
    own = matplotlib.pyplot.figure().subplots()
    assert tamis.pl.panel_comparison(scores, columns=["knn_overlap", "r2"], ax=own) is own
    assert len(own.patches) == 3 * 2


def test_umap_draws_all_genes_beside_the_panel(panel, monkeypatch):
    widths = []

    class UMAP:
        def __init__(self, **options):
            assert options["random_state"] == 3

        def fit_transform(self, X):
            widths.append(X.shape[1])
            return X[:, :2]

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    axes = tamis.pl.panel_umap(panel, "type", random_state=3)
    assert [ax.get_title() for ax in axes] == ["all genes", "panel"]
    assert widths == [50, 9]
    for ax in axes:
        assert [len(part.get_offsets()) for part in ax.collections] == panel.obs["type"].value_counts(
            sort=False
        ).tolist()


def test_what_is_missing_is_named(adata, monkeypatch):
    with pytest.raises(ValueError, match="adata holds no panel"):
        tamis.pl.panel_heatmap(adata, "type")
    with pytest.raises(ValueError, match=r"groupby='none' is not a column of adata.obs: type, batch"):
        tamis.pl.panel_heatmap(panelled(adata), "none")
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match="panel_umap needs umap-learn"):
        tamis.pl.panel_umap(adata, "type")
