import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from joblib import Parallel, delayed
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from tamis import CAE, LSCAE, ConcreteLaplacian, Recipe
from tamis.features import UnusableFeaturesWarning
from tamis.synthetic import blobs_with_copies

SELECTORS = [LSCAE, CAE, ConcreteLaplacian]
pytestmark = pytest.mark.filterwarnings("ignore::tamis.features.UnusableFeaturesWarning")


@pytest.mark.parametrize("selector", SELECTORS)
def test_check_estimator(selector):
    # Few epochs for speed; the checks ask for manners, which do not depend on them.
    check_estimator(selector(max_epochs=15), on_skip=None)


@pytest.mark.parametrize("selector", SELECTORS)
def test_exactly_k_distinct_features_for_every_k_dense_and_sparse(selector, rng, quick):
    X = rng.standard_normal((60, 40)) * (rng.random((60, 40)) < 0.4)
    for k in range(1, 41):
        dense = selector(k, **quick).fit(X)
        sparse = selector(k, **quick).fit(csr_matrix(X))
        assert len(set(dense.selected_)) == dense.support_.sum() == k
        np.testing.assert_array_equal(dense.selected_, sparse.selected_)


@pytest.mark.parametrize(
    "parameters",
    [
        {"recipe": "paper"},
        {"max_epochs": 13},
        {"batch_size": 30},
        {"scale": "center"},
        {"scale": None},
        {"must_keep": [9]},
        {"never": [0]},
        {"random_state": 1},
    ],
    ids=str,
)
def test_every_parameter_changes_something(parameters, blobs, quick):
    before = LSCAE(2, **quick).fit(blobs.X)
    after = LSCAE(2, **(quick | parameters)).fit(blobs.X)
    assert before.objective_ != after.objective_ or not np.array_equal(before.selection_probs_, after.selection_probs_)


def test_the_redundancy_penalty_keeps_units_apart(blobs, quick):
    mass = [
        LSCAE(7, recipe=Recipe(redundancy_penalty=weight), **(quick | {"max_epochs": 80}))
        .fit(blobs.X)
        .selection_probs_.sum(axis=0)
        .max()
        for weight in (0.0, 50.0)
    ]
    assert mass[1] < mass[0]


def test_n_features_to_select_decides_how_many(blobs, quick):
    assert [LSCAE(k, **quick).fit(blobs.X).support_.sum() for k in (1, 4, None)] == [1, 4, 5]


def test_threads_are_set_during_fit_and_given_back(blobs, quick):
    seen = []
    before = torch.get_num_threads()
    LSCAE(2, n_jobs=2, callbacks=lambda epoch: seen.append(torch.get_num_threads()), **quick).fit(blobs.X)
    assert set(seen) == {1}
    assert torch.get_num_threads() == before


def test_the_device_is_used(blobs, quick):
    assert LSCAE(2, device="cpu", **quick).fit(blobs.X).support_.sum() == 2
    with pytest.raises(ValueError, match=r"device='nowhere' cannot be used here .*Use 'auto', 'cpu'"):
        LSCAE(2, device="nowhere", **quick).fit(blobs.X)


def test_callbacks_hear_of_every_epoch_and_can_stop(blobs, quick):
    numbers = []
    LSCAE(2, callbacks=[lambda epoch: numbers.append(epoch.number)], **quick).fit(blobs.X)
    assert numbers == list(range(1, 13))
    stopped = LSCAE(2, callbacks=lambda epoch: epoch.number == 5, **quick).fit(blobs.X)
    assert len(stopped.history_) == 5


def test_fit_prints_nothing(blobs, quick, capsys):
    LSCAE(2, **quick).fit(blobs.X)
    assert capsys.readouterr() == ("", "")


def picks(selector, X):
    return selector.fit(X).selected_.tolist()


