"""Which features depend on others, or have several modes, above chance."""

from tamis.structure.evidence import FDR
from tamis.structure.find import FewRowsWarning, Structure, find_structure

__all__ = ["FDR", "FewRowsWarning", "Structure", "find_structure"]
