import numpy as np
import pytest

from research.ledger import Ledger
from research.quality.__main__ import main
from research.quality.page import PAGE, compare, write_page
from research.quality.scores import SCORES
from research.quality.split import half
from research.quality.summary import summarise

KS = (10, 20, 50, 100)


def row(method, name, k, value, seed=0, **more):
    trial = {"method": method, "set": name, "k": k, "seed": seed}
    return {"trial": trial, "shape": [40, 130], "fit_seconds": 2.0, **dict.fromkeys(SCORES, value), **more}


def skipped(method, name, k):
    return {"trial": {"method": method, "set": name, "k": k, "seed": 0}, "shape": [40, 130], "skipped": "slow"}


@pytest.fixture
def rows():
    """On set a: lscae 0.8, ndfs 0.6, random 0.5, udfs left out. On b: lscae 0.4, ndfs 0.7, random 0.5, udfs 0.9."""
    values = {"lscae": (0.8, 0.4), "ndfs": (0.6, 0.7), "random": (0.5, 0.5), "udfs": (None, 0.9)}
    found = [
        skipped(method, name, k) if value is None else row(method, name, k, value)
        for method, pair in values.items()
        for name, value in zip("ab", pair, strict=True)
        for k in KS
    ]
    return [*found, row("mcfs", "a", 10, 0.1)]


def test_means_ranks_and_shares(rows):
    summary = summarise(rows, ["a", "b"])
    assert summary.methods == ["lscae", "ndfs", "random", "udfs"]
    np.testing.assert_allclose(summary.means()[0], [0.6, 0.65, 0.5, 0.9])
    np.testing.assert_allclose(summary.mean_ranks()[1], [(1 + 4) / 2, (2 + 2) / 2, (3 + 3) / 2, (4 + 1) / 2])
    np.testing.assert_allclose(summary.above_reference()[2], [0.5, 1.0, 0.0, 0.5])


def test_a_method_that_was_always_left_out_has_no_mean(rows):
    summary = summarise(rows, ["a"])
    assert np.isnan(summary.means()[0, summary.methods.index("udfs")])
    assert summary.mean_ranks()[0].tolist() == [1, 2, 3, 4]


def test_losses_name_who_is_ahead_the_largest_lead_first(rows):
    ahead = summarise(rows, ["a", "b"]).ahead_of("lscae")
    assert ahead["a"]["nmi"] == []
    assert [(method, round(lead, 6)) for method, lead in ahead["b"]["nmi"]] == [
        ("udfs", 0.5), ("ndfs", 0.3), ("random", 0.1),
    ]  # fmt: skip


def test_seeds_are_averaged_and_incomplete_methods_are_counted(rows):
    rows = [*rows, *(row("ndfs", "a", k, 0.8, seed=1) for k in KS), *(row("mcfs", "b", k, 0.5) for k in KS)]
    summary = summarise(rows, ["a", "b"])
    assert summary.by_set()[0, 1, 0] == pytest.approx(0.7)
    assert summary.incomplete == {"mcfs": 1}


def test_the_page_is_made_from_the_rows(tmp_path):
    page = tmp_path / "quality.md"
    page.write_text(PAGE.read_text())
    for name in half("choosing"):
        for method, value in (("lscae", 0.31415), ("random", 0.2)):
            for k in KS:
                Ledger(tmp_path / "rows" / f"{method}.jsonl").append(row(method, name, k, value))
    text = write_page(tmp_path / "rows", page).read_text()
    assert "| lscae | 0.314 | 0.314 | 0.314 | 0.314 | 16 | 2.00 |" in text
    assert "| lscae | 1.00 | 1.00 | 1.00 | 1.00 |" in text
    assert "Yale (40 × 130)" in text
    assert "No method has rows on all of these sets yet." in text.split("## Confirming")[1]


def test_a_page_without_rows_says_how_to_make_them(tmp_path):
    with pytest.raises(ValueError, match=r"holds no rows; run `python -m research.quality run` first"):
        write_page(tmp_path)


def test_some_methods_are_compared_on_the_sets_that_all_of_them_finished(rows):
    text = compare(rows, ["ndfs", "random"], ["a", "b"], [10, 20])
    assert "2 sets. Means over sets and sizes:" in text
    assert "| ndfs | 1.00 | 1.00 | 1.00 | 1.00 |" in text
    assert "Where `ndfs` loses" in text
    assert "lscae" not in text
    assert compare(rows, ["mcfs"], ["a", "b"], [10]).endswith("Sets: a.")


def test_methods_without_a_common_set_are_refused(rows):
    with pytest.raises(ValueError, match="No set has all rows of mcfs, ndfs; name fewer"):
        compare(rows, ["mcfs", "ndfs"], ["b"])


def test_show_prints_the_tables(tmp_path, capsys):
    for method in ("ndfs", "random"):
        for k in KS:
            Ledger(tmp_path / f"{method}.jsonl").append(row(method, "Yale", k, 0.5))
    assert main(["show", "--half", "choosing", "--results", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("1 sets. Means over sets and sizes:")
