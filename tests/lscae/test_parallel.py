import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Thread

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from tamis import LSCAE
from tamis.lscae import parallel
from tamis.lscae.parallel import one_thread, torch_device
from tamis.synthetic import blobs_with_copies


def test_auto_takes_a_gpu_where_torch_finds_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert torch_device("auto").type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert torch_device("auto").type == "cuda"


def test_an_unknown_device_gets_a_sentence():
    with pytest.raises(ValueError, match=r"device='nowhere' cannot be used here .*Use 'auto', 'cpu'"):
        torch_device("nowhere")


def counts():
    blas = [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas"]
    return torch.get_num_threads(), sorted(blas)


def test_torch_and_numpy_keep_to_one_thread_even_if_fits_are_nested():
    with one_thread(), one_thread():
        n_torch, blas = counts()
        assert {n_torch} | {number for _, number in blas} == {1}


@pytest.fixture
def several_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield counts()
    torch.set_num_threads(before)


def test_thread_counts_are_restored_even_after_an_error(several_threads):
    with pytest.raises(RuntimeError), one_thread():
        raise RuntimeError
    assert counts() == several_threads


def test_fits_that_overlap_in_several_threads_keep_to_one_thread_and_restore_the_counts(several_threads):
    both_began, first_ended, seen = Barrier(2), Barrier(2), {}

    def first():
        with one_thread():
            both_began.wait()
        seen["after the first"] = torch.get_num_threads()
        first_ended.wait()

    def second():
        with one_thread():
            both_began.wait()
            first_ended.wait()
            n_torch, blas = counts()
            seen["in the second"] = {n_torch} | {number for _, number in blas}
        seen["after the second"] = torch.get_num_threads()

    threads = [Thread(target=target) for target in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"after the first": 3, "in the second": {1}, "after the second": 3}
    assert counts() == several_threads


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
    assert parallel.rank_and_size() == (0, 1)
    assert parallel.is_first()
    assert parallel.mean(value) is value
    assert parallel.broadcast("x") == "x"


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
