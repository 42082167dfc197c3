import numpy as np
import pytest

from research.paper.experiments import selection_summary as summary
from research.paper.experiments import selection_table
from research.paper.experiments.data_statistics import verdict as statistics_verdict
from research.paper.printed import METHODS, printed


def row(data, method, k, seed, accuracy):
    trial = {"data": data, "method": method, "k": k, "seed": seed}
    return {
        "trial": trial,
        "accuracy": accuracy,
        "accuracy_random_start": accuracy / 2,
        "unscaled_accuracy_random_start": accuracy / 3,
    }


@pytest.fixture
def rows():
    made = [row("Yale", "lscae", k, seed, 0.4 + k / 1000 + seed / 100) for k in (50, 100) for seed in (0, 1)]
    return [
        *made,
        row("Yale", "laplacian-score", 50, 0, 0.6),
        row("goolam", "lscae", 50, 0, 0.7),
        row("Yale", "random", 50, 0, 0.1),
    ]


def test_the_best_k_is_that_of_the_highest_mean_over_seeds(rows):
    accuracy, k = summary.best(rows, "Yale", "lscae")
    assert accuracy == pytest.approx(50.5)
    assert k == 100
    assert summary.best(rows, "Yale", "cae") is None


def test_the_table_lays_ours_beside_print(rows):
    tables = {table.name: table for table in summary.tables(rows)}
    yale = dict(zip(tables["table-results"].headings, tables["table-results"].rows[0], strict=True))
    assert yale["LS-CAE"] == "50.5 (100) / 48.0 (200)"
    assert yale["LS"] == "60.0 (50) / 42.7 (300)"
    assert yale["CAE"] == "– / 45.4 (250)"
    assert tables["table-results"].rows[1][0] == "goolam (for FAN)"
    assert tables["table-results-as-they-are"].rows[0][1].startswith("20.0 (50)")
    ways = dict(zip(tables["table-results-ways"].headings, tables["table-results-ways"].rows[0], strict=True))
    assert ways["z-scored, random start"] == "25.2 (100)"
    assert ways["printed"] == "48.0 (200)"
    assert tables["table-results-ranks"].rows[0][:2] == ["z-scored, k-means++", "1.00 / 2.00"]
    assert tables["table-results-others"].rows[0] == ["Yale", "10.0 (50)"]
    assert "50.5 ± 0.7" in tables["table-results-fixed-k"].rows[0]


def test_ranks_are_over_the_sets_that_all_methods_have(rows):
    lines = {line[0]: line[1:] for line in summary.tables(rows)[0].rows}
    assert lines["mean rank of 2 on 1 sets"][0] == "1.00 / 2.00"
    assert lines["mean rank of 2 on 1 sets"][-1] == "2.00 / 1.00"
    assert lines["median rank as printed"][-1] == "– / 1.33"
    assert lines["mean rank of the printed accuracies"][-1] == "– / 1.30"


def test_the_verdict_prints_a_loss_as_a_loss(rows):
    text = summary.verdict(rows)
    assert "LS +17.3 (1 sets)" in text
    assert "LS-CAE +2.5 (1 sets)" in text
    assert "LS-CAE is best of these 2 methods on 0 of the 1 sets at hand (in the paper's numbers on 7 of 10)" in text
    assert "loses on Yale" in text
    assert "on so many of 1 sets: 1 (z-scored, k-means++), 0 (z-scored, random start), 0 (as they are, random" in text


def test_a_smaller_panel_is_the_beginning_of_the_larger_one():
    large = {"data": "made-blobs", "method": "laplacian-score", "k": 6, "seed": 0, "quick": True}
    small = large | {"k": 3}
    assert selection_table.parent(small) == large
    assert selection_table.parent(large) is None
    assert selection_table.parent(small | {"method": "mcfs"}) is None
    first = {"trial": large, **selection_table.work(large, None)}
    derived, own = selection_table.work(small, first), selection_table.work(small, None)
    assert own["selected"] == first["selected"][:3]
    assert derived["accuracy"] == own["accuracy"]
    assert "selected" not in derived


def test_variance_sees_columns_that_are_not_scaled():
    trial = {"data": "bundled-wine", "method": "variance", "k": 3, "seed": 0, "quick": True}
    assert selection_table.work(trial, None)["selected"][0] == 12  # Proline, in the hundreds.


def test_the_nearest_way_of_clustering_is_found():
    names = ["accuracy", "accuracy_random_start", "unscaled_accuracy", "unscaled_accuracy_random_start"]
    near = {
        name: printed()["statistics"]["Yale"]["accuracy"] / 100 + gap
        for name, gap in zip(names, (0.3, 0.2, 0.1, 0.02), strict=True)
    }
    text = statistics_verdict([{"trial": {"data": "Yale"}, **near}])
    assert "as they are, random start (mean distance 2.0 points; the farthest way has 30.0)" in text
    assert "on Yale: 40.3 here, 38.3 in the paper" in text


def test_every_method_of_the_paper_has_a_colour_in_the_figure(tmp_path):
    rows = [row("Yale", method, k, 0, np.sin(k)) for method in METHODS.values() for k in (50, 100)]
    (path,) = summary.draw(rows, tmp_path)
    assert path.stat().st_size > 10_000
    assert path.with_suffix(".svg").read_text().count("LS-CAE") == 1
