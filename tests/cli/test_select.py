import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import tamis
from tamis import SELECTORS
from tamis.cli.options import parse_sizes, split
from tamis.cli.progress import Interruption, interruptible
from tamis.io.readers import Request, read
from tamis.lscae.recipe import PAPER


def test_select_writes_everything_and_says_so(run, table_file, roles, quick_options, tmp_path, blobs):
    result = run("select", table_file, "-k", 3, "-o", "out", *roles, *quick_options)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[0] == "rank\tfeature\tscore\twhy"
    chosen = [line.split("\t")[1] for line in result.stdout.splitlines()[1:]]
    assert len(set(chosen)) == 3
    assert set(chosen) <= set(blobs.names)
    assert "Page: out/report.html" in result.stderr
    files = {"selected.csv", "features.csv", "blobs-selected.csv", "selector.tamis", "report.html", "result.json"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*files, ".tamis-written"}
    reduced = read(tmp_path / "out/blobs-selected.csv", Request(index="id", labels="cluster"))
    assert set(reduced.feature_names) == set(chosen)
    assert reduced.sample_names[0] == "s0"
    assert reduced.y.tolist() == [str(label) for label in blobs.labels]
    np.testing.assert_array_equal(reduced.X, blobs.X[:, [blobs.names.index(name) for name in reduced.feature_names]])
    lines = (tmp_path / "out/selected.csv").read_text().splitlines()
    assert lines[0] == "rank,feature,score,nearest_chosen,correlation,predicted,why,evidence"
    assert [line.split(",")[1] for line in lines[1:]] == chosen
    assert len((tmp_path / "out/features.csv").read_text().splitlines()) == 1 + len(blobs.names)


def test_what_was_left_out_is_said_before_a_table_without_structure_ends_the_run(run, tmp_path, rng):
    cells = rng.standard_normal((100, 3)).round(3).astype(str)
    cells[::9, 2] = "n.d."
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *map(",".join, cells)]))
    result = run("select", "t.csv")
    assert result.exit_code == 3
    assert "'c' (numbers mixed with 'n.d.'; to use it: --na-values n.d.)" in result.stderr.replace("\n", " ")
    assert "no number can be suggested" in result.stderr.splitlines()[-1]
    named = run("select", "t.csv", "-k", 1, "-m", "variance")
    assert named.exit_code == 0
    assert "Do not trust this selection." in named.stderr


def test_labels_never_change_the_choice(run, table_file, quick_options, tmp_path):
    documents = []
    for options in (["--labels", "cluster"], ["--drop", "cluster"]):
        result = run("select", table_file, "-k", 3, "-o", "out", "--index", "id", "--json", *options, *quick_options)
        documents.append(json.loads(result.stdout))
    assert documents[0]["selected"] == documents[1]["selected"]
    assert "accuracy" in documents[0]["scores"]
    assert "accuracy" not in documents[1]["scores"]


def test_json_tells_all_and_nothing_else_is_printed(run, table_file, roles, quick_options):
    result = run(
        "select",
        table_file,
        "-k",
        2,
        "--json",
        "--must-keep",
        "nuisance_1",
        "--never",
        "signal_0*",
        *roles,
        *quick_options,
    )
    document = json.loads(result.stdout)
    names = [entry["feature"] for entry in document["selected"]]
    assert names[0] == "nuisance_1"
    assert not any(name.startswith("signal_0") for name in names)
    assert document["shape"] == [90, 10]
    assert set(document["verdict"]) == {"trusted", "reasons"}
    assert document["files"]["page"] == "blobs-tamis/report.html"
    assert result.stderr == ""


@pytest.mark.parametrize("method", SELECTORS)
def test_every_registered_method_can_be_asked_for(run, table_file, roles, quick, method):
    known = SELECTORS[method]._get_param_names()
    options = [
        part
        for name, value in quick.items()
        if name in known and name != "random_state"
        for part in ("--set", f"{name}={value}")
    ]
    result = run("select", table_file, "-k", 2, "-m", method, "--json", *roles, *options)
    assert result.exit_code == 0, result.stderr
    assert len(json.loads(result.stdout)["selected"]) == 2


def test_fields_of_the_recipe_are_set_by_their_names(run, table_file, roles, quick_options):
    fields = ["--set", "recipe=paper", "--set", "self_loops=False", "--set", "hidden_units=(4,)"]
    result = run("select", table_file, "-k", 2, "-o", "out", "--json", *roles, *quick_options, *fields)
    assert result.exit_code == 0, result.stderr
    assert tamis.load("out/selector.tamis").recipe == replace(PAPER, self_loops=False, hidden_units=(4,))


def test_constant_features_are_noted_by_name(run, table_file, quick_options, tmp_path):
    lines = table_file.read_text().splitlines()
    table_file.write_text("\n".join([lines[0] + ",still", *(line + ",7" for line in lines[1:])]))
    result = run("select", table_file, "-k", 2, "--index", "id", *quick_options)
    assert result.exit_code == 0
    assert "tamis: note: Features with one value only are never selected: feature 'still'. Name" in result.stderr


def test_images_get_a_pixel_map(run, tmp_path, rng, quick_options):
    np.savez(tmp_path / "t.npz", X=rng.random((30, 4, 3)), y=np.arange(30) % 2)
    result = run("select", "t.npz", "-k", 2, "--labels", "y", "--image-shape", "4x3", "-o", "out", *quick_options)
    assert result.exit_code == 0, result.stderr
    assert "Chosen pixels" in (tmp_path / "out/report.html").read_text()
    assert (tmp_path / "out/t-selected.npz").exists()


