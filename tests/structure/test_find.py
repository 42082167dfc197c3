import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.sparse import csc_matrix, csr_array, csr_matrix

from tamis import find_structure, open_source
from tamis.structure import FewRowsWarning
from tamis.structure.directions import Directions
from tamis.structure.find import (
    MIN_SHARE,
    MODAL_SHARE,
    Structure,
)

PLANTED = [0, 1, 2, 3, 4]
NONE = Directions(np.empty(0, np.intp), np.empty((0, 0)), np.empty(0))


def planted(rng, n=150, d=15):
    """Three features of one factor, a parabola, and independent noise of several laws."""
    X = rng.standard_normal((n, d))
    X[:, :3] = X[:, [0]] + 0.5 * X[:, :3]
    X[:, 4] = X[:, 3] ** 2 + 0.2 * X[:, 4]
    X[:, 5] = rng.poisson(1.0, n)
    X[:, 6] = rng.random(n) < 0.3
    X[:, 7] = rng.lognormal(size=n)
    return X


@pytest.fixture
def X(rng):
    return planted(rng)


def same(first, second):
    for name in ("pvalues", "structured", "partner", "share", "n_copies"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    np.testing.assert_array_equal(first.directions.loadings, second.directions.loadings)


def found_in(structure):
    return np.flatnonzero(structure.structured).tolist()


def test_features_that_depend_on_others_are_structured(X):
    before = X.copy()
    structure = find_structure(X, random_state=0)
    assert found_in(structure) == PLANTED
    assert structure.n_structured == 5
    assert set(structure.partner[:3]) <= {0, 1, 2}
    assert structure.partner[[3, 4]].tolist() == [4, 3]
    assert 2 <= structure.n_directions <= 3
    assert structure.n_rows == 150
    assert sorted(structure.order[:5]) == PLANTED
    np.testing.assert_array_equal(X, before)


def test_the_same_random_state_gives_the_same_result(X):
    same(find_structure(X, random_state=3), find_structure(X, random_state=3))
    a, b = (find_structure(X, random_state=seed).pvalues for seed in (1, 2))
    assert not np.array_equal(a, b)


def test_a_feature_with_two_modes_is_structured(rng):
    X = rng.standard_normal((200, 10))
    X[:, 4] += 7 * (rng.random(200) < 0.5)
    structure = find_structure(X, random_state=0)
    assert found_in(structure) == [4]
    assert structure.share[4] >= MODAL_SHARE


def test_the_share_is_what_the_partner_explains(rng):
    x = rng.standard_normal(600)
    X = np.column_stack([x, 0.8 * x + 0.6 * rng.standard_normal(600), *rng.standard_normal((8, 600))])
    structure = find_structure(X, random_state=0)
    assert structure.share[:2] == pytest.approx(0.6, abs=0.1)
    assert structure.share[2:].max() < 0.05


def test_copies_share_their_weight(rng):
    x = rng.standard_normal(200)
    X = np.column_stack([x, x, x, x + rng.standard_normal(200), *rng.standard_normal((4, 200))])
    structure = find_structure(X, random_state=0)
    assert structure.n_copies.tolist() == [2, 2, 2, 0, 0, 0, 0, 0]
    assert structure.weights[0] == pytest.approx(structure.share[0] / 3)
    assert structure.weights.min() >= MIN_SHARE


def test_data_frames_keep_their_names(X):
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(15)])
    structure = find_structure(frame, random_state=0)
    same(structure, find_structure(X, random_state=0))
    assert structure.feature_names.tolist() == list(frame.columns)
    assert find_structure(X, random_state=0).feature_names[:2].tolist() == ["x0", "x1"]


@pytest.mark.parametrize("kind", [csr_matrix, csc_matrix, csr_array])
def test_sparse_tables_are_as_dense_ones(rng, kind):
    X = rng.poisson(0.4, (200, 12)).astype(float)
    X[:, 1] += X[:, 0]
    same(find_structure(kind(X), random_state=0), find_structure(X, random_state=0))


def test_lists_and_whole_numbers_are_tables(rng):
    X = rng.poisson(2.0, (60, 4))
    same(find_structure(X.tolist(), random_state=0), find_structure(X.astype(float), random_state=0))


