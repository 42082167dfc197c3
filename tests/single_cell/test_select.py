import numpy as np
import pytest
from scipy.sparse import csr_matrix

import tamis
from tamis.single_cell.alignment import Programmes
from tamis.single_cell.families import PanelWarning
from tamis.structure.candidates import FillerWarning
from tamis.synthetic import make_cells

from .conftest import make_counts

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
pandas = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore:The 'mode.chained_assignment' option")  # Set by anndata's views.


def chosen(adata, n_genes, **options):
    table = tamis.select_genes(adata, n_genes, inplace=False, **options)
    return table[table["tamis_selected"]].sort_values("tamis_rank").index.tolist()


def test_each_type_has_its_genes_and_noise_has_none(adata):
    genes = chosen(adata, 10)
    assert len(genes) == 10
    assert {gene.rstrip("0123456789") for gene in genes[:4]} == {"A", "B", "C", "RARE"}
    assert not [gene for gene in genes if gene.startswith(("N", "MT-"))]


def test_a_hundredth_of_the_cells_gets_its_share(adata):
    for seed in (1, 2, 3):
        adata.X = csr_matrix(make_counts(seed, rare_share=0.01)[0].astype(np.float32))
        assert any(gene.startswith("RARE") for gene in chosen(adata, 5))


def test_it_writes_where_scanpy_users_look(adata, tmp_path):
    assert tamis.select_genes(adata, 12) is None
    var, notes = adata.var, adata.uns["tamis"]
    assert var["tamis_selected"].sum() == 12
    assert sorted(var["tamis_rank"]) == list(range(1, adata.n_vars + 1))
    assert var["tamis_rank"][var["tamis_selected"]].max() == 12
    assert notes["genes"].tolist() == var[var["tamis_selected"]].sort_values("tamis_rank").index.tolist()
    assert (notes["layer"], notes["input"]) == ("X", "counts")
    assert notes["normalisation"] == "size factors (median total) and log1p"
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad")
    for name in [name for name in var if name.startswith("tamis_")]:
        np.testing.assert_array_equal(again.var[name].to_numpy(), var[name].to_numpy())
    assert {name: np.array(kept).tolist() for name, kept in again.uns["tamis"].items()} == {
        name: np.array(kept).tolist() for name, kept in notes.items()
    }


def test_an_object_without_other_texts_can_be_written(tmp_path):
    adata = make_cells()
    tamis.select_genes(adata, 20)
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad").var
    for name in ("tamis_programme", "tamis_stands_for"):
        assert again[name].tolist() == adata.var[name].tolist()
    assert "CD27" in ", ".join(again["tamis_stands_for"])


def test_reasons(adata):
    table = tamis.select_genes(adata, 10, inplace=False)
    assert "tamis" not in adata.uns
    assert not any(name.startswith("tamis") for name in adata.var)
    markers = table[table["tamis_selected"] & table.index.str.match("A")]
    assert {gene[0] for text in markers["tamis_stands_for"] for gene in text.split(", ") if gene} == {"A"}
    first = markers.iloc[0]
    assert first["tamis_programme"] == table.loc["A0", "tamis_programme"] != ""
    assert first["tamis_pvalue"] < 1e-3
    assert table["tamis_score"].between(0, 1.0001).all()
    assert table.loc["A0", "tamis_score"] > table.loc["N5", "tamis_score"]
    assert table.loc["N5", "tamis_stands_for"] == ""
    assert table.loc["A0", "tamis_explained"] > 0.4
    assert (table["tamis_explained"][table["tamis_selected"]] == 1).all()
    assert table["tamis_explained"][~table["tamis_structured"]].isna().all()


def test_genes_that_only_tell_batches_apart_are_not_chosen(adata):
    X = adata.X.toarray()
    X[adata.obs["batch"] == "b1", 40:60] += 6  # Twenty genes whose structure is the batch alone.
    adata.X = csr_matrix(X)
    batch_genes = set(adata.var_names[40:60])
    assert batch_genes & set(chosen(adata, 15))
    for batches in ("any", "all"):
        assert not batch_genes & set(chosen(adata, 15, batch_key="batch", batches=batches))


