"""Cases of the corpus: numbers and kinds of features."""

from messy_files import B, Case, lines, plain, refused, swapped, text

EIGHT = range(8)
ABCD = ("a", "b", "c", "d")


def spread(cells):
    """Return a fourth feature whose cells are written in an unusual way."""
    return {"d": cells, "features": ABCD}


def quoted(cells):
    """Write cells between quotation marks."""
    return [f'"{cell}"' for cell in cells]


def german(table):
    """Write decimal commas, and points for the underscores between thousands."""
    return table.replace(".", ",").replace("_", ".")


THOUSANDS = ["1,234.5", "2,000.0", "12,500.25", "3,100.0", "950.5", "7,777.7", "1,000,000.0", "5.5"]
FIRST = {"a": 100.0, "b": 1.5, "c": 1.0}

NUMBERS = {
    "english thousands": text(
        said=["'1,234.5' was read as 1234.5 in 'd' (else --decimal or --thousands)"],
        selected=("d", "a"),
        first=FIRST | {"d": 1234.5},
        **spread(quoted(THOUSANDS)),
    ),
    "german thousands": Case(
        "t.csv",
        german(lines(plain(d=[cell.replace(",", "_") for cell in THOUSANDS]), ";")).encode(),
        selected=("d", "a"),
        features=ABCD,
        first=FIRST | {"d": 1234.5},
        said=("cells are parted by a semicolon", "the decimal mark is a comma", "'1.234,5' was read as 1234.5 in 'd'"),
    ),
    "percent": text(
        said=["'45%' was read as 0.45 in 'd'"],
        first=FIRST | {"d": 0.45},
        **spread(["45%", "3%", "17.5 %", "0%", "99%", "12%", "5%", "8%"]),
    ),
    "dollars": text(
        said=["'$1,234' was read as 1234 in 'd'"],
        selected=("d", "a"),
        first=FIRST | {"d": 1234.0},
        **spread(quoted(["$1,234", "$99", "$5,000", "$12", "$1,000", "$8", "$77", "$650"])),
    ),
    "euros behind": text(
        said=["'12 €' was read as 12 in 'd'"],
        first=FIRST | {"d": 12.0},
        **spread([f"{v} €" for v in (12, 13, 14, 13, 12, 11, 10, 13)]),
    ),
    "brackets for minus": text(
        said=["'(12)' was read as -12 in 'd'"],
        first=FIRST | {"d": -12.0},
        **spread(["(12)", "3", "(1)", "5", "2", "1", "0", "(2)"]),
    ),
    "spaces between thousands": text(
        said=["'1 234' was read as 1234 in 'd'"],
        selected=("d", "a"),
        first=FIRST | {"d": 1234.0},
        **spread(["1 234", "12 000", "980", "1 100", "7", "2 222", "500", "31 000"]),
    ),
    "narrow spaces between thousands": text(
        said=["was read as 1234 in 'd'"],
        selected=("d", "a"),
        first=FIRST | {"d": 1234.0},
        **spread(["1\u202f234", "12\u202f000", "980", "5", "7", "2", "500", "31"]),
    ),
    "apostrophes between thousands": text(
        said=["was read as 1234.5 in 'd'"],
        selected=("d", "a"),
        first=FIRST | {"d": 1234.5},
        **spread(["1'234.5", "12'000", "980", "5", "7", "2", "500", "31"]),
    ),
    "units in cells": text(
        said=["'170 cm' was read as 170 in 'd'"],
        selected=("a", "d"),
        first=FIRST | {"d": 170.0},
        **spread([f"{v} cm" for v in (170, 250, 180, 90, 175, 130, 161, 92)]),
    ),
    "two units in cells": text(
        said=["read as categories in 'd'"], features=ABCD, selected=("a", "b"), d=["170 cm", "1.8 m"] * 4
    ),
    "minus behind": text(
        said=["'1.50-' was read as -1.5 in 'd'"],
        first=FIRST | {"d": -1.5},
        **spread(["1.50-", "3", "1.25", "5", "2", "1", "0", "2"]),
    ),
    "unicode minus": text(
        said=["'−5' was read as -5 in 'd'"],
        first=FIRST | {"d": -5.0},
        **spread(["−5", "3", "−1", "5", "2", "1", "0", "−2"]),
    ),
    "plus signs": text(first=FIRST | {"d": 5.0}, **spread(["+5", "3", "+1", "5", "2", "1", "0", "+2"])),
    "exponents": text(first=FIRST | {"d": 5.0}, **spread(["5e0", "3E0", "1e-3", "5", "2", "1", "0", "2e0"])),
    "decimal comma": text(
        "t.csv", ["the decimal mark is a comma, as in '1,5'", "cells are parted by a semicolon"], change=swapped
    ),
    "decimal comma and tabs": text(
        "t.tsv", ["the decimal mark is a comma"], change=lambda table: table.replace(",", "\t").replace(".", ",")
    ),
    "decimal comma between quotes": text(
        said=["'1,5' was read as 1.5 in 'd'"],
        first={"a": 100.0, "b": 1.0, "d": 1.5},
        b=[str(int(v)) for v in B],
        features=ABCD,
        d=quoted(["1,5", "2,25", "3,5", "1,0", "2,0", "2,5", "3,0", "1,0"]),
    ),
    "undecided comma": refused(
        "t.csv",
        lines({"x": ["74,224", "12,500", "1,100", "8,250"], "y": [1, 2, 3, 5]}, ";"),
        "the comma of '74,224' in 'x' may be a decimal or a thousands mark; pass --decimal ',' or --thousands ','",
    ),
    "undecided comma, decimal": Case(
        "t.csv",
        lines({"x": ["74,224", "12,500", "1,100", "8,250"], "y": [1, 2, 3, 5]}, ";").encode(),
        ("--decimal", ","),
        ("x", "y"),
        ("x", "y"),
        {"x": 74.224, "y": 1.0},
        ("parted by a semicolon",),
    ),
    "undecided comma, thousands": Case(
        "t.csv",
        lines({"x": ["74,224", "12,500", "1,100", "8,250"], "y": [1, 2, 3, 5]}, ";").encode(),
        ("--thousands", ","),
        ("x", "y"),
        ("x", "y"),
        {"x": 74224.0, "y": 1.0},
        ("'74,224' was read as 74224",),
    ),
    "undecided comma, the rest of the file tells": Case(
        "t.csv",
        lines({"x": ["74,224", "12,500", "1,100", "8,250"], "y": ["1,5", "2,5", "3,5", "5,5"]}, ";").encode(),
        (),
        ("x", "y"),
        ("x", "y"),
        {"x": 74.224, "y": 1.5},
        ("the decimal mark is a comma",),
    ),
    "undecided point": refused(
        "t.csv",
        lines({"x": ["74.224", "12.500", "1.100", "8.250"], "y": [1, 2, 3, 5]}, ";"),
        "the point of '74.224' in 'x' may be a decimal or a thousands mark; pass --decimal '.' or --thousands '.'",
    ),
    "undecided euros": refused(
        "t.csv",
        lines({"x": ["€1.234", "€2.000", "€8.250", "€5.100"], "y": [1, 2, 3, 5]}),
        "the point of '€1.234' in 'x' may be a decimal or a thousands mark",
    ),
    "undecided and dropped": text(options=["--drop", "d"], d=["€1.234"] * 8),
    "both decimal marks in a feature": text(
        "t.csv",
        ["'d' (numbers written both as '2.5' and as '1,5'"],
        sep=";",
        d=["1,5", "2.5", "3,5", "1", "2", "3", "4", "5"],
    ),
    "percent and plain": text(said=["'d' (numbers mixed with '5%'"], d=["5%", "3", "2%", "1", "2", "3", "4", "5"]),
    "two currencies": text(said=["'d' (numbers mixed with '$5'"], d=["$5", "€3", "$2", "$1", "$2", "$3", "$4", "$5"]),
    "a word among numbers": text(
        said=["'d' (numbers mixed with 'oops'; to use it: --na-values oops)"],
        d=["1", "2", "oops", "4", "2", "3", "4", "5"],
    ),
    "a word far down": Case(
        "t.csv",
        (lines(plain()) + "5,6,7\n" * 3000 + "1,oops,2\n").encode(),
        (),
        ("a", "c"),
        ("a", "c"),
        {"a": 100.0, "c": 1.0},
        ("'b' (numbers mixed with 'oops'",),
    ),
    "a word among numbers as missing": text(
        options=["--na-values", "oops"],
        said=["1 cell missing (3.1%) in 'd'"],
        features=ABCD,
        d=["1", "2", "oops", "4", "2", "3", "4", "5"],
    ),
    "limits of detection": text(said=["'d' (numbers mixed with '<5'"], d=["<5", "7", "8", "<5", "9", "12", "<5", "6"]),
}

