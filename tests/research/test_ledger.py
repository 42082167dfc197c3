import pytest

from research.ledger import Ledger, LedgerError, trial_key


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "deep" / "rows.jsonl")


def row(number):
    return {"trial": {"seed": number}, "score": number / 3}


def test_rows_come_back_as_they_were_written(ledger):
    for number in range(3):
        ledger.append(row(number))
    assert ledger.rows() == [row(0), row(1), row(2)]


def test_there_are_no_rows_before_the_first(ledger):
    assert ledger.rows() == []
    assert not ledger.repair()


def test_missing_trials_are_those_without_a_row_whatever_the_order_of_their_keys(ledger):
    ledger.append({"trial": {"seed": 0, "k": 5}})
    wanted = [{"k": 5, "seed": 0}, {"k": 5, "seed": 1}]
    assert ledger.missing(wanted) == [{"k": 5, "seed": 1}]
    assert trial_key({"a": 1, "b": 2}) == trial_key({"b": 2, "a": 1})


def test_an_unfinished_last_line_is_passed_over_and_repaired(ledger):
    for number in range(2):
        ledger.append(row(number))
    content = ledger.path.read_bytes()
    for length in range(content.index(b"\n") + 2, len(content) - 1):
        ledger.path.write_bytes(content[:length])
        assert ledger.rows() == [row(0)]
        assert ledger.repair()
        ledger.append(row(7))
        assert ledger.rows() == [row(0), row(7)]


def test_a_last_line_that_lacks_only_its_break_is_kept(ledger):
    ledger.append(row(0))
    ledger.path.write_bytes(ledger.path.read_bytes().rstrip(b"\n"))
    assert ledger.rows() == [row(0)]
    assert ledger.repair()
    ledger.append(row(1))
    assert ledger.rows() == [row(0), row(1)]


def test_a_damaged_line_in_the_middle_is_named(ledger):
    ledger.append(row(0))
    with ledger.path.open("a") as file:
        file.write('{"trial": \n')
    ledger.append(row(1))
    with pytest.raises(LedgerError, match=r"rows\.jsonl: line 2 is not a row of results; remove this line"):
        ledger.rows()


def test_two_runs_do_not_write_to_one_file(ledger):
    second = Ledger(ledger.path).sole_writer()
    with ledger.sole_writer(), pytest.raises(LedgerError, match="another run is writing to this file"):
        second.__enter__()
    with ledger.sole_writer():
        ledger.append(row(0))
    assert ledger.rows() == [row(0)]


def test_numbers_that_json_does_not_know_are_refused_before_anything_is_written(ledger):
    with pytest.raises(ValueError, match="not JSON compliant"):
        ledger.append({"trial": {}, "score": float("nan")})
    assert ledger.rows() == []


def test_forgotten_trials_are_missing_again(ledger):
    ledger.forget([{"seed": 0}])
    assert not ledger.path.exists()
    for number in range(3):
        ledger.append(row(number))
    ledger.forget([{"seed": 1}])
    assert ledger.rows() == [row(0), row(2)]
    assert ledger.missing([{"seed": 1}, {"seed": 2}]) == [{"seed": 1}]
