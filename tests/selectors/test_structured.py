"""What LSCAE and StructurePursuit share: a test of structure first, and a word on filler."""

import numpy as np
import pytest

from tamis import LSCAE, StructurePursuit, choose_k
from tamis.sizes import NoStructureError
from tamis.structure import FewRowsWarning
from tamis.structure.candidates import FillerWarning
from tamis.synthetic import blobs_with_copies

QUICK = {LSCAE: {"max_epochs": 30}, StructurePursuit: {}}
both = pytest.mark.parametrize("selector", [LSCAE, StructurePursuit])


def fit(selector, X, k, **parameters):
    return selector(k, random_state=0, **QUICK[selector], **parameters).fit(X)


@pytest.fixture(scope="module")
def planted():
    """Three informative features and a copy of each, among 60 of nuisance."""
    return blobs_with_copies(60, seed=0, n_samples=300, n_informative=3, n_clusters=4, n_copies=1)


@both
def test_planted_features_are_picked_one_of_each(selector, planted):
    found = fit(selector, planted.X, 3)
    assert sorted(planted.groups[found.selected_]) == [0, 1, 2]
    assert not found.filler_.any()
    assert found.structure_.structured[:6].all()
    assert found.verdict_.trusted


@both
def test_enough_structure_is_no_reason_to_warn(selector, planted, recwarn):
    fit(selector, planted.X, 6)
    assert not [warning for warning in recwarn if issubclass(warning.category, FillerWarning)]


@both
@pytest.mark.filterwarnings("always::tamis.structure.candidates.FillerWarning")
def test_filler_is_told_of_and_marked(selector, planted):
    with pytest.warns(FillerWarning) as caught:
        found = fit(selector, planted.X, 20)
    n_structured, n_filler = found.structure_.n_structured, int(found.filler_.sum())
    assert n_filler == 20 - n_structured > 0
    (warning,) = (entry for entry in caught if entry.category is FillerWarning)
    assert str(warning.message) == (
        f"Of what may be selected, {n_structured} features have structure above chance; filler takes {n_filler} of the "
        f"20 places (see filler_). Select at most {n_structured} features, or collect more rows."
    )
    assert warning.filename == __file__
    np.testing.assert_array_equal(found.filler_, found.support_ & ~found.structure_.structured)
    assert not found.verdict_.trusted
    assert "tell no more of the others" in found.verdict_.reasons[0]


@both
@pytest.mark.filterwarnings("always::tamis.structure.candidates.FillerWarning")
def test_noise_is_told_of(selector):
    X = np.random.default_rng(3).standard_normal((200, 30))
    with pytest.warns(FillerWarning, match="carries structure above chance, so that all of this selection is filler"):
        found = fit(selector, X, 5)
    assert found.filler_.sum() == found.support_.sum() == 5
    assert not found.verdict_.trusted


@both
@pytest.mark.filterwarnings("always::tamis.structure.find.FewRowsWarning")
def test_few_rows_are_told_of(selector, planted):
    with pytest.warns(FewRowsWarning, match="X has 20 rows, too few to tell structure from chance"):
        fit(selector, planted.X[:20], 2)


@both
def test_kept_features_are_no_filler_to_be_told_of(selector, planted, recwarn):
    found = fit(selector, planted.X, 3, must_keep=[40])
    assert found.selected_[0] == 40
    assert not [warning for warning in recwarn if issubclass(warning.category, FillerWarning)]
    assert np.flatnonzero(found.filler_).tolist() == [40]  # the mask does not spare what was asked for
    assert set(planted.groups[found.selected_[1:]]) <= {0, 1, 2}


@both
def test_never_lists_are_obeyed_and_still_explained(selector, planted):
    found = fit(selector, planted.X, 3, never=[0, 1, 2])
    assert sorted(found.selected_) == [3, 4, 5]
    assert found.structure_.structured[:3].all()


@both
def test_features_that_were_not_picked_are_ranked_by_their_evidence(selector, planted):
    found = fit(selector, planted.X, 3)
    rest = found.structure_.order[~np.isin(found.structure_.order, found.selected_)]
    unscored = rest[found.scores_[rest] < 0]
    assert len(unscored) > 50
    assert (np.diff(found.ranking_[unscored]) > 0).all()
    assert found.scores_[found.selected_].min() > found.scores_[unscored].max()


@both
def test_auto_selects_as_many_as_explain_the_structure(selector, rng):
    """Three factors that three features each show, and twenty features of noise."""
    factors = rng.standard_normal((400, 3))
    X = np.c_[np.repeat(factors, 3, axis=1) + 0.4 * rng.standard_normal((400, 9)), rng.standard_normal((400, 20))]
    found = fit(selector, X, "auto")
    assert sorted(found.selected_ // 3) == [0, 1, 2]
    assert choose_k(X).k == 3


@both
def test_auto_wants_structure(selector, rng):
    with pytest.raises(NoStructureError, match=r"no number of features can be suggested\. Check .*or name the number"):
        fit(selector, rng.standard_normal((200, 12)), "auto")


@both
def test_the_same_seed_gives_the_same_picks(selector, planted):
    first, second = (fit(selector, planted.X, 4) for _ in range(2))
    np.testing.assert_array_equal(first.selected_, second.selected_)
    np.testing.assert_array_equal(first.structure_.pvalues, second.structure_.pvalues)


@both
def test_a_second_fit_forgets_the_first(selector, planted):
    found = fit(selector, planted.X, 3)
    assert found.verdict_.trusted
    found.fit(np.random.default_rng(3).standard_normal((200, 30)))
    assert found.structure_.n_structured < 6
    assert not found.verdict_.trusted
