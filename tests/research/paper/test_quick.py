"""The quick trials of the experiments with figures of their own: they run, and something is drawn and said of them."""

import pytest

from research.paper.catalogue import experiment
from research.paper.run import Run

FIGURES = {
    "fig-chi": {"fig-chi"},
    "fig-twomoons": {"fig-twomoons"},
    "ablation-mnist": {"mnist-examples", "ablation-mnist", "mnist-pixels"},
}


@pytest.mark.parametrize("name", FIGURES)
def test_quick_rows_make_figures_and_a_verdict(tmp_path, name):
    outcomes = list(Run(name, tmp_path, quick=True).go())
    assert [outcome.problem for outcome in outcomes if outcome.problem] == []
    rows = [outcome.row for outcome in outcomes]
    one = experiment(name)
    paths = one.draw(rows, tmp_path)
    assert {path.stem for path in paths} == FIGURES[name]
    assert all(path.stat().st_size > 2000 and path.with_suffix(".svg").exists() for path in paths)
    assert one.verdict(rows).count(". ") >= 1
    assert all(len(line) == len(table.headings) for table in one.tables(rows) for line in table.rows)


@pytest.mark.parametrize("name", FIGURES)
def test_rows_without_fits_are_drawn_as_far_as_they_go(tmp_path, name):
    run = Run(name, tmp_path, quick=True, choose=lambda trial: "method" not in trial)
    rows = [outcome.row for outcome in run.go()]
    one = experiment(name)
    assert one.draw(rows, tmp_path)
    assert one.verdict(rows)
    one.tables(rows)
