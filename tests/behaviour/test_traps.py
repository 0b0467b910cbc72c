"""Pairs that once gave a wrong answer that looked right."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import splitmerge as sm
from checking import each_method
from covering import parametrise

SOLVERS = {type(m).__name__: m for m in (sm.Accelerated(), sm.SplitMerge(), sm.MirrorDescent(), sm.Lanczos())}
each_solver = pytest.mark.parametrize("method", SOLVERS.values(), ids=SOLVERS)


def in_turn(combination):
    """Each seed once, and each method once in every four seeds."""
    seed = int(combination["seed"])
    return {seed, (seed // 4, combination["method"])}


@each_method
@pytest.mark.parametrize("seed", range(4))
def test_a_multiple_eigenvalue_where_B_is_tiny(method, seed):
    b = np.array([1e-4, 1e8, 1e-8])
    sol = sm.solve(np.diag(b * [4.0, 2.0, 4.0]), np.diag(b), 2, method=method, rng=seed)
    np.testing.assert_allclose(sol.eigenvalues, [4, 4], rtol=1e-8)


@parametrise(in_turn, method=SOLVERS, seed=range(60))
def test_diagonal_pairs_of_all_scales(method, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 13))
    values, b = rng.integers(1, 5, n).astype(float), 10.0 ** rng.integers(-8, 9, n)
    k = int(rng.integers(1, n + 1))
    sol = sm.solve(np.diag(values * b), np.diag(b), k, method=method, rng=seed)
    np.testing.assert_allclose(sol.eigenvalues, np.sort(values)[::-1][:k], rtol=1e-7)


@each_solver
@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("seed", range(3))
def test_a_congruence_changes_no_eigenvalue(method, which, seed):
    A, B = sm.gallery.synthetic_pair(40, 10, rng=seed)
    D = 2.0 ** np.random.default_rng(seed + 1).integers(-20, 21, 40)
    exact = np.sort(scipy.linalg.eigh(A, B, eigvals_only=True))
    sol = sm.solve(D[:, None] * A * D, D[:, None] * B * D, 3, which=which, method=method, rng=0)
    np.testing.assert_allclose(sol.eigenvalues, exact[::-1][:3] if which == "largest" else exact[:3], rtol=1e-6)
    assert sol.reason is sm.Reason.RESIDUAL


@each_method
@pytest.mark.parametrize("n", [20, 100])
def test_a_start_of_ones_on_a_symmetric_mesh(method, n):
    """The leading mode is odd, and a vector of ones even: without a perturbation it is never seen."""
    h = 1 / (n + 1)
    K = (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)) / h
    M = (4 * np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)) * h / 6
    top = scipy.linalg.eigh(K, M, eigvals_only=True)[-1]
    sol = sm.solve(K, M, x0=np.ones(n), method=method, rng=0, tol=1e-7)
    assert sol.eigenvalues[0] == pytest.approx(top, rel=1e-9)


@each_solver
def test_starts_that_leave_a_multiplicity_out(method):
    sol = sm.solve(np.diag([3.0, 3.0, 2.0, 1.0]), None, 2, x0=np.eye(4)[:, [0, 2]], method=method, rng=0)
    np.testing.assert_allclose(sol.eigenvalues, [3, 3], rtol=1e-10)
    d = np.r_[3.0, 2.9999, 2.9998, np.linspace(2.99, 1, 297)]
    sol = sm.solve(np.diag(d), None, 3, x0=np.eye(300)[:, [0, 1, 7]], method=method, rng=0)
    np.testing.assert_allclose(sol.eigenvalues, d[:3], rtol=1e-10)


@each_solver
def test_negative_eigenvalues_after_deflation(method):
    sol = sm.solve(np.diag(np.arange(1.0, 31)), None, 14, which="smallest", method=method, rng=0)
    np.testing.assert_allclose(sol.eigenvalues, np.arange(1.0, 15), rtol=1e-8)
    for seed in range(10):
        sol = sm.solve(np.diag(1 + 1e-6 * np.arange(6)), None, 6, which="smallest", method=method, rng=seed)
        np.testing.assert_allclose(sol.eigenvalues, 1 + 1e-6 * np.arange(6), rtol=1e-8)


def test_a_step_that_is_too_long_diverges_and_says_so():
    with pytest.raises(sm.NotConverged, match="smaller step") as caught:
        sm.solve(np.diag([3.0, 2.0, 1.0]), method=sm.GradientDescent(stepsize=5.0), rng=0)
    assert caught.value.solution.reason is sm.Reason.DIVERGED
    assert np.isfinite(caught.value.solution.eigenvalues).all()


@pytest.mark.parametrize("seed", range(30))
def test_error_bounds_hold_for_a_badly_conditioned_B(seed):
    """The bounds are of the nearest eigenvalue; the oracle itself is good to κ(B) roundings."""
    rng = np.random.default_rng(seed)
    n, kappa = int(rng.integers(1, 8)), 10.0 ** rng.uniform(0, 6)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    B = (Q * np.geomspace(1, 1 / kappa, n)) @ Q.T
    B = (B + B.T) / 2
    A = rng.standard_normal((n, n))
    A = A + A.T
    exact = scipy.linalg.eigh(A, B, eigvals_only=True)
    sol = sm.solve(A, B, n, method=sm.Lanczos(), rng=seed)
    oracle = 10 * n * np.finfo(float).eps * kappa * np.abs(exact).max()
    assert (np.abs(np.sort(sol.eigenvalues) - exact) <= np.sort(sol.error_bounds).max() + oracle).all()