def test_a_table_on_disk_is_as_one_in_memory(X, tmp_path):
    X = X.astype(np.float32)
    np.save(tmp_path / "table.npy", X)
    pd.DataFrame(X, columns=[f"g{j}" for j in range(15)]).to_parquet(tmp_path / "table.parquet")
    expected = find_structure(X, random_state=0)
    same(find_structure(open_source(tmp_path / "table.npy"), random_state=0), expected)
    stored = find_structure(open_source(tmp_path / "table.parquet"), random_state=0)
    same(stored, expected)
    assert stored.feature_names[14] == "g14"


def test_blocks_of_rows_are_a_table(X):
    class Blocks:
        def __len__(self):
            return 2

        def __iter__(self):
            return iter([X[:100].astype(np.float32), X[100:].astype(np.float32)])

    same(find_structure(Blocks(), random_state=0), find_structure(X.astype(np.float32), random_state=0))


def test_missing_cells_are_no_evidence(rng):
    X = planted(rng, n=300)
    X[rng.random(X.shape) < 0.1] = np.nan
    assert found_in(find_structure(X, random_state=0)) == PLANTED


def test_constant_and_empty_features_have_the_pvalue_one(X):
    X = np.column_stack([np.full(150, 3.0), X, np.full(150, np.nan)])
    structure = find_structure(X, random_state=0)
    assert structure.pvalues[[0, -1]].tolist() == [1, 1]
    assert structure.partner[[0, -1]].tolist() == [-1, -1]
    assert structure.share[[0, -1]].tolist() == [0, 0]
    assert found_in(structure) == [j + 1 for j in PLANTED]
    assert set(structure.partner[1:4]) <= {1, 2, 3}


def test_a_table_of_constants_has_no_structure():
    structure = find_structure(np.ones((50, 4)), random_state=0)
    assert structure.pvalues.tolist() == [1] * 4
    assert structure.n_directions == 0


def test_a_single_feature_has_no_partner(rng):
    structure = find_structure(rng.standard_normal((100, 1)), random_state=0)
    assert structure.partner.tolist() == [-1]
    assert found_in(structure) == []


def test_a_shift_between_batches_is_no_structure(rng):
    batch = np.repeat(["a", "b", "c"], 70)
    X = rng.standard_normal((210, 12)) + 3 * rng.standard_normal((3, 12))[np.repeat([0, 1, 2], 70)]
    assert len(found_in(find_structure(X, random_state=0))) == 12
    assert found_in(find_structure(X, batch=batch, random_state=0)) == []


def test_dependence_within_batches_is_structure(rng):
    batch = np.repeat([0, 1, 2], 70)
    X = rng.standard_normal((210, 12)) + 3 * rng.standard_normal((3, 12))[batch]
    X[:, 5] += 1.5 * X[:, 8]
    assert found_in(find_structure(X, batch=batch, random_state=0)) == [5, 8]


def test_a_feature_may_be_missing_in_a_batch(rng):
    X = planted(rng, n=240)
    X[:80, 1] = np.nan
    assert found_in(find_structure(X, batch=np.repeat([0, 1, 2], 80), random_state=0)) == PLANTED


def test_rows_of_a_rare_batch_that_are_hardly_drawn_are_left_out(rng, monkeypatch):
    monkeypatch.setattr("tamis.structure.sample.MAX_ROWS", 150)
    X = planted(rng, n=2000)
    batch = np.r_[np.zeros(1997), np.ones(3)]
    assert found_in(find_structure(X, batch=batch, random_state=0)) == PLANTED


def test_few_rows_are_warned_of(rng):
    with pytest.warns(FewRowsWarning, match=r"X has 20 rows, too few .* Collect at least 30\."):
        find_structure(rng.standard_normal((20, 3)), random_state=0)


@pytest.mark.parametrize("fdr", [0, 1, -0.1, 1.5, np.nan])
def test_fdr_is_a_share(X, fdr):
    with pytest.raises(ValueError, match="fdr is a share of false discoveries between 0 and 1; got"):
        find_structure(X, fdr=fdr)


