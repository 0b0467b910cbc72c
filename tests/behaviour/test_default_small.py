"""The default solver on the smallest pairs, on trivial ones, and on pairs of extreme size."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from covering import parametrise
from pairs import pair_of
from strategies import gep

METHODS = {"chosen": None, "accelerated": sm.Accelerated()}
WHICH = ["largest", "smallest", "magnitude", "ends"]
SIZES = {f"{n}-{k}": (n, k) for n in range(1, 6) for k in range(1, n + 1)}
each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
each_which = pytest.mark.parametrize("which", WHICH)


def ordered(values, which, sigma=None):
    """All values, the most wanted first."""
    values = np.sort(values)
    if sigma is not None:
        return values[np.argsort(np.abs(values - sigma), kind="stable")]
    if which == "ends":
        return np.array([values[-1 - i // 2] if i % 2 == 0 else values[i // 2] for i in range(values.size)])
    return {"largest": values[::-1], "smallest": values, "magnitude": values[np.argsort(-np.abs(values))]}[which]


def look(sol, A, B, expected, tol=1e-10):
    B = np.eye(len(A)) if B is None else B
    k = expected.size
    size = max(np.abs(expected).max(), np.abs(gep(A, B)[0]).max())
    U = sol.eigenvectors
    assert sol.converged
    assert U.shape == (len(A), k)
    assert np.abs(np.sort(sol.eigenvalues) - np.sort(expected)).max() <= tol * size + 1e-15
    assert np.abs(U.conj().T @ B @ U - np.eye(k)).max() <= 1e-10
    assert np.abs(A @ U - B @ U * sol.eigenvalues).max() <= 1e-7 * size * np.abs(B).max() + 1e-15
    assert np.isfinite(sol.error_bounds).all()
    assert np.isfinite(sol.angle_bounds).all()


@parametrise(size=SIZES, which=WHICH, method=METHODS, dtype=[float, complex])
def test_every_k(size, which, method, dtype):
    n, k = size
    A, B = pair_of(np.array([4.0, 2.0, -1.0, -0.5, -3.0])[:n], n, dtype)
    expected = ordered(gep(A, B)[0], which)[:k]
    look(sm.solve(A, B, k, which=which, method=method, rng=0), A, B, expected)
    look(sm.solve(sp.csr_array(A), sp.csr_array(B), k, which=which, method=method, rng=1), A, B, expected)
    look(sm.solve(aslinearoperator(A), aslinearoperator(B), k, which=which, method=method, rng=2), A, B, expected)


@parametrise(size=SIZES, method=METHODS, kind=[np.asarray, sp.csr_array], sigma=[-10.0, -0.7, 0.0, 2.0, 3.1, 10.0])
def test_every_k_near_sigma(size, method, kind, sigma):
    n, k = size
    A, B = pair_of(np.array([4.0, 2.0, -1.0, -0.5, -3.0])[:n], n)
    expected = ordered(gep(A, B)[0], None, sigma)[:k]
    look(sm.solve(kind(A), kind(B), k, sigma=sigma, method=method, rng=0), A, B, expected)


TRIVIAL = {
    "zero": lambda n, B: np.zeros((n, n)),
    "B": lambda n, B: B,
    "minus B": lambda n, B: -B,
    "diagonal": lambda n, B: np.diag(np.arange(n, dtype=float) - 1.7),
}


@parametrise(size=SIZES, which=WHICH, method=METHODS, kind=[np.asarray, sp.csr_array, aslinearoperator], make=TRIVIAL)
def test_trivial(size, which, method, kind, make):
    n, k = size
    for B in (pair_of(np.ones(n))[1], np.diag(1 + np.arange(n, dtype=float)), None):
        A = make(n, np.eye(n) if B is None else B)
        expected = ordered(gep(A, np.eye(n) if B is None else B)[0], which)[:k]
        sol = sm.solve(kind(A), None if B is None else kind(B), k, which=which, method=method, rng=0)
        look(sol, A, B, expected, tol=1e-10)


@each_method
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("sigma", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("name", ["zero", "B", "minus B"])
@pytest.mark.parametrize("n", [3, 130])
def test_trivial_near_sigma(n, sigma, name, kind, method):
    B = pair_of(np.ones(n))[1]
    A = TRIVIAL[name](n, B)
    expected = np.full(2, {"zero": 0.0, "B": 1.0, "minus B": -1.0}[name])
    sol = sm.solve(kind(A), kind(B), 2, sigma=sigma, method=method, rng=0)
    assert np.abs(sol.eigenvalues - expected).max() <= 1e-9


@each_method
@pytest.mark.parametrize("certify", [False, True])
@pytest.mark.parametrize("which", ["largest", "magnitude", "ends"])
def test_certified_zero(which, certify, method):
    sol = sm.solve(np.zeros((110, 110)), k=2, which=which, certify=certify, method=method, rng=0)
    assert (sol.eigenvalues == 0).all()


@each_method
@each_which
@pytest.mark.parametrize("n", [4, 120])
@pytest.mark.parametrize("size_A", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("size_B", [1e-150, 1.0, 1e150])
def test_extreme_sizes(n, size_A, size_B, which, method):
    A, B = pair_of(np.linspace(-1.1, 2.0, n), 3)
    expected = ordered(gep(A, B)[0], which)[:3]
    for kind in (np.asarray, sp.csr_array):
        sol = sm.solve(kind(size_A * A), kind(size_B * B), 3, which=which, method=method, rng=0)
        unit = size_A / size_B
        np.testing.assert_allclose(sol.eigenvalues, expected * unit, rtol=1e-9, atol=1e-10 * unit)
        U = sol.eigenvectors * size_B**0.5
        assert np.abs(U.T @ B @ U - np.eye(3)).max() <= 1e-9
        assert (np.abs(sol.eigenvalues / unit - expected) <= sol.error_bounds / unit + 1e-12).all()


@each_method
@pytest.mark.parametrize("sigma", [-2.0, 0.1, 3.0])
@pytest.mark.parametrize("size_A", [1e-150, 1e150])
@pytest.mark.parametrize("size_B", [1e-150, 1.0])
def test_extreme_sizes_near_sigma(size_A, size_B, sigma, method):
    A, B = pair_of(np.linspace(-1.0, 2.0, 120), 3)
    unit = size_A / size_B
    expected = np.sort(ordered(gep(A, B)[0], None, sigma)[:3])
    for kind in (np.asarray, sp.csr_array):
        sol = sm.solve(kind(size_A * A), kind(size_B * B), 3, sigma=sigma * unit, method=method, rng=0)
        np.testing.assert_allclose(np.sort(sol.eigenvalues) / unit, expected, rtol=1e-9, atol=1e-10)
