"""What the documentation shows runs, and every public name is documented."""

import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpydoc.validate import validate

import tamis

ROOT = Path(__file__).parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
BLOCK = re.compile(r"```python\n(.*?)```", re.S)
PAGES = ["README.md", "docs/start.md", *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/guides/*.md"))]
MODULES = [module.name for module in walk_packages(tamis.__path__, "tamis.") if "__main__" not in module.name]

UNCHECKED = {
    "ES01": "a summary that says all needs no second one",
    "EX01": "methods are shown by the examples of their class",
    "GL01": "the summary is in the line of the quotes",
    "PR02": "parameters of one kind share an entry",
    "PR03": "what matters most comes first",
    "RT03": "self needs no words",
    "SA01": "links are in the text",
}
"""Rules of numpydoc that are not ours, and why."""

AS_LSCAE = ("tamis.CAE", "tamis.ConcreteLaplacian")
"""Classes whose parameters are documented by LSCAE."""


def public_names():
    for name in sorted(set(tamis.__all__) - {"SELECTORS", "__version__", "pl"}):
        yield f"tamis.{name}"
        found = getattr(tamis, name)
        if inspect.isclass(found):
            methods = inspect.getmembers(found, lambda one: str(getattr(one, "__module__", "")).startswith("tamis."))
            yield from (
                f"tamis.{name}.{method}" for method, _ in methods if not method.startswith(("_", "get_", "set_"))
            )


@pytest.mark.parametrize("name", list(public_names()))
def test_public_names_are_documented(name):
    found = {code: text for code, text in validate(name)["errors"] if code not in UNCHECKED}
    if name in AS_LSCAE:
        found.pop("PR01")
    assert found == {}


def test_the_reference_lists_every_public_name():
    listed = set(re.findall(r"^   ([A-Za-z_.]+)$", (ROOT / "docs/api.rst").read_text(), re.M))
    assert set(tamis.__all__) - {"SELECTORS", "__version__", "pl"} <= listed
    assert {f"single_cell.plots.{name}" for name in dir(tamis.pl) if name.startswith("panel_")} <= listed


@pytest.mark.parametrize("name", [name for name in MODULES if ">>>" in inspect.getsource(import_module(name))])
def test_examples_of_docstrings_print_what_they_show(name):
    plt.switch_backend("agg")
    assert doctest.testmod(import_module(name)).failed == 0
    plt.close("all")


@pytest.mark.parametrize(
    ("source", "shown"), re.findall(r"<!-- source: (\S+) -->\n```python\n(.*?)```", CONTRIBUTING, re.S)
)
def test_contributing_shows_the_real_source(source, shown):
    path, _, name = source.partition(":")
    text = (ROOT / path).read_text()
    start = text.index(f"def {name}(") if name else 0
    assert text[start:].startswith(shown)
    assert not name or text[start + len(shown) :].startswith("\n\n")


@pytest.fixture
def cells(rng):
    anndata = pytest.importorskip("anndata")
    counts = rng.poisson(1 + 4 * rng.random((120, 1)) * rng.random((1, 80)), (120, 80)).astype(np.float32)
    obs = pd.DataFrame({"donor": ["a", "b"] * 60}, index=[f"c{i}" for i in range(120)])
    return anndata.AnnData(counts, obs, pd.DataFrame(index=[f"g{j}" for j in range(80)]))


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search((ROOT / page).read_text())])
@pytest.mark.filterwarnings("ignore::tamis.features.UnusableFeaturesWarning")
def test_the_code_of_pages_runs(page, cells, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"adata": cells}
    for code in BLOCK.findall((ROOT / page).read_text()):
        exec(code, names)


def test_the_readme_is_short_and_its_sentences_are_those_of_the_rows(tmp_path):
    from research.readme import main

    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 120
    (tmp_path / "README.md").write_text(text)
    assert main(tmp_path / "README.md").read_text() == text
