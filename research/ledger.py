"""A results file to which every trial is appended as it ends; a stopped run continues where it was."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tamis.io.files import write_text

Trial = dict[str, Any]
"""What was tried: data, selector, size, seed, ... It distinguishes the rows of a file."""

Row = dict[str, Any]
"""One line of a results file; ``row["trial"]`` is its :data:`Trial`."""


class LedgerError(ValueError):
    """A results file cannot be used; the message is one sentence."""


class Ledger:
    """Rows of JSON, one per line, in a file that only grows.

    A process that is killed while it writes leaves at most one unfinished last line, which is ignored on reading and
    removed by :meth:`repair`.

    Parameters
    ----------
    path : Path
        The file; the first row creates it.
    """

    def __init__(self, path: Path):
        self.path = Path(path)

    def rows(self) -> list[Row]:
        """Return the finished rows, in the order in which they were written."""
        lines = self._content().split(b"\n")
        finished = [(number, line) for number, line in enumerate(lines[:-1], start=1) if line.strip()]
        rows = [self._parse(line, number) for number, line in finished]
        last = _row_of(lines[-1])
        return rows if last is None else [*rows, last]

    def append(self, row: Row) -> None:
        """Write one row; when this returns, it is on the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = _line_of(row)
        with self.path.open("ab") as file:
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    def repair(self) -> bool:
        """Remove an unfinished last line, or end it if only its line break is missing.

        Call it before :meth:`append`; otherwise the new row would follow the unfinished one on the same line.

        Returns
        -------
        bool
            Whether anything was changed.
        """
        content = self._content()
        last = content.rsplit(b"\n", 1)[-1]
        if not last:
            return False
        with self.path.open("r+b") as file:
            if _row_of(last) is None:
                file.truncate(len(content) - len(last))
            else:
                file.seek(0, os.SEEK_END)
                file.write(b"\n")
        return True

    def missing(self, trials: Iterable[Trial]) -> list[Trial]:
        """Return the trials that have no row yet, in their order."""
        done = {trial_key(row["trial"]) for row in self.rows()}
        return [trial for trial in trials if trial_key(trial) not in done]

    def forget(self, trials: Iterable[Trial]) -> None:
        """Remove the rows of some trials, so that they are run again."""
        forgotten = {trial_key(trial) for trial in trials}
        kept = [row for row in self.rows() if trial_key(row["trial"]) not in forgotten]
        if self.path.exists():
            write_text(self.path, "".join(_line_of(row) for row in kept))

    @contextmanager
    def sole_writer(self) -> Iterator[None]:
        """Lock the file against other runs, where the system can lock files."""
        try:
            import fcntl
        except ImportError:  # pragma: no cover (Windows)
            yield
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise LedgerError(
                    f"{self.path}: another run is writing to this file; wait for it, or name another --results folder."
                ) from error
            yield

    def _content(self) -> bytes:
        return self.path.read_bytes() if self.path.exists() else b""

    def _parse(self, line: bytes, number: int) -> Row:
        row = _row_of(line)
        if row is None:
            raise LedgerError(f"{self.path}: line {number} is not a row of results; remove this line, then run again.")
        return row


def trial_key(trial: Trial) -> str:
    """Return a text that is the same for equal trials."""
    return json.dumps(trial, sort_keys=True)


def _line_of(row: Row) -> str:
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n"


def _row_of(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and isinstance(row.get("trial"), dict) else None
