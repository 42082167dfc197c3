import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tamis


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_is_light():
    heavy = "{'torch', 'pandas', 'matplotlib', 'plotly', 'pyarrow', 'rich', 'anndata', 'polars'}"
    assert run(f"import sys, tamis; print({heavy} & set(sys.modules))") == "set()\n"


def test_selectors_are_found_by_class_name():
    from tamis import LSCAE

    assert tamis.SELECTORS["lscae"] is LSCAE
    assert "LSCAE" in dir(tamis)
    assert tamis.__version__


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'tamis' has no attribute 'LSACE'"):
        _ = tamis.LSACE


def test_the_stub_names_what_the_package_exports():
    stub = ast.parse(Path(tamis.__file__).with_suffix(".pyi").read_text())
    imported = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert (imported | {"load"}) - {None} == set(tamis.__all__)
    assert all(hasattr(tamis, name) for name in tamis.__all__)


def test_type_checkers_see_the_real_types(tmp_path):
    api = pytest.importorskip("mypy.api")
    lines = ["import tamis", "reveal_type(tamis.LSCAE(3))", "reveal_type(tamis.SPEC(2, exponent=0.5))"]
    lines += ["reveal_type(tamis.load('x'))", "tamis.SPEC(exponent='two')"]
    (tmp_path / "user.py").write_text("\n".join(lines))
    told, _, _ = api.run([str(tmp_path / "user.py"), "--follow-imports=silent"])
    for kind in ("tamis.selectors.lscae.LSCAE", "tamis.selectors.spec.SPEC", "tamis.base.FeatureSelector"):
        assert f'Revealed type is "{kind}"' in told
    assert 'Argument "exponent" to "SPEC" has incompatible type "str"; expected "float"' in told
