import numpy as np
import pytest

from tamis import LSCAE, StructurePursuit
from tamis.io.readers.report import ReadReport
from tamis.io.readers.table import Table
from tamis.report import Entry, analyse, write_comparison, write_report

NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="session")
def nasty_table(blobs):
    """The planted table, with names that try to break the page."""
    names = np.array(blobs.names, dtype=object)
    names[:5] = [NASTY, "</script><b>bold</b>", "=1+1", 'quote " and, comma', "&lt;i&gt; ${x} {{ 7*7 }} \u2028"]
    return Table(blobs.X, names, None, blobs.labels)


@pytest.fixture(scope="session")
def selector(nasty_table):
    made = LSCAE(4, max_epochs=20, n_init=2, must_keep=[0, 1], random_state=0).fit(nasty_table.X)
    made.feature_names_in_ = nasty_table.feature_names
    return made


@pytest.fixture(scope="session")
def analysis(selector, nasty_table):
    return analyse(selector, nasty_table, selector.structure_)


@pytest.fixture(scope="session")
def page(selector, nasty_table, analysis, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    more = {"title": "A & B", "steps": [("Look at <it>:", "tamis check 'a & b.csv'")], "image_shape": (2, 5)}
    return write_report(path, selector, nasty_table, analysis, selector.verdict_, **more)


@pytest.fixture(scope="session")
def planted_page(tmp_path_factory):
    """Write the page of a table of d features, of which half belong to groups around k chosen ones."""

    def write(d, k, **changes):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((200, d))
        X[:, : d // 2] += 2 * rng.standard_normal((200, k))[:, np.arange(d // 2) % k]
        table = Table(X, np.array([f"gene_{i}" for i in range(d)], dtype=object), **changes)
        selector = StructurePursuit(k).fit(X)
        path = tmp_path_factory.mktemp("planted") / "report.html"
        return write_report(path, selector, table, analyse(selector, table, selector.structure_), selector.verdict_)

    return write


@pytest.fixture(scope="session")
def curve_page(tmp_path_factory):
    scores, chance = {"explained": 0.5, "redundancy": 0.1}, {"explained": 0.2, "redundancy": 0.3}
    lists = [[NASTY], ["b", "c"], ["b", "c", "d", "<i>e</i>"]]
    entries = [Entry(f"k = {len(s)}", "lscae", len(s), 0, s, scores, chance, 1.0) for s in lists]
    path = tmp_path_factory.mktemp("curve") / "report.html"
    return write_comparison(path, entries, title="<T>", lead="<i>lead</i>", read=ReadReport(5, {"number": 9}), start=2)


@pytest.fixture(scope="session")
def compare_page(tmp_path_factory):
    scores, chance = {"explained": 0.5}, {"explained": 0.2}
    entries = [
        Entry(name, name, 2, 0, chosen, scores, chance, 1.0)
        for name, chosen in (("lscae", [NASTY, "b"]), ("<b>", ["b", "c"]), ("mcfs", ["c", "b"]))
    ]
    path = tmp_path_factory.mktemp("compare") / "report.html"
    return write_comparison(path, entries, title="T", lead="L", read=ReadReport(5, {"number": 9}))
