"""Regressions: pairs of extreme size, bounds and residuals at the level of rounding, badly scaled matrices."""

import itertools

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from plain_matrices import rotated


class TestOutlier:
    """One eigenvalue of −1e9 beside others in [−2, 2]: a tolerance relative to |λ + η| accepted anything."""

    values = np.r_[-1e9, np.linspace(-2, 2, 299)]

    @pytest.mark.parametrize("certify", [False, True])
    @pytest.mark.parametrize("make", [np.diag, rotated], ids=["diagonal", "rotated"])
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_both_ends(self, which, make, certify):
        sol = sm.solve(make(self.values), k=5, which=which, certify=certify, rng=0)
        exact = np.sort(self.values)[:5] if which == "smallest" else np.sort(self.values)[::-1][:5]
        np.testing.assert_allclose(sol.eigenvalues, exact, rtol=0, atol=1e-5)
        assert (np.abs(sol.eigenvalues - exact) <= sol.error_bounds).all()
        assert sol.verdict == "certified" or not certify

    @pytest.mark.parametrize("k", [1, 5])
    def test_with_a_shift(self, k):
        sol = sm.solve(rotated(self.values), k=k, sigma=3.0, rng=0)
        np.testing.assert_allclose(sol.eigenvalues, np.sort(self.values)[::-1][:k], rtol=0, atol=1e-5)


@pytest.mark.parametrize("k", [5, 6, 8])
@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("kinds", [(np.asarray, aslinearoperator), (aslinearoperator, aslinearoperator)])
def test_an_operator_that_is_formed_is_equilibrated(kinds, which, k):
    """diag(B) spans sixteen decades, and the largest eigenvalue is sixfold."""
    rng, n = np.random.default_rng(0), 120
    d, values = 10 ** rng.uniform(-4, 4, n), np.r_[np.full(6, 5.0), np.linspace(0.1, 4, n - 6)]
    A, B = (make(M) for make, M in zip(kinds, (d[:, None] * rotated(values) * d, np.diag(d**2)), strict=True))
    sol = sm.solve(A, B, k, which=which, rng=0)
    exact = np.sort(values)[:k] if which == "smallest" else np.sort(values)[::-1][:k]
    np.testing.assert_allclose(sol.eigenvalues, exact, rtol=1e-7)


class TestZero:
    @pytest.mark.parametrize("question", [{}, {"which": "smallest"}, {"sigma": 0.0}, {"which": "ends"}], ids=str)
    @pytest.mark.parametrize("method", [None, sm.LocallyOptimal()], ids=["chosen", "LOBPCG"])
    def test_a_zero_A(self, method, question):
        if method is not None and ("sigma" in question or question.get("which") == "ends"):
            pytest.skip("LOBPCG finds the largest or the smallest")
        for A in (np.zeros((40, 40)), sp.csr_array((200, 200))):
            sol = sm.solve(A, k=3, method=method, rng=0, **question)
            assert (sol.eigenvalues == 0).all()
            assert (sol.residuals == 0).all()
            np.testing.assert_allclose(sol.eigenvectors.T @ sol.eigenvectors, np.eye(3), atol=1e-12)

    def test_no_negative_zero(self):
        sol = sm.solve(np.diag([0.0, 0.0, 1.0]), k=2, which="smallest")
        assert not np.signbit(sol.eigenvalues).any()


class TestSizes:
    def test_lapack_returned_fewer_pairs_than_asked_for(self):
        """Of 32 eigenvalues 1/1171.5 that are equal up to rounding, a subset driver found none."""
        v = np.random.default_rng(802).standard_normal(33)
        A, B = 5.0 * np.outer(v, v), np.diag(np.linspace(1.0, 10.0, 33))
        for sigma in (-1171.5, -3e5, -2.0):
            sol = sm.solve(A, B, k=1, sigma=sigma, rng=0)
            assert sol.eigenvalues.shape == (1,)
            np.testing.assert_allclose(sol.eigenvalues, 0, atol=1e-9)

    @pytest.mark.parametrize("B", [None, np.eye(40)], ids=["I", "B"])
    def test_a_preconditioner_of_a_wrong_size_is_refused_even_if_unused(self, B):
        A = np.diag(np.arange(1.0, 41))
        with pytest.raises(ValueError, match="preconditioner has shape"):
            sm.solve(A, B, preconditioner=np.eye(41))
        with pytest.raises(ValueError, match="diagonal has 41 entries"):
            sm.solve(A, B, diagonal=np.ones(41))


