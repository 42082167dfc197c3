from threading import Barrier, Thread

import pytest
import torch
from threadpoolctl import threadpool_info

from tamis.selectors.compute import one_thread, torch_device


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
