import json
import re
from html.parser import HTMLParser

import numpy as np

from tamis import LSCAE
from tamis.io.readers.table import Table
from tamis.report import analyse, plots, write_report, write_scores
from tamis.report.page import _json
from tamis.report.table import rows


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def tags(path):
    parser = Tags()
    parser.feed(path.read_text())
    return parser.found


def test_the_page_is_one_small_file_that_asks_for_nothing(page):
    assert page.stat().st_size < 6_000_000
    for tag, attributes in tags(page):
        assert tag not in ("iframe", "img", "object", "embed")
        address = attributes.get("src") or attributes.get("href") or "#"
        assert address.startswith(("#", "data:"))


def test_names_cannot_leave_their_place(page):
    scripts = [attributes for tag, attributes in tags(page) if tag == "script"]
    assert len(scripts) == 3
    text = page.read_text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<b>bold" not in text
    assert "{{ 7*7 }}" in text
    figures = json.loads(re.search(r'id="figures" type="application/json">(.*?)</script>', text, re.S).group(1))
    names = " ".join(str(name) for name in figures["scores"]["data"][0]["text"])
    # Plotly reads a kind of HTML, so that names are escaped for it once more.
    assert "&lt;script&gt;" in names


def test_all_the_plots_are_there(page):
    drawn = {attributes["data-figure"] for tag, attributes in tags(page) if "data-figure" in attributes}
    expected = {"pixels", "explained", "view-chosen", "view-all", "scores", "errors", "correlations", "probabilities"}
    assert drawn == expected | {"objective", "temperature", "peak"}


def test_every_feature_has_a_reason(selector, analysis, nasty_table):
    listed = rows(selector, analysis, nasty_table.feature_names.tolist())
    assert [row.rank for row in listed] == list(range(1, 11))
    assert sum(row.chosen for row in listed) == 4
    for row in listed:
        assert row.reason.startswith("Chosen" if row.chosen else "Left out: ")


def test_a_constant_feature_is_explained(rng, tmp_path, recwarn):
    X = rng.standard_normal((40, 5))
    X[:, 2] = 1
    selector = LSCAE(1, max_epochs=3, n_init=1, random_state=0).fit(X)
    recwarn.clear()
    table = Table(X, np.array(list("abcde"), dtype=object))
    analysis = analyse(selector, X)
    reasons = {row.name: row.reason for row in rows(selector, analysis, list("abcde"))}
    assert reasons["c"] == "Left out: it holds one value only."
    page = write_report(tmp_path / "r.html", selector, table, analysis, selector.verdict_)
    assert "Correlation of the chosen" not in page.read_text()


def test_long_names_do_not_make_a_large_page(rng, tmp_path, quick):
    X = rng.standard_normal((20, 300))
    table = Table(X, np.array([f"{i:05d}" + "x" * 3000 for i in range(300)], dtype=object))
    selector = LSCAE(3, **quick).fit(X)
    analysis = analyse(selector, X)
    page = write_report(tmp_path / "r.html", selector, table, analysis, selector.verdict_)
    assert page.stat().st_size < 6_000_000
    assert "further ones are in features.csv" in page.read_text()


def test_many_features_are_thinned_out(rng, tmp_path):
    from types import SimpleNamespace

    d = 20_000
    ranking = rng.permutation(d) + 1
    order = np.argsort(ranking)
    selector = SimpleNamespace(ranking_=ranking, scores_=1.0 / ranking, selected_=order[:5000])
    figure = plots.score_figure(selector, [f"g{i}" for i in range(d)])
    assert sum(len(trace["x"]) for trace in figure.data) <= plots.MOST_POINTS


def test_scores_page(tmp_path):
    scores = [{"explained": 0.5, "J": -1.0}, {"explained": 0.7, "J": -2.0}]
    figures = [*plots.score_lines([1, 2], scores, scores), *plots.score_bars(["<a>", "b"], scores)]
    figures.append(plots.overlap_figure(["<a>", "b"], np.eye(2)))
    path = write_scores(tmp_path / "s.html", figures, ["method", "J"], [["<a>", "1"]], title="T", lead="<i>lead</i>")
    text = path.read_text()
    assert "&lt;i&gt;lead" in text
    assert text.count('class="plot"') == 5


def test_json_for_a_script_element_holds_no_signs_of_html():
    text = str(_json({"a": "</script><!--&'", "b": np.float64(1.5)}))
    assert not set("<>&'") & set(text)
    assert json.loads(text) == {"a": "</script><!--&'", "b": 1.5}


def test_labels_of_many_kinds_are_gathered(analysis, nasty_table):
    from dataclasses import replace

    many = np.array([f"label {i % 30}" for i in range(90)], dtype=object)
    figure = plots.sample_figures(replace(analysis), many)[0]
    assert len(figure.data) == plots.MOST_LABELS + 1
    assert figure.data[-1]["name"] == "other labels"
    assert len(plots.sample_figures(analysis)[0].data) == 1
