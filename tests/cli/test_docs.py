"""The dirty table of docs/command-line.md gives what the page shows."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/command-line.md").read_text()


@pytest.fixture
def survey(tmp_path):
    (tmp_path / "survey.csv").write_text(re.search(r"```text\n(.*?)```", PAGE, re.S)[1])
    return "survey.csv"


def shown(command):
    """Return what the page shows below a command, without the folding of lines."""
    found = re.search(rf"```console\n\$ {re.escape(command)}\n(.*?)```", PAGE, re.S)
    return " ".join(found[1].split())


@pytest.mark.parametrize("command", ["check survey.csv", "select survey.csv -k 2 --labels diagnosis"])
def test_the_page_shows_what_is_printed(run, survey, monkeypatch, command):
    monkeypatch.setattr("tamis.cli.output.is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    result = run(*command.split())
    assert " ".join((result.stdout + result.stderr).split()) == shown(f"tamis {command}")
