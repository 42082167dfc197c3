import numpy as np

from tamis.selectors.convergence import Convergence


def test_a_fit_in_words():
    text = Convergence(np.array([0.99, 0.5]), np.array([0.99, 0.6]), 1, np.array([-1.0, -2.0])).sentence()
    assert text == (
        "1 of 2 unit(s) settled, mean peak probability 0.74; 1 collision(s) resolved; "
        "J = -2.000, the best of 2 restarts (worst -1.000)."
    )


def test_one_restart_without_collisions():
    text = Convergence(np.array([0.95]), np.array([0.95]), 0, np.array([0.5])).sentence()
    assert text.endswith("no collisions; J = 0.500 (one restart).")


def test_nothing_learnt():
    assert "kept by request" in Convergence(np.array([]), np.array([]), 0, np.array([0.5])).sentence()


def test_a_unit_that_wavers_between_copies_has_settled():
    text = Convergence(np.array([0.5]), np.array([0.98]), 0, np.array([0.5])).sentence()
    assert text.startswith("1 of 1 unit(s) settled, mean peak probability 0.50")
