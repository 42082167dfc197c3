"""How a file is to be read; light to import, since the command line makes its options of it."""

from dataclasses import dataclass
from typing import Annotated

from tamis.io.memory import MAX_EXPANSION

MISSING = (
    "", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "?", "-", "--",
    ".", "..", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?",
    "#NV", "#WERT!", "#BEZUG!", "#ZAHL!", "#N/D", "#VALEUR!", "#NOMBRE!", "#NOM?", "#NUL!", "#VALORE!", "#RIF!",
    "#¡DIV/0!", "#¡VALOR!", "#¡REF!", "#¡NUM!", "#¿NOMBRE?",
)  # fmt: skip
"""Cells that stand for a missing value."""

OTHER_MARK = {".": ",", ",": "."}
"""The mark that may part thousands, by the decimal one."""

Text = str | None
Flag = bool | None
Words = tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """How to read a file: the options of the command line, each with what its value is called and its help.

    What is None is found out from the file; marks that could be either raise :class:`TableError`. Words of features may
    hold ``*`` and ``?`` for any letters. If ``only`` is given, it names the features to read, and the rest of the file
    may hold anything; ``only_of`` names features of which some are levels, so that one that is not there can be named.
    """

    index: Annotated[Text, "NAME", "Feature that holds the sample names."] = None
    labels: Annotated[Text, "NAME", "Feature that holds labels: for scoring, never for choosing."] = None
    drop: Annotated[Words, "NAMES", "Features to leave out: a,b or 'meta_*'."] = ()
    keep: Annotated[Words, "NAMES", "Features to use though they look like identifiers, text or mostly empty."] = ()
    categorical: Annotated[Words, "NAMES", "Features whose numbers are codes of categories."] = ()
    drop_text: Annotated[bool, "", "Leave out features that are not numbers."] = False
    na_values: Annotated[Words, "CELLS", "Further cells that stand for a missing value: -999,none."] = ()
    decimal: Annotated[Text, "MARK", "Decimal mark of numbers in text: . or ,"] = None
    thousands: Annotated[Text, "MARK", "Mark between thousands: , or ."] = None
    day_first: Annotated[Flag, "--day-first/--month-first", "Whether 3/4/2020 is in April, if no date tells."] = None
    delimiter: Annotated[Text, "MARK", "Between the cells of a text file."] = None
    header: Annotated[Flag, "--header/--no-header", "Whether the first line of the table names the features."] = None
    skip_rows: Annotated[int | None, "N", "Lines before the header."] = None
    comment: Annotated[Text, "MARK", "Lines that begin with it are passed over."] = None
    encoding: Annotated[Text, "NAME", "Of a text file, such as utf-8 or cp1252."] = None
    sheet: Annotated[Text, "NAME", "Sheet of a workbook."] = None
    key: Annotated[Text, "NAME", "Array, data set or layer in the file, or file in an archive."] = None
    max_expansion: Annotated[float, "N", "How many times its stored size a file may unpack or declare."] = MAX_EXPANSION
    transpose: Annotated[Flag, "--transpose/--no-transpose", "The file has features in rows."] = None
    keep_totals: Annotated[bool, "", "Use a first or last row that holds totals as a sample."] = False
    log1p: Annotated[bool, "", "Take log(1 + x) of counts."] = False
    scale: Annotated[bool, "", "Bring every sample to the median total."] = False
    in_pieces: Annotated[Flag, "--in-pieces/--whole", "Leave the table on disk, or read it whole in any case."] = None
    only: Words = ()
    only_of: Words = ()

    @property
    def missing_words(self) -> Words:
        """All cells that stand for a missing value."""
        return (*MISSING, *self.na_values)

    @property
    def asked_decimal(self) -> str | None:
        """The decimal mark that the user named, or that follows from the thousands mark."""
        return self.decimal or OTHER_MARK.get(self.thousands or "")
