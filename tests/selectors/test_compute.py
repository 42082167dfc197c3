import pytest
import torch
from threadpoolctl import threadpool_info

from tamis.selectors.compute import torch_device, torch_threads


def test_auto_takes_a_gpu_where_torch_finds_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert torch_device("auto").type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert torch_device("auto").type == "cuda"


def test_an_unknown_device_gets_a_sentence():
    with pytest.raises(ValueError, match=r"device='nowhere' cannot be used here .*Use 'auto', 'cpu'"):
        torch_device("nowhere")


def test_threads_are_given_back_even_after_an_error():
    before = torch.get_num_threads()
    with pytest.raises(RuntimeError), torch_threads(before + 1):
        raise RuntimeError
    assert torch.get_num_threads() == before


def test_numpy_keeps_to_the_threads_too():
    with torch_threads(1):
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}
