import numpy as np
import pytest

from tamis import LSCAE
from tamis.io.readers.table import Table
from tamis.report import analyse, write_report

NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="session")
def nasty_table(blobs):
    """The planted table, with names that try to break the page."""
    names = np.array(blobs.names, dtype=object)
    names[:5] = [NASTY, "</script><b>bold</b>", "=1+1", 'quote " and, comma', "&lt;i&gt; ${x} {{ 7*7 }} \u2028"]
    return Table(blobs.X, names, None, blobs.labels)


@pytest.fixture(scope="session")
def selector(nasty_table):
    made = LSCAE(4, max_epochs=20, n_init=2, hidden_units=(8,), must_keep=[0, 1], random_state=0).fit(nasty_table.X)
    made.feature_names_in_ = nasty_table.feature_names
    return made


@pytest.fixture(scope="session")
def analysis(selector, nasty_table):
    return analyse(selector, nasty_table.X, nasty_table.y)


@pytest.fixture(scope="session")
def page(selector, nasty_table, analysis, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    return write_report(path, selector, nasty_table, analysis, selector.verdict_, title="A & B", image_shape=(2, 5))
