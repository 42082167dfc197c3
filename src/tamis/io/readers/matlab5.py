"""Copy the arrays of a MATLAB file of version 5 into an archive: ``python matlab5.py FILE ARCHIVE BYTES``.

scipy's compiled reader trusts the lengths that a file declares, and crashes over wrong ones. So it runs in a process of
its own, which may take so many bytes of memory, and of which nothing but plain arrays comes back.
"""

import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.sparse import issparse

PARTS = ("data", "indices", "indptr")


def plain_arrays(name: str, value: Any) -> dict[str, Any]:
    """Return a variable as arrays of numbers or text; nothing if it is a structure, a function or an object."""
    if issparse(value):
        return {f"{name}/{part}": getattr(value, part) for part in PARTS} | {f"{name}/shape": np.array(value.shape)}
    if not isinstance(value, np.ndarray) or value.dtype.names or name.startswith("__"):
        return {}
    if value.dtype.kind == "O":
        value = np.array([str(cell.item() if getattr(cell, "size", 0) == 1 else cell) for cell in value.ravel()])
    return {name: np.char.rstrip(value) if value.dtype.kind == "U" else value}


def limit_memory(room: int) -> None:
    """Let this process take so many bytes beyond what it has, where the system can see to it."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + room, taken + room))


if __name__ == "__main__":
    limit_memory(int(sys.argv[3]))
    with zipfile.ZipFile(sys.argv[2], "w") as archive:
        for variable, content in loadmat(sys.argv[1]).items():
            for label, array in plain_arrays(variable, content).items():
                with archive.open(f"{label}.npy", "w", force_zip64=True) as stream:
                    np.lib.format.write_array(stream, array, allow_pickle=False)
