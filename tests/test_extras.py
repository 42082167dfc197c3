"""Without its extras the library works, and what needs an extra says which one."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tamis.extras import EXTRAS, require

ABSENT = [package for packages in EXTRAS.values() for package in packages]


def without_extras(code, *arguments, cwd=None):
    """Run Python in a process in which no package of an extra can be imported."""
    block = f"""
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name in {ABSENT!r} else find(name, *rest)
"""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", block + code, *arguments], cwd=cwd, capture_output=True, text=True
    )


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    for extra, packages in EXTRAS.items():
        declared = {requirement.partition(">=")[0] for requirement in project["optional-dependencies"][extra]}
        if extra == "all":  # a later version of what another extra has
            declared -= set(EXTRAS["single-cell"])
        assert {name for name in declared if "[" not in name} == {name.replace("_", "-") for name in packages}
    library = {requirement.partition(">=")[0] for requirement in project["dependencies"]}
    assert library == {"joblib", "numpy", "safetensors", "scikit-learn", "scipy", "threadpoolctl", "torch"}


def test_every_absent_package_is_named(monkeypatch):
    for package in ("rich", "typer"):
        monkeypatch.setitem(sys.modules, package, None)
    require("A test", "jinja2", "numpy")
    with pytest.raises(ImportError, match=r'^A test needs typer, rich; run pip install "tamis\[cli\]"\.$'):
        require("A test", "jinja2", "typer", "rich")


def test_the_library_fits_saves_and_loads_without_extras(tmp_path):
    code = """
import numpy as np, tamis
X = np.random.default_rng(0).normal(size=(40, 5))
X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
fitted = tamis.LSCAE(2, max_epochs=5, n_init=1, random_state=0).fit(X)
fitted.save("s.tamis")
np.save("x.npy", X)
again = tamis.load("s.tamis")
assert again.selected_.tolist() == fitted.selected_.tolist()
assert again.transform(tamis.open_source("x.npy")).shape == (40, 2)
"""
    done = without_extras(code, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_names_its_extra(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    done = without_extras("from tamis.cli import main; main()", "select", "t.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    sentence = "The command tamis needs typer, rich, pyarrow, plotly, jinja2, python_calamine; run pip install"
    assert done.stderr == f'{sentence} "tamis[cli]".\n'


CALLS = {
    "select_genes": ("tamis.select_genes(None, 2)", "select_genes needs anndata", "single-cell"),
    "text": ("read('t.csv')", "Reading CSV needs pyarrow", "cli"),
    "workbook": ("read('t.xlsx')", "Reading Excel needs pyarrow, python_calamine", "cli"),
    "parquet": ("tamis.open_source('t.parquet')", "Reading Parquet needs pyarrow", "cli"),
    "parquet folder": ("read('parts')", "Reading Parquet needs pyarrow", "cli"),
    "h5ad": ("read('t.h5ad')", "Reading HDF5 needs h5py", "single-cell"),
    "zarr": ("tamis.open_source('t.zarr')", "Reading Zarr needs zarr", "all"),
    "written text": ("write_table('new.csv', table)", "Writing .csv needs pyarrow", "cli"),
    "written h5ad": ("write_table('new.h5ad', table)", "Writing .h5ad needs anndata", "single-cell"),
    "page": (
        "write_comparison('p', [Entry('', '', 1, 0, [], {}, {}, 0.0)], title='', lead='', read=table.report)",
        "A page needs jinja2, plotly",
        "cli",
    ),
    "frame": ("tamis.find_structure(table.X).to_frame()", "Structure.to_frame needs pandas", "all"),
}


def test_whatever_needs_an_extra_names_it(tmp_path):
    for name in ("t.csv", "t.xlsx", "t.parquet", "t.h5ad", "parts/0.parquet", "t.zarr/zarr.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a,b\n1,2\n3,4\n")
    code = f"""
import numpy as np, tamis
from tamis.io.readers import Table, read
from tamis.io.writers import write_table
from tamis.report import Entry, write_comparison
table = Table(np.random.default_rng(0).normal(size=(30, 3)), np.array(["a", "b", "c"], dtype=object))
for call in {[call for call, *_ in CALLS.values()]!r}:
    try:
        eval(call)
        print("no error")
    except ImportError as error:
        print(error)
"""
    done = without_extras(code, cwd=tmp_path)
    expected = [f'{sentence}; run pip install "tamis[{extra}]".' for _, sentence, extra in CALLS.values()]
    assert done.stdout.splitlines() == expected, done.stderr
