import subprocess
import sys

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
