import numpy as np
import pytest

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


@pytest.fixture
def cells(counts, tmp_path):
    names = [*(f"G{i}" for i in range(38)), "MT-A", "MT-B"]
    obs = pandas.DataFrame(index=pandas.Index([str(i) for i in range(120)], dtype=object))
    obs["donor"] = np.arange(120) % 2
    anndata.AnnData(counts, obs, pandas.DataFrame(index=pandas.Index(names, dtype=object))).write_h5ad(
        tmp_path / "cells.h5ad"
    )
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
    again = run("panel", cells, "-k", 8, "-o", "panel.csv")
    assert again.exit_code == 2
    assert "panel.csv exists" in again.output
    unknown = run("panel", cells, "-k", 8, "--batch-key", "none")
    assert unknown.exit_code == 2
    assert "batch_key='none' is not a column of adata.obs" in unknown.output


def test_files_of_10x(run, counts, tmp_path):
    from scipy.sparse import csr_array

    X = csr_array(counts.astype(np.int32))
    with h5py.File(tmp_path / "cells.h5", "w") as file:
        for name in ("data", "indices", "indptr"):
            file[f"matrix/{name}"] = getattr(X, name)
        file["matrix/shape"] = [40, 120]
        file["matrix/features/name"] = np.array(["A", "A", *(f"G{i}" for i in range(38))], dtype="S8")
    done = run("panel", tmp_path / "cells.h5", "-k", 5)
    assert done.exit_code == 0, done.output
    assert "Testing 40 genes in 120 cells" in done.output
    assert len(pandas.read_csv(tmp_path / "cells-panel.csv")) == 5
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = [1]
    assert "holds no group 'matrix'" in run("panel", tmp_path / "other.h5", "-k", 5).output


def test_tables(run, counts, tmp_path):
    pandas.DataFrame(counts, columns=[f"G{i}" for i in range(40)]).to_csv(tmp_path / "cells.csv", index=False)
    done = run("panel", tmp_path / "cells.csv", "-k", 5, "-q")
    assert done.exit_code == 0, done.output
    assert "5 genes: cells-panel.csv" in done.output
