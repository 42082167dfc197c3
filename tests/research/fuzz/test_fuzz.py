"""The fuzzer tells outcomes apart, and finds nothing in a few files."""

import os
import signal
import time
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

pytest.importorskip("zarr")
from research.fuzz import child, mutations, oracle, page
from research.fuzz.seeds import all_seeds
from tamis.io.errors import TableError
from tamis.io.readers import Table

SEEDS = all_seeds()


@pytest.mark.parametrize("name", SEEDS)
@pytest.mark.parametrize("way", [0, 1, 2])
@pytest.mark.filterwarnings("ignore")
def test_undamaged_files_are_read(name, way, tmp_path):
    if name in ("csc.h5ad", "named.parquet") and way:
        pytest.skip("read whole only")
    path = tmp_path / name
    child._write(path, SEEDS[name])
    assert child.outcome_of(path, way) == child.Outcome("read")


@pytest.mark.parametrize("change", list(dict.fromkeys(mutations.BYTES)), ids=lambda change: change.__name__)
def test_every_mutation_changes_something(change):
    content = SEEDS["plain.csv"][""]
    assert any(change(content, Random(seed)) != content for seed in range(9))


def test_the_same_number_gives_the_same_file():
    for name in ("plain.csv", "csr.npz", "csr.zarr"):
        first, second = (mutations.mutate(name, SEEDS[name], Random(5)) for _ in range(2))
        assert first == second != SEEDS[name]


def raises(error):
    def read(*_):
        raise error

    return read


def out_of_memory(*_):

    raise TableError("/t.csv: too large.") from MemoryError()


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (raises(RuntimeError("no")), "foreign exception"),
        (raises(MemoryError()), "memory"),
        (out_of_memory, "memory"),
        (lambda *_: os.kill(os.getpid(), signal.SIGSEGV), "crash"),
        (lambda *_: time.sleep(60), "hang"),
        (lambda *_: Table(np.eye(2), np.array(["a", "a"])), "garbage"),
        (lambda *_: Table(np.eye(2) * np.inf, np.array(["a", "b"])), "garbage"),
    ],
    ids=["foreign", "memory", "wrapped memory", "crash", "hang", "garbage names", "garbage cells"],
)
@pytest.mark.filterwarnings("ignore")
def test_outcomes_are_told_apart(read, kind, monkeypatch, tmp_path):
    monkeypatch.setattr(child, "_read", read)
    monkeypatch.setattr(child, "SECONDS", 1)
    monkeypatch.setattr(child, "CLOCK_SECONDS", 2)
    job = child.Job(tmp_path / "t.csv", "plain.csv", SEEDS["plain.csv"], 0)
    assert [outcome.kind for outcome in child.run([job, job])] == [kind, kind]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1.5abc\n"),
        ("t.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1.5\n"),
        ("t.csv", b"a,b\n1.5abc,0\n0,0\n"),
    ],
)
def test_the_oracle_sees_numbers_that_are_not_in_the_file(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    assert oracle.fault(tmp_path / name, Table(np.array([[1.5, 0], [0, 0]]), np.array(["a", "b"])))


def test_the_page_is_made_from_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "ROWS", tmp_path / "rows")
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    page.write("fuzz", {".csv": {"read": 1200, "clean error": 3}})
    page.write("faults", {"killed: select": {"runs": 7, "inputs changed": 0}})
    text = (tmp_path / "page.md").read_text()
    assert "| .csv | 1,200 | 3 | 0 | 0 | 0 | 0 | 0 | 1,203 |" in text
    assert "| killed: select | 7 | 0 |" in text


def test_the_kept_page_is_that_of_the_kept_rows(monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[3])
    assert page.PAGE.read_text() == page.text()


@pytest.mark.filterwarnings("ignore")
def test_a_few_damaged_files(tmp_path):
    jobs = []
    for number in range(40):
        name = sorted(SEEDS)[number % len(SEEDS)]
        if name.endswith(".zarr"):
            continue  # Zarr has a thread of its own here, which a forked process lacks.
        path = tmp_path / str(number) / f"t{''.join(Path(name).suffixes)}"
        path.parent.mkdir()
        jobs.append(child.Job(path, name, SEEDS[name], number))
    found = Counter(outcome.kind for outcome in child.run(jobs))
    assert set(found) <= {"read", "clean error"}
    assert found["clean error"] > 10
