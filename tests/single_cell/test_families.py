import numpy as np
import pytest

from tamis.single_cell.families import matching_genes

GENES = np.array(
    ["MT-CO1", "mt-Nd1", "MTOR", "RPS6", "Rpl13a", "RPLP0", "RPS6KA1", "HBA1", "Hbb-bs", "HBEGF", "XIST", "Ddx3y",
     "MKI67", "Pcna", "CD3E", "HLA-A", "HLA-B"], dtype=object
)  # fmt: skip


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ("mitochondrial", ["MT-CO1", "mt-Nd1"]),
        ("ribosomal", ["RPS6", "Rpl13a", "RPLP0"]),
        ("haemoglobin", ["HBA1", "Hbb-bs"]),
        ("sex", ["XIST", "Ddx3y"]),
        ("cell-cycle", ["MKI67", "Pcna"]),
        (["HLA-*", "CD3E"], ["HLA-A", "HLA-B", "CD3E"]),
        ((), []),
    ],
)
def test_names_globs_and_families_in_human_and_mouse(entries, expected):
    assert GENES[matching_genes(entries, GENES, "never")].tolist() == expected


def test_unknown_names_have_a_hint():
    with pytest.raises(ValueError, match=r"never names 'CD3', which matches no gene. Did you mean 'CD3E'\?"):
        matching_genes(["CD3"], GENES, "never")


def test_families_need_symbols():
    ensembl = np.array([f"ENSG{i:011}" for i in range(30)], dtype=object)
    with pytest.raises(ValueError, match="named by Ensembl identifiers; name the column"):
        matching_genes("ribosomal", ensembl, "never")
