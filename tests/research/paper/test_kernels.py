import numpy as np
import pytest

from research.paper.kernels import (
    algebraic_connectivity,
    contributions,
    diffusion_operator,
    gaussian_kernel,
    second_diffusion_pair,
)


@pytest.fixture
def X(rng):
    return rng.normal(size=(12, 3))


def test_the_kernel_is_its_formula(X):
    distances = np.array([[np.linalg.norm(a - b) for b in X] for a in X])
    nearest = [min(d for other, d in enumerate(row) if other != i) for i, row in enumerate(distances)]
    np.testing.assert_allclose(gaussian_kernel(X), np.exp(-(distances**2) / (2 * max(nearest) ** 2)), atol=1e-12)


def test_the_second_pair_is_that_of_the_diffusion_operator(X):
    kernel = gaussian_kernel(X)
    value, vector = second_diffusion_pair(kernel)
    np.testing.assert_allclose(diffusion_operator(kernel) @ vector, value * vector, atol=1e-10)
    assert value == pytest.approx(np.sort(np.linalg.eigvals(diffusion_operator(kernel)).real)[-2])
    assert np.linalg.norm(vector) == pytest.approx(1)


def test_connectivity_is_the_second_smallest_eigenvalue(X):
    kernel = gaussian_kernel(X)
    laplacian = np.diag(kernel.sum(axis=1)) - kernel
    assert algebraic_connectivity(kernel) == pytest.approx(np.sort(np.linalg.eigvalsh(laplacian))[1])


def test_contributions_are_quadratic_forms_of_unit_columns(X):
    kernel = gaussian_kernel(X)
    P = diffusion_operator(kernel)
    for column, value in zip(X.T, contributions(X, kernel), strict=True):
        f = (column - column.mean()) / np.linalg.norm(column - column.mean())
        assert value == pytest.approx(f @ P @ f)
