"""Cases of the corpus: how text tables are laid out."""

from cells import EIGHT, quoted, spread
from messy_files import A, B, Case, lines, plain, refused, text

BASE = lines(plain())
LAYOUTS = {
    "plain": text(),
    "windows lines": Case("t.csv", lines(plain(), end="\r\n").encode()),
    "old mac lines": Case("t.csv", lines(plain(), end="\r").encode()),
    "no line at the end": Case("t.csv", BASE.rstrip().encode()),
    "bars": text(sep="|", said=["cells are parted by a bar"]),
    "spaces": text("t.txt", sep=" ", said=["cells are parted by a space"]),
    "aligned by spaces": Case("t.txt", BASE.replace(",", "    ").encode(), said=("cells are parted by a space",)),
    "spaces around cells": text(sep=" , "),
    "comments above": Case(
        "t.csv",
        b"# made by a machine\n# on Monday\n" + BASE.encode(),
        said=("2 lines before the header passed over, the first being '# made by a machine'",),
    ),
    "header behind a hash": Case("t.tsv", ("#" + BASE).replace(",", "\t").encode()),
    "title lines": Case(
        "t.csv",
        b"Sales of 2020\nall regions\n\n" + BASE.encode(),
        said=("2 lines before the header passed over, the first being 'Sales of 2020'",),
    ),
    "the delimiter told to excel": Case(
        "t.csv",
        ("sep=;\n" + BASE.replace(",", ";")).encode(),
        said=("1 line before the header passed over, the first being 'sep=;'",),
    ),
    "the delimiter of two features told to excel": Case(
        "t.csv",
        ("sep=;\n" + "".join(f"{line.rpartition(',')[0]}\n" for line in BASE.splitlines()).replace(",", ";")).encode(),
        features=("a", "b"),
        first={"a": 100.0, "b": 1.5},
    ),
    "lines of metadata": Case(
        "t.csv", b"Station,Berlin\nYear,2020\n" + BASE.replace("a,b,c", "a,b,c").encode(), ("--skip-rows", "2")
    ),
    "comments among rows": Case("t.csv", BASE.replace("30,", "% a remark\n30,").encode(), ("--comment", "%")),
    "comments among rows, not said": refused("t.csv", BASE.replace("30,", "% a remark\n30,"), "line 4 has 1 cell"),
    "units below the header": Case(
        "t.csv",
        BASE.replace("a,b,c\n", "a,b,c\nkg,m,s\n").encode(),
        said=("1 row beside the header passed over, with words such as 'kg' above numbers",),
    ),
    "delimiters at the end": Case(
        "t.csv", BASE.replace("\n", ",\n").encode(), said=("the delimiter at the end of every line stands for nothing",)
    ),
    "delimiters at the end of rows": Case(
        "t.csv",
        BASE.replace("\n", ",\n").replace("c,\n", "c\n").encode(),
        said=("the delimiter at the end of every line stands for nothing",),
    ),
    "repeated names": Case(
        "t.csv",
        BASE.replace("a,b,c", "a,a,c").encode(),
        (),
        ("a", "a_2"),
        ("a", "a_2", "c"),
        {"a": 100.0, "a_2": 1.5},
        ("the name 'a' occurs more than once and was numbered ('a', 'a_2') (else --drop a)",),
    ),
    "repeated names dropped": Case(
        "t.csv",
        BASE.replace("a,b,c", "a,a,c").encode(),
        ("--drop", "a"),
        (),
        (),
        {},
        (),
        "-k 2 asks for more than the 1 feature",
    ),
    "a nameless feature": Case(
        "t.csv",
        BASE.replace("a,b,c", "a,,c").encode(),
        (),
        ("a", "feature_1"),
        ("a", "feature_1", "c"),
        {"feature_1": 1.5},
    ),
    "no header": Case(
        "t.csv",
        BASE.split("\n", 1)[1].encode(),
        (),
        ("feature_0", "feature_1"),
        ("feature_0", "feature_1", "feature_2"),
        {"feature_0": 100.0},
        ("the first line holds numbers, so that there is no header (else --header)",),
    ),
    "no header beside words": Case(
        "t.csv",
        lines(plain(d=["x", "y"] * 4), header=False).encode(),
        (),
        ("feature_0", "feature_1"),
        ("feature_0", "feature_1", "feature_2", "feature_3"),
        {"feature_0": 100.0},
        ("the first line holds numbers, so that there is no header",),
    ),
    "samples with numbers for names": Case(
        "t.csv",
        ("gene,101,105,230\n" + "a,100,250,30\nb,1.5,22.5,13.25\nc,1,2,1\n").encode(),
        ("--transpose",),
        said=("the first line is the header, though it holds a number (else --no-header)",),
    ),
    "the world bank": Case(
        "t.csv",
        (
            '\ufeff"Source","Indicators",\n\n"Updated","2020-01-01",\n\n"Name","1960","1961","1962",\n'
            + "".join(f'"Country {i}",{a},..,{b},\n' for i, (a, b) in enumerate(zip(A, B, strict=True)))
        ).encode(),
        (),
        ("1960", "1962"),
        ("1960", "1962"),
        {"1960": 100.0, "1962": 1.5},
        ("2 lines before the header passed over", "'1961' (", "'Name' (text that differs"),
    ),
    "no header and decimal commas": Case(
        "t.csv",
        "".join(f"{a:.1f};{b:.2f}\n".replace(".", ",") for a, b in zip(A, B, strict=True)).encode(),
        (),
        ("feature_0", "feature_1"),
        ("feature_0", "feature_1"),
        {"feature_0": 100.0, "feature_1": 1.5},
        ("the decimal mark is a comma", "cells are parted by a semicolon", "so that there is no header"),
    ),
    "years as header": Case(
        "t.csv",
        BASE.replace("a,b,c", "2019,2020,2021").encode(),
        ("--header",),
        ("2019", "2020"),
        ("2019", "2020", "2021"),
        {"2019": 100.0},
    ),
    "row names of R": Case(
        "t.txt",
        (
            BASE.split("\n", 1)[0] + "\n" + "\n".join(f'"r{i}",{line}' for i, line in enumerate(BASE.split("\n")[1:-1]))
        ).encode(),
    ),
    "quoted cells": text(a=quoted([f"{v:g}" for v in A])),
    "line breaks in cells": text(said=["'d' (text that differs"], d=[f'"line {i}\nmore {i}"' for i in EIGHT]),
    "delimiters in cells": text(said=["read as categories in 'd'"], **spread(quoted(["x, y", "z; u"] * 4))),
    "latin letters": text(
        said=["the text is not UTF-8 and was read as cp1252 (else --encoding)"],
        encode="cp1252",
        features=("a", "b", "c", "größe"),
        größe=["1", "2"] * 4,
    ),
    "utf-16": text(encode="utf-16"),
    "utf-16 without a mark": text(encode="utf-16-le", options=["--encoding", "utf-16-le"]),
    "utf-16 without a mark, not said": refused("t.csv", BASE.encode("utf-16-le"), "pass --encoding utf-16-le if it is"),
    "japanese letters": text(
        encode="shift_jis", options=["--encoding", "shift_jis"], said=["categories"], **spread(["男", "女"] * 4)
    ),
    "japanese letters, not said": refused(
        "t.csv", BASE.replace("c", "身長", 1).encode("shift_jis"), "is not text in the encoding cp1252; pass --encoding"
    ),
    "a quotation mark that is never closed": refused(
        "t.csv",
        BASE.replace("a,b,c", "c,b,a,d").replace("\n", ",x\n").replace(",x", "", 1).replace(",x", ',"x', 1),
        "the quotation mark before 'x' is never closed, so that all rows after it are one cell",
    ),
    "byte order mark": text(encode="utf-8-sig"),
    "features in rows": Case(
        "t.csv", ("gene,s1,s2,s3\n" + "a,100,250,30\nb,1.5,22.5,13.25\nc,1,2,1\n").encode(), ("--transpose",)
    ),
    "ragged": refused("t.csv", BASE + "1,2\n", "line 10 has 2 cells, but the first line of the table has 3"),
    "header too long": refused("t.csv", BASE.replace("a,b,c", "a,b,c,d"), "line 2 has 3 cells, but the first line"),
    "a single feature": refused("t.csv", "a\n1\n2\n3\n4\n", "-k 2 asks for more than the 1 feature of the table"),
    "html": refused("t.csv", "<html>\n<body>no table</body>\n</html>\n", "no feature is left to select from"),
    "empty": refused("t.csv", b"", "is empty (0 bytes)"),
}
