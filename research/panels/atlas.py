"""A panel of 200 genes from a made atlas that stays on disk: ``python -m research.panels.atlas FILE.h5ad``."""

import resource
import sys
import time
from multiprocessing import Process
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from research.ledger import Ledger
from research.runner import versions

RESULTS = Path(__file__).parent / "results" / "atlas.jsonl"
N_CELLS, N_GENES, N_TYPES, SIZE = 38_000, 32_000, 20, 200
DENSITY, MARKED, FOLD, BLOCK = 0.07, 0.02, 8.0, 1000


def profiles(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the rates of genes in each type: lognormal, those of each type's own markers :data:`FOLD` times larger."""
    base = rng.lognormal(0, 2, N_GENES)
    rates = base * np.where(rng.random((N_TYPES, N_GENES)) < MARKED, FOLD, 1.0)
    for _ in range(30):
        rates *= DENSITY / (1 - np.exp(-rates)).mean()
    return rates


def make(path: Path) -> None:
    """Write counts of cells, Poisson with lognormal depths, to an h5ad file."""
    import anndata
    import pandas

    rng = np.random.default_rng(0)
    rates, types = profiles(rng), rng.choice(N_TYPES, N_CELLS)
    blocks = [
        csr_matrix(rng.poisson(rates[part] * rng.lognormal(0, 0.3, (len(part), 1))).astype(np.float32))
        for part in np.split(types, range(BLOCK, N_CELLS, BLOCK))
    ]
    cells, genes = ([f"{name}{i}" for i in range(n)] for name, n in (("c", N_CELLS), ("g", N_GENES)))
    obs, var = (pandas.DataFrame(index=pandas.Index(names, dtype=object)) for names in (cells, genes))
    anndata.AnnData(vstack(blocks, format="csr"), obs, var).write_h5ad(path)


def measure(path: Path) -> dict[str, Any]:
    """Select from the file, and return seconds, memory and the share of the panel that are markers of a type."""
    import anndata

    import tamis

    begun, cpu = time.perf_counter(), time.process_time()
    table: Any = tamis.select_genes(anndata.read_h5ad(path, backed="r"), SIZE, inplace=False, verbose=True)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    rates = profiles(np.random.default_rng(0))
    marked = rates.max(axis=0) > 1.01 * rates.min(axis=0)
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "gigabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "markers": float(marked[table["tamis_selected"].to_numpy()].mean()),
        "markers_of_all": round(float(marked.mean()), 3),
    }


def main() -> int:
    """Make the file if there is none, in a process of its own so that its memory does not count, and measure."""
    path = Path(sys.argv[1])
    if not path.exists():
        maker = Process(target=make, args=(path,))
        maker.start()
        maker.join()
    row = {"trial": {"cells": N_CELLS, "genes": N_GENES, "k": SIZE}, **measure(path), "versions": versions()}
    ledger = Ledger(RESULTS)
    ledger.forget([row["trial"]])
    ledger.append(row)
    print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