def test_a_stricter_level_finds_no_more(X):
    X[:, 9] += 0.4 * X[:, 8]
    strict, usual = (find_structure(X, fdr=fdr, random_state=0) for fdr in (1e-6, 0.05))
    assert found_in(strict) == PLANTED
    assert found_in(usual) == [*PLANTED, 8, 9]
    np.testing.assert_array_equal(strict.pvalues, usual.pvalues)


def test_every_row_needs_a_batch(X):
    with pytest.raises(ValueError, match=r"batch takes a label for each of the 150 rows of X; got the shape \(3,\)"):
        find_structure(X, batch=[1, 2, 3])


def test_a_batch_needs_three_rows(X):
    with pytest.raises(ValueError, match="A batch needs at least 3 rows; 2 of 3 batches have fewer"):
        find_structure(X, batch=np.r_[np.zeros(146), 1, 1, 2, 2])


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([1.0, 2.0, 3.0], "Expected 2D array"),
        (np.ones((1, 3)), "minimum of 2"),
        ([["a", "b"]] * 9, "Convert your data to numeric"),
    ],
    ids=["one dimension", "one row", "words"],
)
def test_what_is_no_table_of_numbers_is_told(X, words):
    with pytest.raises(ValueError, match=words):
        find_structure(X)


def test_a_frame_has_a_row_for_each_feature_by_its_evidence(X):
    structure = find_structure(np.column_stack([X, np.ones(150)]), random_state=0)
    table = structure.to_frame()
    assert list(table.columns) == ["pvalue", "structured", "partner", "share"]
    assert table.index.name == "feature"
    assert table.pvalue.is_monotonic_increasing
    assert table.structured.sum() == 5
    assert table.partner["x3"] == "x4"
    assert pd.isna(table.partner["x15"])


def test_repr_tells_what_was_found(X):
    structure = find_structure(X, random_state=0)
    assert repr(structure) == f"<Structure: 5 of 15 features, {structure.n_directions} directions, fdr=0.1>"


def noise(rng, n=120, d=20):
    """Independent features of mixed laws."""
    laws = [
        lambda: rng.standard_normal(n),
        lambda: rng.random(n),
        lambda: rng.lognormal(0, 1, n),
        lambda: rng.standard_t(2, n),
        lambda: rng.poisson(1.0, n),
        lambda: rng.random(n) < 0.2,
        lambda: rng.exponential(size=n).round(1),
        lambda: np.where(rng.random(n) < 0.9, 0, rng.exponential(size=n)),
    ]
    return np.column_stack([laws[j % len(laws)]() for j in range(d)]).astype(float)


def test_noise_is_called_structured_as_seldom_as_the_level_says(rng):
    called = [find_structure(noise(rng), random_state=seed).n_structured > 0 for seed in range(40)]
    assert np.mean(called) <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / 40)


def test_features_that_few_rows_carry_are_not_tested(rng):
    X = np.zeros((2000, 3000))
    X[rng.integers(0, 2000, 6000), rng.integers(0, 3000, 6000)] = 1
    X[:, :4] = (rng.random((2000, 1)) < 0.02) & (rng.random((2000, 4)) < 0.9)
    structure = find_structure(csr_matrix(X), random_state=0)
    assert found_in(structure) == [0, 1, 2, 3]
    assert (structure.pvalues == 1).mean() > 0.9
    same(structure, find_structure(X, random_state=0))


def test_of_sparse_tables_too_wide_for_memory_the_most_frequent_features_are_tested(rng, monkeypatch):
    X = (rng.random((200, 50)) < 0.1).astype(float)
    X[:, :3] = rng.random((200, 1)) < 0.4
    monkeypatch.setattr("tamis.structure.find.MAX_CELLS", 200 * 10)
    structure = find_structure(csr_matrix(X), random_state=0)
    assert (structure.partner >= 0).sum() == 10
    assert (structure.partner[:3] >= 0).all()


