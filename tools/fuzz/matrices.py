"""Hermitian matrices that are hard for eigensolvers: prescribed spectra, graphs, Gram and classical matrices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from .precise import Array, hermitian

Rng = np.random.Generator
Maker = Callable[[Rng, int], Array]


def orthogonal(rng: Rng, n: int) -> Array:
    """A random orthogonal matrix: Haar, or a product of a few Householder reflections."""
    if rng.random() < 0.5:
        return np.linalg.qr(rng.normal(size=(n, n)))[0]
    Q = np.eye(n)
    for _ in range(int(rng.integers(1, 4))):
        v = rng.normal(size=n)
        Q -= np.outer(Q @ v, v) * (2 / (v @ v))
    return Q


def with_spectrum(rng: Rng, values: Array) -> Array:
    """A dense symmetric matrix with these eigenvalues."""
    Q = orthogonal(rng, len(values))
    return hermitian((Q * values) @ Q.T)


def _clusters(rng: Rng, n: int) -> Array:
    centres = rng.uniform(-1, 1, size=max(1, n // 4))
    return rng.choice(centres, n) + 10.0 ** rng.uniform(-10, -3) * rng.uniform(-1, 1, n)


def _multiple(rng: Rng, n: int) -> Array:
    return np.repeat(rng.normal(size=n), int(rng.integers(2, 9)))[:n]


def _outlier(rng: Rng, n: int) -> Array:
    values = rng.uniform(0.5, 2, n)
    values[0] = rng.choice([1e9, -1e9, 1e-9, -1e-9])
    return values


def _pairs(rng: Rng, n: int) -> Array:
    half = rng.uniform(0.1, 1, n // 2)
    return np.concatenate([half, -half, np.zeros(n % 2)])


def _with_zeros(rng: Rng, n: int) -> Array:
    values = rng.uniform(0, 1, n)
    values[: int(rng.integers(0, n + 1))] = 0
    return values


SPECTRA: dict[str, Maker] = {
    "uniform": lambda rng, n: rng.uniform(-1, 1, n),
    "positive": lambda rng, n: rng.uniform(0.1, 1, n),
    "graded": lambda rng, n: np.geomspace(10.0 ** -rng.uniform(1, 12), 1, n),
    "clusters": _clusters,
    "multiple": _multiple,
    "zeros": _with_zeros,
    "outlier": _outlier,
    "pairs": _pairs,
    "equal": lambda rng, n: np.full(n, rng.normal()),
    "zero": lambda rng, n: np.zeros(n),
    "two": lambda rng, n: rng.choice([1.0, rng.normal()], n),
}


def spectrum(rng: Rng, n: int) -> Array:
    """A random rotation of a prescribed spectrum."""
    return with_spectrum(rng, SPECTRA[str(rng.choice(list(SPECTRA)))](rng, n))


def laplacian(weights: Array) -> Array:
    """D − W of a weighted graph."""
    W = np.triu(weights, 1)
    W = W + W.T
    return np.diag(W.sum(axis=0)) - W


def _edges(rng: Rng, n: int) -> Array:
    kind = rng.choice(["path", "star", "complete", "bipartite", "components", "cycle"])
    W = np.zeros((n, n))
    if kind == "path" or kind == "cycle":
        W += np.eye(n, k=1)
        W[0, -1] = kind == "cycle"
    elif kind == "star":
        W[0, 1:] = 1
    elif kind == "complete":
        W[:] = 1
    elif kind == "bipartite":
        W[: n // 3, n // 3 :] = 1
    else:
        part = rng.integers(0, max(2, n // 3), n)
        W[part[:, None] == part] = 1
        isolated = rng.random(n) < 0.2
        W[isolated], W[:, isolated] = 0, 0
    return W


def graph(rng: Rng, n: int) -> Array:
    """The Laplacian of a graph, weighted or not, or of a grid, whose eigenvalues are multiple."""
    side = int(np.sqrt(n))
    if side > 1 and rng.random() < 0.3:
        L = laplacian(np.eye(side, k=1))
        return np.kron(L, np.eye(side)) + np.kron(np.eye(side), L)
    W = _edges(rng, n)
    return laplacian(W * 10.0 ** rng.uniform(-6, 6, (n, n)) if rng.random() < 0.3 else W)


def gram(rng: Rng, n: int) -> Array:
    """XᵀX with a rank below n."""
    X = rng.normal(size=(int(rng.integers(0, n + 1)), n))
    return hermitian(X.T @ X)


def _wilkinson(n: int) -> Array:
    return np.diag(abs(np.arange(n) - (n - 1) / 2)) + np.eye(n, k=1) + np.eye(n, k=-1)


def _clement(n: int) -> Array:
    j = np.arange(1.0, n)
    off = np.sqrt(j * (n - j))
    return np.diag(off, 1) + np.diag(off, -1)


def _arrow(n: int) -> Array:
    M = np.diag(np.arange(1.0, n + 1))
    M[0, 1:] = M[1:, 0] = 1
    return M


CLASSICS: dict[str, Callable[[int], Array]] = {
    "hilbert": lambda n: scipy.linalg.hilbert(n),
    "wilkinson": _wilkinson,
    "clement": _clement,
    "arrow": _arrow,
    "toeplitz": lambda n: scipy.linalg.toeplitz(0.9 ** np.arange(n)),
    "laplace": lambda n: scipy.linalg.toeplitz(np.r_[2.0, -1.0, np.zeros(n)][:n]),
    "min": lambda n: np.minimum.outer(np.arange(1.0, n + 1), np.arange(1.0, n + 1)),
}


def classic(rng: Rng, n: int) -> Array:
    """A classical test matrix."""
    return CLASSICS[str(rng.choice(list(CLASSICS)))](n)


def diagonal(rng: Rng, n: int) -> Array:
    """A diagonal matrix, the values in random order."""
    return np.diag(rng.permutation(SPECTRA[str(rng.choice(list(SPECTRA)))](rng, n)))


def blocks(rng: Rng, n: int) -> Array:
    """Identical blocks on the diagonal: every eigenvalue is multiple."""
    m = int(rng.integers(1, max(2, min(n, 8) + 1)))
    block = hermitian(rng.normal(size=(m, m)))
    return np.asarray(np.kron(np.eye(n // m + 1), block)[:n, :n])


MATRICES: dict[str, Maker] = {
    "spectrum": spectrum,
    "graph": graph,
    "gram": gram,
    "classic": classic,
    "diagonal": diagonal,
    "blocks": blocks,
}
