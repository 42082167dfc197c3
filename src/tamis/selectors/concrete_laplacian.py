"""ConcreteLaplacian: the Laplacian score alone, computed on the features that a concrete layer shows."""

from typing import ClassVar

from tamis.lscae.recipe import Recipe, only
from tamis.selectors.lscae import LSCAE


class ConcreteLaplacian(LSCAE):
    """Select the features that are smoothest on the graph they span themselves.

    It minimises ``J = −log score``, the ablation of :class:`tamis.LSCAE` without reconstruction; no feature is tested
    first. It discards nuisance but not copies. Parameters and attributes are those of :class:`tamis.LSCAE`.
    """

    _presets: ClassVar[dict[str, Recipe]] = only("score")
