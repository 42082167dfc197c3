import re

import numpy as np
import pytest

from research.ledger import Ledger
from research.pages import marks
from research.panels import __main__ as command
from research.panels import atlas, batches, bench
from research.panels.guide import GUIDE, run_guide
from research.panels.page import HALVES, summary, write_page
from research.panels.rivals import LABELLED, WAYS
from research.panels.sets import SETS

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
pytest.importorskip("igraph", reason="igraph is not installed")


@pytest.fixture
def small(monkeypatch, rng):
    types = np.repeat(["a", "b", "c"], 30)
    rates = np.ones((90, 40))
    for place, kind in enumerate("abc"):
        rates[types == kind, place * 8 : place * 8 + 8] = 6.0
    adata = anndata.AnnData(rng.poisson(rates).astype(np.float32))
    adata.obs["type"] = types
    monkeypatch.setattr(bench, "load", lambda name: adata)
    monkeypatch.setattr(bench, "SIZES", (5, 10, 20, 30))
    return adata


IN_SCANPY = ("HVG", "Spapros")


@pytest.mark.parametrize("way", [way for way in {**WAYS, **LABELLED} if way not in ("structure-pursuit", "LSCAE")])
def test_each_way_returns_lists_of_distinct_genes(small, way):
    if way.startswith(IN_SCANPY):
        pytest.importorskip("spapros", reason="scanpy and Spapros are not installed")
    lists = {**WAYS, **LABELLED}[way](small, [5, 10])
    assert [len(set(genes.tolist())) for genes in lists] == [5, 10]


def test_a_trial_becomes_a_row_with_all_scores(small):
    row = bench.work(None, {"way": "variance", "set": "zeisel"}, None)
    assert row["shape"] == [90, 40]
    for scores in row["scores"].values():
        assert all(np.isfinite(scores[name]) for name in bench.SCORES)
    whole = bench.work(None, {"way": bench.ALL, "set": "zeisel"}, None)
    assert whole["scores"] == {"kmeans": 1.0, "leiden": 1.0}


def made_row(way, name, value):
    scores = {str(size): dict.fromkeys(bench.SCORES, value) for size in (20, 50, 100, 200)}
    return {"trial": {"way": way, "set": name}, "shape": [3, 4], "select_seconds": 4.0, "scores": scores}


def test_the_page_ranks_ways(tmp_path):
    rows = [made_row(way, name, value) for way, value in (("worse", 0.2), ("better", 0.6)) for name in SETS]
    text = summary(rows, confirms=True)
    assert text.index("better | 1.00 | 0.600") < text.index("worse | 2.00 | 0.200")
    labelled = [made_row("Spapros DE", name, 0.9) for name in SETS]
    assert "Spapros DE | with cell types | 0.900" in summary([*rows, *labelled], confirms=False).splitlines()[-1]
    page = tmp_path / "page.md"
    page.write_text("\n".join(mark for part in (*HALVES, "batches", "agreement", "atlas") for mark in marks(part)))
    with pytest.raises(ValueError, match="holds no rows"):
        write_page(tmp_path / "none.jsonl", page)
    for row in rows:
        Ledger(tmp_path / "rows.jsonl").append(row)
    write_page(tmp_path / "rows.jsonl", page)
    assert page.read_text().count("better") == 2
    whole = [{"trial": {"way": bench.ALL, "set": name}, "scores": {"kmeans": 0.5, "leiden": 0.7}} for name in SETS]
    text = summary([*rows, *whole], confirms=True)
    assert "Clusters by all genes: k-means NMI 0.500, Leiden NMI 0.700." in text
    assert summary(rows[:1], confirms=True) == "No way has rows on all of these sets yet."


def test_planted_batches_are_known_and_each_way_selects(small, monkeypatch):
    monkeypatch.setattr(batches, "load", lambda name: small)
    monkeypatch.setattr(batches, "N_PLANTED", 5)
    adata, planted = batches.with_batches("zeisel")
    assert set(adata.obs["batch"]) == {"0", "1"}
    assert len(planted) == 5
    assert len(set(batches.by_tamis(adata, 6).tolist())) == 6
    row = batches.work(None, {"way": "select_genes", "set": "zeisel", "k": 10}, None)
    assert 0 <= row["f1"] <= 1


@pytest.mark.filterwarnings("ignore:The 'mode.chained_assignment' option")  # Set by anndata's views.
def test_the_guide_runs_from_start_to_end(tmp_path):
    pytest.importorskip("matplotlib")
    names = run_guide(tmp_path)
    shown = set(re.findall(r"images/([\w-]+\.png)", GUIDE.read_text()))
    assert shown == {path.name for path in tmp_path.glob("*.png")}
    assert len(names["panel"]) == 30
    assert names["panel"].index[:2].tolist() == ["CD3E", "MS4A1"]
    assert {"CLEC4C", "LILRA4", "IL3RA", "TCF4", "IRF7", "SERPINF1"} & set(names["panel"].index)
    assert names["scores"].loc["panel", "f1"] > names["scores"].loc["random", "f1"]


def test_a_made_atlas_is_measured_on_disk(tmp_path, monkeypatch):
    for name, size in {"N_CELLS": 300, "N_GENES": 400, "N_TYPES": 3, "SIZE": 12, "DENSITY": 0.3}.items():
        monkeypatch.setattr(atlas, name, size)
    atlas.make(tmp_path / "atlas.h5ad")
    assert anndata.read_h5ad(tmp_path / "atlas.h5ad").shape == (300, 400)
    row = atlas.measure(tmp_path / "atlas.h5ad")
    assert row["markers"] > 0.8 > row["markers_of_all"]
    assert min(row["seconds"], row["gigabytes"]) > 0


def test_unknown_names_are_told(capsys):
    assert command.main(["run", "--ways", "none"]) == 2
    assert "There is no 'none'; known: select_genes" in capsys.readouterr().err
