"""Every messy file ends with the expected selection or the expected sentence, and every assumption is in the output."""

import pytest
from corpus_cases import CASES
from typer.testing import CliRunner

from tamis.cli import fitting
from tamis.cli.app import app

GOOD = {name: case for name, case in CASES.items() if not case.error}
SOME = [name for number, name in enumerate(GOOD) if number % 8 == 0]


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tamis.report.analysis.RANDOM_LISTS", 2)
    # The page is tested elsewhere; here its five megabytes of script only take time.
    monkeypatch.setattr("tamis.report.page.plotly_script", str)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="tamis")


@pytest.fixture
def place(tmp_path):
    def write(case):
        (tmp_path / case.file).write_bytes(case.content)
        return case.file

    return write


def flat(result):
    return " ".join((result.stdout + result.stderr).split())


def test_the_corpus_is_large():
    assert len(CASES) >= 80


@pytest.mark.parametrize("name", CASES)
def test_select(name, run, place, tmp_path):
    case = CASES[name]
    result = run("select", place(case), "-k", 2, "-m", "variance", "-o", "out", *case.options)
    if case.error:
        assert result.exit_code == 2, flat(result)
        assert case.error in result.stderr.splitlines()[-1]
        assert not (tmp_path / "out").exists()
        return
    assert result.exit_code == 0, flat(result)
    assert [line.split("\t")[1] for line in result.stdout.splitlines()[1:]] == list(case.selected)
    for phrase in case.said:
        assert phrase in flat(result), phrase


@pytest.mark.parametrize("name", CASES)
def test_check(name, run, place, tmp_path):
    case = CASES[name]
    result = run("check", place(case), *case.options)
    assert [entry.name for entry in tmp_path.iterdir()] == [case.file]
    if result.exit_code:
        assert case.error in result.stderr
        return
    # What is wrong with these is not the file but what is asked for.
    assert not case.error or case.error.startswith(("-k", "--missing")), flat(result)
    for phrase in case.said:
        assert words_of(phrase) in flat(result), phrase


def words_of(phrase):
    """Return the part of a phrase that ``check`` prints, too: it lays options and features out in a table."""
    for end in (" (else", "; to use", ", pass", ", filled", ", 1 row", "' (", ", categories"):
        phrase = phrase.partition(end)[0]
    return phrase


@pytest.mark.parametrize("name", GOOD)
def test_the_numbers_are_those_meant(name, place, tmp_path, monkeypatch):
    case, tables = GOOD[name], []
    monkeypatch.setattr("tamis.cli.output.print_json", lambda document: tables.append(document))
    inner = fitting.read_with_bar
    monkeypatch.setattr(fitting, "read_with_bar", lambda *given: tables.append(inner(*given)) or tables[-1])
    CliRunner().invoke(app, ["check", str(tmp_path / place(case)), "--json", *case.options])
    table, document = tables
    assert sorted(document["features"]) == sorted(case.features)
    names = table.feature_names.tolist()
    for feature, value in case.first.items():
        assert table.X[0, names.index(feature)] == value, feature


@pytest.mark.parametrize("name", SOME)
def test_the_other_commands(name, run, place, tmp_path):
    case = GOOD[name]
    file, options = place(case), case.options
    run("select", file, "-k", 2, "-m", "variance", "-o", "out", *options)
    scoring = ["--random", 2]
    for arguments in (
        ["curve", file, "-k", "1,2", "-m", "variance", "-o", "curve", *options],
        ["compare", file, "-k", 2, "-m", "variance,random", "-o", "compare", *options],
        ["evaluate", file, "-f", "out/selector.tamis", "-o", "evaluate", *scoring, *options],
        ["apply", "out/selector.tamis", file, "-o", "small.csv", *options],
    ):
        result = run(*arguments)
        assert result.exit_code == 0, flat(result)
    for folder in ("curve", "compare", "evaluate"):
        assert {"selections.csv", "scores.csv", "result.json"} <= {
            entry.name for entry in (tmp_path / folder).iterdir()
        }
    chosen = (tmp_path / "evaluate" / "selections.csv").read_text().splitlines()[1:]
    assert [line.rsplit(",", 1)[1] for line in chosen] == list(case.selected)
    written = (tmp_path / "small.csv").read_text()
    assert all(f'"{feature}"' in written for feature in case.selected)