def test_an_operator_is_not_given_what_is_not_finite():
    """A method that diverges, here with steps beyond all bounds, is the method's fault."""
    A, B = sm.gallery.synthetic_pair(30, kappa_B=10, rng=0)
    seen = []

    class Bare:
        shape, dtype = B.shape, B.dtype

        def __matmul__(self, x):
            seen.append(bool(np.isfinite(x).all()))
            return B @ x

    with pytest.raises(sm.NotConverged):
        sm.solve(A, Bare(), method=sm.GradientDescent(sm.Fixed(1e200)), max_steps=50, rng=0)
    assert all(seen)


def test_eigenvalues_that_underflow_have_no_neighbour():
    A, B = 1e-180 * np.diag(np.arange(1.0, 7)), 1e190 * np.eye(6)
    with pytest.raises(ValueError, match="scale A or B"):
        sm.solve(A, B, sigma=1.0)


@pytest.mark.parametrize("k", [1, 3])
def test_a_zero_matrix_is_certified(k):
    sol = sm.solve(np.zeros((56, 56)), np.eye(56), k, method=sm.Accelerated(), certify=True, rng=0)
    assert (sol.eigenvalues == 0).all()
    assert sol.verdict == "certified"


@pytest.mark.parametrize("gap", [1e-7, 1e-6])
def test_a_gap_that_single_precision_does_not_resolve(gap):
    n = 420
    sol = sm.solve(np.eye(n) + gap * np.ones((n, n)) / n, rng=0)
    assert abs(sol.eigenvalues[0] - 1 - gap) <= 1e-12


def test_pairs_that_only_the_given_matrices_determine():
    """The equilibrated A has entries of 1e14, beside which eigenvalues of 1 are lost; A itself has not."""
    k, b = np.array([0, 1e8, 1, 1e8, 0]), np.array([1e-6, 1, 100, 1e-6])
    A = np.diag(k[:-1] + k[1:]) - np.diag(k[1:-1], 1) - np.diag(k[1:-1], -1)
    for kind in (np.asarray, sp.csr_array):
        sol = sm.solve(kind(A), b, k=4)
        U, values = sol.eigenvectors, sol.eigenvalues
        rounding = np.finfo(float).eps * (2e8 + values * 100) * np.linalg.norm(U, axis=0)
        assert (np.linalg.norm(A @ U - values * b[:, None] * U, axis=0) <= 320 * rounding).all()
        np.testing.assert_allclose(U.T @ (b[:, None] * U), np.eye(4), atol=1e-10)


@pytest.mark.parametrize("sigma", [1e3, 1e5, 1e6, 1e8])
def test_bounds_of_close_pairs_far_from_sigma(sigma):
    """Rounding of λ − σ hides the differences of Wilkinson's pairs."""
    W = np.diag(np.abs(np.arange(-10.0, 11))) + np.diag(np.ones(20), 1) + np.diag(np.ones(20), -1)
    sol = sm.solve(W, k=10, sigma=sigma)
    exact = np.linalg.eigvalsh(W)
    assert (np.abs(exact[:, None] - sol.eigenvalues).min(axis=0) <= sol.error_bounds + 1e-14).all()
    assert (np.abs(np.sort(sol.eigenvalues) - exact[-10:]) <= sol.error_bounds.max()).all()