def test_structure_in_one_batch_counts_for_any_and_not_for_all(adata, rng):
    X = adata.X.toarray()
    cells = np.flatnonzero(adata.obs["batch"] == "b1")
    X[np.ix_(rng.permutation(cells)[:80], np.arange(40, 50))] += 8
    adata.X = csr_matrix(X)
    own = set(adata.var_names[40:50])
    assert own & set(chosen(adata, 15, batch_key="batch"))
    assert not own & set(chosen(adata, 15, batch_key="batch", batches="all"))


def test_genes_that_follow_no_programme_are_not_chosen(adata, monkeypatch):
    strongest = set(chosen(adata, 3))
    monkeypatch.setattr(Programmes, "followed_by", lambda *_: ~adata.var_names.isin(strongest))
    assert not strongest & set(chosen(adata, 20))


def test_a_panel_is_extended_and_lists_are_kept(adata):
    genes = chosen(adata, 10, must_keep=["N7", "A3"], never=["B*", "mitochondrial"])
    assert genes[:2] == ["N7", "A3"]
    assert len(genes) == 10
    assert not [gene for gene in genes if gene.startswith(("B", "MT-"))]


def test_bounds_of_expression(adata):
    table = tamis.select_genes(adata, 10, inplace=False)
    means = table["tamis_mean"][table["tamis_selected"]]
    high = float(means.median())
    bounded = tamis.select_genes(adata, 10, expression=(0.1, high), inplace=False)
    assert means.max() > high
    assert bounded["tamis_mean"][bounded["tamis_selected"]].between(0.1, high).all()
    assert chosen(adata, 10, expression=(None, high)) == chosen(adata, 10, expression=(0, high))
    assert chosen(adata, 10, expression=(0.1, None)) == chosen(adata, 10, expression=(0.1, 99))


def test_penalties_and_groups(adata):
    first = chosen(adata, 10)[0]
    adata.var["cost"] = (adata.var_names == first).astype(float)
    assert first not in chosen(adata, 10, penalty="cost")
    adata.var["group"] = np.array([gene[0] if gene[0] in "AB" else gene for gene in adata.var_names], dtype=object)
    genes = chosen(adata, 8, groups="group", must_keep=["A1"])
    assert [gene for gene in genes if gene[0] == "A"] == ["A1"]
    assert sum(gene[0] == "B" for gene in genes) == 1


@pytest.mark.filterwarnings("default::tamis.structure.candidates.FillerWarning")
def test_groups_without_structure_fill_up(adata):
    adata.var["group"] = np.arange(adata.n_vars) // 4
    with pytest.warns(FillerWarning, match=r"Only \d+ groups with structure above chance.*filler takes"):
        tamis.select_genes(adata, 15, groups="group")
    picked = adata.var[adata.var["tamis_selected"]]
    assert len(picked) == picked["group"].nunique() == 15
    assert set(adata.var["group"][adata.var["tamis_structured"]]) < set(picked["group"])
    with pytest.raises(ValueError, match="n_genes=24, but 23 of 90 genes can be selected, of which must_keep holds 0"):
        tamis.select_genes(adata, 24, groups="group")


def test_symbols_layers_raw_and_seed(adata):
    adata.var["symbol"] = np.array([f"S-{gene}" for gene in adata.var_names], dtype=object)
    assert chosen(adata, 5, gene_key="symbol", must_keep=["S-N3"])[0] == "N3"
    adata.layers["mixed"] = adata.X[:, ::-1]
    assert set(chosen(adata, 8, layer="mixed")) != set(chosen(adata, 8))
    adata.raw = adata.copy()
    less = adata[:, 10:].copy()
    with pytest.warns(PanelWarning, match=r"of the 8 selected genes are in adata.raw alone"):
        tamis.select_genes(less, 8, use_raw=True)
    assert set(less.uns["tamis"]["genes"]) == set(chosen(adata, 8)) > set(less.var_names[less.var["tamis_selected"]])
    less.raw = adata[:, 20:].copy()
    with pytest.raises(ValueError, match=r"adata.raw lacks 10 genes of adata.var, which would get no result"):
        tamis.select_genes(less, 8, use_raw=True)
    assert less.uns["tamis"]["layer"] == "raw"
    assert chosen(adata, 8, random_state=1) == chosen(adata, 8, random_state=1)


