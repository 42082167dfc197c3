from dataclasses import replace

import pytest

from research.paper import fetching
from research.paper.datasets import checksum, dataset
from research.paper.fetching import FetchError, fetch


@pytest.fixture
def public(tmp_path, monkeypatch):
    """Yale, as if it were public in a file on this machine."""
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "there.mat"
    path.write_bytes(b"1234" * 50_000)

    def offer(url=None, checksums=None):
        known = (checksum(path),) if checksums is None else checksums
        source = replace(dataset("Yale").sources[0], url=url or path.as_uri(), checksums=known)
        one = replace(dataset("Yale"), sources=(source,))
        monkeypatch.setattr(fetching, "dataset", lambda name: one)

    return offer


def test_a_download_is_checked_and_kept(public, tmp_path):
    public()
    seen = []
    (path,) = fetch("Yale", lambda done, total: seen.append(done))
    assert path == tmp_path / "cache" / "Yale.mat"
    assert path.read_bytes() == b"1234" * 50_000
    assert seen[-1] == 200_000
    public(url="file:///nowhere")
    assert fetch("Yale") == [path]  # It is there already.


def test_another_file_than_the_known_one_is_not_kept(public, tmp_path):
    public(checksums=("0" * 64,))
    with pytest.raises(FetchError, match=r"has the SHA-256 \w{12}…, not the known 000000000000…, and was not kept"):
        fetch("Yale")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_file_without_known_checksum_is_taken_as_it_is(public):
    public(checksums=())
    assert fetch("Yale")[0].exists()


def test_an_address_that_does_not_answer_is_named(public):
    public(url="http://127.0.0.1:9/Yale.mat")
    with pytest.raises(FetchError, match=r"http://127.0.0.1:9/Yale.mat: cannot be downloaded .* fetch it by hand"):
        fetch("Yale")


def test_a_set_that_must_be_made_says_from_what():
    with pytest.raises(FetchError, match=r"FAN cannot be downloaded as it is: make fan.tsv.gz from https://www.ncbi"):
        fetch("FAN")
