import pytest
from typer.testing import CliRunner

QUICK = ["--n-init", "1", "--set", "max_epochs=8"]


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a command in an empty folder; give its exit code, standard output and standard error."""
    from tamis.cli.app import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tamis.report.analysis.RANDOM_LISTS", 2)

    def invoke(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="tamis")

    return invoke


@pytest.fixture
def quick_options():
    return list(QUICK)


@pytest.fixture
def table_file(blobs, tmp_path):
    """The small planted table as CSV, with sample names and labels."""
    path = tmp_path / "blobs.csv"
    lines = [",".join(["id", *blobs.names, "cluster"])]
    lines += [
        ",".join([f"s{i}", *map(repr, row), str(label)])
        for i, (row, label) in enumerate(zip(blobs.X.tolist(), blobs.labels, strict=True))
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def roles():
    return ["--index", "id", "--labels", "cluster"]
