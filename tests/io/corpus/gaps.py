"""Cases of the corpus: missing cells."""

from cells import ABCD, FIRST, spread
from messy_files import lines, plain, refused, text

GAPS = {
    "empty cells": text(
        said=["2 cells missing (6.2%) in 'd', filled with medians"],
        first=FIRST,
        features=ABCD,
        d=["", "2", "3", "", "2", "3", "4", "5"],
    ),
    "many markers": text(
        said=["6 cells missing (19%) in 'c', 'd'"],
        features=ABCD,
        c=["1", "2", "null", "2", "NaN", "1", "-", "1"],
        d=["1", "N/A", "#N/A", "?", "2", "1", "3", "1"],
    ),
    "markers in text": text(
        said=[
            "'NA' was read as missing in 'd'",
            "1 cell missing (3.1%) in 'd', filled with medians, categories with their commonest value",
        ],
        **spread(["x", "NA", "y", "x", "x", "y", "y", "x"]),
    ),
    "mostly missing": text(
        said=["'d' (missing in more than half of the rows; to use it: --keep d)"], d=["1", "2", "", "", "", "", "", "3"]
    ),
    "no value at all": text(said=["'d' (it has no value at all"], d=[""] * 8),
    "sentinels": text(
        said=["-999 lies far outside the other values of 'd'; if it stands for missing cells, pass --na-values -999"],
        selected=("d", "a"),
        features=ABCD,
        d=["1", "-999", "3", "4", "2", "3", "-999", "5"],
    ),
    "sentinels as missing": text(
        options=["--na-values", "-999"],
        said=["2 cells missing (6.2%) in 'd'"],
        features=ABCD,
        d=["1", "-999", "3", "4", "2", "3", "-999.0", "5"],
    ),
    "a row without any value": text(
        said=["1 row without any value passed over", "8 rows"],
        change=lambda table: table.rstrip("\n") + "\n,,\n",
    ),
    "gaps refused": refused(
        "t.csv", lines(plain(d=["", *"1234567"])), "1 cell missing, in 'd'; pass --missing median", "--missing", "error"
    ),
    "rows dropped": text(
        options=["--missing", "drop-rows"],
        said=["1 cell missing (3.1%) in 'd', 1 row with them left out"],
        features=ABCD,
        d=["", *"1234567"],
    ),
    "gaps kept by a method that cannot": refused(
        "t.csv",
        lines(plain(d=["", *"1234567"])),
        "--missing keep cannot be had, since the method variance needs every cell",
        "--missing",
        "keep",
    ),
    "infinite": refused(
        "t.csv", lines(plain(d=["inf", *"1234567"])), "1 cell of 'd' is infinite; pass --na-values inf"
    ),
    "infinite as missing": text(
        options=["--na-values", "inf"], said=["1 cell missing"], features=ABCD, d=["inf", *"1234567"]
    ),
    "several sentinels": text(
        said=[
            "-99 lies far outside the other values of 'd'; if it stands for missing cells, pass --na-values -99",
            "-88 lies far outside the other values of 'd'; if it stands for missing cells, pass --na-values -88",
        ],
        selected=("a", "d"),
        features=ABCD,
        d=["-99", "-88", *"123456"],
    ),
    "excel errors in german, french and spanish": text(
        said=["3 cells missing (9.4%) in 'd'"], features=ABCD, d=["#WERT!", "#N/D", "#¡REF!", *"12345"]
    ),
    "excel errors": text(said=["1 cell missing (3.1%) in 'd'"], features=ABCD, d=["#DIV/0!", *"1234567"]),
}
