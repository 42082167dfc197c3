"""CAE: a concrete autoencoder, reconstruction only (Balin, Abid and Zou, 2019)."""

from typing import ClassVar

from tamis.lscae.recipe import Recipe, only
from tamis.selectors.lscae import LSCAE


class CAE(LSCAE):
    """Select the features from which all the others are reconstructed best.

    It minimises ``J = log ‖X − X̂‖²``, the ablation of :class:`tamis.LSCAE` without the Laplacian score, by a network
    that decodes; no feature is tested first. Parameters and attributes are those of :class:`tamis.LSCAE`.
    """

    _presets: ClassVar[dict[str, Recipe]] = only("reconstruction", decoder="network")
