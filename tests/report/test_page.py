import json
import re
from html.parser import HTMLParser

import numpy as np

from tamis import LSCAE, VarianceScore
from tamis.io.readers import read
from tamis.io.readers.table import Table
from tamis.report import analyse, plots, write_report


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
    (data,) = re.findall(r'id="figures" type="application/json">(.*?)</script>', text, re.S)
    assert not set("<>&'") & set(data)
    names = " ".join(str(name) for name in json.loads(data)["map"]["data"][-1]["text"])
    # Plotly reads a kind of HTML, so that names are escaped for it once more.
    assert "&lt;script&gt;" in names


def test_all_the_plots_are_there(page):
    drawn = {attributes["data-figure"] for tag, attributes in tags(page) if "data-figure" in attributes}
    assert drawn == {"pixels", "predicted-pixels", "map", "view-chosen", "view-all", "objective"}


def test_long_names_do_not_make_a_large_page(rng, tmp_path, quick):
    X = rng.standard_normal((20, 300))
    table = Table(X, np.array([f"{i:05d}" + "x" * 12000 for i in range(300)], dtype=object))
    selector = LSCAE(3, **quick).fit(X)
    analysis = analyse(selector, table)
    page = write_report(tmp_path / "r.html", selector, table, analysis, selector.verdict_)
    assert page.stat().st_size < 6_000_000
    assert "further ones are in features.csv" in page.read_text()


def test_what_was_read_is_told_with_the_options(rng, tmp_path):
    lines = [f"{i};{i * 7 % 5},5;{'yes' if i % 2 else 'no'}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["id;a;b", *lines]))
    table = read(tmp_path / "t.csv")
    selector = VarianceScore(1).fit(table.X)
    page = write_report(tmp_path / "r.html", selector, table, analyse(selector, table), selector.verdict_)
    text = page.read_text().partition('id="read"')[2]
    assert "60 rows, 2 features (1 number, 1 boolean), no cell missing." in text
    assert "it counts the rows" in text
    assert "<code>--keep id</code>" in text


def test_laymen_read_no_jargon_before_the_details(page):
    text = page.read_text()
    visible = re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", text.partition('id="method"')[0], flags=re.S)
    assert not re.search(r"\b(units?|collisions?|temperature|epochs?|objective|J|k)\b", visible)
    details = text.partition('id="method"')[2]
    assert "J and its terms" in details


def test_the_page_of_a_curve_holds_every_list(curve_page):
    text = curve_page.read_text()
    assert "&lt;i&gt;lead" in text
    assert text.count('class="list"') == 3
    assert "No longer chosen: &lt;script&gt;alert(1)&lt;/script&gt;." in text
    assert text.count('class="plot"') == 2


def test_the_page_of_several_methods_tells_which_chose_what(compare_page):
    text = re.sub(r"<[^>]*>", " ", compare_page.read_text().partition('id="shared"')[2])
    order = [text.index(part) for part in ("3 of 3", "2 of 3", "1 of 3")]
    assert order == sorted(order)


def test_labels_of_many_kinds_are_gathered(analysis):
    many = np.array([f"label {i % 30}" for i in range(90)], dtype=object)
    figure = plots.sample_figures(analysis, many)[0]
    assert len(figure.data) == plots.MAX_LABELS + 1
    assert figure.data[-1]["name"] == "other labels"
