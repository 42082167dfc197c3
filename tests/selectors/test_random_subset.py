"""Columns by lot."""

import numpy as np
import pytest
from naive_baselines import blobs

from tamis import RandomSubset


def test_the_seed_fixes_the_columns():
    X = blobs(d=50)
    one, same, other = (RandomSubset(10, random_state=seed).fit(X).selected_ for seed in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_all_columns_are_drawn_equally_often():
    X = blobs(n=5, d=4)
    counts = sum(RandomSubset(2, random_state=seed).fit(X).support_.astype(int) for seed in range(200))
    assert (np.abs(counts - 100) < 35).all()


def test_bad_seed_is_named():
    with pytest.raises(ValueError, match="random_state"):
        RandomSubset(random_state="today").fit(blobs())
