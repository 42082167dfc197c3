"""tamis: unsupervised feature selection that keeps structure and drops nuisance and copied columns.

Every selector is available by its class name, ``from tamis import LSCAE``, and is imported only then, so that
``import tamis`` stays quick.
"""

from typing import Any

from tamis._version import __version__
from tamis.selectors import SELECTORS, class_names

__all__ = ["SELECTORS", "__version__", *class_names()]


def __getattr__(name: str) -> Any:
    selector_name = class_names().get(name)
    if selector_name is None:
        raise AttributeError(f"module 'tamis' has no attribute {name!r}")
    return SELECTORS[selector_name]


def __dir__() -> list[str]:
    return sorted(__all__)
