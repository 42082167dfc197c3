import pytest

from research.ledger import Ledger
from research.planted import calibration, tables
from research.planted.__main__ import main
from research.planted.page import PAGE


def fit(method, kind, seed, share, **more):
    row = {"trial": {"method": method, "kind": kind, "seed": seed}, "k": 4, "fit_seconds": 1.0, "share_found": share}
    n_noise = round(4 * (1 - share))
    row |= {"share_of_structures": 1.0, "n_noise": n_noise, "n_noise_while_left": n_noise, "right": share == 1}
    return row | more


ROWS = [
    fit("lscae", "moons", 100, 0.5, power=0.5, false_share=0.0, trusted=False, n_noise_while_structured_left=1),
    fit("lscae", "moons", 101, 1.0, power=1.0, false_share=0.0, trusted=True),
    fit("lscae", "factor", 100, 1.0, power=1.0, false_share=0.0, trusted=False),
    fit("lscae", "moons", 0, 0.25, power=1.0, false_share=0.5, trusted=True),
    fit("correlation", "moons", 100, 1.0),
    fit("correlation", "moons", 101, 1.0),
    fit("correlation", "factor", 100, 0.75),
    {"trial": {"method": "cae", "kind": "moons", "seed": 100}, "k": 4, "skipped": "too large"},
]
CONFIRMING = tables.in_half(ROWS, "confirming")


def test_the_kinds_table_holds_means_and_counts():
    table = tables.by_kind(CONFIRMING)
    assert table.headings == ["kind", "lscae", "correlation", "cae"]
    assert table.rows == [
        ["moons", "0.75", "1.00", "–"],
        ["factor", "1.00 (1)", "0.75 (1)", "–"],
        ["**mean**", "0.875", "0.875", "– (0 kinds)"],
    ]


def test_a_lead_of_a_simple_rival_is_a_loss():
    assert tables.losses(CONFIRMING, "lscae").rows == [["moons", "0.75", "correlation +0.25"]]


def test_both_halves_have_means_and_noise_is_a_share_of_picks():
    first = tables.means(ROWS).rows[0]
    assert first == ["lscae", "0.250 (1)", "0.833 (3)", "1.00", "0.67", "16.7%", "25.0%", "1.00"]
    assert tables.means(ROWS).rows[1][-2] == "–"


def test_warnings_are_counted_on_right_and_wrong_fits():
    assert tables.verdicts(CONFIRMING).rows[0] == ["lscae", "without", "1 of 2 (50%)", "1 of 1 (100%)"]
    apart = [fit("lscae", "factor_nuisance", 100, 0.5, right=False, trusted=True)]
    assert tables.verdicts([*CONFIRMING, *apart]).rows[1] == ["lscae", "with structure", "–", "0 of 1 (0%)"]


def test_false_shares_are_held_against_the_bound():
    rows = [fit("lscae", "moons", seed, 1.0, power=1.0, false_share=0.5) for seed in (100, 101)]
    assert calibration.structure(rows).rows == [
        ["lscae", "independent", "2", "1.000", "0.500", "0.100", "**above**"],
    ]
    copied = [fit("lscae", "copied_nuisance", 100, 1.0, power=1.0, false_share=0.0)]
    assert calibration.structure(copied).rows == [["lscae", "dependent", "1", "1.000", "0.000", "–", "–"]]


@pytest.mark.parametrize(("n_called", "word"), [(16, "holds"), (17, "**above**")])
def test_noise_tables_are_held_against_the_bound(n_called, word):
    rows = [{"trial": {"law": "normal", "seed": 100 + i}, "n_structured": int(i < n_called)} for i in range(100)]
    assert calibration.noise(rows).rows == [["normal", "100", f"0.{n_called}0", "0.160", word]]


def test_sizes_within_one_group_are_close_and_noise_has_none():
    found = [(5, 100, 6), (5, 101, 3), (0, 100, None), (0, 101, 1)]
    rows = [{"trial": {"groups": g, "seed": seed}, "k": k} for g, seed, k in found]
    assert calibration.sizes(rows).rows == [["5", "6, 3", "1 of 2"], ["0 (noise)", "none, 1", "1 of 2"]]
    summary = calibration.sizes_summary(rows)
    assert summary.startswith("Within ±1 of the number of groups on 50% of 2 tables.")
    assert summary.endswith("for 1 of 2 noise tables.")


def test_the_page_is_made_from_rows(tmp_path):
    for row in ROWS:
        Ledger(tmp_path / "fits" / f"{row['trial']['method']}.jsonl").append(row)
    verdict = {"trial": {"method": "variance", "law": "normal", "seed": 100}, "trusted": True}
    Ledger(tmp_path / "noise_verdicts.jsonl").append(verdict)
    page = tmp_path / "planted.md"
    page.write_text(PAGE.read_text())
    assert main(["page", "--results", str(tmp_path), "--output", str(page)]) == 0
    text = page.read_text()
    assert "`lscae` loses by more than 0.05 on 1 kind:" in text
    assert "`structure-pursuit` has no rows yet." in text
    assert "| variance | 1 | 1 | **trusted** |" in text
    assert "There are no rows yet." in text


def test_a_page_without_rows_says_how_to_make_them(tmp_path, capsys):
    assert main(["page", "--results", str(tmp_path)]) == 2
    assert "run `python -m research.planted run` first" in capsys.readouterr().err
