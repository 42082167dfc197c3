import numpy as np

from tamis import LSCAE
from tamis.io.readers.table import Table
from tamis.report import analyse, write_report
from tamis.report.analysis import rows
from tamis.report.plots import MAX_MAPPED, map_figure, shelves


def test_every_feature_has_a_reason_and_evidence(analysis):
    listed = rows(analysis)
    assert [row.rank for row in listed] == list(range(1, 11))
    assert sum(row.chosen for row in listed) == 4
    for row in listed:
        assert row.why.startswith("Stands for" if row.chosen else "Left out: ")
        assert "; p " in row.evidence
        assert (row.predicted is None) == row.chosen


def test_a_constant_feature_is_explained(rng, tmp_path, recwarn):
    X = rng.standard_normal((40, 5))
    X[:, 2] = 1
    selector = LSCAE(1, max_epochs=3, n_init=1, random_state=0).fit(X)
    recwarn.clear()
    table = Table(X, np.array(list("abcde"), dtype=object))
    analysis = analyse(selector, table)
    found = {row.name: row for row in rows(analysis)}
    assert (found["c"].why, found["c"].evidence) == ("Left out: it holds one value only.", "")
    page = write_report(tmp_path / "r.html", selector, table, analysis, selector.verdict_)
    assert "Correlation of the chosen" not in page.read_text()


def test_the_map_draws_every_feature_once(analysis):
    figure = map_figure(analysis)
    assert sum(len(trace["x"]) for trace in figure.data) == len(analysis.names)
    *around, hubs = figure.data
    assert len(hubs["x"]) == len(figure.layout["annotations"]) == 4
    assert [len(trace["x"]) for trace in around] == [
        len(others) for i, others in analysis.represented().items() if i >= 0 or len(others)
    ]


def test_a_map_of_many_features_is_thinned_out(analysis, monkeypatch):
    monkeypatch.setattr("tamis.report.plots.MAX_MAPPED", 3)
    figure = map_figure(analysis)
    assert sum(len(trace["x"]) for trace in figure.data) < len(analysis.names)
    assert f"of {len(analysis.others)} points are drawn" in figure.caption
    assert MAX_MAPPED > 5000


def test_circles_do_not_touch(rng):
    diameters = rng.uniform(1, 30, 40)
    centres = shelves(diameters)
    for i in range(40):
        for j in range(i):
            assert np.hypot(*(centres[i] - centres[j])) >= (diameters[i] + diameters[j]) / 2 - 1e-9
