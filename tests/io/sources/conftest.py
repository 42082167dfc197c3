import numpy as np
import pytest
from stored_tables import KINDS, ROWS, stored

from tamis.io.sources import source


@pytest.fixture
def table(rng):
    """Small counts, many of them zero; the first column never varies."""
    found = rng.poisson(0.7, size=(ROWS, 6)).astype(np.float32)
    found[:, 0] = 2
    return found


@pytest.fixture
def small_blocks(monkeypatch):
    """Seven rows of float32, or four of float64, are a block."""
    monkeypatch.setattr(source, "BLOCK_BYTES", 7 * 6 * 4)


@pytest.fixture(params=KINDS)
def any_source(request, table, tmp_path, small_blocks):
    return stored(request.param, table, tmp_path)
