import pytest

from research.ledger import Ledger, LedgerError
from research.paper.catalogue import experiment, experiments
from research.paper.page import all_tables, read_rows, write_page
from research.paper.run import Run


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Rows of two quick experiments."""
    folder = tmp_path_factory.mktemp("results")
    for name in ("bound", "table-stats"):
        assert all(outcome.row for outcome in Run(name, folder, quick=True).go())
    return folder


def test_an_unknown_experiment_is_named():
    with pytest.raises(KeyError, match=r"There is no experiment 'fig-chy'\. Did you mean 'fig-chi'"):
        experiment("fig-chy")


def test_the_page_has_a_section_for_every_experiment(results, tmp_path):
    page = write_page(results, tmp_path / "images", tmp_path / "docs" / "paper.md")
    text = page.read_text()
    for one in experiments():
        assert f"## {one.title}\n" in text
    assert "![The bound of the case study](../images/bound.png)" in text
    assert (tmp_path / "images" / "bound.svg").exists()
    assert "No rows are kept yet: `python -m research.paper run fig-chi` makes them." in text
    assert "These are the rows of a quick run" in text


def test_the_numbers_of_the_page_come_from_the_rows(results, tmp_path):
    folder = tmp_path / "changed"
    for row in read_rows(results, "bound"):
        Ledger(folder / "bound.jsonl").append(row | {"simulated": 31415})
    text = write_page(folder, tmp_path / "images", tmp_path / "paper.md").read_text()
    assert text.count("| 31415 |") == 6


def test_quick_and_full_rows_do_not_mix(results, tmp_path):
    rows = read_rows(results, "bound")
    ledger = Ledger(tmp_path / "bound.jsonl")
    ledger.append(rows[0])
    ledger.append({"trial": {"r": 6, "n": 50}})
    with pytest.raises(
        LedgerError, match="holds rows of quick and of full runs; keep them in separate --results folders"
    ):
        read_rows(tmp_path, "bound")


def test_tables_are_those_of_experiments_with_rows(results):
    assert [table.name for table in all_tables(results)] == ["bound", "table-stats"]
