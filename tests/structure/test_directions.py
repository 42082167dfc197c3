import numpy as np
import pytest
from sklearn.decomposition import PCA

from tamis.structure.directions import MODAL_GAIN, POWER, _varimax, principal_directions
from tamis.structure.sample import standardised


def planted(rng, n, m, n_factors):
    X = rng.standard_normal((n, n_factors)) @ rng.standard_normal((n_factors, m)) + 0.3 * rng.standard_normal((n, m))
    return standardised(X, [np.arange(n)])


@pytest.mark.parametrize(("n", "m"), [(150, 12), (40, 90)], ids=["tall", "wide"])
def test_directions_are_the_principal_components_of_weighted_features(rng, n, m):
    Z, weights = planted(rng, n, m, 3), rng.uniform(0.2, 1.0, m)
    found = principal_directions(Z, np.arange(m), weights, np.zeros(m, int), np.zeros(m, bool), rng)
    assert found.loadings.shape[1] == 3
    pca = PCA(3).fit(Z * np.sqrt(weights))
    components = (Z * np.sqrt(weights)) @ pca.components_.T
    scores = found.scores(Z)
    variances = (n - 1) * pca.explained_variance_
    np.testing.assert_allclose(scores.var(axis=0), variances**POWER / np.mean(variances**POWER), rtol=1e-6)
    correlations = np.abs(np.corrcoef(components.T, scores.T)[:3, 3:])
    np.testing.assert_allclose(correlations, np.eye(3), atol=1e-6)


def test_directions_are_taken_of_the_features_at_their_positions(rng):
    Z = planted(rng, 100, 8, 2)
    features = np.array([1, 2, 5, 7])
    found = principal_directions(Z[:, features], features, np.ones(4), np.zeros(4, int), np.zeros(4, bool), rng)
    np.testing.assert_allclose(found.scores(Z), Z[:, features] @ found.loadings)
    np.testing.assert_array_equal(found.features, features)


def test_scores_keep_the_precision_of_the_table(rng):
    Z = planted(rng, 100, 8, 2)
    found = principal_directions(Z, np.arange(8), np.ones(8), np.zeros(8, int), np.zeros(8, bool), rng)
    assert found.scores(Z.astype(np.float32)).dtype == np.float32


def test_noise_has_few_directions_and_at_least_one(rng):
    counts = []
    for _ in range(30):
        Z = standardised(rng.standard_normal((100, 20)), [np.arange(100)])
        counts.append(
            principal_directions(
                Z, np.arange(20), np.ones(20), np.zeros(20, int), np.zeros(20, bool), rng
            ).loadings.shape[1]
        )
    assert min(counts) == 1
    assert np.mean(counts) < 5  # chance leaves about half of the places above it, one after the other


def test_there_may_be_hundreds_of_directions(rng):
    scores = rng.standard_normal((4000, 300))
    Z = standardised(np.hstack([scores, scores + 0.3 * rng.standard_normal(scores.shape)]), [np.arange(4000)])
    found = principal_directions(Z, np.arange(600), np.ones(600), np.zeros(600, int), np.zeros(600, bool), rng)
    assert found.loadings.shape[1] >= 280


