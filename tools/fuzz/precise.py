"""Dense Hermitian linear algebra in extended precision: Cholesky, Jacobi, and the pair (A, B)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

Array = np.ndarray[Any, Any]

EPS, TINY = float(np.finfo(np.longdouble).eps), np.finfo(np.longdouble).tiny
MAX_SWEEPS = 40


class Indefinite(Exception):
    """A pivot of the Cholesky factorisation is not positive."""


def extended(M: Array) -> Array:
    """The same matrix in extended precision."""
    return np.asarray(M).astype(np.clongdouble if np.iscomplexobj(M) else np.longdouble)


def double(M: Array) -> Array:
    """The matrix rounded to double precision."""
    return np.asarray(M).astype(np.complex128 if np.iscomplexobj(M) else np.float64)


def hermitian(M: Array) -> Array:
    """The Hermitian part."""
    return (M + M.conj().T) / 2


def power_of_two(x: float) -> Any:
    """The power of two nearest to |x| (1 for zero), in extended precision."""
    _, exponent = np.frexp(np.longdouble(abs(x)))
    return np.ldexp(np.longdouble(1), int(exponent)) if x else np.longdouble(1)


def largest(M: Array) -> float:
    """The largest magnitude of an entry, in extended precision; 0 for an empty matrix."""
    return abs(M).max(initial=0)  # type: ignore[no-any-return]


def cholesky(B: Array) -> Array:
    """Lower L with B = L Lᴴ."""
    L = B.copy()
    for j in range(len(B)):
        pivot = L[j, j].real
        if not pivot > 0:
            raise Indefinite(f"pivot {j} is {float(pivot):.1e}")
        L[j:, j] /= np.sqrt(pivot)
        L[j + 1 :, j + 1 :] -= np.outer(L[j + 1 :, j], L[j + 1 :, j].conj())
    return np.tril(L)


def forward(L: Array, X: Array) -> Array:
    """L⁻¹X."""
    Y = X.astype(np.result_type(L, X))
    for j in range(len(L)):
        Y[j] = (Y[j] - L[j, :j] @ Y[:j]) / L[j, j]
    return Y


def backward(L: Array, X: Array) -> Array:
    """L⁻ᴴX."""
    Y = X.astype(np.result_type(L, X))
    for j in reversed(range(len(L))):
        Y[j] = (Y[j] - L[j + 1 :, j].conj() @ Y[j + 1 :]) / L[j, j].conj()
    return Y


def _rounds(n: int) -> list[tuple[Array, Array]]:
    """The rounds of a tournament: every round pairs indices that are disjoint, and all rounds pair all."""
    m = n + n % 2
    players, rounds = list(range(m)), []
    for _ in range(m - 1):
        games = [(min(p, q), max(p, q)) for p, q in zip(players[: m // 2], reversed(players[m // 2 :]), strict=True)]
        p, q = np.array([game for game in games if game[1] < n], dtype=int).reshape(-1, 2).T
        rounds.append((p, q))
        players = [players[0], players[-1], *players[1:-1]]
    return rounds


def _rotate(M: Array, W: Array, p: Array, q: Array) -> bool:
    """Rotate the planes (p, q), which are disjoint, to zero the entries M[p, q]; False if all are negligible."""
    a, diagonal = M[p, q], M.diagonal().real
    size = abs(a)
    act = size > EPS / 4 * np.sqrt(abs(diagonal[p] * diagonal[q])) + EPS**2 * largest(M)
    if not act.any():
        return False
    p, q, a, size = p[act], q[act], a[act], size[act]
    tau = (diagonal[q] - diagonal[p]) / (2 * size)
    t = np.where(tau >= 0, 1, -1) / (abs(tau) + np.sqrt(1 + tau * tau))
    c = 1 / np.sqrt(1 + t * t)
    s, phase = t * c, a / size
    for X in (M, W):
        P, Q = X[:, p].copy(), X[:, q] * phase.conj()
        X[:, p], X[:, q] = c * P - s * Q, s * P + c * Q
    P, Q = M[p].copy(), M[q] * phase[:, None]
    M[p], M[q] = c[:, None] * P - s[:, None] * Q, s[:, None] * P + c[:, None] * Q
    return True


def jacobi(M: Array) -> tuple[Array, Array]:
    """Eigenvalues (ascending) and eigenvectors of a Hermitian matrix in extended precision."""
    _, Q = scipy.linalg.eigh(double(M / power_of_two(largest(M))))
    W = extended(Q).astype(M.dtype)
    for _ in range(2):
        W = W @ (3 * np.eye(len(M)) - W.conj().T @ W) / 2
    M = hermitian(W.conj().T @ M @ W)
    rounds = _rounds(len(M))
    for _ in range(MAX_SWEEPS):
        rotated = [_rotate(M, W, p, q) for p, q in rounds]
        if not any(rotated):
            break
    values = M.diagonal().real
    order = np.argsort(values, kind="stable")
    return values[order], W[:, order]


def _reduced(A: Array, B: Array) -> tuple[Array, Array]:
    L = cholesky(B)
    C = forward(L, forward(L, A).conj().T)
    values, W = jacobi(hermitian(C))
    return values, backward(L, W)


def pair(A: Array, B: Array) -> tuple[Array, Array, Array]:
    """Values (ascending), B-orthonormal vectors, and the error of each value, for extended A and B.

    The vectors of a first pass transform the pair to nearly (Λ, I), in which a second one is accurate value by value.
    """
    a, b = power_of_two(largest(A)), power_of_two(largest(B))
    A, B = A / a, B / b
    diagonal = B.diagonal().real
    if not (diagonal > 0).all():
        raise Indefinite("a diagonal entry is not positive")
    D = np.array([power_of_two(x) for x in 1 / np.sqrt(diagonal)], dtype=np.longdouble)
    A, B = D[:, None] * A * D, D[:, None] * B * D
    values, U = _reduced(A, B)
    for _ in range(2):
        values, W = _reduced(hermitian(U.conj().T @ A @ U), hermitian(U.conj().T @ B @ U))
        U = U @ W
    R = A @ U - (B @ U) * values
    sizes = (norm(A) + abs(values) * norm(B)) * (abs(U) ** 2).sum(axis=0)
    errors = np.sqrt((abs(U.conj().T @ R) ** 2).sum(axis=0)) + 20 * len(A) * EPS * sizes
    return values * (a / b), D[:, None] * U / np.sqrt(b), errors * (a / b)


def norm(M: Array) -> Any:
    """A bound on the spectral norm of a Hermitian matrix that is at most √n times too large."""
    return abs(M).sum(axis=0).max(initial=0)
