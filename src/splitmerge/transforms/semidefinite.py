"""Every eigenpair by LAPACK, in the modes of `eigsh` and for a semidefinite M."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, eigh

from ..errors import NotPositiveDefinite
from ..problem.adapt import adapt
from ..problem.operator import as_dense
from ..typing import Array


def all_pairs(A: Any, M: Any, sigma: float | None, mode: str) -> tuple[Array, Array]:
    """Every eigenvalue and vector, in double precision."""
    A, M = _dense(A, "A"), None if M is None else _dense(M, "M")
    if mode == "buckling":
        try:
            values, vectors = eigh(np.eye(A.shape[0]) if M is None else M, A)
        except LinAlgError as error:
            raise NotPositiveDefinite("A is not positive definite, which buckling mode needs") from error
        with np.errstate(divide="ignore"):
            return 1 / values, vectors
    try:
        return eigh(A, M)
    except LinAlgError as error:
        if sigma is None or M is None:
            raise NotPositiveDefinite("M is not positive definite; it must be, unless sigma is given") from error
    return _finite_pairs(A, M, sigma)


def _finite_pairs(A: Array, M: Array, sigma: float) -> tuple[Array, Array]:
    """The finite pairs for a singular M = L Lᴴ: Lᴴ(A − σM)⁻¹L has the eigenvalues 1/(λ − σ)."""
    sizes, Q = eigh(M)
    level = M.shape[0] * np.finfo(float).eps * np.abs(sizes).max()
    if sizes[0] < -level:
        raise NotPositiveDefinite(f"M has the eigenvalue {sizes[0]:.3g}; it must be positive semidefinite")
    L = Q[:, sizes > level] * np.sqrt(sizes[sizes > level])
    X = np.linalg.solve(A - sigma * M, L)
    C = L.conj().T @ X
    thetas, Y = eigh((C + C.conj().T) / 2)
    return sigma + 1 / thetas, X @ Y / thetas


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
