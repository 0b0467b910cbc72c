"""Extreme eigenvectors of dense pairs by the kernels of LAPACK, against whole decompositions by SciPy."""

import numpy as np
import pytest
import scipy.linalg

from splitmerge.linalg import extreme
from splitmerge.linalg.extreme import extreme_pairs, lower_factor, nearest_pairs

EPS = float(np.finfo(float).eps)


def hermitian(n, rng, *, imaginary):
    M = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if imaginary else 0.0)
    return np.asfortranarray(M + M.conj().T)


def mass(n, rng, *, imaginary):
    M = hermitian(n, rng, imaginary=imaginary)
    return np.asfortranarray(M @ M.conj().T / n + np.eye(n))


def diagonal_of(B):
    return B.diagonal().real.tolist()


def check(A, B, k, largest):
    """Residuals, orthogonality and gaps to rounding errors."""
    L = None if B is None else lower_factor(B, diagonal_of(B))
    found = extreme_pairs(A, B, L, k, largest=largest)
    M, n = np.eye(len(A)) if B is None else B, len(A)
    values = scipy.linalg.eigh(A, M, eigvals_only=True)
    values = values[::-1] if largest else values
    level = 100 * n * EPS * np.abs(values).max() * max(np.linalg.norm(M, 2), 1.0)
    assert np.abs(A @ found.vectors - M @ found.vectors * values[:k]).max() <= level
    assert np.abs(found.vectors.conj().T @ M @ found.vectors - np.eye(k)).max() <= 100 * n * EPS
    expected = np.abs(values[:k] - values[k]) if k < n else np.full(k, np.inf)
    np.testing.assert_allclose(found.gaps, expected, rtol=1e-3, atol=level)


@pytest.mark.parametrize("imaginary", [False, True])
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("identity", [False, True])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (2, 2), (8, 1), (8, 8), (30, 5), (30, 30), (130, 1), (130, 20), (200, 3)])
def test_pairs(n, k, identity, largest, imaginary):
    """One case or more for every branch: drivers, QR values and bisection, triangular solves and LAPACK's reduction."""
    rng = np.random.default_rng(n + k)
    A = hermitian(n, rng, imaginary=imaginary)
    check(A, None if identity else mass(n, rng, imaginary=imaginary), k, largest)


@pytest.mark.parametrize("n", [40, 130])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("values", ["repeated", "graded", "clustered", "two"])
def test_hard_spectra(n, k, values):
    """Equal and close eigenvalues, and tridiagonal matrices that split into blocks."""
    spectrum = {
        "repeated": np.repeat(np.arange(n // 4 + 1.0), 4)[:n],
        "graded": 10.0 ** -np.linspace(0, 12, n),
        "clustered": np.where(np.arange(n) < 6, 1 + 1e-9 * np.arange(n), 0.1 * np.arange(n) / n),
        "two": np.where(np.arange(n) < 3, 1.0, 0.0),
    }[values]
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((n, n)))[0]
    A = (Q * spectrum) @ Q.T
    for M in (np.asfortranarray((A + A.T) / 2), np.asfortranarray(np.diag(spectrum))):
        for largest in (False, True):
            check(M, None, k, largest)


def test_close_eigenvalues_are_bisected_to_the_last_bit(monkeypatch):
    """A bisection that ends early is followed by another where eigenvalues are close."""
    calls = []
    whole = extreme._by_blocks
    monkeypatch.setattr(extreme, "_by_blocks", lambda *args, **options: calls.append(1) or whole(*args, **options))
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((150, 150)))[0]
    for distance, expected in ((1e-2, 0), (1e-7, 1)):
        calls.clear()
        A = (Q * np.r_[1.0, 1.0 - distance, np.linspace(0, 0.5, 148)]) @ Q.T
        check(np.asfortranarray((A + A.T) / 2), None, 1, True)
        assert len(calls) == expected


def test_refused_pivots():
    B = mass(20, np.random.default_rng(0), imaginary=False)
    assert lower_factor(B, diagonal_of(B)) is not None
    assert lower_factor(B, diagonal_of(B), 1.0 + EPS) is None
    B[3, 3] = -1.0
    assert lower_factor(B, diagonal_of(B)) is None
    ones = np.ones((20, 20), order="F")
    assert lower_factor(ones, diagonal_of(ones)) is None


def test_failures_are_none(monkeypatch):
    """Whatever LAPACK reports, the caller is told."""
    A = hermitian(40, np.random.default_rng(0), imaginary=False)
    monkeypatch.setattr(extreme.lapack, "dstein", lambda *_: (np.zeros((40, 2)), 1))
    assert extreme_pairs(A, None, None, 2, largest=True) is None


NEAR_SPECTRA = {
    "random": lambda n, rng: np.sort(rng.standard_normal(n)),
    "repeated": lambda n, rng: np.repeat(np.arange(n // 4 + 1.0), 4)[:n],
    "two": lambda n, rng: np.r_[np.zeros(n // 2), np.ones(n - n // 2)],
    "graded": lambda n, rng: 10.0 ** -np.linspace(0, 8, n),
}


@pytest.mark.parametrize("n", [2, 5, 40, 150])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("sigma", [-5.0, 0.3, 1.0, 100.0])
@pytest.mark.parametrize("name", NEAR_SPECTRA)
def test_nearest(name, sigma, k, n):
    rng, k = np.random.default_rng(n), min(k, n)
    values = NEAR_SPECTRA[name](n, rng)
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    A = np.asfortranarray(Q * values @ Q.T)
    found = nearest_pairs(A, None, k, sigma)
    if found is None:
        # of equal values in a matrix that splits, others than neighbours were chosen
        assert name in ("repeated", "two")
        return
    quotients = (found.vectors * (A @ found.vectors)).sum(axis=0)
    level = 100 * n * EPS * max(np.abs(values).max(), 1.0)
    np.testing.assert_allclose(np.abs(quotients - sigma), np.sort(np.abs(values - sigma))[:k], atol=level)
    assert np.abs(A @ found.vectors - found.vectors * quotients).max() <= level
    assert np.abs(found.vectors.T @ found.vectors - np.eye(k)).max() <= 100 * n * EPS
    if name in ("random", "graded"):
        ranked = values[np.argsort(np.abs(values - sigma), kind="stable")]
        gaps = [np.abs(value - ranked[k:]).min(initial=np.inf) for value in ranked[:k]]
        np.testing.assert_allclose(found.gaps, gaps, atol=level)


@pytest.mark.parametrize("k", [1, 3])
def test_nearest_reciprocals(k):
    """Of (B, A) with a singular B: eigenvalues next to zero have infinite reciprocals."""
    theta = np.r_[np.zeros(10), 1 / np.arange(1.0, 31)]
    Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 40)))
    found = nearest_pairs(np.asfortranarray(Q * theta @ Q.T), None, k, 7.2, inverse=True)
    quotients = (found.vectors * (Q * theta @ Q.T @ found.vectors)).sum(axis=0)
    np.testing.assert_allclose(1 / quotients, [7.0, 8.0, 6.0][:k], rtol=1e-10)
