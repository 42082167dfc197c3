"""Any table file a user has becomes a :class:`Table`: numbers, feature names, sample names, labels."""

from tamis.readers.dispatch import FORMATS, format_of, read
from tamis.readers.table import Progress, ReadError, Request, Table

__all__ = ["FORMATS", "Progress", "ReadError", "Request", "Table", "format_of", "read"]