def test_auto_is_about_the_number_of_programmes(adata):
    assert 2 <= len(chosen(adata, "auto")) <= 12


def test_auto_does_not_count_batches(adata, rng):
    alone = len(chosen(adata, "auto"))
    batch = rng.integers(12, size=adata.n_obs)
    adata.obs["many"] = pandas.Categorical([f"b{number}" for number in batch])
    noise = np.flatnonzero(adata.var_names.str.startswith("N"))
    X = adata.X.toarray()
    X[:, noise] = rng.poisson(3 * np.exp(0.8 * rng.standard_normal((12, len(noise))))[batch])
    adata.X = csr_matrix(X)
    assert len(chosen(adata, "auto")) > alone + 3
    assert abs(len(chosen(adata, "auto", batch_key="many")) - alone) <= 2


def test_a_penalty_of_all_genes_changes_nothing_and_a_small_one_little(adata):
    before = chosen(adata, 8)
    for penalty in (1e-6, 0.5, 1.0):
        adata.var["cost"] = penalty
        assert chosen(adata, 8, penalty="cost") == before
    adata.var["cost"] = np.where(adata.var_names.str.startswith("RARE"), 0.01, 0.0)
    assert any(gene.startswith("RARE") for gene in chosen(adata, 8, penalty="cost"))


def test_a_batch_that_is_too_small_to_tell_is_named(adata):
    adata.obs["three"] = np.where(np.arange(400) < 20, "small", adata.obs["batch"].astype(str))
    assert len(chosen(adata, 8, batch_key="three")) == 8
    with pytest.raises(ValueError, match="'small' has 20 cells, and a batch needs at least 30 for batches='all'"):
        tamis.select_genes(adata, 8, batch_key="three", batches="all")


@pytest.mark.parametrize("batches", [None, "any", "all"])
def test_depth_is_no_structure(rng, batches):
    depth, shares = np.exp(rng.normal(8, 0.5, (600, 1))), rng.dirichlet(np.ones(200))
    cells = anndata.AnnData(rng.poisson(depth * shares).astype(np.float32))
    cells.obs["batch"] = rng.choice(["a", "b"], 600)
    options = {} if batches is None else {"batch_key": "batch", "batches": batches}
    with pytest.warns(FillerWarning):
        table = tamis.select_genes(cells, 10, inplace=False, **options)
    assert table["tamis_structured"].sum() <= 2


def test_stages_are_printed_if_asked(adata, capsys):
    tamis.select_genes(adata, 5)
    assert not capsys.readouterr().out
    tamis.select_genes(adata, 5, verbose=True)
    assert "Testing 90 genes in 400 cells" in capsys.readouterr().out


@pytest.mark.filterwarnings("default::tamis.structure.candidates.FillerWarning")
def test_genes_without_structure_are_told(adata):
    with pytest.warns(FillerWarning, match="structure above chance may be chosen; filler takes"):
        tamis.select_genes(adata, 60)
    assert adata.uns["tamis"]["n_filler"] > 0


