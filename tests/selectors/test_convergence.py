import numpy as np
import pytest

from tamis import LSCAE
from tamis.base import UnstableSelectionWarning
from tamis.selectors.convergence import Convergence


def convergence(peaks=(0.95,), settled=(0.95,), collisions=0, objectives=(0.5,), **further):
    arrays = (np.array(peaks), np.array(settled), collisions, np.array(objectives))
    return Convergence(*arrays, **({"objective": min(objectives)} | further))


def test_a_fit_in_words():
    text = convergence([0.99, 0.5], [0.99, 0.6], 1, [-1.0, -2.0]).sentence()
    assert text == (
        "1 of 2 unit(s) settled, mean peak probability 0.74; 1 collision(s) resolved; "
        "J = -2.000, the best of 2 restarts (worst -1.000)."
    )


def test_one_restart_without_collisions():
    assert convergence().sentence().endswith("no collisions; J = 0.500 (one restart).")


def test_nothing_learnt():
    assert "kept by request" in convergence([], []).sentence()


def test_a_unit_that_wavers_between_copies_has_settled():
    text = convergence([0.5], [0.98]).sentence()
    assert text.startswith("1 of 1 unit(s) settled, mean peak probability 0.50")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"eliminated": True}, "elimination"),
        ({"exchanges": 2}, "2 exchange(s)"),
        ({"eliminated": True, "exchanges": 1}, "elimination and 1 exchange(s)"),
    ],
)
def test_what_became_of_the_units_choice(changes, words):
    assert convergence(objective=0.25, **changes).sentence().endswith(f"(one restart), J = 0.250 after {words}.")


def test_what_other_rows_would_find():
    stable = convergence(found_again=np.array([0.9, 0.6]))
    assert stable.sentence().endswith(" 2 of 2 column(s) would be found again in other rows.")
    assert not stable.unstable
    stable.warn()
    unstable = convergence(found_again=np.array([0.9, 0.4]))
    assert unstable.sentence().endswith(" 1 of 2 column(s) would be found again in other rows.")
    with pytest.warns(UnstableSelectionWarning, match=r"may not be trusted: 1 of 2 column\(s\) would be found again"):
        unstable.warn()
    assert not convergence().unstable


def test_noise_is_warned_of_and_the_check_can_be_left_out(rng, quick):
    X = rng.standard_normal((100, 30))
    with pytest.warns(UnstableSelectionWarning, match="n_init= larger may help; see found_again_ for each column"):
        selector = LSCAE(3, **quick).fit(X)
    assert selector.found_again_.shape == (3,)
    silent = LSCAE(3, check_stability=False, **quick).fit(X)
    assert silent.found_again_ is None
    assert silent.selected_.tolist() == selector.selected_.tolist()
