import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import tamis
from tamis.verdict import Verdict


@pytest.fixture
def frame(blobs):
    return pd.DataFrame(blobs.X, columns=["<b>bold</b>", *blobs.names[1:]])


def test_a_fitted_selector_shows_its_features_below_scikit_learns_own(frame):
    selector = tamis.StructurePursuit(2, must_keep=["<b>bold</b>"])
    assert "<caption>" not in selector._repr_html_()
    shown = selector.fit(frame)._repr_html_()
    assert "sk-top-container" in shown
    assert "2 of 10 features selected" in shown
    assert "<td>&lt;b&gt;bold&lt;/b&gt;</td>" in shown
    assert make_pipeline(selector)._repr_html_()


def test_long_tables_are_cut(rng):
    X = rng.standard_normal((60, 30))
    X += 2 * X[:, :1]
    shown = tamis.StructurePursuit(12).fit(X)._repr_html_()
    assert "12 of 30 features selected; the first 10" in shown
    assert "the first 10" in tamis.find_structure(X, random_state=0)._repr_html_()


def test_a_structure_shows_its_evidence(frame):
    shown = tamis.find_structure(frame, random_state=0)._repr_html_()
    assert "Structure: " in shown
    assert "<th>depends on</th>" in shown
    assert "<td>&lt;b&gt;bold&lt;/b&gt;</td>" in shown


def test_a_structure_without_names_numbers_its_features(blobs):
    shown = tamis.StructurePursuit(2).fit(blobs.X).structure_._repr_html_()
    assert "<td>x0</td>" in shown


def test_a_verdict_shows_its_reasons():
    shown = Verdict(False, ["a < b"])._repr_html_()
    assert shown == "<p><b>Do not trust this selection</b></p><ul><li>a &lt; b</li></ul>"