@pytest.mark.parametrize("dtype", [object, "category", float])
def test_cells_without_a_batch_are_counted(adata, dtype):
    donors = pandas.Series([1.0, 2.0] * (adata.n_obs // 2), adata.obs_names)
    adata.obs["donor"] = (
        (donors if dtype is float else donors.map("d{}".format)).mask(donors.index < "c12").astype(dtype)
    )
    n_missing = int(adata.obs["donor"].isna().sum())
    sentence = f"batch_key='donor' has no value in {n_missing} of 400 cells; fill the column, or leave these cells out"
    with pytest.raises(ValueError, match=sentence):
        tamis.select_genes(adata, 5, batch_key="donor")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_genes": 99}, "n_genes=99, but 90 of 90 genes can be selected, of which must_keep holds 0"),
        ({"n_genes": 99, "must_keep": ["A1"]}, "90 of 90 genes can be selected, of which must_keep holds 1"),
        ({"n_genes": 0}, "n_genes takes a positive number of genes or 'auto'; got 0"),
        ({"must_keep": ["none"]}, "must_keep names 'none', which matches no gene"),
        ({"must_keep": ["A1"], "never": ["A*"]}, "must_keep and never both name 'A1'"),
        ({"batch_key": "none"}, "batch_key='none' is not a column of adata.obs: type, batch"),
        ({"batch_key": "small"}, "The batch 'two' has 2 cells, and a batch needs at least 3"),
        ({"batches": "some"}, "batches takes 'any' or 'all'"),
        ({"penalty": "none"}, "penalty='none' is not a column of adata.var"),
        ({"penalty": "big"}, "penalty='big': the column holds values that are not between 0 and 1"),
        ({"penalty": "word"}, "penalty='word': the column holds values that are not between 0 and 1"),
        ({"expression": 0.1}, r"expression takes a lower and an upper bound, such as \(0.02, 3\); got 0.1"),
        ({"expression": (3, 0.02)}, r"expression takes a lower and an upper bound.*got \(3, 0.02\)"),
        ({"expression": ("dim", None)}, r"expression takes a lower and an upper bound.*got \('dim', None\)"),
        ({"random_state": -1}, r"random_state takes a whole number of at least 0, below 2\*\*32; got -1"),
        ({"groups": "none"}, "groups='none' is not a column of adata.var"),
        (
            {"n_genes": "auto", "never": "*"},
            "n_genes='auto', but 0 of 90 genes can be selected, of which must_keep holds 0",
        ),
    ],
)
def test_mistakes_are_named_and_change_nothing(adata, options, sentence):
    if options.get("batch_key") == "small":
        adata.obs["small"] = np.array(["two"] * 2 + ["more"] * (adata.n_obs - 2), dtype=object)
    adata.var["big"], adata.var["word"] = 7.0, "dear"
    with pytest.raises(ValueError, match=sentence):
        tamis.select_genes(adata, **({"n_genes": 3} | options))
    assert "tamis" not in adata.uns


def test_genes_with_one_value_are_not_chosen(adata):
    X = adata.X.toarray()
    X[:, :8] = 0
    adata.X = csr_matrix(X)
    assert not [gene for gene in chosen(adata, 12) if gene.startswith("A")]


def test_whole_numbers_that_are_no_counts_are_taken_as_intensities(adata):
    adata.X = adata.X * np.float32(1e30)
    with pytest.warns(PanelWarning, match="No counts are found behind the values"):
        tamis.select_genes(adata, 5)
    assert adata.uns["tamis"]["input"] == "linear"
    assert not [gene for gene in adata.uns["tamis"]["genes"] if gene.startswith(("N", "MT-"))]


def test_a_table_is_no_annotated_one(adata):
    for use in (lambda X: tamis.select_genes(X, 3), lambda X: tamis.evaluate_panel(X, ["A0", "A1"], clusters=False)):
        with pytest.raises(TypeError, match=r"adata takes an AnnData object; got DataFrame. Pass anndata.AnnData"):
            use(adata.to_df())


def test_selectors_say_at_once_what_to_pass(adata):
    with pytest.raises(TypeError, match="X is an AnnData object"):
        tamis.LSCAE(3).fit(adata)


def scaled(adata):
    adata.layers["logged"] = np.log1p(adata.X.toarray() / np.asarray(adata.X.sum(axis=1)) * 1e4)
    logged = adata.layers["logged"]
    adata.X = (logged - logged.mean(axis=0)) / logged.std(axis=0)
    return adata


