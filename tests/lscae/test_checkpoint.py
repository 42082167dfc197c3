import errno
import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
import torch

import tamis
from tamis import CAE, LSCAE, Recipe
from tamis.io.files import remove_leftovers
from tamis.lscae.checkpoint import NAME, CheckpointWarning, read


class KilledError(Exception):
    """Stands for the end of the process."""


def kill_at(number):
    def callback(epoch):
        if epoch.number == number:
            raise KilledError

    return callback


@pytest.fixture
def parameters(quick):
    """Two restarts, several batches an epoch."""
    return quick | {"n_init": 2, "batch_size": 20}


def assert_equal(found, expected):
    np.testing.assert_array_equal(found.selected_, expected.selected_)
    np.testing.assert_array_equal(found.selection_probs_, expected.selection_probs_)
    np.testing.assert_array_equal(found.restart_objectives_, expected.restart_objectives_)
    np.testing.assert_array_equal(found.history_, expected.history_)
    for name, weights in expected.decoder_weights_.items():
        np.testing.assert_array_equal(found.decoder_weights_[name], weights)


@pytest.mark.parametrize("selector", [LSCAE, CAE])
@pytest.mark.parametrize("number", [1, 7, 12, 13, 20])
def test_a_killed_fit_goes_on_to_the_same_bits(selector, number, blobs, parameters, tmp_path):
    kept = parameters | {"checkpoint_dir": tmp_path, "checkpoint_every": 0}
    with pytest.raises(KilledError):
        selector(2, **kept, callbacks=kill_at(number)).fit(blobs.X)
    told = []
    resumed = selector(2, **kept, callbacks=told.append).fit(blobs.X)
    assert_equal(resumed, selector(2, **parameters).fit(blobs.X))
    assert [epoch.number for epoch in told] == list(range(number, 25))
    assert os.listdir(tmp_path) == [NAME]


def test_a_narrowed_layer_and_kept_features_are_restored_too(quick, tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 40))
    parameters = quick | {"must_keep": [4], "recipe": Recipe(structure_first=False, decoder="network")}
    kept = parameters | {"checkpoint_dir": tmp_path, "checkpoint_every": 0}
    with pytest.raises(KilledError):
        LSCAE(3, **kept, callbacks=kill_at(9)).fit(X)
    assert_equal(LSCAE(3, **kept).fit(X), LSCAE(3, **parameters).fit(X))


def test_a_finished_fit_is_not_trained_again(blobs, parameters, tmp_path):
    kept = parameters | {"checkpoint_dir": tmp_path}
    first, told = LSCAE(2, **kept).fit(blobs.X), []
    assert_equal(LSCAE(2, **kept, callbacks=told.append).fit(blobs.X), first)
    assert told == []


def test_a_fit_that_was_asked_to_stop_goes_on(blobs, parameters, tmp_path):
    kept = parameters | {"checkpoint_dir": tmp_path}
    LSCAE(2, **kept, callbacks=lambda epoch: epoch.number == 5).fit(blobs.X)
    told = []
    assert_equal(LSCAE(2, **kept, callbacks=told.append).fit(blobs.X), LSCAE(2, **parameters).fit(blobs.X))
    assert told[0].number == 6


def test_a_seed_that_nobody_chose_is_kept(blobs, parameters, tmp_path):
    kept = parameters | {"random_state": None, "checkpoint_dir": tmp_path, "checkpoint_every": 0}
    with pytest.raises(KilledError):
        LSCAE(2, **kept, callbacks=kill_at(4)).fit(blobs.X)
    seed = read(tmp_path / NAME)["identity"]["seed"]
    LSCAE(2, **kept).fit(blobs.X)
    assert read(tmp_path / NAME)["identity"]["seed"] == seed


def test_the_checkpoint_of_another_fit_is_refused(blobs, parameters, tmp_path):
    LSCAE(2, **parameters, checkpoint_dir=tmp_path).fit(blobs.X)
    with pytest.raises(ValueError, match="is the checkpoint of another fit: n_features_to_select was 2 and is now 3"):
        LSCAE(3, **parameters, checkpoint_dir=tmp_path).fit(blobs.X)
    with pytest.raises(ValueError, match=r"another fit: recipe was None and is now Recipe\("):
        LSCAE(2, **parameters, recipe=Recipe(self_loops=True), checkpoint_dir=tmp_path).fit(blobs.X)
    with pytest.raises(ValueError, match=r"another fit: data was .*Name another folder, or delete that file"):
        LSCAE(2, **parameters, checkpoint_dir=tmp_path).fit(blobs.X + 1)


