"""The ℓ2,1 norm's bound, and the regression under it in both of its forms."""

import numpy as np
import pytest

from tamis.selectors.reweighting import WeightedRidge, bound_weights, converged, smooth_lengths


@pytest.mark.parametrize("shape", [(20, 9), (9, 20)])
def test_both_forms_of_the_regression_equal_the_formula(shape):
    rng = np.random.default_rng(0)
    X, T, u = rng.normal(size=shape), rng.normal(size=(shape[0], 3)), rng.uniform(0.1, 5, size=shape[1])
    W = np.linalg.inv(X.T @ X + np.diag(u)) @ X.T @ T
    ridge = WeightedRidge(X, u)
    solution = ridge.solve(T)
    assert np.allclose(ridge.residual(T, solution), T - X @ W)
    assert np.allclose(ridge.lengths(solution), np.sqrt((W**2).sum(axis=1)))


def test_the_bound_touches_where_it_was_made_and_lies_above_elsewhere():
    made, others = 0.7, np.linspace(0, 3, 50)
    u = bound_weights(np.array([made]))
    constant = smooth_lengths(np.array([made])) - u * made**2
    assert np.all(u * others**2 + constant >= smooth_lengths(others) - 1e-12)


def test_convergence_is_a_small_change_of_the_objective():
    assert not converged([1.0], 1.0)
    assert not converged([1.0, 0.5], 0.1)
    assert converged([1.0, 0.95], 0.1)


@pytest.mark.parametrize("shape", [(20, 9), (9, 20)])
def test_a_vanishing_penalty_is_solved_up_to_rounding_errors(shape):
    X = 1e12 * np.ones(shape) + np.random.default_rng(0).normal(size=shape)
    ridge = WeightedRidge(X, np.full(shape[1], 1e-3))
    assert np.isfinite(ridge.lengths(ridge.solve(np.ones((shape[0], 2))))).all()