def test_of_scaled_expression_nothing_is_said_that_scaling_has_removed(adata):
    with pytest.warns(PanelWarning, match="No counts are found behind the values"):
        table = tamis.select_genes(scaled(adata), 5, inplace=False)
    assert table["tamis_mean"].isna().all()
    assert table["tamis_detection"].isna().all()
    with pytest.raises(ValueError, match="expression bounds means, and those of scaled genes are zero"):
        tamis.select_genes(adata, 5, expression=(0.02, None))
    assert len(chosen(adata, 5, expression=(0.02, None), layer="logged")) == 5


def test_a_panel_is_extended_by_what_it_lacks(adata):
    for have in (["A0", "A1", "B0", "B1"], ["C3", "RARE1", "B4"]):
        served = {gene.rstrip("0123456789") for gene in have}
        new = chosen(adata, len(have) + 4 - len(served), must_keep=have)[len(have) :]
        assert {gene.rstrip("0123456789") for gene in new} == {"A", "B", "C", "RARE"} - served


def test_genes_stand_for_those_that_rise_with_them(adata):
    table = tamis.select_genes(adata, 4, inplace=False)
    for gene, others in table["tamis_stands_for"][table["tamis_selected"]].items():
        kinds = {other.rstrip("0123456789") for other in str(others).split(", ") if other}
        assert kinds <= {gene.rstrip("0123456789")}


def test_genes_without_a_group_are_free(adata):
    adata.var["isoform"] = ["x" if gene.startswith("A") else "" for gene in adata.var_names]
    genes = chosen(adata, 10, groups="isoform")
    assert sum(gene.startswith("A") for gene in genes) <= 1
    assert len(genes) == 10


def test_noise_has_no_programme(rng):
    noise = anndata.AnnData(rng.poisson(3.0, (200, 60)).astype(np.float32))
    with pytest.warns(FillerWarning):
        assert tamis.select_genes(noise, 5, inplace=False).attrs["n_programmes"] == 0


def test_batches_that_are_types_are_named_where_nothing_is_left(adata):
    adata.obs["batch"] = adata.obs["type"].astype(str).to_numpy(dtype=object)
    with pytest.warns(FillerWarning, match="types of cells that 'batch' parts from each other do not count"):
        tamis.select_genes(adata, 5, batch_key="batch")


def test_of_a_small_batch_enough_cells_are_drawn(adata, monkeypatch):
    monkeypatch.setattr("tamis.single_cell.expression.MAX_CELLS", 120)
    monkeypatch.setattr(
        tamis.single_cell.expression.read_expression,
        "__kwdefaults__",
        {**tamis.single_cell.expression.read_expression.__kwdefaults__, "max_cells": 120},
    )
    adata.obs["site"] = np.where(np.arange(adata.n_obs) % 10 == 0, "small", "large").astype(object)
    table = tamis.select_genes(adata, 5, batch_key="site", batches="all", inplace=False)
    assert table["tamis_structured"].sum() >= 15


def test_columns_that_are_no_genes_are_named(adata):
    adata.var["feature_types"] = ["Gene Expression"] * (adata.n_vars - 2) + ["Antibody Capture"] * 2
    with pytest.raises(ValueError, match="Some columns hold no genes but 'Antibody Capture'"):
        tamis.select_genes(adata, 5)


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_names_of_raw_that_occur_twice_are_named(adata):
    adata.var["symbol"] = list(adata.var_names)
    raw = adata.copy()
    raw.var_names = ["N1", "N1", *raw.var_names[2:]]
    adata.raw = raw
    with pytest.raises(ValueError, match="occur twice; pass inplace=False"):
        tamis.select_genes(adata[:, 2:].copy(), 5, use_raw=True, gene_key="symbol")


def test_cells_that_were_joined_twice_are_told(adata):
    twice = anndata.concat([adata, adata], index_unique="-")
    with pytest.warns(PanelWarning, match="Many cells occur more than once"):
        tamis.select_genes(twice, 5, inplace=False)
