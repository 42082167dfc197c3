"""Which features a selection may be made of: structured ones first, the next by evidence where these are too few."""

import numpy as np
from numpy.typing import NDArray

from tamis.structure.evidence import discoveries
from tamis.structure.find import Structure

STRICT_FDR = 0.01
"""Level of the features beyond the k strongest: nobody needs a doubtful feature when there are enough others."""


class FillerWarning(UserWarning):
    """Fewer features carry structure than were asked for, and the selection was filled up."""


def candidate_features(structure: Structure, allowed: NDArray[np.intp], k: int) -> NDArray[np.intp]:
    """Return the features among which k are chosen, by their evidence, the strongest first.

    They are the structured ones that pass :data:`STRICT_FDR`, with the strongest others that make up k.

    Parameters
    ----------
    structure : Structure
        What is known of the features.
    allowed : ndarray of int
        Features that may be chosen.
    k : int
        Number of features to choose.
    """
    strict = discoveries(structure.pvalues, min(STRICT_FDR, structure.fdr))
    order = structure.order[np.isin(structure.order, allowed)]
    wanted = strict[order]
    wanted[:k] = True
    return order[wanted]


def filler_message(n_filler: int, n_chosen: int, n_structured: int) -> str:
    """Return the sentence that tells of filler, and what to do."""
    if not n_structured:
        return (
            f"No feature carries structure above chance; the {n_chosen} selected ones are the least unlikely. Check "
            "that the right features and enough rows were read."
        )
    return (
        f"Only {n_structured} features carry structure above chance; {n_filler} of the {n_chosen} selected ones are "
        f"filler (see filler_). Select at most {n_structured} features, or collect more rows."
    )
