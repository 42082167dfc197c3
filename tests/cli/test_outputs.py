"""What is written: never over an input, over others' files only if asked to, and safe to open in a spreadsheet."""

import csv
import os
import signal
import subprocess
import sys

import pytest

from tamis.cli import results
from tamis.cli.options import UsageError
from tamis.io.files import is_own

GOOD = "a,b,c,d\n" + "".join(f"{i},{i * i % 7},{i % 3},{(3 * i) % 5}\n" for i in range(1, 13))
QUICK = ["-m", "variance", "-k", 2]


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    return tmp_path / "t.csv"


def refused(result, sentence):
    assert result.exit_code == 2, result.stderr
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_an_input_is_never_replaced(run, tmp_path, force):
    for name in ("features.csv", "selected.csv"):
        (tmp_path / name).write_text(GOOD)
        refused(run("select", name, *QUICK, "-o", ".", *force), f"{name}: would replace the input {name}")
        assert (tmp_path / name).read_text() == GOOD
        (tmp_path / name).unlink()


def test_an_input_by_another_name_is_not_replaced(run, table, tmp_path):
    (tmp_path / "out").mkdir()
    os.link(table, tmp_path / "out" / "selected.csv")
    refused(run("select", "t.csv", *QUICK, "-o", "out", "--force"), "would replace the input t.csv")


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_apply_spares_the_table_and_the_selector(run, table, tmp_path, force):
    run("select", "t.csv", *QUICK, "-o", "out")
    saved = (tmp_path / "out/selector.tamis").read_bytes()
    refused(run("apply", "out/selector.tamis", "t.csv", "-o", "t.csv", *force), "would replace the input")
    os.link(tmp_path / "out/selector.tamis", tmp_path / "same.csv")
    refused(run("apply", "out/selector.tamis", "t.csv", "-o", "same.csv", *force), "would replace the input")
    assert table.read_text() == GOOD
    assert (tmp_path / "out/selector.tamis").read_bytes() == saved


def test_nothing_is_written_into_an_input_folder(run, table, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "parts").mkdir()
    parquet.write_table(pa.table({name: [float(i) for i in range(9)] for name in "abc"}), tmp_path / "parts/0.parquet")
    refused(run("select", "parts", *QUICK, "-o", "parts"), "would replace the input parts")
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["0.parquet"]


@pytest.mark.parametrize("name", ["selected.csv", "t-selected.csv", "report.html", "selector.tamis"])
def test_files_of_others_are_replaced_only_by_force(run, table, tmp_path, name):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("mine")
    refused(run("select", "t.csv", *QUICK, "-o", "out"), f"out/{name}: is there already, and is not as tamis wrote it")
    assert (tmp_path / "out" / name).read_text() == "mine"
    assert len(list((tmp_path / "out").iterdir())) == 1
    assert run("select", "t.csv", *QUICK, "-o", "out", "--force").exit_code == 0
    assert (tmp_path / "out" / name).read_bytes() != b"mine"


def test_own_files_are_replaced_until_they_are_edited(run, table, tmp_path):
    for _ in range(2):
        assert run("select", "t.csv", *QUICK, "-o", "out").exit_code == 0
    assert is_own(tmp_path / "out/selected.csv")
    with (tmp_path / "out/selected.csv").open("a") as stream:
        stream.write("a remark\n")
    refused(run("select", "t.csv", *QUICK, "-o", "out"), "is not as tamis wrote it")


@pytest.mark.parametrize(("command", "name"), [("curve", "scores.csv"), ("compare", "report.html")])
def test_several_selections_spare_files_of_others(run, table_file, roles, tmp_path, command, name):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("mine")
    methods = ["-m", "variance"] if command == "curve" else ["-m", "variance,random"]
    line = (command, table_file, "-k", 2, "-o", "out", *methods, *roles)
    refused(run(*line), f"out/{name}: is there already")
    assert run(*line, "--force").exit_code == 0
    assert (tmp_path / "out" / name).read_bytes() != b"mine"


