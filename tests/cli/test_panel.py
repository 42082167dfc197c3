import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import csr_array

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
h5py = pytest.importorskip("h5py")
pandas = pytest.importorskip("pandas")


@pytest.fixture
def counts(rng):
    types = rng.integers(0, 3, 120)
    rates = np.ones((120, 40))
    for kind in range(3):
        rates[types == kind, kind * 8 : kind * 8 + 8] = 7
    return rng.poisson(rates).astype(np.float32)


def annotated(X, layers=None, **columns):
    """Return cells of two donors with columns for their genes, in texts that every version of anndata can write."""
    names = [*(f"G{i}" for i in range(38)), "MT-A", "MT-B"]
    obs = pandas.DataFrame(index=pandas.Index([str(i) for i in range(120)], dtype=object))
    obs["donor"] = np.arange(120) % 2
    return anndata.AnnData(
        X, obs, pandas.DataFrame(columns, pandas.Index(names, dtype=object), dtype=object), layers=layers
    )


@pytest.fixture
def cells(counts, tmp_path):
    symbols = [f"S{i}" for i in range(40)]
    annotated(counts, symbol=symbols).write_h5ad(tmp_path / "cells.h5ad")
    annotated(0 * counts, {"counts": counts}, symbol=symbols).write_h5ad(tmp_path / "layers.h5ad")
    return tmp_path / "cells.h5ad"


def test_a_panel_with_lists_and_batches(run, cells, tmp_path):
    (tmp_path / "markers.txt").write_text("G30\nG31\n")
    lists = ["--must-keep", "markers.txt", "--never", "mitochondrial,G1"]
    done = run("panel", cells, "-k", 8, "--batch-key", "donor", *lists, "-q", "-o", "panel.csv")
    assert done.exit_code == 0, done.output
    genes = pandas.read_csv(tmp_path / "panel.csv")
    assert genes["gene"][:2].tolist() == ["G30", "G31"]
    assert len(genes) == 8
    assert not set(genes["gene"]) & {"G1", "MT-A", "MT-B"}
    own = run("panel", cells, "-k", 8, "-o", "cells.h5ad", "--force")
    assert own.exit_code == 2
    assert "would replace the input" in own.output
    unknown = run("panel", cells, "-k", 8, "--batch-key", "none")
    assert unknown.exit_code == 2
    assert "--batch-key 'none' is not a column of adata.obs" in unknown.output


def test_files_of_10x(run, counts, tmp_path):
    X = csr_array(counts.astype(np.int32))
    with h5py.File(tmp_path / "cells.h5", "w") as file:
        for name in ("data", "indices", "indptr"):
            file[f"matrix/{name}"] = getattr(X, name)
        file["matrix/shape"] = [40, 120]
        file["matrix/features/name"] = np.array(["A", "A", *(f"G{i}" for i in range(38))], dtype="S8")
        file["matrix/features/feature_type"] = np.array(["Gene Expression"] * 38 + ["Antibody Capture"] * 2, dtype="S")
        file["matrix/barcodes"] = np.array([f"cell{i}" for i in range(120)], dtype="S8")
    done = run("panel", tmp_path / "cells.h5", "-k", 5)
    assert done.exit_code == 0, done.output
    assert "Testing 38 genes in 120 cells" in done.output
    assert "The matrix holds counts, normalised by size factors (median total) and log1p; " in done.output
    assert "--batch-key names the column that tells batches apart" in done.output
    assert "Genes for " in done.output
    assert "Left out: 'G36', 'G37' (of the type 'Antibody Capture', not 'Gene Expression')." in done.output
    assert len(pandas.read_csv(tmp_path / "cells-panel.csv")) == 5
    assert "120 rows, 38 features" in run("check", tmp_path / "cells.h5").output
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = [1]
    assert "holds no matrix of numbers (found: 'x')" in run("panel", tmp_path / "other.h5", "-k", 5).output
    with h5py.File(tmp_path / "cells.h5", "r+") as file:
        file["matrix/indices"][0] = 4000
    damaged = run("panel", tmp_path / "cells.h5", "-k", 5, "-o", "damaged.csv")
    assert "the sparse matrix is damaged: it names position 4000" in damaged.output


