"""Failures of `eigsh` that adversarial solves have found, each by its smallest example."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

import splitmerge as sm


@pytest.mark.parametrize("question", [{"which": "SM"}, {"sigma": 0}], ids=str)
@pytest.mark.parametrize("padding", [0, 60])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_eigsh_of_a_gram_matrix_with_tiny_eigenvalues(kind, padding, question):
    """SciPy returns; the eigenvalues next to zero are lost in the rounding of the largest."""
    X = np.random.default_rng(0).standard_normal((100, 100)) * 1.3 ** -np.arange(100)
    A = np.pad(X.T @ X, ((0, padding), (0, padding)))
    w, v = sm.eigsh(kind(A), k=4, rng=0, **question)
    assert np.abs(w).max() <= 1e-12
    assert np.abs(A @ v - v * w).max() <= 1e-11


def test_every_pair_of_a_sparse_M_near_underflow():
    """The scale of M is that of the eigenvalues."""
    M = sp.csr_array(np.diag([1.0, 1.0, 2.0]) * 1e-40)
    with pytest.warns(RuntimeWarning, match="k >= N"):
        values, _ = sm.eigsh(np.diag([1.0, 2.0, 3.0]), 3, M)
    np.testing.assert_allclose(values, [1e40, 1.5e40, 2e40])


def test_one_side_of_a_sigma_among_eigenvalues():
    """σ is moved off them for the sake of accuracy, and must not be moved past those that are wanted."""
    near = 5 + 1e-10 * np.array([-1, -2, -3, 1, 1000, 2000, 2001])
    d = np.r_[near, np.linspace(-1, 3.9, 95), np.linspace(6, 10, 3)]
    values = sm.eigsh(np.diag(d), k=3, sigma=5.0, which="SA", return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(values) - 5, [-3e-10, -2e-10, -1e-10], atol=1e-14)


def test_buckling_with_an_inverse_that_underflows():
    n = 178
    K, M = np.diag(np.linspace(1, 2, n)), np.diag(np.linspace(1, 3, n)) * 3e-151
    values = sm.eigsh(K, 1, M, sigma=1e-150, which="SA", mode="buckling", return_eigenvectors=False)
    assert np.abs(values - K.diagonal() / M.diagonal()).min() <= 1e-10 * np.abs(values[0])


@pytest.mark.parametrize("sigma", [1e-6, 1e-3])
@pytest.mark.parametrize(("which", "mode"), [("BE", "normal"), ("LA", "normal"), ("LM", "cayley"), ("LA", "cayley")])
def test_eigsh_next_to_a_multiple_zero(which, mode, sigma):
    """Rows of A without entries were scaled by σ, which made a well-conditioned M look singular."""
    n, d = 32, np.zeros(32)
    d[5:] = np.random.default_rng(1).standard_normal(n - 5)
    A = sp.csr_array(sp.diags_array(d))
    M = sp.diags_array([np.full(n - 1, 1 / 6), np.full(n, 2 / 3), np.full(n - 1, 1 / 6)], offsets=[-1, 0, 1])
    options = {"M": sp.csc_array(M), "sigma": sigma, "which": which, "mode": mode, "return_eigenvectors": False}
    np.testing.assert_allclose(sm.eigsh(A, 3, **options), eigsh(sp.csc_array(A), 3, **options), atol=1e-12)


@pytest.mark.parametrize("mode", ["normal", "cayley"])
@pytest.mark.parametrize("which", ["LM", "LA", "SA"])
@pytest.mark.parametrize("n", [8, 20])
def test_eigsh_of_a_graded_pair(n, which, mode):
    """An M over 30 decades with a unit diagonal in other units: small rows were taken for rounding of large ones."""
    rng = np.random.default_rng(n)
    G, H = rng.standard_normal((2, n, n))
    G, H = G + G.T, H @ H.T / n + np.eye(n)
    g = np.logspace(0, -15, n)
    A, M = (g[:, None] * X * g for X in (G, H))
    w, v = sm.eigsh(A, k=2, M=M, sigma=-0.1, which=which, mode=mode)
    true = scipy.linalg.eigvalsh(G, H)
    assert np.abs(true[:, None] - w).min(axis=0).max() < 1e-9
    np.testing.assert_allclose(w, eigsh(A, k=2, M=M, sigma=-0.1, which=which, mode=mode)[0], rtol=1e-8)
    np.testing.assert_allclose(v.T @ M @ v, np.eye(2), atol=1e-9)


@pytest.mark.parametrize(("which", "k"), [("SA", 3), ("SA", 21), ("BE", 6)])
def test_eigsh_with_one_small_eigenvalue_of_M(which, k):
    """Neither a search nor LAPACK alone reached the residual of rounding; SciPy returns."""
    n = 30
    for seed in range(6):
        rng = np.random.default_rng(seed)
        Q, A = np.linalg.qr(rng.standard_normal((n, n)))[0], rng.standard_normal((n, n))
        M = (Q * np.r_[np.ones(n - 1), 1e-5]) @ Q.T
        A, M = A + A.T, (M + M.T) / 2
        np.testing.assert_allclose(
            sm.eigsh(A, k, M=M, which=which, rng=seed)[0], eigsh(A, k, M=M, which=which)[0], rtol=1e-7, atol=1e-6
        )


@pytest.mark.parametrize(
    ("n", "copies", "values", "sigma", "k"), [(162, 36, (2, 19, 20), 0.65, 6), (105, 29, (6, 20, 29), 5.41, 12)]
)
def test_copies_on_one_side_of_a_shift(n, copies, values, sigma, k):
    """Pairs that converged in the terms of their search were returned before anything was done about missing ones."""
    for seed in (0, 8):
        rng = np.random.default_rng(seed)
        d = np.r_[np.full(copies, values[0]), rng.choice(values[1:], n - copies)].astype(float)
        A = sp.csr_array(np.diag(rng.permutation(d)))
        for tol in (0, 1e-3):
            w = sm.eigsh(A, k, sigma=sigma, which="LA", tol=tol, rng=seed, return_eigenvectors=False)
            np.testing.assert_allclose(w, values[0], rtol=max(tol, 1e-10))


def test_transformed_values_of_eigenvalues_at_the_shift():
    A = np.array([[0, 0, 0, 0], [0, -4, 0, 2], [0, 0, 0, 0], [0, 2, 0, -1]])
    w = sm.eigsh(sp.csr_array(A), 3, sigma=0.0, which="SM", rng=0, return_eigenvectors=False)
    assert np.abs(w - -5).min() < 1e-12


@pytest.mark.parametrize(("n", "k", "kappa"), [(60, 58, 1e4), (36, 21, 1e4), (36, 12, 1e6)])
@pytest.mark.parametrize("shifted", [True, False], ids=["sigma", "SM"])
def test_most_of_a_spectrum_next_to_a_shift(n, k, kappa, shifted):
    """ArpackNoConvergence where SciPy returns: residuals of LAPACK and of the search were above 100 roundings."""
    rng = np.random.default_rng(0)
    A = np.diag(rng.integers(-3, 4, n) * 1.0)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    M = (Q * np.geomspace(1, kappa, n)) @ Q.T
    M = (M + M.T) / 2
    exact = scipy.linalg.eigh(A, M, eigvals_only=True)
    sigma = float(exact[0] - 0.1 * (exact[-1] - exact[0])) if shifted else 0.0
    found = sm.eigsh(A, k, M, rng=0, **({"sigma": sigma} if shifted else {"which": "SM"}))[0]
    wanted = np.sort(exact[np.argsort(np.abs(exact - sigma))[:k]])
    np.testing.assert_allclose(np.sort(found), wanted, rtol=0, atol=1e-9)
