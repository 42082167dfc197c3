from types import SimpleNamespace

from tamis.io import memory


def test_free_memory_is_some_of_what_there_is():
    assert 2**20 < memory.free_memory() < 2**62


def test_a_table_is_large_by_its_share_of_the_free_memory(monkeypatch):
    source = SimpleNamespace(shape=(50, 6), row_bytes=24)
    monkeypatch.setattr(memory, "free_memory", lambda: 4800)
    assert not memory.too_large(source)
    monkeypatch.setattr(memory, "free_memory", lambda: 4799)
    assert memory.too_large(source)