def test_folders_of_10x(run, counts, tmp_path):
    folder = tmp_path / "filtered"
    folder.mkdir()
    mmwrite(folder / "matrix.mtx", csr_array(counts.T.astype(np.int32)))
    (folder / "features.tsv").write_text("".join(f"ENS{i}\tG{i}\tGene Expression\n" for i in range(40)))
    (folder / "barcodes.tsv").write_text("".join(f"cell{i}\n" for i in range(120)))
    done = run("panel", folder / "matrix.mtx", "-k", 5, "-o", "file.csv")
    assert "Testing 40 genes in 120 cells" in done.output
    assert "the rows of the matrix are the features listed beside it (else --no-transpose)" in done.output
    chosen = run("select", folder, "-k", 3, "-m", "variance")
    assert chosen.exit_code == 0, chosen.output
    assert pandas.read_parquet(tmp_path / "filtered-tamis/filtered-selected.parquet").shape == (120, 4)
    done = run("panel", folder, "-k", 5, "--never", "G1", "-o", "tenx.csv")
    assert done.exit_code == 0, done.output
    assert "Testing 40 genes in 120 cells" in done.output
    genes = pandas.read_csv(tmp_path / "tenx.csv")["gene"]
    assert set(genes) <= {f"G{i}" for i in range(40)} - {"G1"}
    assert len(genes) == 5


def test_seeds_symbols_and_the_page(run, cells, tmp_path):
    done = run("panel", cells, "-k", 6, "--gene-key", "symbol", "--must-keep", "S30", "--seed", 3, "-q", "-o", "p.csv")
    assert done.exit_code == 0, done.output
    assert done.output.split() == ["6", "genes:", "p.csv,", "p.html"]
    assert pandas.read_csv(tmp_path / "p.csv")["gene"][0] == "G30"
    page = (tmp_path / "p.html").read_text()
    assert "Gene panel of cells.h5ad" in page
    assert "What the panel misses" in page
    (tmp_path / "p.html").write_text("mine")
    assert "p.html: is there already" in run("panel", cells, "-k", 6, "-o", "p.csv").output
    assert run("panel", cells, "-k", "auto", "-o", "p.csv", "--force", "-q").exit_code == 0


def test_reading_options_have_their_effect_or_are_refused(run, cells, tmp_path):
    for place, key in ((cells, []), (tmp_path / "layers.h5ad", ["--key", "counts"])):
        done = run("panel", place, "-k", 5, "-q", *key, "-o", f"{place.stem}.csv")
        assert done.exit_code == 0, done.output
    assert (tmp_path / "cells.csv").read_text() == (tmp_path / "layers.csv").read_text()
    unknown = run("panel", tmp_path / "layers.h5ad", "-k", 5, "--key", "none")
    assert unknown.exit_code == 2
    assert "holds no matrix 'none'; there are X, counts (--key)." in unknown.output
    for options in (["--drop", "G1"], ["--labels", "donor"], ["--missing", "median"], ["--no-header"]):
        refused = run("panel", cells, "-k", 5, *options)
        assert refused.exit_code == 2
        assert "has no effect on how tamis panel reads .h5ad files" in refused.output
    assert "nothere.h5ad: there is no such file." in run("panel", "nothere.h5ad").output


def test_missing_cells_and_labels_of_tables(run, counts, tmp_path):
    frame = pandas.DataFrame(counts, columns=[f"G{i}" for i in range(40)])
    frame.loc[3, "G2"] = None
    frame["donor"] = ["a", "b"] * 60
    frame.to_csv(tmp_path / "cells.csv", index=False)
    refused = run("panel", "cells.csv", "-k", 5, "--labels", "donor")
    assert refused.exit_code == 2
    assert "1 cell missing, in 'G2'; pass --missing median" in refused.output
    options = ["--labels", "donor", "--batch-key", "donor", "--missing", "drop-rows"]
    done = run("panel", "cells.csv", "-k", 5, *options)
    assert done.exit_code == 0, done.output
    assert "Testing 40 genes in 119 cells" in done.output
    unread = run("panel", "cells.csv", "-k", 5, "--batch-key", "donor")
    assert "--batch-key names 'donor', of which a table has no annotations; pass --labels donor, too" in unread.output


def test_warnings_become_notes(run, rng, tmp_path, recwarn):
    frame = pandas.DataFrame(rng.poisson(4, (100, 40)), columns=[f"G{i}" for i in range(40)])
    frame.to_csv(tmp_path / "noise.csv", index=False)
    done = run("panel", "noise.csv", "-k", 5)
    assert done.exit_code == 0, done.output
    note = "tamis: note: No gene with structure above chance may be chosen; filler takes 5 of the 5 places."
    assert note in " ".join(done.output.split())
    assert not list(recwarn)


