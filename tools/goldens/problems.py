"""The pairs and data of the cases, and the matrix types they are converted to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import splitmerge as sm

Pair = tuple[Any, Any]
gallery = sm.gallery


class Custom:
    """A minimal matrix-free operator with `shape` and `@`."""

    def __init__(self, M: Any) -> None:
        self.matrix, self.shape = M, M.shape

    def __matmul__(self, x: Any) -> Any:
        return self.matrix @ x


def operator(M: Any) -> LinearOperator:
    """The matrix as a matrix-free LinearOperator."""
    return LinearOperator(M.shape, matvec=lambda x: M @ x, rmatvec=lambda x: M @ x, dtype=M.dtype)


def entries(M: Any) -> np.ndarray:
    """A dense array."""
    return M.toarray() if sp.issparse(M) else np.asarray(M)


KINDS: dict[str, Callable[[Any], Any]] = {
    "dense": entries,
    "F": lambda M: np.asfortranarray(entries(M)),
    "strided": lambda M: np.repeat(np.repeat(entries(M), 2, axis=0), 2, axis=1)[::2, ::2],
    "list": lambda M: entries(M).tolist(),
    "integers": lambda M: np.rint(entries(M)).astype(np.int64),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "dia": sp.dia_array,
    "bsr": sp.bsr_array,
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
    "operator": operator,
    "aslinearoperator": aslinearoperator,
    "object": Custom,
}


def made(pair: Pair, A: str, B: str | None = None) -> Pair:
    """The pair with A and B converted to the given types; B to that of A by default."""
    return KINDS[A](pair[0]), None if pair[1] is None else KINDS[B or A](pair[1])


def typed(pair: Pair, dtype: str) -> Pair:
    """The pair in another precision."""
    return pair[0].astype(dtype), None if pair[1] is None else pair[1].astype(dtype)


def scaled(pair: Pair, a: float, b: float) -> Pair:
    """(aA, bB)."""
    return a * pair[0], b * pair[1]


def without_B(pair: Pair) -> Pair:
    """(A, I)."""
    return pair[0], None


def moved(pair: Pair, shift: float) -> Pair:
    """(A − shift B, B), indefinite for a shift inside the spectrum."""
    return pair[0] - shift * pair[1], pair[1]


@cache
def synthetic(n: int, kappa: float = 10.0) -> Pair:
    """The paper's pairs."""
    return gallery.synthetic_pair(n, kappa, rng=n)


@cache
def hermitian(n: int, kappa: float = 10.0) -> Pair:
    """A complex pair with eigenvalues of both signs."""
    return gallery.prescribed_pair(np.linspace(-1.0, 2.0, n), kappa, dtype=complex, rng=n)


@cache
def spectrum(name: str, n: int, kappa: float = 10.0) -> Pair:
    """A pair with a named spectrum: multiple, clustered, decaying, singular, …"""
    tail = np.linspace(0.0, 1.0, n)
    values = {
        "double": np.r_[tail[:-4], 3.0, 3.0, 2.0, 2.0],
        "cluster": np.r_[tail[:-4], 2.0 + 1e-9 * np.arange(4)],
        "decay": 0.5 ** np.minimum(np.arange(n), 60),
        "singular": np.r_[np.zeros(n // 2), tail[n // 2 :]],
        "negative": -1.0 - tail,
        "indefinite": np.linspace(-3.0, 2.0, n),
        "constant": np.ones(n),
    }[name]
    return gallery.prescribed_pair(values, kappa, rng=n)


@cache
def frame(n: int, massless: int = 0, negative: bool = False) -> Pair:
    """A pair similar to the stiffness and mass of a structure: badly scaled, with some massless unknowns."""
    rng = np.random.default_rng(n)
    d = 10.0 ** rng.uniform(-1.5, 1.5, n)
    off = [rng.uniform(-1.0, 0.0, n - j) for j in (1, 7)]
    K = sp.diags_array([*off, *off], offsets=[1, 7, -1, -7], shape=(n, n))
    K = K + sp.diags_array(np.asarray(abs(K).sum(axis=1)) + 0.01)
    mass = rng.uniform(0.5, 2.0, n)
    mass[rng.choice(n, massless, replace=False)] = -0.5 if negative else 0.0
    D = sp.diags_array(d)
    return sp.csr_array(D @ K @ D), sp.csr_array(D @ sp.diags_array(mass) @ D)


def singular(n: int, rank: int) -> Pair:
    """A dense pair whose B has this rank."""
    A, B = synthetic(n)
    G = np.linalg.qr(B)[0][:, :rank]
    C = G @ np.diag(np.linspace(1.0, 2.0, rank)) @ G.T
    return A, (C + C.T) / 2


def with_entry(pair: Pair, name: str, value: Any) -> Pair:
    """The pair with entry (0, 1) of A or B replaced, e.g. to make it unsymmetric or non-finite."""
    changed = [None if M is None else M.copy() for M in pair]
    changed["AB".index(name)][0, 1] = value
    return changed[0], changed[1]


def vectors(n: int, m: int = 1, seed: int = 5) -> np.ndarray:
    """A random start block of m columns; a vector for m = 1."""
    X = np.random.default_rng(seed).standard_normal((n, m))
    return X[:, 0] if m == 1 else X


def views(samples: int, p: int, q: int) -> Pair:
    """The pair of canonical correlations."""
    return gallery.cca_pair(*gallery.two_views(samples, p, q, [0.9, 0.7, 0.4], rng=1), ridge=1e-3)


def clouds(per_class: int, p: int) -> Pair:
    """The pair of linear discriminants."""
    return gallery.lda_pair(*gallery.labelled_clouds(per_class, p, [5.0, 2.0, 1.0], rng=1), ridge=1e-3)


def trials(count: int, channels: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Trials × channels × samples with one source amplified in each class, and the labels."""
    rng = np.random.default_rng(0)
    y = np.arange(count) % classes
    sources = rng.standard_normal((count, channels, 60))
    for i in range(classes):
        sources[y == i, i] *= 3 + i
    return rng.standard_normal((channels, channels)) @ sources, y


def regression(samples: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples and a response that depends on two directions."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((samples, p))
    return X, X[:, 0] ** 3 + X[:, 1] + 0.1 * rng.standard_normal(samples)
