from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tamis.report.verdict import judge


def unit(*peaks):
    return SimpleNamespace(settled_=np.array(peaks))


@pytest.fixture
def good(analysis):
    scores = {"explained": 0.6, "smoothness": 0.8, "J": -1.0, "redundancy": 0.2}
    usual = [dict(scores, explained=0.3 + i / 100, redundancy=0.3) for i in range(3)]
    return replace(analysis, scores=scores, random_scores=usual, correlation=np.full(10, 0.2))


def test_a_settled_covering_selection_is_trusted(good):
    verdict = judge(unit(0.99, 0.95), good)
    assert verdict.level == "good"
    assert verdict.concerns == []
    assert "all 2 unit(s) settled on one feature each" in verdict.findings[0]
    assert "60% of the variance" in verdict.findings[1]
    assert "repeat each other less than random lists do" in verdict.findings[2]
    assert verdict.sentence().startswith("This selection can be trusted: training converged")


@pytest.mark.parametrize(("peaks", "level"), [((0.99, 0.99, 0.99, 0.5), "fair"), ((0.5, 0.5), "fair")])
def test_units_that_have_not_settled_are_a_concern(good, peaks, level):
    verdict = judge(unit(*peaks), good)
    assert verdict.level == level
    assert "had not settled" in verdict.concerns[0]


def test_a_stopped_training_is_not_trusted(good):
    assert judge(unit(0.99), good, stopped=True).level == "poor"


def test_a_method_without_units_is_judged_by_its_list(good):
    assert judge(SimpleNamespace(), good).level == "good"


def test_a_list_no_better_than_chance_is_a_concern(good):
    weak = replace(good, scores=dict(good.scores, explained=0.1, smoothness=0.5))
    verdict = judge(unit(0.99), weak)
    assert verdict.level == "poor"
    assert "A list drawn at random would tell as much" in verdict.concerns[0]
    smooth = replace(good, scores=dict(good.scores, explained=0.1, smoothness=0.95))
    assert judge(unit(0.99), smooth).level == "fair"


def test_copies_among_the_chosen_are_a_concern(good):
    correlation = np.full(10, 0.2)
    correlation[good.selected[:1]] = 0.99
    verdict = judge(unit(0.99), replace(good, correlation=correlation))
    assert verdict.level == "fair"
    assert "1 of the 4 chosen features have a near copy" in verdict.concerns[0]