@pytest.mark.parametrize("A", [450 * np.eye(450) - 1, 2 * np.eye(450), np.zeros((450, 450))], ids=["K450", "2I", "0"])
def test_all_eigenvalues_alike_in_mixed_precision(A):
    """Their mean is the largest, and the correction divided by the difference."""
    sol = sm.solve(A, tol=1e-7, rng=783)
    assert sol.eigenvalues[0] == pytest.approx(np.linalg.eigvalsh(A)[-1], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_rounding_of_a_ridge_does_not_widen_a_cluster(seed):
    """Massless unknowns beside a ridge: equilibration makes their rows huge, and with them the noise of every value.

    A start on the fifth eigenvector was certified as the nearest to 0.
    """
    rng, n, mass = np.random.default_rng(seed), 23, 16
    E, R = rng.standard_normal((n, n)), rng.standard_normal((mass, mass))
    A = np.diag(np.linspace(2, 15, n)) + 0.3 * (E + E.T)
    M = R @ R.T / mass + 0.1 * np.eye(mass)
    condensed = A[:mass, :mass] - A[:mass, mass:] @ np.linalg.solve(A[mass:, mass:], A[mass:, :mass])
    values, vectors = scipy.linalg.eigh(condensed, M)
    x0 = np.r_[vectors[:, 4], -np.linalg.solve(A[mass:, mass:], A[mass:, :mass] @ vectors[:, 4])]
    sol = sm.solve(A, scipy.linalg.block_diag(M, np.zeros((7, 7))), sigma=0.0, x0=x0, certify=True, b_policy="ridge")
    assert sol.eigenvalues == pytest.approx(values[np.argmin(np.abs(values))], rel=1e-6)


@pytest.mark.parametrize("n", [500, 5000])
def test_bounds_hold_for_long_rows(n):
    """Rounding of the sum over the row of a hub grows with its length."""
    L = sp.lil_array((n, n))
    L.setdiag(1.0)
    L[0, 1:] = L[1:, 0] = -1
    L[0, 0] = n - 1
    sol = sm.solve(sp.csr_array(L), k=2)
    assert abs(sol.eigenvalues[0] - n) <= sol.error_bounds[0] <= 1e-9 * n


def test_bounds_hold_for_a_large_dense_matrix():
    sol = sm.solve(np.ones((1500, 1500)), k=2)
    assert abs(sol.eigenvalues[0] - 1500) <= sol.error_bounds[0]


@pytest.mark.parametrize("pair", [(np.diag([1.0, 1e308]), np.diag([1.0, 1e-5])), (np.full((3, 3), 1e308), None)])
def test_an_eigenvalue_that_overflows_is_refused(pair):
    with pytest.raises(ValueError, match="beyond the largest number of float64"):
        sm.solve(*pair)


def test_residuals_in_single_precision_are_those_of_the_values_that_are_returned():
    A = np.array([[7, 3 + 2j], [3 - 2j, 7]], np.complex64)
    sol = sm.solve(A)
    u, value = sol.eigenvectors[:, 0].astype(complex), float(sol.eigenvalues[0])
    residual = np.linalg.norm(A.astype(complex) @ u - value * u) / (value * np.linalg.norm(u))
    assert sol.residuals[0] == pytest.approx(residual, rel=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_in_single_precision_are_those_of_the_vectors_that_are_returned(dtype, weighted):
    rng = np.random.default_rng(2)
    A = rng.standard_normal((300, 300)) + 1j * rng.standard_normal((300, 300))
    A = ((A + A.conj().T) / 2).astype(dtype) if dtype is np.complex64 else np.asarray((A + A.T).real, dtype)
    B = np.diag(10 ** rng.uniform(-2, 2, 300)).astype(dtype) if weighted else None
    sol = sm.solve(A, B, k=3, rng=0)
    A, U, values = A.astype(complex), sol.eigenvectors.astype(complex), sol.eigenvalues.astype(float)
    BU = U if B is None else B @ U
    level = np.linalg.norm(A, 1) + np.abs(values) * (1 if B is None else np.linalg.norm(B, 1))
    least = np.finfo(np.float32).eps ** 0.5 * level * np.linalg.norm(U, axis=0)
    sizes = np.maximum(np.abs(values) * np.linalg.norm(BU, axis=0), least)
    assert sol.residuals == pytest.approx(np.linalg.norm(A @ U - BU * values, axis=0) / sizes, rel=1e-2)


def test_a_count_beside_an_eigenvalue_of_zero():
    """Its vector was moved to the other side by no more than its own size: nothing."""
    n = 100
    sol = sm.solve(n * np.eye(n) - np.ones((n, n)), k=3, which="smallest", method=sm.Accelerated(), rng=0)
    np.testing.assert_allclose(sol.eigenvalues, [0, n, n], atol=1e-5)


@pytest.mark.parametrize("n", [6, 8, 16])
@pytest.mark.parametrize("sigma", [1.0, 2.0, 4.0, 3.3])
def test_counts_of_factors_whose_pivots_have_grown(n, sigma):
    """Without pivoting, small pivots next to a double eigenvalue falsified the inertia."""
    A = 2 * np.eye(n) - np.roll(np.eye(n), 1, axis=0) - np.roll(np.eye(n), -1, axis=0)
    distances = np.sort(np.abs(np.linalg.eigvalsh(A) - sigma))
    for k, seed in itertools.product((1, 2, 3), range(3)):
        sol = sm.solve(sp.csr_array(A), k=k, sigma=sigma, method=sm.Accelerated(), rng=seed)
        np.testing.assert_allclose(np.abs(sol.eigenvalues - sigma), distances[:k], atol=1e-7)


def test_a_shift_on_an_eigenvalue_of_an_ill_conditioned_pair():
    n = 200
    A, B = scipy.linalg.toeplitz(0.5 ** np.arange(n)), scipy.linalg.toeplitz(0.9999 ** np.arange(n))
    values = scipy.linalg.eigh(A, B, eigvals_only=True)
    sol = sm.solve(A, B, sigma=values[n // 2], method=sm.Accelerated())
    assert sol.eigenvalues == pytest.approx(values[n // 2], rel=1e-6)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_rows_that_span_hundreds_of_decades(storage):
    """Rayleigh quotient iteration in the user's coordinates ended at the other end of the spectrum."""
    e = np.array([-70.5, 135.7, -79.7, -138.6, 39.8, -126.2, 130.1, 137.4, -36.7, 137.6])
    w = np.array([1.98733, 1.82991, 1.14100, 1.12431, 1.70226, 1.19299, 1.23591, 1.58204, 1.67715, 1.39780])
    d, S = 10.0 ** (e / 2), np.diag(w)
    for i, j in ((0, 1), (0, 2), (0, 9), (2, 3)):
        S[i, j] = S[j, i] = 1e-15
    A = np.triu(S * d * d[:, None])
    sol = sm.solve(storage(A + np.triu(A, 1).T), d * d, k=1, rng=0)
    np.testing.assert_allclose(sol.eigenvalues, 1.98733)


def test_rounding_of_an_equilibrated_operator():
    """B over 28 decades and A as an operator: what rounding allows was that of the A before equilibration."""
    rng = np.random.default_rng(2)
    d = 10.0 ** rng.uniform(-7, 7, 27)
    S = rng.standard_normal((27, 27))
    A, B = (S + S.T) * np.outer(d, d), np.diag(d**2)
    for method in (sm.SplitMerge(), sm.LocallyOptimal(), None):
        sol = sm.solve(aslinearoperator(A), B, 3, method=method, tol=1e-10, rng=0, max_steps=3000)
        U, w = sol.eigenvectors, sol.eigenvalues
        np.testing.assert_allclose(w, np.linalg.eigvalsh(S + S.T)[::-1][:3], rtol=1e-12)
        R = (A @ U - B @ U * w) / d[:, None]
        assert np.linalg.norm(R, axis=0).max() <= 1e-9 * w[0]
