"""ConcreteLaplacian: the Laplacian score alone, computed on the columns that a concrete layer shows."""

from tamis.selectors.concrete_graph import ConcreteGraphSelector


class ConcreteLaplacian(ConcreteGraphSelector):
    """Choose the columns that are smoothest on the graph they span themselves.

    It minimises ``J = −log score``, the ablation of :class:`tamis.LSCAE` without reconstruction, with the same
    network, schedule and training. It discards nuisance columns but not copies.

    Parameters and attributes are those of :class:`tamis.LSCAE`, less the ones about reconstruction.
    """
