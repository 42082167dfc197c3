"""Packages that only some parts of tamis need, and the extras that install them."""

from importlib.util import find_spec

EXTRAS = {
    "cli": ("typer", "rich", "pyarrow", "plotly", "jinja2", "python_calamine"),
    "single-cell": ("anndata", "h5py", "igraph"),
    "all": ("distributed", "matplotlib", "pandas", "zarr"),
}
"""Import names by extra; a test compares them with ``pyproject.toml``."""


def require(purpose: str, *packages: str) -> None:
    """Raise ImportError, with the command that installs them, unless all packages of :data:`EXTRAS` are installed.

    The purpose, which needs them, is the subject of the sentence.
    """
    if absent := [package for package in packages if find_spec(package) is None]:
        extra = next(name for name, known in EXTRAS.items() if absent[0] in known)
        raise ImportError(f'{purpose} needs {", ".join(absent)}; run pip install "tamis[{extra}]".', name=absent[0])
