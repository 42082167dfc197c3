"""The commands that the pages show run, and print what the pages show where no training is involved."""

import shlex
from pathlib import Path

import pytest
from docs_console import BLOCK, PAGES, ROOT, make_tables

SHOWN = [(page, *found) for page in PAGES for found in BLOCK.findall((ROOT / page).read_text())]
FIXED = ("check", "apply", "select survey.csv")
"""What does not depend on how a method is trained."""


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    make_tables(folder)
    return folder


@pytest.fixture
def run_here(run, tables, monkeypatch):
    """Run a command where the tables are, as a person would."""
    monkeypatch.chdir(tables)
    monkeypatch.setattr("tamis.cli.output.is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    return run


def words(text):
    return " ".join(text.split())


def test_every_path_is_there_and_ends_with_a_decision():
    readme = (ROOT / "README.md").read_text()
    for page in PAGES[2:]:
        assert f"({page})" in readme
        assert "Decide" in (ROOT / page).read_text().split("\n## ")[-1]
        assert [command for place, command, _ in SHOWN if place == page]


@pytest.mark.parametrize(("page", "command", "shown"), SHOWN, ids=lambda value: value[:40])
def test_the_pages_show_what_is_printed(run_here, page, command, shown):
    _, *arguments = shlex.split(command)
    if arguments[0] == "apply" and not Path(arguments[1]).exists():
        # What it applies was selected by an earlier command of the page, perhaps in another process.
        made = next(one for one in SHOWN if one[0] == page and one[1].startswith(f"tamis select {arguments[2]}"))
        run_here(*shlex.split(made[1])[1:], "--set", "max_epochs=5")
    if command.removeprefix("tamis ").startswith(FIXED):
        result = run_here(*arguments)
        assert words(result.stdout + result.stderr) == words(shown)
        return
    quick = [] if arguments[0] == "evaluate" else ["--set", "max_epochs=5"]
    result = run_here(*arguments, *quick)
    assert result.exit_code == 0, result.stderr
    assert words(shown).startswith("Read: ")
