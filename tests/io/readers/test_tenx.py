import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import csr_array

from tamis.io.errors import TableError
from tamis.io.readers import Request, read


@pytest.fixture
def folder(rng, tmp_path):
    """Return a folder of Cell Ranger with 6 features × 9 cells, and write lists beside the matrix."""
    counts = rng.poisson(2, (6, 9)) + 1
    mmwrite(tmp_path / "matrix.mtx", csr_array(counts))

    def write(features=None, barcodes=None, kinds=()):
        if features is not None:
            kinds = [*kinds, *["Gene Expression"] * (features - len(kinds))]
            lines = [f"ENS{i}\tG{i}\t{kind}\n" for i, kind in enumerate(kinds)]
            (tmp_path / "features.tsv").write_text("".join(lines))
        if barcodes is not None:
            (tmp_path / "barcodes.tsv").write_text("".join(f"cell{i}\n" for i in range(barcodes)))
        return tmp_path, counts.T

    return write


def test_either_list_tells_which_way_a_matrix_lies(folder):
    path, counts = folder(barcodes=9)
    table = read(path)
    np.testing.assert_array_equal(table.X.toarray(), counts)
    assert "the columns of the matrix are the samples listed beside it" in " ".join(table.report.lines())
    path, _ = folder(features=6, barcodes=9)
    table = read(path)
    assert table.feature_names.tolist() == [f"G{i}" for i in range(6)]
    np.testing.assert_array_equal(table.X.toarray(), counts)
    assert read(path, Request(transpose=False)).shape == (6, 9)


@pytest.mark.parametrize(
    ("lists", "told"), [({"features": 5}, "5 features"), ({"features": 6, "barcodes": 4}, "4 samples")]
)
def test_lists_that_fit_neither_side_are_refused(folder, lists, told):
    with pytest.raises(TableError, match=f"{told} are listed beside it, and the matrix has 6 × 9; mend the list"):
        read(folder(**lists)[0])


def test_what_is_no_gene_is_left_out_by_its_type(folder):
    path, _ = folder(features=6, barcodes=9, kinds=["Antibody Capture", "CRISPR Guide Capture"])
    table = read(path)
    assert table.feature_names.tolist() == ["G2", "G3", "G4", "G5"]
    told = " ".join(table.report.lines())
    assert "'G0'" in told
    assert "of the type 'Antibody Capture'" in told
    assert "of the type 'CRISPR Guide Capture'" in told