def test_apply_matches_columns_by_name(run, table_file, roles, quick_options, tmp_path, blobs):
    run("select", table_file, "-k", 3, "-o", "out", *roles, *quick_options)
    order = np.random.default_rng(0).permutation(len(blobs.names))
    new = tmp_path / "new.csv"
    new.write_text(
        "junk," + ",".join(blobs.names[i] for i in order) + "\n" + "x," + ",".join(str(i) for i in order) + "\n"
    )
    result = run("apply", "out/selector.tamis", new)
    assert result.exit_code == 0, result.stderr
    applied = read(tmp_path / "new-selected.csv")
    selector = tamis.load(tmp_path / "out/selector.tamis")
    assert applied.feature_names.tolist() == selector.get_feature_names_out().tolist()
    assert applied.X[0].tolist() == np.flatnonzero(selector.get_support()).tolist()
    new.write_text("a,b\n1,2\n")
    failed = run("apply", "out/selector.tamis", new)
    assert failed.exit_code == 2
    assert "3 of the 3 selected features are not in the file" in failed.stderr


@pytest.mark.parametrize("arguments", [[], ["select"], ["evaluate"], ["curve"], ["compare"], ["apply"]])
def test_help_has_examples(run, arguments):
    result = run(*arguments, "--help")
    assert result.exit_code == 0
    assert "tamis " + (arguments[0] if arguments else "") in result.stdout
    if arguments:
        assert "Examples" in result.stdout


def test_methods_and_version(run):
    assert [line.split("\t")[0] for line in run("methods").stdout.splitlines()[1:]] == list(SELECTORS)
    assert run("--version").stdout == f"tamis {tamis.__version__}\n"
    assert run("nonsense").exit_code == 2


def test_a_person_sees_a_drawn_table(run, table_file, roles, quick_options, monkeypatch):
    monkeypatch.setattr("tamis.cli.output.is_terminal", lambda: True)
    result = run("select", table_file, "-k", 3, *roles, *quick_options)
    assert "Chosen features" in result.stdout
    assert "Page: blobs-tamis/report.html" in result.stdout


def test_ctrl_c_keeps_what_is_trained(table_file, roles, tmp_path):
    """A new process, interrupted in the midst of a training that would take hours."""
    log = tmp_path / "log"
    code = f"""
import sys
from tamis.cli import main
from tamis.cli.progress import Bar
inner = Bar.move
def move(self, done, total, note=""):
    inner(self, done, total, note)
    open({str(log)!r}, "a").write(note)
Bar.move = move
main(sys.argv[1:])
"""
    arguments = [
        "select",
        str(table_file),
        "-k",
        "3",
        "-o",
        str(tmp_path / "out"),
        *roles,
        "--set",
        "max_epochs=10000000",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while "J =" not in (log.read_text() if log.exists() else "") and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "stopping after this epoch" in errors
    assert "Training was stopped early" in errors
    assert len(output.splitlines()) == 4
    assert (tmp_path / "out/report.html").exists()


def test_a_second_ctrl_c_quits():
    before = signal.getsignal(signal.SIGINT)
    with interruptible() as state:
        os.kill(os.getpid(), signal.SIGINT)
        assert state.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert Interruption().asked is False


def test_an_interruption_while_reading_writes_nothing(run, table_file, monkeypatch, tmp_path):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("tamis.cli.fitting.read_with_bar", interrupted)
    result = run("select", table_file, "-k", 2, "-o", "out")
    assert result.exit_code == 130
    assert result.stderr == "tamis: interrupted.\n"
    assert not (tmp_path / "out").exists()


def test_lists_as_users_write_them():
    assert split(["a,b", "c", '"x, y",z']) == ("a", "b", "c", "x, y", "z")
    assert split(None) == ()
    assert parse_sizes("5,2,2") == [2, 5]
    assert parse_sizes("10:30:10") == [10, 20, 30]


def test_the_command_starts_without_heavy_imports():
    heavy = "{'torch', 'pandas', 'sklearn', 'pyarrow', 'jinja2', 'plotly'}"
    code = f"import sys, tamis.cli.app; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_structure_pursuit_never_imports_torch(table_file, tmp_path):
    code = (
        "import sys, tamis.cli\ntry:\n    tamis.cli.main(sys.argv[1:])\nfinally:\n    assert 'torch' not in sys.modules"
    )
    arguments = ["select", str(table_file), "-m", "structure-pursuit", "-o", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/report.html").exists()


def test_help_draws_nothing(tmp_path):
    """What draws boxes takes longer to import than everything else that help needs."""
    code = "import sys, tamis.cli\ntry:\n    tamis.cli.main(['select', '--help'])\nfinally:\n    print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "How to read the file:" in done.stdout
    assert not {"rich.markdown", "rich.table", "numpy", "typer.rich_utils"} & set(done.stdout.split())


def test_commands_to_go_on_with_repeat_how_the_file_was_read(run, table_file, roles):
    result = run("select", table_file, "-m", "variance", "-k", 2, *roles, "--na-values=-999,x", "--no-header", "--json")
    assert result.exit_code == 2  # the names are then cells
    result = run("select", table_file, "-m", "structure-pursuit", "-k", 2, *roles, "--na-values=-999,a b", "--header")
    assert "--index=id --labels=cluster --na-values='-999,a b' --header" in result.stderr
