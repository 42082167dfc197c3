"""Downloading the data sets that are public as they are, into the cache folder."""

from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from research.paper.datasets import cache_folder, checksum, dataset
from research.paper.described import Source
from tamis.io.files import replacing
from tamis.io.readers.table import Progress, unheard

BLOCK = 1 << 16


class FetchError(ValueError):
    """A download failed or is not the file it should be; the message is one sentence."""


def fetch(name: str, progress: Progress | None = None) -> list[Path]:
    """Download the files of a data set that are not in the cache yet, check them, and give their paths."""
    return [_fetch_file(source, progress or unheard) for source in public_sources(name)]


def public_sources(name: str) -> tuple[Source, ...]:
    """Return the files of a data set, if all of them can be downloaded as they are."""
    one = dataset(name)
    for source in one.sources:
        if source.url is None:
            raise FetchError(
                f"{one.name} cannot be downloaded as it is: make {source.name} from {one.home} ({one.note}) and put it "
                "into a folder that --data-dir names."
            )
    return one.sources


def _fetch_file(source: Source, progress: Progress) -> Path:
    path = cache_folder() / source.name
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        _download(str(source.url), temporary, progress)
        found = checksum(temporary)
        if source.checksums and found not in source.checksums:
            raise FetchError(
                f"{source.url}: the file that came has the SHA-256 {found[:12]}…, not the known "
                f"{source.checksums[0][:12]}…, and was not kept; if you trust it, put it into a folder that "
                "--data-dir names."
            )
    return path


def _download(url: str, path: Path, progress: Progress) -> None:
    try:
        with urlopen(url, timeout=60) as answer, path.open("wb") as file:
            total = int(answer.headers.get("Content-Length") or 0)
            done = 0
            while block := answer.read(BLOCK):
                file.write(block)
                done += len(block)
                progress(done, total)
    except (URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise FetchError(
            f"{url}: cannot be downloaded ({reason}); check the connection, or fetch it by hand."
        ) from error