def test_the_same_seed_gives_the_same_picks_everywhere(blobs, quick):
    selector = LSCAE(3, **quick)
    expected = picks(selector, blobs.X)
    assert picks(clone(selector), blobs.X) == expected
    assert Parallel(n_jobs=2)(delayed(picks)(clone(selector), blobs.X) for _ in range(2)) == [expected] * 2
    pipeline = make_pipeline(clone(selector), KMeans(2, n_init=1, random_state=0)).fit(blobs.X)
    assert pipeline[0].selected_.tolist() == expected


def test_the_global_generator_is_neither_read_nor_changed(blobs, quick):
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = LSCAE(3, **quick).fit(blobs.X).selection_probs_
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    torch.rand(100)
    np.testing.assert_array_equal(LSCAE(3, **quick).fit(blobs.X).selection_probs_, first)


def test_kinds_of_input_agree(blobs, quick):
    X = np.round(blobs.X * 4)
    expected = picks(LSCAE(3, **quick), X)
    names = blobs.names
    for same in (X.astype(np.float32), X.astype(int), csc_matrix(X), pd.DataFrame(X, columns=names), pl.DataFrame(X)):
        assert picks(LSCAE(3, **quick), same) == expected


@pytest.mark.parametrize("n_rows", [3, 20, 90])
def test_few_rows_and_partial_batches(blobs, quick, n_rows):
    assert LSCAE(2, batch_size=20, **quick).fit(blobs.X[:n_rows]).support_.sum() == 2


def test_kept_and_banned_features(blobs, quick):
    frame = pd.DataFrame(blobs.X, columns=blobs.names)
    selector = LSCAE(3, must_keep=["nuisance_5"], never=["signal_0", "signal_1"], **quick).fit(frame)
    assert selector.selected_[0] == blobs.names.index("nuisance_5")
    assert not {0, 1} & set(selector.selected_)
    assert selector.selection_probs_[0, selector.selected_[0]] == 1
    assert selector.selection_probs_[:, [0, 1]].max() == 0


def test_everything_kept_by_request(blobs, quick):
    selector = LSCAE(2, must_keep=[7, 4], **quick).fit(blobs.X)
    assert selector.selected_.tolist() == [7, 4]
    assert selector.verdict_.reasons[0].startswith("2 of 2 features tell no more of the others")
    assert len(selector.history_) == 0


@pytest.mark.parametrize("selector", [*SELECTORS, partial(LSCAE, recipe=Recipe(structure_first=False))])
@pytest.mark.parametrize("kept", [[3, 1], [3, 1, 0, 2, 4]], ids=["some", "all"])
def test_noise_kept_by_request(selector, kept, rng, quick):
    """Without structure and without a choice there is no goal, and there need not be one."""
    X = rng.standard_normal((60, 5))
    found = selector(len(kept), must_keep=kept, **quick).fit(X)
    assert found.selected_.tolist() == kept
    assert found.reconstruct(found.transform(X)).shape == (60, 5)


def test_constant_features_take_no_part(blobs, quick):
    X = np.insert(blobs.X, [0, 3], 7.0, axis=1)
    with pytest.warns(UnusableFeaturesWarning, match="feature 0, feature 4"):
        with_constants = LSCAE(3, **quick).fit(X)
    without = LSCAE(3, **quick).fit(blobs.X)
    assert blobs.X[:, without.selected_].tolist() == X[:, with_constants.selected_].tolist()
    kept = LSCAE(3, must_keep=[4], **quick).fit(X)
    assert kept.selected_[0] == 4
    assert kept.support_.sum() == 3


def test_fitted_attributes(blobs, quick):
    selector = LSCAE(3, n_init=3, **quick).fit(blobs.X)
    assert sorted(selector.ranking_) == list(range(1, 11))
    assert set(selector.selected_) == set(selector.units_) == set(np.flatnonzero(selector.support_))
    assert selector.ranking_[selector.selected_].tolist() == [1, 2, 3]
    np.testing.assert_allclose(selector.selection_probs_.sum(axis=1), 1, rtol=1e-5)
    largest, free = selector.selection_probs_.max(axis=0), ~selector.support_
    wanted = free & (largest > 0)
    np.testing.assert_array_equal(selector.scores_[wanted], largest[wanted])
    assert (selector.scores_[largest > 0] >= largest[largest > 0]).all()
    assert selector.objective_ == selector.restart_objectives_.min()
    assert selector.restart_objectives_.shape == (3,)
    assert pd.DataFrame(selector.history_).shape == (12, 7)


