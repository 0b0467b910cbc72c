"""Pairs next to σ whose factors fill in: found in one basis, with a probe in place of the counts."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import splitmerge as sm
from rotated import MASSES, N, pair
from splitmerge.linalg.rounding import by_distance


@pytest.fixture
def taken(recorded):
    """What the short way returned, solve by solve."""
    return recorded("by_inverse")


@pytest.fixture
def filling(monkeypatch):
    """No count is cheap."""
    monkeypatch.setattr("splitmerge.express.sparse.pair.is_surely_sparse", lambda K: False)


def check(A, B, values, solution, k, sigma):
    """The right values within their bounds, B-orthonormal vectors and small residuals."""
    assert solution.verdict == "probed"
    expected = values[by_distance(values, sigma)[:k]]
    rounding = 1e-13 * np.abs(values).max()
    distances = np.abs(solution.eigenvalues - sigma), np.abs(expected - sigma)
    assert (np.abs(distances[0] - distances[1]) <= solution.error_bounds + rounding).all()
    assert (np.abs(values[:, None] - solution.eigenvalues).min(axis=0) <= solution.error_bounds + rounding).all()
    V = solution.eigenvectors
    BV = V if B is None else B @ V
    np.testing.assert_allclose(V.T @ BV, np.eye(k), atol=1e-10)
    residual = np.linalg.norm(A @ V - BV * solution.eigenvalues, axis=0)
    assert (residual <= 1.01e-8 * np.abs(solution.eigenvalues) * np.linalg.norm(BV, axis=0)).all()


@pytest.mark.parametrize("masses", MASSES)
@pytest.mark.parametrize("sigma", [-3.0, 17.23, 252.9, 300.0])
@pytest.mark.parametrize("k", [1, 4, 12])
def test_those_next_to_a_shift(k, sigma, masses, taken, filling):
    values = np.linspace(1, 40, N) ** 1.5
    A, B = pair(values, masses)
    solution = sm.solve(A, B, k, sigma=sigma, rng=0)
    assert taken[-1] is solution
    check(A, B, values, solution, k, sigma)


@pytest.mark.parametrize("copies", [2, 3, 5])
@pytest.mark.parametrize("masses", MASSES)
def test_every_copy_of_a_multiple_eigenvalue(masses, copies, taken, filling):
    values = np.sort(np.r_[np.linspace(1, 40, N - copies) ** 1.5, np.full(copies, 20.1)])
    A, B = pair(values, masses)
    solution = sm.solve(A, B, copies + 2, sigma=20.0, rng=0)
    check(A, B, values, solution, copies + 2, 20.0)


def test_a_cube(taken):
    """Most eigenvalues three or six times, without any change of what is cheap."""
    A, B = sm.gallery.element_laplacian((11, 11, 11))
    exact = sm.gallery.element_laplacian_values((11, 11, 11))
    for sigma, k in ((60.0, 5), (130.0, 8)):
        solution = sm.solve(A, B, k, sigma=sigma, rng=0)
        assert taken[-1] is solution
        check(A, B, exact, solution, k, sigma)


def test_the_probe_is_counted(taken, filling):
    A, B = pair(np.linspace(1, 40, N) ** 1.5, "consistent")
    solution = sm.solve(A, B, 4, sigma=17.23, rng=0)
    monitoring = solution.counts.monitoring
    assert taken[-1] is solution
    # four solves for error bounds, and at least twelve of the probe
    assert monitoring.K_solves >= 4 + 12
    assert "random-start probe" in solution.verdict.why


@pytest.mark.parametrize("asked", [{"certify": True}, {"tol": 1e-4}, {"which": "smallest", "sigma": None}], ids=str)
def test_what_is_left_to_the_pipeline(asked, taken, filling):
    """A certificate, a loose tolerance, and an end of the spectrum."""
    values = np.linspace(1, 40, N) ** 1.5
    A, B = pair(values, MASSES[0])
    options = {"sigma": 17.23} | asked
    solution = sm.solve(A, B, 4, **options, rng=0)
    assert taken == [None]
    expected = values[:4] if options["sigma"] is None else values[by_distance(values, 17.23)[:4]]
    np.testing.assert_allclose(np.sort(solution.eigenvalues), np.sort(expected), rtol=1e-4)


def test_an_indefinite_B_is_refused(taken, filling):
    A, B = pair(np.linspace(1, 40, N) ** 1.5, MASSES[-1])
    B = sp.csr_array(B - 1.5 * float(scipy.linalg.eigvalsh(B.toarray())[0]) * sp.eye_array(N))
    with pytest.raises(sm.NotPositiveDefinite):
        sm.solve(A, B, 3, sigma=17.23, rng=0)
    assert taken == [None]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(1, 9),
    masses=st.sampled_from(MASSES),
    copies=st.integers(1, 4),
    width=st.sampled_from([0.0, 1e-12, 1e-9, 1e-6, 1e-3]),
)
def test_random_spectra(seed, k, masses, copies, width, filling):
    """Clusters of any width around which σ is anywhere."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-5, 30, N // copies + 1)
    values = np.sort((centres[:, None] + width * rng.uniform(-1, 1, copies)).ravel()[:N])
    A, B = pair(values, masses)
    sigma = float(rng.choice([rng.uniform(-8, 33), values[rng.integers(N)] + 1e-3]))
    solution = sm.solve(A, B, k, sigma=sigma, rng=0)
    assert solution.converged
    expected = values[by_distance(values, sigma)[:k]]
    apart = np.abs(np.abs(np.sort(np.abs(solution.eigenvalues - sigma)) - np.sort(np.abs(expected - sigma))))
    assert apart.max() <= solution.error_bounds.max() + 1e-6 * np.abs(values).max() * (width > 0) + 1e-11