def test_noise_has_no_number_of_genes(run, rng, tmp_path):
    frame = pandas.DataFrame(rng.poisson(4, (100, 40)), columns=[f"G{i}" for i in range(40)])
    frame.to_csv(tmp_path / "noise.csv", index=False)
    done = run("panel", "noise.csv")
    assert done.exit_code == 3
    assert "no gene depends on others above chance" in done.output
    assert not (tmp_path / "noise-panel.csv").exists()


def test_what_is_no_expression_is_refused_with_the_remedy(run, counts, tmp_path):
    frame = pandas.DataFrame(counts, columns=[f"G{i}" for i in range(40)]).assign(donor=["a", "b"] * 60)
    frame.to_csv(tmp_path / "cells.csv", index=False)
    refused = run("panel", "cells.csv", "-k", 5)
    assert refused.exit_code == 2
    assert "'donor' holds no expression but categories; pass --drop donor, or --labels" in refused.output


def test_the_table_does_not_take_the_place_of_the_page(run, cells, tmp_path):
    assert "let it end with .csv" in run("panel", cells, "-k", 5, "-o", "x.html").output
    assert run("panel", cells, "-k", 5, "-o", "new/x.csv", "-q").exit_code == 0
    assert (tmp_path / "new/x.html").is_file()


def test_symbols_are_written_and_lists_of_genes_read(run, cells, tmp_path):
    (tmp_path / "markers.csv").write_text("note,gene\nfirst,S3\nsecond,S4\n")
    options = ["--gene-key", "symbol", "--must-keep", "markers.csv"]
    done = run("panel", cells, "-k", 5, "-q", *options, "-o", "p.csv")
    assert done.exit_code == 0, done.output
    assert pandas.read_csv(tmp_path / "p.csv")["symbol"].tolist()[:2] == ["S3", "S4"]
    assert "missing.txt: there is no such file" in run("panel", cells, "-k", 5, "--must-keep", "missing.txt").output
    assert "Every feature that was chosen depends on others" in run("evaluate", cells, "-f", "p.csv").output
    assert "--batch-key 'none' is not a column" in run("panel", cells, "-k", 5, "--batch-key", "none").output


def test_a_file_without_annotations_is_refused(run, tmp_path):
    with h5py.File(tmp_path / "half.h5ad", "w") as file:
        file["X"] = np.ones((4, 3))
    assert "holds no obs and var" in run("panel", "half.h5ad", "-k", 2).output


def test_tables(run, counts, tmp_path):
    pandas.DataFrame(counts, columns=[f"G{i}" for i in range(40)]).to_csv(tmp_path / "cells.csv", index=False)
    done = run("panel", tmp_path / "cells.csv", "-k", 5, "-q")
    assert done.exit_code == 0, done.output
    assert "5 genes: cells-panel.csv, cells-panel.html" in done.output


def test_antibodies_of_cells_are_left_out(run, counts, tmp_path):
    types = ["Gene Expression"] * 36 + ["Antibody Capture"] * 4
    annotated(counts, feature_types=types).write_h5ad(tmp_path / "cite.h5ad")
    done = run("panel", "cite.h5ad", "-k", 5)
    assert done.exit_code == 0, done.output
    assert "note: left out 4 columns whose feature_types is not 'Gene Expression'." in done.output
    assert "Testing 36 genes in 120 cells" in done.output


def test_files_of_cell_ranger_2(run, counts, tmp_path):
    X = csr_array(counts.astype(np.int32))
    with h5py.File(tmp_path / "old.h5", "w") as file:
        for name in ("data", "indices", "indptr"):
            file[f"GRCh38/{name}"] = getattr(X, name)
        file["GRCh38/shape"] = [40, 120]
        file["GRCh38/genes"] = np.array([f"ENSG{i}" for i in range(40)], dtype="S8")
        file["GRCh38/gene_names"] = np.array([f"G{i}" for i in range(40)], dtype="S8")
        file["GRCh38/barcodes"] = np.array([f"cell{i}" for i in range(120)], dtype="S8")
    done = run("panel", "old.h5", "-k", 5, "-o", "panel.csv")
    assert done.exit_code == 0, done.output
    assert "Testing 40 genes in 120 cells" in done.output
    assert pandas.read_csv(tmp_path / "panel.csv")["gene"].str.startswith("G").all()


def test_a_column_named_gene_is_written_beside_the_names(run, counts, tmp_path):
    annotated(counts, gene=[f"S{i}" for i in range(40)]).write_h5ad(tmp_path / "named.h5ad")
    assert run("panel", "named.h5ad", "-k", 4, "--gene-key", "gene", "-o", "panel.csv").exit_code == 0
    header = (tmp_path / "panel.csv").read_text().partition("\n")[0]
    assert header.startswith("name,gene,tamis_rank")
