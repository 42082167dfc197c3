"""CAE: a concrete autoencoder, reconstruction only (Balin, Abid and Zou, 2019)."""

from tamis.neural.objective import Term, reconstruction
from tamis.selectors.concrete import ConcreteSelector


class CAE(ConcreteSelector):
    """Concrete autoencoder: choose the columns from which all the others are reconstructed best.

    It minimises ``J = log ‖X − X̂‖²``, the ablation of :class:`tamis.LSCAE` without the Laplacian score, with the same
    network, schedule and training.

    Parameters and attributes are those of :class:`tamis.LSCAE`, less the ones about the graph and the weighting.
    """

    def _terms(self) -> dict[str, Term]:
        return {"reconstruction": Term(reconstruction)}