DOUBTFUL = {"x": ["74.224", "12.500", "1.100", "8.250"], "y": [1, 2, 3, 5]}
NUMBERS |= {
    "undecided point far down": refused(
        "t.csv", "x;y\n" + "1;2\n" * 300 + "74.224;3\n", "the point of '74.224' in 'x' may be a decimal or a thousands"
    ),
    "undecided point beside a decimal comma": Case(
        "t.csv",
        lines(DOUBTFUL | {"y": quoted(["1,5", "2,5", "3,5", "5,5"])}).encode(),
        (),
        ("x", "y"),
        ("x", "y"),
        {"x": 74224.0, "y": 1.5},
        ("'74.224' was read as 74224 in 'x'", "'1,5' was read as 1.5 in 'y'"),
    ),
    "postcodes": text(
        said=["'01099' begins with a zero, so that it was read as a category in 'd'"],
        **spread(["01099", "10115", "01099", "80331"] * 2),
    ),
    "telephone numbers": text(said=["'d' (text that differs in every row"], d=[f"030 123 45{i}" for i in EIGHT]),
}

KINDS = {
    "categories": text(
        said=["text with few values was read as categories in 'd'", "1 category"],
        **spread(["red", "blue", "red", "green", "blue", "red", "green", "red"]),
    ),
    "two categories": text(said=["read as categories in 'd'"], **spread(["m", "w", "m", "m", "w", "w", "m", "w"])),
    "python booleans": text(
        said=["was read as true (1) in 'd'", "1 boolean"], first=FIRST | {"d": 1.0}, **spread(["True", "False"] * 4)
    ),
    "yes and no": text(said=["was read as true (1) in 'd'"], first=FIRST | {"d": 1.0}, **spread(["yes", "No"] * 4)),
    "iso dates": text(
        said=["'2020-01-31' was read as a date (2020-01-31) in 'd'", "1 date"],
        selected=("d", "a"),
        first=FIRST | {"d": 18292.0},
        **spread(
            [
                "2020-01-31",
                "2021-02-01",
                "2020-01-05",
                "2022-01-01",
                "2020-06-06",
                "2020-01-01",
                "2023-03-03",
                "2020-12-12",
            ]
        ),
    ),
    "timestamps": text(
        said=["was read as a date (2020-01-31T12:00:00 in UTC) in 'd'"],
        first=FIRST | {"d": 18292.5},
        **spread([f"2020-01-31T1{i}:00:00Z" for i in (2, 3, 4, 5, 6, 7, 8, 9)]),
    ),
    "time zones": text(
        said=["'2020-02-01T00:00:00+12:00' was read as a date (2020-01-31T12:00:00 in UTC) in 'd'"],
        first=FIRST | {"d": 18292.5},
        **spread([f"2020-02-01T0{i}:00:00+12:00" for i in EIGHT]),
    ),
    "timestamps with words for the zone": text(
        said=["was read as a date (2020-01-31T12:00:00 in UTC) in 'd'"],
        first=FIRST | {"d": 18292.5},
        **spread([f"2020-01-31 1{i}:00:00 UTC" for i in (2, 3, 4, 5, 6, 7, 8, 9)]),
    ),
    "nanoseconds": text(
        said=["was read as a date (2020-01-31) in 'd'"],
        first=FIRST | {"d": 18292.5},
        **spread([f"2020-01-31 1{i}:00:00.000000000" for i in (2, 3, 4, 5, 6, 7, 8, 9)]),
    ),
    "before noon and after": text(
        said=["'1/31/2020 6:00 PM' was read as a date (2020-01-31) in 'd'"],
        first=FIRST | {"d": 18292.75},
        **spread([f"1/{31 - i}/2020 6:00 {'AM' if i else 'PM'}" for i in EIGHT]),
    ),
    "before 1970": text(
        said=["'1969-12-31 12:00' was read as a date (1969-12-31) in 'd'"],
        first=FIRST | {"d": -0.5},
        **spread([f"1969-12-{31 - i} 12:00" for i in EIGHT]),
    ),
    "german dates": text(
        said=["'31.01.2020' was read as a date (2020-01-31) in 'd'"],
        first=FIRST | {"d": 18292.0},
        **spread([f"{31 - i}.01.2020" for i in EIGHT]),
    ),
    "american dates": text(
        said=["'1/31/2020' was read as a date (2020-01-31) in 'd'"],
        first=FIRST | {"d": 18292.0},
        **spread([f"1/{31 - i}/2020" for i in EIGHT]),
    ),
    "dates that could be either": text(
        said=["'d' (in '3/4/2020' the day and the month could be either; to use it: --day-first|--month-first)"],
        d=[f"3/{4 + i}/2020" for i in EIGHT],
    ),
    "dates, day first": text(
        options=["--day-first"],
        said=["was read as a date (2020-04-03) in 'd'"],
        selected=("a", "d"),
        **spread([f"3/{4 + i}/2020" for i in EIGHT]),
    ),
    "dates with names of months": text(
        said=["was read as a date (2020-01-31) in 'd'"], **spread([f"{31 - i} Jan 2020" for i in EIGHT])
    ),
    "american dates with short years": text(
        said=["'1/31/20' was read as a date (2020-01-31, two digits standing for 1969 to 2068) in 'd'"],
        first=FIRST | {"d": 18292.0},
        **spread([f"1/{31 - i}/20" for i in EIGHT]),
    ),
    "german dates with short years": text(
        said=["'31.01.20 12:00' was read as a date (2020-01-31, two digits standing for 1969 to 2068) in 'd'"],
        first=FIRST | {"d": 18292.5},
        **spread([f"{31 - i}.01.20 12:00" for i in EIGHT]),
    ),
    "names of months and short years": text(
        said=["was read as a date (2020-01-31, two digits"], **spread([f"{31 - i}-Jan-20" for i in EIGHT])
    ),
    "short years that could be days": text(
        said=["'d' (in '31/01/20' the day and the month or the year could be either; to use it: --day-first"],
        d=[f"{31 - i}/01/20" for i in EIGHT],
    ),
    "short years, day first": text(
        options=["--day-first"],
        said=["was read as a date (2020-01-31, two digits"],
        first=FIRST | {"d": 18292.0},
        **spread([f"{31 - i}/01/20" for i in EIGHT]),
    ),
    "short years beside long ones": text(
        said=["'d' (text that differs in every row"], d=[f"1/{31 - i}/{2020 if i else 20}" for i in EIGHT]
    ),
    "durations": text(
        said=["'01:30:00' was read as a duration in seconds (5400) in 'd'"],
        selected=("d", "a"),
        first=FIRST | {"d": 5400.0},
        **spread([f"0{1 + i}:30:00" for i in EIGHT]),
    ),
    "pandas durations": text(
        said=["was read as a duration in seconds (90000) in 'd'"],
        selected=("d", "a"),
        first=FIRST | {"d": 90000.0},
        **spread([f"{1 + i} days 01:00:00" for i in EIGHT]),
    ),
    "identifiers": text(
        said=["'id' (numbers that differ in every row, as identifiers do; to use it: --keep id)"],
        id=[str(1000 * i) for i in EIGHT],
    ),
    "identifiers, kept": text(
        options=["--keep", "id"],
        selected=("id", "a"),
        features=("a", "b", "c", "id"),
        id=[str(1000 * i) for i in EIGHT],
    ),
    "an index of pandas": Case(
        "t.csv",
        lines({"": [str(i) for i in EIGHT], **plain()}).encode(),
        said=("the first feature has no name and holds the sample names",),
    ),
    "the index of pandas, read and written": Case(
        "t.csv",
        lines({"Unnamed: 0": [str(i) for i in EIGHT], **plain()}).encode(),
        said=("'Unnamed: 0' (numbers that",),
    ),
    "uuids": text(
        said=["'key' (text that differs in every row, as identifiers do; to use it: --keep key)"],
        key=[f"9f-{i}b-{i}" for i in EIGHT],
    ),
    "free text": text(
        said=["'d' (text with 7 different values, too many for a category; to use it: --keep d)"],
        d=["good", "bad enough", "so so", "good", "fine", "not fine", "well", "oh"],
    ),
    "free text, kept": text(
        options=["--keep", "d"],
        features=ABCD,
        d=["good", "bad enough", "so so", "good", "fine", "not fine", "well", "oh"],
    ),
    "a name like a label": text(
        said=["'target' is named like a label and is used as a feature; if it is a label, pass --labels target"],
        features=("a", "b", "c", "target"),
        target=["0", "1"] * 4,
    ),
    "labels": text(options=["--labels", "target"], target=["no", "yes"] * 4),
    "codes as categories": text(
        options=["--categorical", "d"],
        said=["read as categories in 'd'"],
        features=ABCD,
        d=["10115", "80331", "10115", "20095"] * 2,
    ),
    "words dropped": text(options=["--drop-text"], said=["'d' (text, by --drop-text)"], d=["x", "y"] * 4),
    "one word only": text(said=["'d' (it has one value only)"], d=["same"] * 8),
}
