"""Gene panels from AnnData objects, in scanpy's manners."""

from tamis.single_cell import plots as pl
from tamis.single_cell.evaluate import compare_panels, evaluate_panel
from tamis.single_cell.select import select_genes

__all__ = ["compare_panels", "evaluate_panel", "pl", "select_genes"]
