"""What commands keep is what docs/results.md says."""

import csv
import json
import re
from pathlib import Path

import pytest

from tamis.cli.results import SCHEMA

PAGE = (Path(__file__).parents[2] / "docs/results.md").read_text()
RUNS = {
    "select": ["-k", 2, "-m", "variance"],
    "curve": ["-k", "1,2", "-m", "variance"],
    "compare": ["-k", 2, "-m", "variance,random", "--seed", 3],
    "evaluate": ["-f", "signal_0,nuisance_1", "--random", 3],
}


def documented(command):
    """Return the keys that the page lists for a command, those that all have among them."""
    parts = re.split(r"^#+ ", PAGE, flags=re.M)
    tables = [part for part in parts if part.startswith(("All commands", f"`{command}`"))]
    return {name for part in tables for name in re.findall(r"^\| `(\w+)` ", part, re.M)}


@pytest.fixture(params=RUNS)
def kept(request, run, table_file, roles, tmp_path):
    result = run(request.param, table_file, "-o", "out", *RUNS[request.param], *roles)
    assert result.exit_code == 0, result.stderr
    return request.param, tmp_path / "out"


def test_result_json_is_as_documented(kept):
    command, folder = kept
    document = json.loads((folder / "result.json").read_text())
    assert document["schema"] == SCHEMA
    assert f"`{SCHEMA}`" in PAGE
    assert document["command"] == command
    assert set(document) == documented(command)


def test_the_lists_and_scores_of_all_selections_are_kept(kept):
    command, folder = kept
    if command == "select":
        return
    document = json.loads((folder / "result.json").read_text())
    with (folder / "selections.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0]) == ["method", "k", "seed", "rank", "feature"]
    entries = document.get("entries") or [{"method": "list", "k": 2, "selected": document["features"]}]
    for entry in entries:
        mine = [row for row in rows if (row["method"], row["k"]) == (entry["method"], str(entry["k"]))]
        assert [row["feature"] for row in mine] == entry["selected"]
        assert [row["rank"] for row in mine] == [str(rank) for rank in range(1, entry["k"] + 1)]
    with (folder / "scores.csv").open() as lines:
        scores = list(csv.DictReader(lines))
    expected = document["scores"] if command == "evaluate" else entries[0]["scores"]
    assert {name: float(scores[0][name]) for name in expected} == pytest.approx(expected, abs=0)


def test_what_is_printed_as_json_is_what_is_kept(run, table_file, roles, tmp_path):
    for command, options in RUNS.items():
        printed = json.loads(run(command, table_file, "-o", command, "--json", *options, *roles).stdout)
        written = json.loads((tmp_path / command / "result.json").read_text())
        printed.pop("seconds", None), written.pop("seconds", None)
        assert printed == written


def test_check_prints_json_and_writes_nothing(run, table_file, tmp_path):
    document = json.loads(run("check", table_file, "--json").stdout)
    assert set(document) == documented("check")
    assert document["read"]["kinds"] == {"numbers": 11}
    assert [entry.name for entry in tmp_path.iterdir()] == [table_file.name]


def test_no_size_means_as_few_as_explain_the_structure_and_that_is_said(run, table_file, roles):
    result = run("select", table_file, "-m", "variance", *roles)
    assert "No -k was given: 2 features are chosen, the fewest that explain the structure" in result.stderr
    assert len(result.stdout.splitlines()) == 3


def test_check_names_features_with_one_value(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,5,2\n3,5,1\n2,5,2\n")
    assert "'b': one value only, and never chosen" in run("check", "t.csv").stdout
