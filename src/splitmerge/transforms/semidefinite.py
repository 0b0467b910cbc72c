"""Every eigenpair by LAPACK, in the modes of `eigsh` and for a semidefinite M."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, eigh, solve

from ..errors import NotPositiveDefinite
from ..linalg.cholesky import DenseFactor
from ..problem.adapt import adapt
from ..problem.operator import as_dense
from ..typing import Array

# A matrix whose eigenvalues span less than the inverse of this is far enough from singular.
CLEAR_OF_SINGULAR = 1e-4
# Passes of equilibration; each halves the decades between the rows.
EQUILIBRATING_PASSES = 8
# Shifts tried next to one at which A − σM is singular, relative to it or to the eigenvalues.
MOVES = (0.0, 1e-4, -1e-4, 1e-2, -1e-2)


def all_pairs(A: Any, M: Any, sigma: float | None, mode: str) -> tuple[Array, Array]:
    """Every eigenvalue and vector, in double precision; of a singular M next to `sigma` the finite ones."""
    A, M = _dense(A, "A"), None if M is None else _dense(M, "M")
    if mode == "buckling":
        assert sigma is not None
        return _by_root_of_A(A, np.eye(A.shape[0]) if M is None else M, sigma)
    if M is not None and sigma is not None:
        return _by_root_of_M(A, M, sigma)
    try:
        if M is not None:
            # LAPACK takes a matrix that is singular to rounding for a definite one
            DenseFactor(M)
        return eigh(A, M)
    except (LinAlgError, NotPositiveDefinite):
        if M is None:
            raise
        raise NotPositiveDefinite("M is not positive definite; it must be, unless sigma is given") from None


def _by_root_of_M(A: Array, M: Array, sigma: float) -> tuple[Array, Array]:
    """The finite pairs for a positive semidefinite M = L Lᴴ: Lᴴ(A − σM)⁻¹L has the eigenvalues 1/(λ − σ)."""
    if _is_clearly_definite(M):
        return eigh(A, M)
    d = _equilibrating(A, M, sigma)
    scaled = d[:, None] * M * d
    L, _ = _root(scaled, "M")
    if _is_clear(L):
        return eigh(A, M)
    tau, K = _clear_of_eigenvalues(d[:, None] * A * d, scaled, sigma)
    theta, X = _inverted(K, L)
    with np.errstate(divide="ignore"):
        return tau + 1 / theta, d[:, None] * X


def _by_root_of_A(A: Array, M: Array, sigma: float) -> tuple[Array, Array]:
    """The pairs for a positive semidefinite A = L Lᴴ: Lᴴ(A − σM)⁻¹L has the eigenvalues ν = λ/(λ − σ).

    A vector in the null space of A belongs to λ = 0. Its norm is 1, as its A-norm is 0.
    """
    d = _equilibrating(A, M, sigma)
    A, M = d[:, None] * A * d, d[:, None] * M * d
    L, null = _root(A, "A, in buckling mode,")
    if _is_clear(L):
        values, vectors = eigh(M, A)
        with np.errstate(divide="ignore"):
            return 1 / values, d[:, None] * vectors
    tau, K = _clear_of_eigenvalues(A, M, sigma)
    nu, X = _inverted(K, L)
    # λ = τν/(ν − 1) loses digits next to ν = 1, where A has clearly a quotient with M
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(np.abs(nu) < 0.5, tau * nu / (nu - 1), 1 / np.einsum("ij,ij->j", X.conj(), M @ X).real)
    vectors = d[:, None] * np.hstack([X, null])
    vectors[:, nu.size :] /= np.linalg.norm(vectors[:, nu.size :], axis=0)
    return np.append(values, np.zeros(null.shape[1])), vectors


def _equilibrating(A: Array, M: Array, sigma: float) -> Array:
    """D such that the largest entry of DAD and σDMD is about 1 in every row (Ruiz 2001)."""
    S = np.maximum(np.abs(A), abs(sigma) * np.abs(M))
    d = np.ones(S.shape[0])
    for _ in range(EQUILIBRATING_PASSES):
        sizes = S.max(axis=1)
        if not sizes.all():
            raise ValueError(f"row {int(np.argmin(sizes))} (from 0) of A and of M is zero; remove it and its column")
        step = 1 / np.sqrt(sizes)
        d, S = d * step, step[:, None] * S * step
    return d


def _root(S: Array, name: str) -> tuple[Array, Array]:
    """L of full rank with S = L Lᴴ, and a basis of the null space of S.

    With the diagonal of S scaled to 1: what rounding of large rows hides may be the whole of a small one.
    """
    diagonal = S.diagonal().real
    d = np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 1.0)
    sizes, Q = eigh(d[:, None] * S * d)
    level = S.shape[0] * np.finfo(float).eps * np.abs(sizes).max()
    if sizes[0] < -level:
        raise NotPositiveDefinite(f"{name} must be positive semidefinite, but it has negative eigenvalues")
    kept = sizes > level
    return Q[:, kept] * np.sqrt(sizes[kept]) / d[:, None], d[:, None] * Q[:, ~kept]


def _is_clearly_definite(M: Array) -> bool:
    """Is M well-conditioned, so that its Cholesky factor loses no digits?"""
    sizes = eigh(M, eigvals_only=True)
    return bool(sizes[0] > CLEAR_OF_SINGULAR * sizes[-1])


def _is_clear(L: Array) -> bool:
    """Is L Lᴴ clear of singular?"""
    n, rank = L.shape
    return rank == n and _is_clearly_definite(L @ L.conj().T)


def _clear_of_eigenvalues(A: Array, M: Array, sigma: float) -> tuple[float, Array]:
    """τ = σ, or next to it where A − σM is singular, and A − τM."""
    best, tau, K = 0.0, sigma, A
    size = np.abs(A).max() / (np.abs(M).max() or 1.0)
    # relative to σ, and where that is tiny, to the eigenvalues
    for moved in (*(sigma * (1 + move) for move in MOVES), *(sigma + move * size for move in MOVES[1:])):
        sizes = np.abs(eigh(A - moved * M, eigvals_only=True))
        clearance = float(sizes.min() / sizes.max()) if sizes.any() else 0.0
        if clearance > best:
            best, tau, K = clearance, moved, A - moved * M
        if best > CLEAR_OF_SINGULAR:
            break
    if best <= A.shape[0] * np.finfo(float).eps:
        raise ValueError(f"A − σM is singular at σ = {sigma:.6g} and near it; have A and M a common null space?")
    return tau, K


def _inverted(K: Array, L: Array) -> tuple[Array, Array]:
    """The eigenvalues θ of LᴴK⁻¹L, and vectors x with K⁻¹LLᴴx = θx and ‖Lᴴx‖ = 1."""
    # squares of the entries of a very large or small L would overflow or vanish
    size = float(np.abs(L).max(initial=0.0)) or 1.0
    L = L / size
    X = solve(K, L, assume_a="her" if K.dtype.kind == "c" else "sym")
    C = L.conj().T @ X
    # the upper triangle: LAPACK then keeps the small components of a C whose rows grow downwards
    theta, Y = eigh((C + C.conj().T) / 2, lower=False)
    X = X @ Y
    lengths = np.linalg.norm(L.conj().T @ X, axis=0)
    return theta * size * size, X / np.where(lengths > 0, lengths, 1.0) / size


def is_operator(matrix: Any) -> bool:
    """Are its entries unknown?"""
    return matrix is not None and not sp.issparse(matrix) and not hasattr(matrix, "__array__")


def with_entries(matrix: Any) -> Any:
    """The same as an array, if it is an operator."""
    if not is_operator(matrix):
        return matrix
    op = as_dense(adapt(matrix, "the operator"))
    return np.asarray(op.matrix / op.scale, dtype=op.dtype)


def _dense(matrix: Any, name: str) -> Array:
    op = as_dense(adapt(matrix, name))
    return np.asarray(op.matrix.astype(np.result_type(op.dtype, np.float64)) / op.scale)
