"""Baselines on tables that stay on disk."""

import re
from pathlib import Path

import numpy as np
import pytest

from tamis import RSR, LaplacianScore, RandomSubset, VarianceScore
from tamis.io.sources import RowBlocks, open_source
from tamis.selectors import SELECTORS


def test_baselines_from_disk(blobs, tmp_path, monkeypatch):
    np.save(tmp_path / "blobs.npy", blobs.X)
    stored = open_source(tmp_path / "blobs.npy")
    assert VarianceScore(3).fit(stored).selected_.tolist() == VarianceScore(3).fit(blobs.X).selected_.tolist()
    np.testing.assert_allclose(LaplacianScore(2).fit(stored).scores_, LaplacianScore(2).fit(blobs.X).scores_)
    assert len(RandomSubset(2, random_state=0).fit(stored).selected_) == 2
    monkeypatch.setattr("tamis.selectors.laplacian_score.SAMPLE_ROWS", 45)
    sampled = LaplacianScore(2).fit(stored)
    assert set(blobs.groups[sampled.selected_]) <= {0, 1}
    assert not np.allclose(sampled.scores_, LaplacianScore(2).fit(blobs.X).scores_)


def test_those_that_need_the_whole_table_name_all_that_do_not(blobs):
    able = {cls.__name__ for cls in map(SELECTORS.__getitem__, SELECTORS) if cls._from_disk}
    with pytest.raises(TypeError, match="RSR needs the whole table in memory") as raised:
        RSR(2).fit(RowBlocks([blobs.X]))
    assert set(re.findall(r"\w+", str(raised.value).partition("or use ")[2])) - {"or"} == able
    page = (Path(__file__).parents[2] / "docs/out-of-core.md").read_text()
    paragraph = page.partition("**What can be fitted.**")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", paragraph)) == able


def test_names_come_from_the_source(blobs):
    found = VarianceScore(1, must_keep=["signal_1"]).fit(RowBlocks([blobs.X], blobs.names))
    assert found.selected_.tolist() == [1]
    assert found.feature_names_in_.tolist() == blobs.names
