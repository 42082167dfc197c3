"""Gene panels from AnnData objects, in scanpy's manners."""

from tamis.single_cell.select import select_genes

__all__ = ["select_genes"]