def test_a_strong_block_does_not_hide_weaker_ones(rng):
    blocks, weights = [], []
    for size, share in ((20, 0.9), (3, 0.6), (3, 0.6)):
        blocks.append(
            np.sqrt(share) * rng.standard_normal((800, 1)) + np.sqrt(1 - share) * rng.standard_normal((800, size))
        )
        weights += [share**2] * size
    Z = standardised(np.hstack(blocks), [np.arange(800)])
    found = principal_directions(Z, np.arange(26), np.array(weights), np.zeros(26, int), np.zeros(26, bool), rng)
    assert found.loadings.shape[1] == 3
    largest = np.abs(found.loadings).argmax(axis=0)
    assert largest[0] < 20
    assert {int(j - 20) // 3 for j in largest[1:]} == {0, 1}


def test_pairs_of_the_same_strength_beside_a_block_are_directions_each(rng):
    n, n_pairs = 800, 6
    first = rng.standard_normal((n, n_pairs))
    pairs = np.hstack([first, 0.6 * first + 0.8 * rng.standard_normal((n, n_pairs))])
    block = rng.standard_normal((n, 1)) + 0.6 * rng.standard_normal((n, 40))
    Z = standardised(np.hstack([block, pairs, rng.standard_normal((n, 10))]), [np.arange(n)])
    d, weights = Z.shape[1], np.repeat([0.7, 0.35, 0.01], [40, 12, 10])
    found = principal_directions(Z, np.arange(d), weights, np.zeros(d, int), np.zeros(d, bool), rng)
    assert found.loadings.shape[1] == 1 + n_pairs
    largest = np.sort(np.abs(found.loadings).argsort(axis=0)[-2:, 1:], axis=0)
    assert sorted(largest[0]) == list(range(40, 46))
    np.testing.assert_array_equal(largest[1], largest[0] + n_pairs)


def test_weak_dependence_of_neighbours_in_a_chain_is_no_hidden_direction(rng):
    places = np.arange(60)
    chain = rng.standard_normal((600, 60)) @ np.linalg.cholesky((-0.25) ** np.abs(places[:, None] - places)).T
    block = rng.standard_normal((600, 1)) + 0.3 * rng.standard_normal((600, 5))
    Z, d = standardised(np.hstack([block, chain]), [np.arange(600)]), 65
    weights = np.repeat([0.9, 0.06], [5, 60])
    found = principal_directions(Z, np.arange(d), weights, np.zeros(d, int), np.zeros(d, bool), rng)
    assert found.loadings.shape[1] == 1


def test_varimax_turns_mixed_blocks_apart(rng):
    simple = np.repeat(np.eye(4), 5, axis=0) / np.sqrt(5)
    mixed = simple @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
    turn = _varimax(mixed)
    np.testing.assert_allclose(turn @ turn.T, np.eye(4), atol=1e-9)
    turned = np.abs(mixed @ turn)
    np.testing.assert_allclose(turned[:, np.argsort(turned.argmax(axis=0))], simple, atol=1e-2)
    assert _varimax(np.empty((5, 0))).shape == (0, 0)


def test_near_copies_are_one_feature_and_no_direction_of_their_own(rng):
    n, factor = 800, rng.standard_normal((800, 1))
    block = factor + 0.5 * rng.standard_normal((n, 12))
    copied = np.repeat(rng.standard_normal((n, 4)), 3, axis=1) + 0.05 * rng.standard_normal((n, 12))
    Z = standardised(np.hstack([block, copied]), [np.arange(n)])
    n_copies, shares = np.repeat([0, 2], 12), np.repeat([0.6, 0.1], 12)
    found = principal_directions(Z, np.arange(24), shares / (1 + n_copies), n_copies, np.zeros(24, bool), rng)
    assert found.loadings.shape[1] == 1
    # Were they not known as copies, each would look like a block.
    assert principal_directions(Z, np.arange(24), shares, 0 * n_copies, np.zeros(24, bool), rng).loadings.shape[1] > 1


def test_directions_with_several_modes_count_more_where_each_has_a_feature(rng):
    n = 600
    factor = rng.standard_normal((n, 1)) + 0.5 * rng.standard_normal((n, 6))
    clusters = 3.0 * rng.integers(2, size=(n, 1)) + 0.5 * rng.standard_normal((n, 5))
    Z = standardised(np.hstack([factor, clusters]), [np.arange(n)])
    found = principal_directions(Z, np.arange(11), np.ones(11), np.zeros(11, int), np.zeros(11, bool), rng)
    shown = np.abs(found.loadings).argmax(axis=0) >= 6
    assert sorted(shown) == [False, True]
    np.testing.assert_array_equal(found.gains, np.where(shown, MODAL_GAIN, 1.0))


def test_features_with_several_modes_are_directions_unless_others_show_them(rng):
    n = 600
    block = rng.standard_normal((n, 1)) + 0.5 * rng.standard_normal((n, 6))
    lone = 4.0 * rng.integers(2, size=(n, 1)) + rng.standard_normal((n, 1))
    Z = standardised(np.hstack([block, lone]), [np.arange(n)])
    weights, modal = np.r_[np.full(6, 0.6), 0.1], np.arange(7) % 6 == 0
    found = principal_directions(Z, np.arange(7), weights, np.zeros(7, int), modal, rng)
    np.testing.assert_array_equal(np.abs(found.loadings).argmax(axis=0)[1:], [6])
    np.testing.assert_allclose(np.abs(np.corrcoef(found.scores(Z)[:, 1], Z[:, 6])[0, 1]), 1.0)
    assert found.gains[1] == MODAL_GAIN


def test_one_feature_has_one_direction(rng):
    Z = standardised(rng.standard_normal((50, 1)), [np.arange(50)])
    found = principal_directions(Z, np.array([0]), np.array([0.3]), np.zeros(1, int), np.zeros(1, bool), rng)
    np.testing.assert_allclose(np.abs(found.scores(Z)), np.abs(Z))


def test_no_features_have_no_directions(rng):
    found = principal_directions(
        np.empty((10, 0)), np.empty(0, np.intp), np.empty(0), np.zeros(0, int), np.zeros(0, bool), rng
    )
    assert found.scores(np.ones((10, 4))).shape == (10, 0)
