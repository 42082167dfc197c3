"""The selectors, one method per file, and the registry by which every other part of tamis finds them."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis.base import FeatureSelector


class Registry(Mapping[str, "type[FeatureSelector]"]):
    """Mapping of names to classes, imported on first use from the homes ``{"name": "module:ClassName"}``."""

    def __init__(self, homes: dict[str, str]):
        self.homes = homes

    def __getitem__(self, name: str) -> "type[FeatureSelector]":
        if name not in self.homes:
            hint = "".join(f" Did you mean {close!r}?" for close in get_close_matches(str(name), self.homes, n=1))
            raise KeyError(f"There is no selector {name!r}.{hint} Known: {', '.join(self.homes)}.")
        selector: type[FeatureSelector] = resolve_name(f"tamis.selectors.{self.homes[name]}")
        return selector

    def __contains__(self, name: object) -> bool:
        return name in self.homes

    def __iter__(self) -> Iterator[str]:
        return iter(self.homes)

    def __len__(self) -> int:
        return len(self.homes)

    def __repr__(self) -> str:
        return f"Registry({list(self.homes)})"


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


def by_class_name() -> Registry:
    """Return the same classes by their own names."""
    return Registry({home.partition(":")[2]: home for home in SELECTORS.homes.values()})
