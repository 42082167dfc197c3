"""One fit over several processes, on one machine and on two machines of their own networks."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

from tamis import LSCAE
from tamis.lscae import distributed
from tamis.synthetic import blobs_with_copies

PROGRAM = Path(__file__).with_name("fit_in_group.py")
PARAMETERS = {
    "n_features_to_select": 2, "max_epochs": 40, "n_init": 2, "batch_size": 64, "random_state": 0,
}  # fmt: skip
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
QUIET = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


@pytest.fixture
def planted(tmp_path):
    table = blobs_with_copies(6, seed=0, n_samples=400, n_informative=2, n_clusters=3, n_copies=1)
    np.save(tmp_path / "table.npy", table.X)
    return table


def run(folder, *further, options=("--standalone", "--nproc-per-node", "2"), **changes):
    """Run the program under torchrun; return what each process found."""
    arguments = [str(folder / "table.npy"), str(folder), json.dumps(PARAMETERS | changes), *further]
    done = subprocess.run(
        [*TORCHRUN, *options, str(PROGRAM), *arguments], env=QUIET, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return found_in(folder)


def found_in(folder):
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


def test_a_single_process_agrees_with_itself():
    value = torch.tensor([2.0])
    assert distributed.rank_and_size() == (0, 1)
    assert distributed.is_first()
    assert distributed.mean(value) is value
    assert distributed.broadcast("x") == "x"
    assert distributed.average([value], flag=True) is True


def test_two_processes_find_one_result_as_good_as_that_of_one(planted, tmp_path):
    first, second = run(tmp_path)
    assert first == second
    assert set(planted.groups[first["selected"]]) == {0, 1}
    alone = LSCAE(**(PARAMETERS | {"batch_size": 128})).fit(planted.X)
    assert set(planted.groups[alone.selected_]) == {0, 1}


def test_a_stream_is_shared(planted, tmp_path):
    first, second = run(tmp_path, "stream")
    assert first == second
    assert set(planted.groups[first["selected"]]) == {0, 1}


def test_a_killed_process_costs_the_work_since_the_last_checkpoint_only(planted, tmp_path):
    whole = run(tmp_path)
    kept = {"checkpoint_dir": str(tmp_path / "state"), "checkpoint_every": 0}
    options = ("--standalone", "--nproc-per-node", "2", "--max-restarts", "1")
    again = run(tmp_path, options=options, kill=[1, 25], **kept)
    assert [entry.pop("restarts") for entry in again] == [1, 1]
    assert [entry.pop("restarts") for entry in whole] == [0, 0]
    assert again == whole


@contextmanager
def two_hosts():
    """Make two network namespaces joined by a cable; yield the command prefix of each, and the first one's address."""
    names = [f"tamis{os.getpid()}{side}" for side in "ab"]
    made = []

    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True, capture_output=True)

    try:
        try:
            for name in names:
                ip("netns", "add", name)
                made.append(name)
            ip("link", "add", "va", "netns", names[0], "type", "veth", "peer", "name", "vb", "netns", names[1])
            for name, device, host in zip(names, ("va", "vb"), (1, 2), strict=True):
                ip("-n", name, "addr", "add", f"10.231.7.{host}/24", "dev", device)
                ip("-n", name, "link", "set", device, "up")
                ip("-n", name, "link", "set", "lo", "up")
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"network namespaces are not allowed here ({error})")
        yield [["ip", "netns", "exec", name] for name in names], "10.231.7.1"
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def test_two_hosts_fit_together_over_tcp(planted, tmp_path):
    arguments = [str(PROGRAM), str(tmp_path / "table.npy"), str(tmp_path), json.dumps(PARAMETERS)]
    with two_hosts() as (hosts, address):
        processes = []
        for number, (host, device) in enumerate(zip(hosts, ("va", "vb"), strict=True)):
            options = ["--nnodes", "2", "--nproc-per-node", "1", "--node-rank", str(number), "--rdzv-backend", "static"]
            where = ["--master-addr", address, "--master-port", "29517"]
            processes.append(
                subprocess.Popen(
                    [*host, *TORCHRUN, *options, *where, *arguments],
                    env=QUIET | {"GLOO_SOCKET_IFNAME": device},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
        errors = [process.communicate(timeout=300)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], errors[0][-3000:] + errors[1][-3000:]
    first, second = found_in(tmp_path)
    assert first == second
    assert set(planted.groups[first["selected"]]) == {0, 1}
