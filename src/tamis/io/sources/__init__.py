"""Tables that stay where they are: memory maps, HDF5, Zarr, Parquet and users' own row blocks, read in pieces."""

from tamis.io.sources.opening import READ_IN_PIECES, as_source, open_source
from tamis.io.sources.row_blocks import RowBlocks
from tamis.io.sources.source import TableSource

__all__ = ["READ_IN_PIECES", "RowBlocks", "TableSource", "as_source", "open_source"]