@pytest.mark.parametrize("content", [b"", b"nothing", b"PK\x03\x04"])
def test_a_damaged_file(content, blobs, parameters, tmp_path):
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(ValueError, match=r"fit\.checkpoint is not a checkpoint, or it is damaged\. Delete it"):
        LSCAE(2, **parameters, checkpoint_dir=tmp_path).fit(blobs.X)


@pytest.mark.parametrize("damage", [0.1, 0.5, 0.9, 0.99, "lacks its identity", "lacks its state"])
def test_a_checkpoint_that_is_not_whole(damage, blobs, parameters, tmp_path):
    with pytest.raises(KilledError):
        LSCAE(2, **parameters, checkpoint_dir=tmp_path, checkpoint_every=0, callbacks=kill_at(5)).fit(blobs.X)
    if isinstance(damage, float):
        os.truncate(tmp_path / NAME, int(damage * (tmp_path / NAME).stat().st_size))
    else:
        parts = torch.load(tmp_path / NAME, weights_only=True)
        kept = ("identity",) if damage == "lacks its state" else set(parts) - {"identity", "format"}
        torch.save({name: parts[name] for name in ("format", *kept)}, tmp_path / NAME)
    with pytest.raises(ValueError, match=r"fit\.checkpoint is not a checkpoint, or it is damaged\. Delete it"):
        LSCAE(2, **parameters, checkpoint_dir=tmp_path, checkpoint_every=0).fit(blobs.X)


def test_a_file_of_another_version(blobs, parameters, tmp_path):
    torch.save({"format": 0}, tmp_path / NAME)
    with pytest.raises(ValueError, match="was written by another version of tamis"):
        LSCAE(2, **parameters, checkpoint_dir=tmp_path).fit(blobs.X)


@pytest.mark.parametrize("place", ["os.fsync", "pathlib.Path.replace"])
def test_a_full_disk_is_a_warning_and_the_last_good_checkpoint_stays(place, blobs, parameters, tmp_path, monkeypatch):
    kept = parameters | {"checkpoint_dir": tmp_path, "checkpoint_every": 0}
    with pytest.raises(KilledError):
        LSCAE(2, **kept, callbacks=kill_at(5)).fit(blobs.X)
    good = (tmp_path / NAME).read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(place, full)
        with pytest.warns(CheckpointWarning, match=r"fit\.checkpoint could not be written \(No space left") as caught:
            finished = LSCAE(2, **kept).fit(blobs.X)
    assert len(caught) == 1
    assert (tmp_path / NAME).read_bytes() == good
    assert os.listdir(tmp_path) == [NAME]
    expected = LSCAE(2, **parameters).fit(blobs.X)
    assert_equal(finished, expected)
    assert_equal(LSCAE(2, **kept).fit(blobs.X), expected)


ALIEN = ".tamis-99999999999-x"
"""No process has such a number, so that another program wrote it."""


def test_leftovers_of_dead_processes_are_removed_and_of_live_ones_are_not(tmp_path):
    for name in (".tamis-999999999-x-fit", f".tamis-{os.getpid()}-y-fit", ".tamis-notes", "mine", ALIEN):
        (tmp_path / name).touch()
    remove_leftovers(tmp_path)
    assert set(os.listdir(tmp_path)) == {".tamis-notes", f".tamis-{os.getpid()}-y-fit", "mine", ALIEN}


def test_without_a_folder_nothing_is_written(blobs, parameters, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LSCAE(2, **parameters).fit(blobs.X)
    assert os.listdir(tmp_path) == []


PROGRAM = """
import sys
import numpy as np
from tamis import LSCAE
X = np.load(sys.argv[1])
kept = {"checkpoint_dir": sys.argv[2], "checkpoint_every": 0.01}
LSCAE(2, max_epochs=150, n_init=2, batch_size=30, random_state=0, **kept).fit(X).save(sys.argv[3])
"""


def test_a_process_killed_at_any_moment_leaves_what_the_next_one_needs(blobs, tmp_path):
    np.save(tmp_path / "table.npy", blobs.X)
    state = tmp_path / "state"
    command = [sys.executable, "-c", PROGRAM, tmp_path / "table.npy", state, tmp_path / "fitted.tamis"]
    for _ in range(2):
        process = subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"})
        before = (state / NAME).stat().st_mtime_ns if (state / NAME).exists() else None
        while process.poll() is None and (not (state / NAME).exists() or (state / NAME).stat().st_mtime_ns == before):
            time.sleep(0.002)
        process.kill()
        process.wait()
    subprocess.run(command, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    found = tamis.load(tmp_path / "fitted.tamis")
    whole = LSCAE(2, max_epochs=150, n_init=2, batch_size=30, random_state=0).fit(blobs.X)
    assert_equal(found, whole)
    assert os.listdir(state) == [NAME]
