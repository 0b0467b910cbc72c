"""The values nearest to σ, wherever it is; the largest by magnitude and both ends of an indefinite pair."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.run.reason import Reason
from strategies import definite, gep, unitary

METHODS = [None, sm.Accelerated()]
each_method = pytest.mark.parametrize("method", METHODS, ids=["chosen", "accelerated"])
each_kind = pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def pair(values, kappa=50.0, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    n = len(values)
    B = definite(n, kappa, rng, dtype)
    L, W = np.linalg.cholesky(B), unitary(rng, n, dtype)
    A = L @ (W * np.asarray(values)) @ W.conj().T @ L.conj().T
    return (A + A.conj().T) / 2, B


def look(sol, A, B, sigma, k, tol=1e-9):
    every = gep(A, B)[0]
    expected = np.sort(np.abs(every - sigma))[:k]
    scale = np.abs(every).max()
    assert sol.converged
    assert np.abs(np.sort(np.abs(sol.eigenvalues - sigma)) - expected).max() <= tol * scale
    nearest = np.abs(sol.eigenvalues[:, None] - every).min(axis=1)
    assert (nearest <= sol.error_bounds + 1e-12 * scale).all()
    assert np.isfinite(sol.error_bounds).all()
    U = sol.eigenvectors
    assert np.abs(U.conj().T @ B @ U - np.eye(k)).max() <= 1e-9
    assert (np.diff(np.abs(sol.eigenvalues - sigma)) >= -1e-9 * scale).all()


@each_method
@each_kind
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("sigma", [-5.0, -1.2, -0.31, 0.0, 0.205, 2.01, 3.0, 100.0])
@pytest.mark.parametrize("k", [1, 4, 12])
def test_anywhere(sigma, k, kind, method, dtype):
    A, B = pair(np.linspace(-1, 2, 120), dtype=dtype)
    look(sm.solve(kind(A), kind(B), k, sigma=sigma, method=method, rng=0), A, B, sigma, k)


@each_method
@each_kind
@pytest.mark.parametrize("index", [0, 1, 57, 118, 119])
@pytest.mark.parametrize("off", [0.0, 1e-14, 1e-12, 1e-9, 1e-6])
@pytest.mark.parametrize("k", [1, 5])
def test_at_an_eigenvalue(index, off, k, kind, method):
    """1/(λ − σ) of the one that is hit must not drown the others."""
    A, B = pair(np.linspace(-1, 2, 120), kappa=1e4)
    sigma = float(gep(A, B)[0][index] * (1 + off))
    look(sm.solve(kind(A), kind(B), k, sigma=sigma, method=method, rng=0), A, B, sigma, k)


@each_kind
def test_at_an_eigenvalue_of_whole_numbers(kind):
    """A − σB is singular to the last bit."""
    A = np.diag(np.arange(130.0))
    for sigma in (0.0, 1.0, 64.0, 129.0):
        sol = sm.solve(kind(A), k=3, sigma=sigma, method=sm.Accelerated(), rng=0)
        look(sol, A, np.eye(130), sigma, 3)


@each_kind
def test_near_ties_beside_an_eigenvalue_that_is_hit(kind):
    """Where σ has to give way, it is still the one asked for that counts."""
    values = np.r_[0.0, -1.0, 1.0002, 2.0, np.linspace(3, 10, 140)]
    A, B = pair(values)
    sol = sm.solve(kind(A), kind(B), 2, sigma=0.0, method=sm.Accelerated(), rng=0)
    np.testing.assert_allclose(np.sort(sol.eigenvalues), [-1.0, 0.0], atol=1e-9)


@each_kind
@pytest.mark.parametrize("copies", [2, 6, 20])
@pytest.mark.parametrize("k", [1, 4, 8])
def test_at_a_multiple_eigenvalue(copies, k, kind):
    values = np.r_[np.full(copies, 0.5), np.linspace(-1, 0.4, 60), np.linspace(0.6, 2, 60)]
    A, B = pair(values)
    for sigma in (0.5, 0.5 + 1e-10, 0.499):
        look(sm.solve(kind(A), kind(B), k, sigma=sigma, method=sm.Accelerated(), rng=0), A, B, sigma, k)


@each_kind
@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("sigma", [0.5, 0.45])
def test_clusters_around_it(width, sigma, kind):
    values = np.r_[0.5 + width * np.linspace(-1, 1, 6), np.linspace(-1, 0.4, 60), np.linspace(0.6, 2, 60)]
    A, B = pair(values)
    for k in (6, 9):
        look(sm.solve(kind(A), kind(B), k, sigma=sigma, rng=0), A, B, sigma, k)


@each_method
@each_kind
@pytest.mark.parametrize("k", [1, 2, 5, 10])
@pytest.mark.parametrize("which", ["magnitude", "ends"])
@pytest.mark.parametrize("dtype", [float, complex])
def test_indefinite(which, k, kind, method, dtype):
    A, B = pair(np.r_[np.linspace(-2.5, -1, 40), np.linspace(-0.5, 2, 90)], dtype=dtype)
    every = np.sort(gep(A, B)[0])
    if which == "magnitude":
        expected = every[np.argsort(-np.abs(every), kind="stable")][:k]
    else:
        expected = np.array([every[-1 - i // 2] if i % 2 == 0 else every[i // 2] for i in range(k)])
    sol = sm.solve(kind(A), kind(B), k, which=which, method=method, rng=0)
    np.testing.assert_allclose(sol.eigenvalues, expected, atol=1e-9)
    assert (np.abs(sol.eigenvalues - expected) <= sol.error_bounds + 1e-12).all()


@each_method
@pytest.mark.parametrize("least", [1e-6, 1e-9, 1e-11, 1e-13])
@each_kind
def test_a_single_value_next_to_zero(least, kind, method):
    """The largest of (B, A) dominates all others there; it must not be a pretext for what is left of their digits."""
    A, B = pair(np.r_[least, np.linspace(1, 50, 149)], kappa=100.0)
    expected = np.sort(gep(A, B)[0])[:5]
    sol = sm.solve(kind(A), kind(B), 5, which="smallest", method=method, rng=0)
    np.testing.assert_allclose(sol.eigenvalues, expected, atol=1e-10)
    U = sol.eigenvectors
    assert np.abs(U.T @ B @ U - np.eye(5)).max() <= 1e-11
    R = A @ U - B @ U * sol.eigenvalues
    assert np.linalg.norm(R, axis=0).max() <= 1e-6 * np.linalg.norm(B @ U, axis=0).max()


def neumann(n, m):
    def line(size):
        main = np.r_[1.0, np.full(size - 2, 2.0), 1.0]
        return sp.diags_array([-np.ones(size - 1), main, -np.ones(size - 1)], offsets=[-1, 0, 1])

    return sp.kronsum(line(n), line(m), format="csr")


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize("options", [{"which": "smallest"}, {"sigma": 0.0}, {"which": "smallest", "certify": True}])
def test_free_floating(copies, dense, options):
    """A has as many zero modes as there are parts; they belong to the smallest."""
    A = sp.csr_array(sp.block_diag([neumann(14, 15)] * copies))
    B = sp.diags_array(1.0 + np.arange(A.shape[0]) % 3, format="csr")
    expected = np.sort(gep(A, B)[0])[:8]
    if dense:
        A, B = A.toarray(), B.toarray()
    for seed in range(3):
        sol = sm.solve(A, B, 8, method=sm.Accelerated(), rng=seed, **options)
        np.testing.assert_allclose(sol.eigenvalues, expected, atol=1e-10)
        assert np.abs(sol.eigenvectors.T @ (B @ sol.eigenvectors) - np.eye(8)).max() <= 1e-10


@pytest.mark.parametrize("seed", range(6))
def test_rounding_is_no_excuse_where_inverse_iteration_does_better(seed):
    """Values next to σ that are small beside ‖A‖: rounding of A would excuse residuals far above the tolerance."""
    n = 400
    stiff = sp.diags_array(np.geomspace(1.0, 1e9, n))
    chain = sp.diags_array([-np.ones(n - 1), np.full(n, 2.0), -np.ones(n - 1)], offsets=[-1, 0, 1])
    sol = sm.solve(sp.csr_array(stiff + chain), k=30, sigma=10.0, rng=seed, method=sm.Accelerated())
    assert sol.reason is Reason.RESIDUAL
    assert sol.residuals.max() <= 1e-8


@pytest.mark.parametrize("mirror", [1, -1])
def test_distances_are_from_the_shift_that_was_asked_for(mirror):
    """On an eigenvalue σ is moved by a thousandth of the gap, which must not decide between −1 and 1.0005."""
    d = mirror * np.r_[0.0, -1.0, 1.0005, np.linspace(20, 60, 597)]
    sol = sm.solve(sp.csr_array(sp.diags_array(d)), k=2, sigma=0.0, rng=0)
    np.testing.assert_allclose(sol.eigenvalues, [0.0, -mirror], atol=1e-9)
