"""The selectors, one method per file, and the registry by which every other part of tamis finds them."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis.base import FeatureSelector


class Registry(Mapping[str, "type[FeatureSelector]"]):
    """Read-only mapping of a method's name to its class; the class's module is imported on first use.

    Parameters
    ----------
    homes : dict
        ``{"method-name": "module:ClassName"}``, modules relative to ``tamis.selectors``.
    """

    def __init__(self, homes: dict[str, str]):
        self.homes = homes

    def __getitem__(self, name: str) -> "type[FeatureSelector]":
        if name not in self.homes:
            raise KeyError(self._unknown(name))
        module, _, class_name = self.homes[name].partition(":")
        return getattr(import_module(f"tamis.selectors.{module}"), class_name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.homes)

    def __len__(self) -> int:
        return len(self.homes)

    def __repr__(self) -> str:
        return f"Registry({list(self.homes)})"

    def _unknown(self, name: str) -> str:
        close = get_close_matches(str(name), self.homes, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        return f"There is no selector {name!r}.{hint} Known: {', '.join(self.homes)}."


SELECTORS = Registry(
    {
        "lscae": "lscae:LSCAE",
        "structure-pursuit": "structure_pursuit:StructurePursuit",
        "cae": "cae:CAE",
        "concrete-laplacian": "concrete_laplacian:ConcreteLaplacian",
        "laplacian-score": "laplacian_score:LaplacianScore",
        "spec": "spec:SPEC",
        "mcfs": "mcfs:MCFS",
        "udfs": "udfs:UDFS",
        "ndfs": "ndfs:NDFS",
        "llcfs": "llcfs:LLCFS",
        "srcfs": "srcfs:SRCFS",
        "rsr": "rsr:RSR",
        "aefs": "aefs:AEFS",
        "dufs": "dufs:DUFS",
        "variance": "variance:VarianceScore",
        "random": "random_subset:RandomSubset",
    }
)


def class_names() -> dict[str, str]:
    """Class name of every registered selector, with the name it is registered by."""
    return {home.partition(":")[2]: name for name, home in SELECTORS.homes.items()}