def test_a_middle_level_is_not_a_missing_cell(rng):
    n, sign = 600, np.tile([-1.0, 1.0], 300)
    X = np.floor(3 * np.argsort(np.argsort(rng.standard_normal((n, 12)), axis=0), axis=0) / n) - 1
    for j in (0, 1):
        # Equally often 1 and -1, and 0 in the other rows: the ranks of these are the mean rank.
        outer = np.r_[
            rng.choice(np.flatnonzero(sign > 0), 200, False), rng.choice(np.flatnonzero(sign < 0), 200, False)
        ]
        X[:, j] = 0
        X[outer, j] = sign[outer]
    X[0, 11] = np.nan
    structure = find_structure(X, random_state=0)
    assert structure.structured[:2].all()
    assert not structure.n_copies.any()


def test_no_structured_features_means_no_directions():
    nothing = np.zeros(3)
    structure = Structure(
        np.ones(3),
        nothing > 0,
        np.full(3, -1),
        nothing,
        nothing.astype(int),
        nothing,
        nothing > 0,
        nothing > 0,
        np.arange(3),
        NONE,
        0.1,
        9,
        np.array(list("abc")),
    )
    assert structure.n_directions == structure.n_structured == 0


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_copies_of_noise_with_missing_cells_are_no_evidence_for_each_other(share):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((400, 8))] * 3)
    X[rng.random(X.shape) < share] = np.nan
    structure = find_structure(X, random_state=0)
    assert structure.n_structured == 0
    assert (structure.n_copies == 2).all()


def test_cells_that_are_missing_together_are_no_evidence():
    n_called = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 30))
        X[:120, :10] = np.nan
        n_called += find_structure(X, random_state=seed).n_structured > 0
    assert n_called <= 7


def test_threads_change_nothing(rng):
    X = rng.standard_normal((60, 2500))
    X[:, 3] += X[:, 7]
    alone = find_structure(X, random_state=0)
    with parallel_config("threading", n_jobs=2):
        shared = find_structure(X, random_state=0)
    np.testing.assert_array_equal(alone.pvalues, shared.pvalues)
    np.testing.assert_array_equal(alone.partner, shared.partner)


def test_a_wide_table_whose_features_share_most_of_their_variance_is_tested(rng):
    X = (rng.standard_normal((100, 9300)) + 4 * rng.standard_normal((100, 1))).astype(np.float32)
    assert find_structure(X, random_state=0).structured.all()


def test_batches_of_which_hardly_a_row_is_examined_are_refused(rng, monkeypatch):
    monkeypatch.setattr("tamis.structure.sample.MAX_ROWS", 30)
    monkeypatch.setattr("tamis.structure.sample.NARROW_CELLS", 0)
    with pytest.raises(ValueError, match="batch has 200 batches, of none of which 3 are among the 30 rows"):
        find_structure(rng.standard_normal((600, 6)), batch=np.repeat(range(200), 3), random_state=0)


def test_features_that_no_row_has_together_are_not_copies(rng):
    X = rng.standard_normal((200, 8))
    X[:100, 0] = X[100:, 1] = np.nan
    assert find_structure(X, random_state=0).n_copies.tolist() == [0] * 8


def test_many_features_that_share_a_little_are_found_together(rng):
    X = rng.standard_normal((200, 120))
    X[:, :40] = 0.45 * rng.standard_normal((200, 1)) + np.sqrt(1 - 0.45**2) * X[:, :40]
    structured = find_structure(X, random_state=0).structured
    assert structured[:40].mean() > 0.9
    assert structured[40:].mean() < 0.1


def test_rare_events_that_move_features_together_are_found(rng):
    X = rng.standard_normal((1000, 30))
    X[:8, :4] += 6
    assert found_in(find_structure(X, random_state=0)) == [0, 1, 2, 3]


def test_more_rows_of_narrow_tables_are_examined(rng):
    assert find_structure(rng.standard_normal((9000, 5)), random_state=0).n_rows == 2**23 // 1005
    assert find_structure(rng.standard_normal((2100, 4000)), random_state=0).n_rows == 2000


def test_copies_of_nuisance_are_no_evidence_through_components_either(rng):
    once = rng.standard_normal((300, 20))
    X = np.hstack([once] + [once + 0.05 * rng.standard_normal(once.shape) for _ in range(4)])
    assert find_structure(X, random_state=0).n_structured <= 5