def test_the_score_of_a_selected_feature_counts_its_near_copies():
    """Units waver between copies, of which each has a part of the probability only."""
    table = blobs_with_copies(6, seed=0, n_samples=200, n_informative=2, n_clusters=3, n_copies=3)
    selector = LSCAE(2, recipe=Recipe(max_exchanged=0, n_steps=10), random_state=0).fit(table.X)
    probabilities = selector.selection_probs_.max(axis=1)
    assert probabilities.min() < 0.9
    assert (selector.scores_[selector.units_] > probabilities + 0.05).any()


def test_reconstruct_imputes_in_the_users_units(rng):
    base = rng.standard_normal((200, 1))
    X = np.hstack([100 + 5 * base, 3 - 20 * base, np.full((200, 1), 8.0), 1000 * base + 3])
    selector = CAE(1, max_epochs=150, random_state=0).fit(X)
    rebuilt = selector.reconstruct(selector.transform(X))
    assert rebuilt.shape == X.shape
    np.testing.assert_array_equal(rebuilt[:, selector.support_], X[:, selector.support_])
    np.testing.assert_array_equal(rebuilt[:, 2], 8.0)
    assert (np.abs(rebuilt - X).mean(axis=0) < 0.2 * X.std(axis=0) + 1e-12).all()
    np.testing.assert_allclose(selector.reconstruct(csr_matrix(selector.transform(X))), rebuilt)


def test_reconstruct_maps_units_to_features(rng):
    X = rng.standard_normal((80, 3))
    selector = CAE(3, max_epochs=5, random_state=0).fit(X)
    rebuilt = selector.reconstruct(X)
    np.testing.assert_array_equal(rebuilt, X)


def test_reconstruct_wants_the_selected_features(blobs, quick):
    selector = LSCAE(3, **quick).fit(blobs.X)
    with pytest.raises(ValueError, match=r"takes the 3 selected features, as transform returns them; got 10"):
        selector.reconstruct(blobs.X)


def test_reconstruct_wants_them_in_order(blobs, quick):
    frame = pd.DataFrame(blobs.X, columns=blobs.names)
    selector = LSCAE(3, **quick).fit(frame)
    chosen = frame[selector.get_feature_names_out()]
    np.testing.assert_array_equal(selector.reconstruct(chosen), selector.reconstruct(chosen.to_numpy()))
    with pytest.raises(ValueError, match=r"reconstruct takes the features \[.*\], in this order"):
        selector.reconstruct(chosen.iloc[:, ::-1])


def test_pickling(blobs, quick):
    selector = LSCAE(3, **quick).fit(blobs.X)
    again = pickle.loads(pickle.dumps(selector))
    panel = selector.transform(blobs.X)
    np.testing.assert_array_equal(again.transform(blobs.X), panel)
    np.testing.assert_array_equal(again.reconstruct(panel), selector.reconstruct(panel))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"batch_size": 2}, r"'batch_size' parameter of LSCAE must be an int in the range \[3, inf\)"),
        ({"n_init": 0}, "'n_init' parameter of LSCAE must be an int"),
        ({"max_epochs": 1.5}, "'max_epochs' parameter of LSCAE must be an int"),
        ({"scale": "minmax"}, "'scale' parameter of LSCAE must be a str among"),
        ({"random_state": "x"}, "'random_state' parameter of LSCAE"),
    ],
)
def test_bad_parameters_get_a_sentence(blobs, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LSCAE(2, **parameters).fit(blobs.X)


def test_callbacks_must_be_functions(blobs):
    with pytest.raises(TypeError, match="callbacks takes functions of an epoch's record; got 3"):
        LSCAE(2, callbacks=[3]).fit(blobs.X)
