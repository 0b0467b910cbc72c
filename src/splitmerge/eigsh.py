"""`eigsh` with the arguments, the results and the errors of `scipy.sparse.linalg.eigsh`."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse
from scipy.sparse.linalg import ArpackError, LinearOperator

from .checks import real
from .eigsh_request import Request
from .errors import NotPositiveDefinite
from .problem.adapt import adapt, as_pair
from .transforms.modes import MODES
from .transforms.semidefinite import is_operator

REAL_WHICH = ("LM", "SM", "LA", "SA", "BE")
# SciPy hands complex matrices to `eigs`, which has other names
COMPLEX_WHICH = ("LM", "SM", "LR", "SR", "LA", "SA")


def eigsh(
    A: Any,
    k: int = 6,
    M: Any = None,
    sigma: float | None = None,
    which: str = "LM",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: float | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: Any = None,
    OPinv: Any = None,
    mode: str = "normal",
    rng: Any = None,
) -> Any:
    """`scipy.sparse.linalg.eigsh` by this library: the same arguments, order of results and exceptions.

    Returns (w, v), or w alone without `return_eigenvectors`; the vectors are M-orthonormal (A-orthonormal in buckling
    mode, where those in the null space of A have norm 1). With `sigma`, M (A in buckling mode) may be
    singular. What did not converge within `maxiter` raises SciPy's `ArpackNoConvergence` with the pairs that did.

    Unlike SciPy's, it refuses a matrix that is not Hermitian, probes for missed eigenvalues, and verifies every pair
    with A itself, even where `OPinv` is given. Only an A of zeros beside `OPinv` is taken for a placeholder (in normal
    mode): the pairs are then those of `OPinv`, and verified with it.

    >>> import numpy as np, splitmerge as sm
    >>> w, v = sm.eigsh(np.diag(np.arange(1.0, 14.0)), k=2)
    >>> w.round(8), v.shape
    (array([12., 13.]), (13, 2))
    """
    rng = np.random.default_rng(rng)
    _check_precision(A, M)
    A, M = (_with_dtype(matrix, name) for matrix, name in zip(as_pair(A, M, "M"), "AM", strict=True))
    is_complex = np.issubdtype(A.dtype, np.complexfloating)
    _check_matrices(A, M, which, mode)
    n, k = A.shape[0], _check_k(k)
    # eigs cannot go as far as eigsh
    if k >= n - is_complex:
        limit, name = ("N - 1", "eig") if is_complex else ("N", "eigh")
        warnings.warn(
            f"k >= {limit} for N * N square matrix. Attempting to use scipy.linalg.{name} instead.",
            RuntimeWarning,
            stacklevel=2,
        )
        return _everything(A, M, f"scipy.linalg.{name}", limit, vectors=return_eigenvectors)
    _check_inverses(M, sigma, Minv, OPinv, mode)
    names = COMPLEX_WHICH if is_complex else REAL_WHICH
    if which not in names:
        raise ValueError(f"which must be one of {' '.join(names)}")
    A = _with_double(A)
    which = {"LR": "LA", "SR": "SA"}.get(which, which)
    ncv = _check_sizes(n, k, ncv, maxiter, is_complex)
    if v0 is not None and not np.any(v0):
        raise ArpackError(-9, {-9: "Starting vector is zero."})
    sigma = _check_sigma(sigma, mode)
    request = Request(A, k, M, sigma, which, v0, ncv, maxiter, tol, Minv, OPinv, "normal" if not sigma else mode, rng)
    return request.results(*request.pairs(), vectors_wanted=return_eigenvectors)


def _everything(A: Any, M: Any, name: str, limit: str, *, vectors: bool) -> Any:
    """Every eigenpair, as SciPy does it when that is nearly what was asked for."""
    if issparse(A):
        raise TypeError(f"Cannot use {name} for sparse A with k >= {limit}. Use {name}(A.toarray()) or reduce k.")
    for matrix, letter in ((A, "A"), (M, "M")):
        if isinstance(matrix, LinearOperator) or is_operator(matrix):
            raise TypeError(f"Cannot use {name} for LinearOperator {letter} with k >= {limit}.")
    entries: Any = M
    M = entries.toarray() if issparse(M) else M
    try:
        return eigh(A, b=M) if vectors else eigh(A, b=M, eigvals_only=True)
    except np.linalg.LinAlgError as error:
        raise NotPositiveDefinite("M is not positive definite; it must be, where every eigenvalue is wanted") from error


def _check_k(k: Any) -> int:
    number = operator.index(k)
    if number <= 0:
        raise ValueError("k must be greater than 0.")
    return number


def _check_matrices(A: Any, M: Any, which: str, mode: str) -> None:
    if np.issubdtype(A.dtype, np.complexfloating):
        if mode != "normal":
            raise ValueError(f"mode={mode} cannot be used with complex matrix A")
        if which == "BE":
            raise ValueError("which='BE' cannot be used with complex matrix A")
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix (shape={A.shape})")
    if M is not None and M.shape != A.shape:
        raise ValueError(f"wrong M dimensions {M.shape}, should be {A.shape}")


def _check_precision(A: Any, M: Any) -> None:
    """Warn as SciPy does where both matrices say what their dtypes are, and they differ."""
    letters = {np.dtype(matrix.dtype).char.lower() for matrix in (A, M) if hasattr(matrix, "dtype")}
    if len(letters) > 1:
        warnings.warn(
            "M does not have the same type precision as A. This may adversely affect ARPACK convergence",
            stacklevel=3,
        )


def _check_inverses(M: Any, sigma: Any, Minv: Any, OPinv: Any, mode: str) -> None:
    if sigma is None:
        if OPinv is not None:
            raise ValueError("OPinv should not be specified with sigma = None.")
        if M is None and Minv is not None:
            raise ValueError("Minv should not be specified with M = None.")
    else:
        if Minv is not None:
            raise ValueError("Minv should not be specified when sigma is specified.")
        if mode not in MODES:
            raise ValueError(f"unrecognized mode '{mode}'")


def _check_sigma(sigma: Any, mode: str) -> float | None:
    if sigma is None:
        return None
    number = real(sigma, "sigma", least=-math.inf)
    if number == 0 and mode == "buckling":
        raise ValueError("sigma must not be zero in buckling mode: λ/(λ − 0) is 1 for every λ")
    return number


def _check_sizes(n: int, k: int, ncv: int | None, maxiter: float | None, is_complex: bool) -> int | None:
    if maxiter is not None and not maxiter > 0:
        raise ValueError(f"maxiter must be positive, maxiter={maxiter}")
    if ncv is None:
        return None
    ncv = min(operator.index(ncv), n)
    if ncv <= k + is_complex:
        raise ValueError(f"ncv must be {'k+1' if is_complex else 'k'}<ncv<=n, ncv={ncv}")
    return ncv


def _with_dtype(matrix: Any, name: str) -> Any:
    """The matrix as an array or an operator that knows its dtype."""
    if matrix is None or (hasattr(matrix, "dtype") and hasattr(matrix, "shape")):
        return matrix
    op = adapt(matrix, name)
    if op.matrix is not None:
        return op.matrix / op.scale
    return LinearOperator(matrix.shape, matvec=lambda x: matrix @ x, dtype=op.dtype)


def _with_double(A: Any) -> Any:
    """A as it is, in double precision if its numbers are no floats of single or double precision."""
    if np.dtype(A.dtype).char in "fdFD":
        return A
    if not np.can_cast(A.dtype, "d"):
        raise ValueError("matrix type must be 'f', 'd', 'F', or 'D'")
    return A.astype(np.float64) if hasattr(A, "astype") else A