def test_reduced_tables_spare_files_of_others(run, table, tmp_path):
    run("select", "t.csv", *QUICK, "-o", "out")
    (tmp_path / "small.csv").write_text("mine")
    line = ("apply", "out/selector.tamis", "t.csv", "-o", "small.csv")
    refused(run(*line), "small.csv: is there already")
    assert run(*line, "--force").exit_code == 0
    assert run(*line).exit_code == 0


def test_default_folders_differ_by_the_whole_name(run, tmp_path):
    for name in ("t.csv", "t.tar.csv"):
        (tmp_path / name).write_text(GOOD)
        assert run("select", name, *QUICK).exit_code == 0
    assert (tmp_path / "t-tamis" / "selected.csv").is_file()
    assert (tmp_path / "t.tar-tamis" / "selected.csv").is_file()


def test_a_folder_in_the_place_of_a_file(tmp_path):
    (tmp_path / "report.html").mkdir()
    with pytest.raises(UsageError, match=r"report\.html: is a folder where a file is to be written"):
        results.check_outputs([tmp_path / "report.html"], [], force=True)


HOSTILE = ["=1+1", "+x", "-x", "@SUM(A1)", "'=1", "\tx"]


def test_spreadsheets_run_no_name(run, tmp_path):
    names = [*HOSTILE, "plain", "other"]
    lines = [names, *[[str((i * j + j) % 7) for j in range(2, 10)] for i in range(12)]]
    with (tmp_path / "t.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(lines)
    assert run("select", "t.csv", "-m", "variance", "-k", 7).exit_code == 0
    for name in ("selected.csv", "features.csv"):
        with (tmp_path / "t-tamis" / name).open(newline="") as stream:
            cells = [cell for row in csv.reader(stream) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "+x", "-x", "@", "\t"))]
        assert "'=1+1" in cells
    with (tmp_path / "t-tamis/t-selected.csv").open(newline="") as stream:
        kept = next(csv.reader(stream))
    assert set(kept) <= {name.strip() for name in names}
    assert run("evaluate", "t.csv", "-f", "t-tamis/selected.csv", "--random", 1).exit_code == 0


@pytest.mark.parametrize("name", [*HOSTILE, "plain", "''", "'"])
def test_guarded_names_are_read_back(name):
    assert results.unguarded(results.guarded(name)) == name


def test_a_read_only_checkpoint_is_blamed_on_itself(run, table, tmp_path):
    (tmp_path / "state").write_text("a file")
    result = run("select", "t.csv", "-k", 2, "-o", "out", "--checkpoint", "state")
    assert result.exit_code == 2
    assert "state" in result.stderr
    assert "tamis: out:" not in result.stderr


def test_messages_name_the_file_and_not_the_temporary_one(run, table, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    result = run("select", "t.csv", *QUICK, "-o", "out")
    refused(result, "out/selector.tamis: No space left on device")
    assert ".tamis-" not in result.stderr
    assert not (tmp_path / "out").exists()


SENDER = """
import atexit, os, sys
moment, number, *arguments = sys.argv[1:]
send = lambda: os.kill(os.getpid(), int(number))

class Sender:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            send()

sys.meta_path.insert(0, Sender())
if moment == "the end":
    atexit.register(send)
from tamis.cli import main
main(arguments)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("moment", ["typer", "pyarrow.csv", "tamis.report", "the end"])
def test_signals_end_a_run_at_any_moment(table, tmp_path, number, code, moment):
    arguments = ["methods"] if moment == "the end" else ["select", "t.csv", *map(str, QUICK), "-o", "out"]
    command = [sys.executable, "-c", SENDER, moment, str(int(number)), *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == code
    assert done.stderr.splitlines()[-1] == f"tamis: {'interrupted' if code == 130 else 'terminated'}."
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
    assert table.read_text() == GOOD
