"""Cases of the corpus: compressed files, workbooks, JSON and binary tables."""

import bz2
import gzip
import io
import json
import lzma
import zipfile

import numpy as np
import pyarrow as pa
from cells import ABCD, EIGHT, FIRST
from layouts import BASE
from messy_files import A, B, C, Case, refused
from pyarrow import feather, parquet


def saved(function, *arguments, **named):
    stream = io.BytesIO()
    function(stream, *arguments, **named)
    return stream.getvalue()


def zipped(**files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return stream.getvalue()


def workbook(**sheets):
    """Return an xlsx workbook of sheets of rows, with the parts that the format demands and nothing else."""
    start = '<?xml version="1.0" encoding="UTF-8"?>'
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    links = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    numbers = range(1, len(sheets) + 1)
    parts = {
        "[Content_Types].xml": f'{start}<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        f'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
        + "".join(f'<Override PartName="/xl/s{i}.xml" ContentType="{kinds}.worksheet+xml"/>' for i in numbers)
        + "</Types>",
        "_rels/.rels": f'{start}<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{links}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'{start}<Relationships xmlns="{package}/relationships">'
        + "".join(f'<Relationship Id="r{i}" Type="{links}/worksheet" Target="s{i}.xml"/>' for i in numbers)
        + "</Relationships>",
        "xl/workbook.xml": f'{start}<workbook xmlns="{main}" xmlns:r="{links}"><sheets>'
        + "".join(f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in zip(numbers, sheets, strict=True))
        + "</sheets></workbook>",
    }
    for number, rows in zip(numbers, sheets.values(), strict=True):
        body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
        parts[f"xl/s{number}.xml"] = f'{start}<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>'
    return zipped_parts(parts)


def zipped_parts(parts):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def open_document(rows):
    """Return an OpenDocument spreadsheet of one sheet."""
    names = "urn:oasis:names:tc:opendocument:xmlns"
    kinds = {part: f'xmlns:{part}="{names}:{part}:1.0"' for part in ("office", "table", "text", "manifest")}
    body = "".join(f"<table:table-row>{''.join(map(open_cell, row))}</table:table-row>" for row in rows)
    return zipped_parts(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": f'<?xml version="1.0"?><manifest:manifest {kinds["manifest"]}/>',
            "content.xml": '<?xml version="1.0" encoding="UTF-8"?><office:document-content '
            f"{kinds['office']} {kinds['table']} {kinds['text']}><office:body><office:spreadsheet>"
            f'<table:table table:name="data">{body}</table:table></office:spreadsheet></office:body>'
            "</office:document-content>",
        }
    )


def open_cell(value):
    kind = "string" if isinstance(value, str) else f'float" office:value="{value}'
    return f'<table:table-cell office:value-type="{kind}"><text:p>{value}</text:p></table:table-cell>'


def cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def zstd(content):
    return pa.compress(content, "zstd", asbytes=True)