def test_rows_of_which_most_is_missing_are_no_evidence_through_components(rng):
    found = 0
    for _ in range(10):
        X = rng.standard_normal((200, 40))
        X[(rng.random((200, 1)) < 0.4) & (rng.random(X.shape) < 0.8)] = np.nan
        found += find_structure(X, random_state=0).n_structured > 0
    assert found <= 3


def flags(rng, n, d, n_rows):
    """Independent flags, each on in as many rows drawn at random."""
    X = np.zeros((n, d))
    for x in X.T:
        x[rng.permutation(n)[:n_rows]] = 1
    return X


def test_few_features_of_one_law_among_many_of_another_are_no_structure():
    n_called = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = np.c_[rng.standard_normal((800, 20)), 1 - flags(rng, 800, 800, 5)]
        n_called += find_structure(X, random_state=seed).n_structured > 0
    assert n_called <= 1


def test_a_category_of_many_levels_lets_no_other_feature_through():
    n_false = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        level = rng.integers(20, size=1000)
        X = np.c_[level[:, None] == np.arange(20), 3 * (level % 2) + rng.standard_normal(1000)]
        X = np.c_[X, rng.standard_normal((1000, 30))].astype(float)
        groups = np.r_[np.zeros(20), np.arange(1, 32)]
        structured = find_structure(X, groups=groups, random_state=seed).structured
        assert structured[:21].all()
        n_false.append(structured[21:].sum())
    assert sum(n_false) <= 6


def test_features_with_modes_of_their_own_are_directions_beside_a_block(rng):
    block = rng.standard_normal((400, 1)) + 0.5 * rng.standard_normal((400, 10))
    modes = rng.standard_normal((400, 2)) + 5 * (rng.random((400, 2)) < 0.5)
    structure = find_structure(np.c_[modes, block, rng.standard_normal((400, 15))], random_state=0)
    assert structure.n_directions == 3
    assert structure.modal.tolist() == [True] * 2 + [False] * 25


def test_series_that_change_slowly_each_by_itself_are_no_structure(rng):
    series = np.cumsum(rng.standard_normal((400, 30)), axis=0)
    clusters = 6.0 * np.repeat(np.arange(4), 100)[:, None] + rng.standard_normal((400, 5))
    structured = find_structure(np.hstack([clusters, series]), random_state=0).structured
    assert structured[:5].all()
    assert structured[5:].sum() <= 1


def test_slow_features_are_told(rng):
    X = np.column_stack([np.cumsum(rng.standard_normal(300)), rng.standard_normal((300, 2)), np.ones(300)])
    assert find_structure(X[:, [3, 1, 0, 2]], random_state=0).slow.tolist() == [False, False, True, False]


def test_slow_series_with_common_innovations_are_structure(rng):
    common, own = np.cumsum(rng.standard_normal((400, 1)), axis=0), np.cumsum(rng.standard_normal((400, 20)), axis=0)
    own[:, :4] = common + 0.4 * own[:, :4]
    structured = find_structure(own, random_state=0).structured
    assert structured[:4].all()
    assert structured[4:].sum() <= 1


def test_slow_features_of_wide_tables_meet_in_buckets(rng, monkeypatch):
    X = np.cumsum(rng.standard_normal((200, 300)), axis=0)
    X[:, :40] = np.cumsum(rng.standard_normal((200, 1)), axis=0) + 0.3 * X[:, :40]
    monkeypatch.setattr("tamis.structure.dependence.BUCKET", 8)
    structured = find_structure(X, random_state=0).structured
    assert structured[:40].mean() >= 0.9
    assert structured[40:].mean() <= 0.05


def test_features_that_share_a_season_are_structure(rng):
    season = 1.5 * np.sin(2 * np.pi * np.arange(800)[:, None] / 20) + rng.standard_normal((800, 4))
    X = np.hstack([season, rng.standard_normal((800, 20)), np.cumsum(rng.standard_normal((800, 4)), axis=0)])
    structured = find_structure(X, random_state=0).structured
    assert structured[:4].all()
    assert structured[4:].sum() <= 1
