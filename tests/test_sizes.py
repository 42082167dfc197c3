import numpy as np
import pandas as pd
import pytest

from tamis import choose_k
from tamis.sizes import MIN_GAIN, NoStructureError


def indicators(rng, n_groups, n=400, n_noise=20):
    """Independent groups of three to five noisy indicators, and noise."""
    groups = [
        rng.standard_normal((n, 1)) + 0.5 * rng.standard_normal((n, int(rng.integers(3, 6)))) for _ in range(n_groups)
    ]
    return np.hstack([*groups, rng.standard_normal((n, n_noise))])


@pytest.mark.parametrize("n_groups", [1, 2, 4, 7])
def test_as_many_features_as_independent_groups_are_suggested(rng, n_groups):
    curve = choose_k(indicators(rng, n_groups))
    assert curve.k == n_groups
    assert curve.n_directions == n_groups


def test_the_curve_tells_what_every_k_explains(rng):
    curve = choose_k(indicators(rng, 4))
    assert len(curve.explained) == len(curve.errors) >= 4
    gains = np.diff(curve.explained, prepend=0.0)
    assert (gains[:4] > MIN_GAIN).all()
    assert (gains[4:] < MIN_GAIN).all()
    assert curve.explained.max() <= curve.n_directions
    assert (curve.errors >= 0).all()


def test_noise_has_no_number(rng):
    with pytest.raises(NoStructureError, match=r"Apart from near copies .* or name the number\."):
        choose_k(rng.standard_normal((200, 12)))


def test_frames_and_missing_cells_have_a_number(rng):
    X = indicators(rng, 3)
    X[rng.random(X.shape) < 0.05] = np.nan
    assert choose_k(pd.DataFrame(X)).k == 3


def test_the_same_random_state_gives_the_same_curve(rng):
    X = indicators(rng, 2)
    first, second = choose_k(X, random_state=5), choose_k(X, random_state=5)
    np.testing.assert_array_equal(first.explained, second.explained)
    assert first.k == second.k


def test_a_feature_with_two_modes_is_a_number_of_its_own(rng):
    X = rng.standard_normal((300, 8))
    X[:, 2] += 7 * (rng.random(300) < 0.5)
    assert choose_k(X).k == 1


def test_groups_count_once_and_need_a_label_for_each_feature(rng):
    X = indicators(rng, 4)
    alone = choose_k(X).k
    assert choose_k(X, groups=np.arange(X.shape[1])).k == alone
    with pytest.raises(
        ValueError, match=f"groups takes a label for each of the {X.shape[1]} features of X; got the shape"
    ):
        choose_k(X, groups=["a", "b"])


def test_kept_features_are_counted_and_leave_what_they_do_not_explain(rng):
    X = np.hstack([np.repeat(rng.standard_normal((300, 2)), 8, axis=1), np.zeros((300, 4))])
    X += 0.5 * rng.standard_normal(X.shape)
    assert [choose_k(X, must_keep=kept).k for kept in ([], [16, 17], [3], [3, 12], [0, 1, 2])] == [2, 4, 2, 2, 4]
    groups = np.r_[np.arange(16) // 4, 4, 5, 6, 7]
    assert choose_k(X, groups=groups, must_keep=[5, 6]).k == 4
    assert choose_k(X, groups=groups, must_keep=[0]).k == 2
