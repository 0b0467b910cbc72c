"""The plain Lanczos recurrence and the one with reorthogonalisation."""

import itertools

import numpy as np
import pytest

import splitmerge as sm


@pytest.mark.parametrize("reorthogonalise", [True, False])
def test_a_converged_value_comes_again_without_reorthogonalisation(reorthogonalise):
    A = np.diag(np.r_[np.linspace(0, 1, 199), 10.0])
    states = sm.iterates(A, method=sm.Lanczos(reorthogonalise=reorthogonalise), rng=0)
    process = next(itertools.islice(states, 60, None)).memory
    values, _ = process.ritz(process.steps - 2, process.steps - 1)
    largest, second = np.sort(values)[::-1]
    assert largest == pytest.approx(10)
    assert second == pytest.approx(1 if reorthogonalise else 10, rel=1e-3)


def test_residuals_of_states_are_relative_to_the_product_with_B():
    A, B = sm.gallery.synthetic_pair(60, 50, rng=1)
    for state in itertools.islice(sm.iterates(A, 9 * B, method=sm.Lanczos(), rng=0), 3, 8):
        x = state.x
        value = x @ A @ x / (x @ (9 * B) @ x)
        residual = np.linalg.norm(A @ x - value * 9 * B @ x) / (abs(value) * np.linalg.norm(9 * B @ x))
        assert state.residual == pytest.approx(residual, rel=1e-6)


def test_products_of_states_are_those_of_their_vectors():
    A, B = sm.gallery.synthetic_pair(30, 10, rng=0)
    for state in itertools.islice(sm.iterates(A, B, method=sm.Lanczos(), rng=0), 5):
        np.testing.assert_allclose(state.Ax, A @ state.x, atol=1e-10)
        np.testing.assert_allclose(state.Bx, B @ state.x, atol=1e-10)
