"""The pairs that the tests solve, each built the same way every time."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

import splitmerge as sm
from strategies import hermitian, unitary

EASY = sm.gallery.synthetic_pair(40, 3.0, rng=1)
HARD = sm.gallery.synthetic_pair(120, 30.0, rng=2)
N = 6


def pair_of(values, seed=0, dtype=float, condition=3.0):
    """A pair with the given eigenvalues and a B of the given condition, exactly Hermitian."""
    rng = np.random.default_rng(seed)
    values = np.asarray(values, dtype=float)
    n = values.size
    X = rng.standard_normal((2, n, n))
    if np.dtype(dtype).kind == "c":
        X = X + 1j * rng.standard_normal((2, n, n))
    P, Q = (np.linalg.qr(M)[0] for M in X)
    R = (P * np.sqrt(np.linspace(1.0, condition, n))) @ Q.conj().T
    # A = RᴴWΛWᴴR with B = RᴴR
    W = np.linalg.qr(X[0] + X[1])[0]
    A = R.conj().T @ (W * values) @ W.conj().T @ R
    B = R.conj().T @ R
    return (A + A.conj().T) / 2, (B + B.conj().T) / 2


def well_separated(n=8, seed=0, dtype=float):
    return pair_of(2.0 ** -np.arange(n), seed, dtype)


def indefinite(n=8, seed=0, dtype=float):
    return pair_of(np.r_[2.0 ** -np.arange(n // 2), -0.75 * 2.0 ** -np.arange(n - n // 2)], seed, dtype)


def pair(n=N, seed=0):
    """A random symmetric A beside a well-conditioned B."""
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, n, n))
    return (A + A.T) / 2, B @ B.T + n * np.eye(n)


def slow():
    """A pair of which even a search needs many products."""
    return pair_of(np.linspace(1.0, 0.0, 300), condition=2.0)


def shifted_pair():
    A, B = EASY
    return A - 0.5 * B, B


def grid(m, dimensions=2, *, free=False):
    """The Laplacian of a grid, with its rim held or free."""
    D = sp.diags_array([-np.ones(m - 1), np.full(m, 2.0), -np.ones(m - 1)], offsets=[-1, 0, 1]).tolil()
    if free:
        D[0, 0] = D[-1, -1] = 1
    K = D
    for _ in range(dimensions - 1):
        K = sp.kronsum(K, D)
    return sp.csr_array(K)


def spectrum(n: int) -> np.ndarray:
    return np.concatenate([[1.0, 0.97], np.linspace(0.95, -0.5, n - 2)])


class Pair(NamedTuple):
    A: np.ndarray
    B: np.ndarray
    vectors: np.ndarray


def make_pair(values: np.ndarray, seed: int, dtype: type = float, kappa_B: float = 10.0) -> Pair:
    """A pair with these eigenvalues, of any sign."""
    n, rng = values.size, np.random.default_rng(seed)
    Q, W = unitary(rng, n, dtype), unitary(rng, n, dtype)
    root = Q * np.geomspace(1, kappa_B**-0.5, n)
    A = root @ (W * values) @ W.conj().T @ root.conj().T
    B = root @ root.conj().T
    vectors = (Q * np.geomspace(1, kappa_B**0.5, n)) @ W
    return Pair(hermitian(A), hermitian(B), vectors)