ROWS = [["a", "b", "c"], *map(list, zip(A, B, C, strict=True))]
TABLE = {"a": A, "b": B, "c": C}
RECORDS = [dict(zip("abc", row, strict=True)) for row in zip(A, B, C, strict=True)]
MATRIX = np.column_stack([A, B, C])
NAMELESS = {"selected": ("feature_0", "feature_1"), "features": ("feature_0", "feature_1", "feature_2")}
FORMATS = {
    "gzip": Case("t.csv.gz", gzip.compress(BASE.encode())),
    "bzip2": Case("t.csv.bz2", bz2.compress(BASE.encode())),
    "xz": Case("t.tsv.xz", lzma.compress(BASE.replace(",", "\t").encode())),
    "zstandard": Case("t.csv.zst", zstd(BASE.encode())),
    "zip": Case("t.zip", zipped(t__csv=BASE)),
    "zip of csv": Case("t.csv.zip", zipped(t__csv=BASE)),
    "zip of several": refused(
        "t.zip", zipped(t__csv=BASE, u__csv=BASE), "holds several files: 't.csv', 'u.csv'; say which"
    ),
    "zip of several, one named": Case("t.zip", zipped(t__csv=BASE, u__csv="x"), ("--key", "t.csv")),
    "zip of a picture": refused("t.zip", zipped(t__png="x"), "the ending '.png' is not that of a known format"),
    "compressed, but not said": Case("t.csv", gzip.compress(BASE.encode())),
    "workbook": Case("t.xlsx", workbook(data=ROWS)),
    "workbook called a text file": refused("t.csv", workbook(data=ROWS), "is a workbook, not a text file; rename it"),
    "workbook with a title": Case(
        "t.xlsx",
        workbook(data=[["Sales of 2020", None, None], *ROWS]),
        said=("1 row above the header passed over, the first being 'Sales of 2020'",),
    ),
    "workbook with groups and units": Case(
        "t.xlsx",
        workbook(data=[["Body", "Body", "Time"], ROWS[0], ["kg", "m", "s"], *ROWS[1:]]),
        said=("2 rows beside the header passed over, with words such as 'Body' above numbers",),
    ),
    "workbook of two sheets": Case(
        "t.xlsx",
        workbook(data=ROWS, other=[["x", "y"], [1, 2], [3, 4]]),
        said=("the sheet 'data' was read, the first of 2 (else --sheet other)",),
    ),
    "workbook, sheet named": Case("t.xlsx", workbook(notes=[["x", "y"], ["u", "v"]], data=ROWS), ("--sheet", "data")),
    "workbook, sheet unknown": refused(
        "t.xlsx", workbook(data=ROWS), "--sheet names 'date', which is not in the workbook", "--sheet", "date"
    ),
    "workbook with gaps and words": Case(
        "t.xlsx",
        workbook(
            data=[
                [*ROWS[0], "d"],
                *([*row, word] for row, word in zip(ROWS[1:], "xyxxyxyx", strict=True)),
                [None, 3, 4, "x"],
            ]
        ),
        features=ABCD,
        said=("1 cell missing (2.8%) in 'a'", "read as categories in 'd'"),
    ),
    "open document": Case("t.ods", open_document(ROWS)),
    "broken workbook": refused("t.xlsx", workbook(data=ROWS)[:200], "cannot be read as Excel"),
    "json lines": Case("t.jsonl", "\n".join(map(json.dumps, RECORDS)).encode()),
    "json lines with gaps": Case(
        "t.ndjson", "\n".join(map(json.dumps, [*RECORDS, {"a": 3}])).encode(), said=("2 cells missing",)
    ),
    "json lines of mixed types": Case(
        "t.jsonl",
        "\n".join(map(json.dumps, [record | {"d": 1} for record in RECORDS] + [RECORDS[0] | {"d": "x"}])).encode(),
        said=("'d' (numbers mixed with 'x'",),
    ),
    "json list": Case("t.json", json.dumps(RECORDS).encode()),
    "json of windows": Case(
        "t.json",
        json.dumps([record | {"e": "é"} for record in RECORDS], ensure_ascii=False).encode("cp1252"),
        said=("the text is not UTF-8 and was read as cp1252",),
    ),
    "json in utf-16": Case("t.json", json.dumps(RECORDS).encode("utf-16")),
    "json without records": refused("t.json", "[]", "is not a list of records"),
    "json of something else": refused("t.json", "[1, 2]", "is not a list of records"),
    "json broken": refused("t.jsonl", '{"a": 1}\n{"a": \n', "line 2 is not JSON"),
    "parquet of kinds": Case(
        "t.parquet",
        saved(
            lambda s: parquet.write_table(
                pa.table(
                    {
                        **TABLE,
                        "flag": [True, False] * 4,
                        "kind": pa.array(list("xyxyxyxx")).dictionary_encode(),
                        "when": pa.array([18292 + i for i in EIGHT], pa.date32()),
                        "list": [[1]] * 8,
                        "none": pa.nulls(8),
                    }
                ),
                s,
            )
        ),
        features=("a", "b", "c", "flag", "kind", "when"),
        first=FIRST | {"flag": 1.0, "when": 18292.0},
        said=(
            "'True' was read as true (1) in 'flag'",
            "read as categories in 'kind'",
            "a date (2020-01-31) in 'when'",
            "'list' (it holds values of the type list",
            "'none' (it has no value at all)",
        ),
    ),
    "parquet of numbers as text": Case(
        "t.parquet",
        saved(lambda s: parquet.write_table(pa.table({**TABLE, "d": [f"{v:,}" for v in range(1000, 9000, 1000)]}), s)),
        selected=("d", "a"),
        features=ABCD,
        error="the comma of '1,000' in 'd' may be",
    ),
    "feather with gaps": Case(
        "t.feather",
        saved(lambda s: feather.write_feather(pa.table({**TABLE, "d": [None, *EIGHT[1:]]}), s)),
        features=ABCD,
        said=("1 cell missing (3.1%) in 'd'",),
    ),
    "npz with names": Case("t.npz", saved(np.savez, X=MATRIX, columns=np.array(list("abc")))),
    "npz with names of variables": Case("t.npz", saved(np.savez, X=MATRIX, var_names=np.array(list("abc")))),
    "npz with pickled names": Case(
        "t.npz",
        saved(np.savez, X=MATRIX, columns=np.array(list("abc"), dtype=object)),
        first={"feature_0": 100.0},
        **NAMELESS,
    ),
    "npy with gaps": Case(
        "t.npy",
        saved(np.save, np.vstack([MATRIX, [np.nan, 1, 2]])),
        first={"feature_0": 100.0},
        said=("1 cell missing (3.7%) in 'feature_0', filled with medians",),
        **NAMELESS,
    ),
    "npy with sentinels": Case(
        "t.npy",
        saved(np.save, np.vstack([MATRIX, [-999, 1, 2]])),
        ("--na-values", "-999"),
        first={"feature_0": 100.0},
        said=("1 cell missing",),
        **NAMELESS,
    ),
}
