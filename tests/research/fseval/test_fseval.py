import numpy as np
import pytest
from scipy.io import savemat

from research.fseval import __main__ as command
from research.fseval import bench, page, published
from research.fseval.page import control_sentence, own_means, published_means, shares_table, write_page
from research.ledger import Ledger

SHARES = ("0.05", "0.1")


def write_curves(folder, method, metric, scale, rows):
    lines = ["Dataset," + ",".join(SHARES), *(f"{name},{','.join(map(str, values))}" for name, values in rows)]
    (folder / "fseval").mkdir(exist_ok=True)
    (folder / "fseval" / f"{method}_{metric}_{scale}.csv").write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A small colon.mat, and published rows of three methods on colon and arcene, which is not at hand."""
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 15)
    X = rng.normal(size=(30, 60))
    X[y == 1, :6] += 20
    savemat(tmp_path / "colon.mat", {"X": X, "Y": y[:, None]})
    for metric in ("CLSACC", "ACC"):
        random = [("colon", (0.4, 0.5)), ("colon", (0.5, 0.6)), ("arcene", (0.6, 0.6))]
        write_curves(tmp_path, "Random", metric, "10Percent", random)
        write_curves(tmp_path, "Variance", metric, "10Percent", [("colon", (0.5, 0.5)), ("arcene", (0.7, 0.7))])
        write_curves(tmp_path, "MCFS", metric, "10Percent", [("colon", (0.9, 0.9)), ("arcene", (0.5, 0.5))])
    for method, value in (("Random", 0.3), ("Variance", 0.3), ("MCFS", 0.0)):
        write_curves(tmp_path, method, "NMI", "100Percent", [("colon", (0.2, value)), ("arcene", (0.2, 0.3))])
    monkeypatch.setenv("TAMIS_DATA", str(tmp_path))
    monkeypatch.setattr(page, "METHODS", ("Random", "Variance", "MCFS"))
    return tmp_path


def test_published_rows_are_read_with_their_repeats(folder):
    curves = published.read_curves("Random", "ACC")
    assert curves["colon"].tolist() == [[0.4, 0.5], [0.5, 0.6]]
    assert published.sizes() == [0.05, 0.1]
    assert published.broken_sets("MCFS") == {"colon"}


def test_broken_published_rows_are_left_out(folder):
    assert published_means("MCFS", "ACC") == {"arcene": 0.5}
    assert published_means("Random", "ACC") == pytest.approx({"colon": 0.5, "arcene": 0.6})


def test_shares_compare_with_random_on_common_and_on_all_sets(folder):
    table = shares_table({"lscae": {"CLSACC": {"colon": 0.8}}})
    assert table.rows == [
        ["Variance (published)", "0.00", "0.00", "1", "0.50", "0.50", "2"],
        ["MCFS (published)", "–", "–", "0", "0.00", "0.00", "1"],
        ["`lscae` (ours)", "1.00", "–", "1 and 0", "–", "–", "–"],
    ]


def test_the_control_says_how_far_our_run_is_from_the_published_one(folder):
    own = {"variance": {"ACC": {"colon": 0.53}}}
    assert control_sentence(own) == (
        "`variance` run here differs from the published Variance rows by at most 0.0300 in mean classifier accuracy on "
        "1 sets."
    )
    assert control_sentence({}) == "No control has been run yet."


def test_classification_starts_from_the_ranking_of_the_clustering():
    clustering, classification = bench.trials_of("variance", ["colon"], ["classification"])
    assert bench.parent_of(clustering) is None
    assert bench.parent_of(classification) == clustering


def test_a_ranking_goes_on_beyond_the_size_of_the_fit(monkeypatch):
    monkeypatch.setattr(bench, "MAX_FIT_SIZE", 2)
    X = np.random.default_rng(0).normal(size=(20, 6)) * [1, 6, 2, 5, 3, 4]
    assert bench.rank("variance", X, 4, seed=0).tolist() == [1, 3, 5, 4]


def test_a_run_scores_both_parts_and_makes_the_page(folder, tmp_path, monkeypatch, capsys):
    pytest.importorskip("sdufseval", reason="the judge is not installed: pip install -r research/requirements.txt")
    monkeypatch.setattr(bench, "N_TREES", 5)
    results = tmp_path / "rows"
    arguments = ["--methods", "variance,no-such-method", "--sets", "colon", "--results", str(results)]
    assert command.main(["run", *arguments]) == 0
    out, err = capsys.readouterr()
    assert "skipped: there is no selector 'no-such-method'" in err
    assert out.startswith("variance colon repeat=0: CLSACC=1.000 NMI=1.000")
    clustering, classification = Ledger(results / "variance.jsonl").rows()
    assert set(clustering["ranking"]) == set(range(6))
    assert min(classification["ACC"]) > 0.9
    made = tmp_path / "fseval.md"
    made.write_text(page.PAGE.read_text())
    assert "| `variance` (ours) | 1.00 | 1.00 | 1 |" in write_page(results, made).read_text()
    assert own_means([clustering])["variance"]["CLSACC"] == {"colon": 1.0}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--sets", "arcene"], "--sets takes names among ALLAML, "),
        (["--parts", "regression"], "--parts takes names among clustering, classification; got 'regression'."),
    ],
)
def test_wrong_options_end_with_a_sentence(arguments, sentence, capsys, monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda name: name)
    assert command.main(["run", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_without_the_judge_the_sentence_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert command.main(["run"]) == 2
    assert (
        "FSEVAL needs sdufseval; install it with pip install -r research/requirements.txt." in capsys.readouterr().err
    )
