"""Searches that took many times the time of LAPACK, or of another solver, and bounds that said nothing."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.planning.decision import Choice


def figures(solution, choice):
    (found,) = (decision.figures for decision in solution.decisions if decision.choice is choice)
    return found


def rotated(d, seed, layers=3):
    """A sparse matrix with these eigenvalues: rotations of random pairs of coordinates."""
    rng, n = np.random.default_rng(seed), d.size
    A = sp.csr_array(sp.diags_array(d))
    for _ in range(layers):
        first, second = rng.permutation(n)[: n - n % 2].reshape(2, -1)
        angle = rng.uniform(0, 2 * np.pi, first.size)
        diagonal = np.ones(n)
        diagonal[first] = diagonal[second] = np.cos(angle)
        entries = np.r_[diagonal, -np.sin(angle), np.sin(angle)]
        rows, columns = np.r_[np.arange(n), first, second], np.r_[np.arange(n), second, first]
        Q = sp.csr_array((entries, (rows, columns)), shape=(n, n))
        A = Q @ A @ Q.T
    return sp.csr_array((A + A.T) / 2)


@pytest.mark.parametrize("n", [1700, 4241])
@pytest.mark.parametrize("turned", [False, True])
def test_a_shift_inside_a_narrow_band_far_from_zero_stays(n, turned):
    """It was moved out of the band, as if it were on an eigenvalue, and the search there found no end."""
    d = 1e6 + np.random.default_rng(0).uniform(0, 0.6, n)
    sigma = 1e6 + 0.1736
    A = rotated(d, 1) if turned else sp.csr_array(sp.diags_array(d))
    solution = sm.solve(A, k=6, sigma=sigma, rng=0)
    assert figures(solution, Choice.SHIFT_INVERT)["sigma"] == pytest.approx(sigma, abs=1e-9)
    assert solution.counts.K_solves < 100
    distances = np.sort(np.abs(d - sigma))[:6]
    np.testing.assert_allclose(np.abs(solution.eigenvalues - sigma), distances, atol=1e-8)


@pytest.mark.parametrize("copies", [2, 4, 6, 60])
@pytest.mark.parametrize("distance", [0.0, 1e-14, 1e-9])
def test_a_shift_on_copies_of_an_eigenvalue_moves(copies, distance):
    """Of which a few Lanczos steps show nothing but copies."""
    d = np.r_[np.full(copies, 2.0), np.linspace(2.5, 9, 1600 - copies)]
    solution = sm.solve(rotated(d, 2), k=copies + 2 if copies < 10 else 3, sigma=2.0 + distance, rng=0)
    expected = np.sort(np.abs(d - 2.0))[: solution.eigenvalues.size]
    np.testing.assert_allclose(np.sort(np.abs(solution.eigenvalues - 2.0)), expected, atol=1e-7)


def test_solves_with_full_factors_count_when_a_search_is_given_up():
    """Eigenvalues down to 1e-55: 41,800 solves with nearly full factors were made before LAPACK, which took 0.7 s."""
    d = 0.9 ** np.arange(1200.0)
    A = rotated(d, 3, layers=6)
    solution = sm.solve(A, k=8, which="smallest", rng=0)
    assert solution.counts.setup.K_solves + solution.counts.K_solves + solution.counts.B_solves < 6000
    assert (np.abs(solution.eigenvalues) <= solution.error_bounds + 1e-14).all()


def test_eigenvalues_below_the_rounding_of_single_precision_have_bounds():
    """Those in terms of 1/λ are infinite there."""
    n, rng = 900, np.random.default_rng(1)
    d, b = rng.uniform(0, 0.6, n) * 1e-5, 10.0 ** rng.uniform(-1, 1, n)
    d[:36] = np.repeat(2.0 ** -np.arange(12), 3)
    A = sp.csr_array(sp.diags_array(b * d)).astype(np.float32)
    solution = sm.solve(A, b.astype(np.float32), k=2, which="smallest", tol=1e-3, rng=0)
    assert np.isfinite(solution.error_bounds).all()
    assert (np.abs(solution.eigenvalues - np.sort(d)[:2]) <= solution.error_bounds).all()
