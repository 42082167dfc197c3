"""Any table file a user has becomes a :class:`Table`: numbers, feature names, sample names, labels."""

from tamis.io.readers.dispatch import FORMATS, format_of, read
from tamis.io.readers.missing import fill
from tamis.io.readers.report import Finding, ReadReport
from tamis.io.readers.table import Progress, Request, Table

__all__ = ["FORMATS", "Finding", "Progress", "ReadReport", "Request", "Table", "fill", "format_of", "read"]
