import re

import numpy as np
import pytest

from tamis.report.page import write_panel
from tamis.report.plots import coverage_figure

pandas = pytest.importorskip("pandas")
NASTY = "<script>alert(1)</script>"


@pytest.fixture
def genes():
    table = pandas.DataFrame(
        {
            "tamis_selected": [True, True, False, False],
            "tamis_rank": [2, 1, 3, 4],
            "tamis_score": [0.9, 0.8, 0.6, 0.1],
            "tamis_pvalue": [1e-9, 1e-8, 1e-5, 0.7],
            "tamis_structured": [True, True, True, False],
            "tamis_programme": ["1", "rare 1", "1", ""],
            "tamis_stands_for": ["LOST", "", "", ""],
            "tamis_explained": [1.0, 1.0, 0.2, np.nan],
            "tamis_detection": [0.5, 0.02, 0.4, 0.3],
            "tamis_mean": [1.0, 0.1, 0.4, 0.3],
        },
        index=["KEPT", NASTY, "LOST", "OTHER"],
    )
    table.attrs = {"n_filler": 0, "layer": "X", "input": "counts", "normalisation": "none", "tested_on": "values",
                   "batch_key": "donor"}  # fmt: skip
    return table


@pytest.fixture
def programmes():
    return pandas.DataFrame(
        {"n_genes": [2, 1], "selected": [["KEPT"], [NASTY]], "covered": [0.7, 1.0], "missed": [["LOST"], []]},
        index=["1", "rare 1"],
    )


def test_the_page_names_programmes_coverage_and_what_is_missed(genes, programmes, tmp_path):
    text = write_panel(tmp_path / "p.html", genes, programmes, title="Cells").read_text()
    shown = " ".join(re.sub(r"<[^>]*>", " ", text.split("<main")[1].split("</main>")[0]).split())
    assert re.search(r"these 2</strong> of 4 genes: they predict 83% of what 2 programmes", text)
    assert "1 KEPT 70% LOST rare 1" in shown
    assert "LOST 1 60% 20% 40%" in shown
    assert "within donor" in shown
    assert "filler" not in shown
    assert NASTY not in text


def test_filler_is_told_and_nothing_may_be_missed(genes, programmes, tmp_path):
    genes.attrs["n_filler"] = 1
    genes["tamis_explained"] = 1.0
    text = write_panel(tmp_path / "p.html", genes, programmes, title="Cells").read_text()
    assert "1 of the 2 genes are filler" in text
    assert "Order <strong>1 of these 2</strong> of 4 genes" in text
    assert "Of no gene with structure it misses more than a tenth." in text


def test_what_scaling_has_removed_is_a_dash(genes, programmes, tmp_path):
    genes["tamis_detection"] = genes["tamis_mean"] = np.nan
    text = write_panel(tmp_path / "p.html", genes, programmes, title="Cells").read_text()
    assert "nan" not in text.split("<main")[1].split("</main>")[0].replace("donor", "")


def test_a_bar_per_programme(programmes):
    (bars,) = coverage_figure(programmes).data
    assert bars["x"] == [0.7, 1.0]
    assert bars["text"] == ["1 of 2", "1 of 1"]


def test_selected_genes_without_a_programme_are_listed(genes, programmes, tmp_path):
    genes.loc["OTHER", "tamis_selected"] = True
    text = write_panel(tmp_path / "p.html", genes, programmes, title="Cells").read_text()
    assert '<th scope="row">none</th><td><ol class="chips"><li>OTHER</li></ol>' in text


def test_without_programmes_nothing_is_recommended(genes, programmes, tmp_path):
    genes["tamis_structured"], genes["tamis_programme"], genes.attrs["n_filler"] = False, "", 2
    text = write_panel(tmp_path / "p.html", genes, programmes[:0], title="Cells").read_text()
    assert "order nothing yet" in text
    assert "Collect more cells, and check that the right matrix was read." in text
    for untrue in ("Order at most", "they predict", "What the panel misses", "How much of each programme"):
        assert untrue not in text
