"""A pair of plain matrices in double precision, checked as the pipeline does: in arrays, with a factor of B."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..linalg.blas import one_norm
from ..linalg.cholesky import UNCLEAR_PIVOT
from ..linalg.extreme import lower_factor
from ..planning.costs import prefers_lapack, prefers_lapack_near, prefers_short_search
from ..problem.operator import safe_scaling
from ..problem.pencil import EQUILIBRATION_RATIO, equilibration, is_graded, typical_ratio
from ..problem.symmetry import is_plain, measure, tolerable
from ..typing import Array

EPS = float(np.finfo(float).eps)


class Plain(NamedTuple):
    """A and B in Fortran order, L with B = LLᴴ, and what A and B were; B = L = None for the identity.

    L is None as well for a semidefinite B, some of whose rows are zero. `scaling` is D where residuals are measured for
    (DAD, DBD), too, as diag(B) spans more than two decades.
    """

    A: Array
    B: Array | None
    L: Array | None
    kinds: tuple[str, ...]
    scaling: Array | None = None

    @property
    def semidefinite(self) -> bool:
        """Is B singular?"""
        return self.L is None and self.B is not None

    def scales(self) -> list[tuple[float, float]]:
        """The 1-norms of A and B, and of DAD and DBD where they are scaled."""
        norms = [(one_norm(self.A), 1.0 if self.B is None else one_norm(self.B))]
        if self.scaling is not None:
            norms.append((one_norm(self._scaled(self.A)), one_norm(self._scaled(self.B))))
        return norms

    def _scaled(self, M: Array | None) -> Array:
        assert M is not None
        assert self.scaling is not None
        return np.asarray(M * self.scaling * self.scaling[:, None])

    def matrix_B(self) -> Array:
        """B, or the identity matrix."""
        return np.eye(self.A.shape[0], dtype=self.A.dtype, order="F") if self.B is None else self.B

    @property
    def searched(self) -> bool:
        """Can a search take the place of a decomposition? Sparse matrices have other ways."""
        return "sparse" not in self.kinds and not self.semidefinite and self.scaling is None

    def hides(self, which: str) -> bool:
        """Does rounding of the largest eigenvalues hide those wanted?"""
        if self.scaling is None or which == "largest":
            return False
        A, B = self._scaled(self.A), self._scaled(self.B)
        return is_graded(float(np.abs(A).max()), typical_ratio(A.diagonal().real, B.diagonal().real))

    def definite(self) -> Array | None:
        """K with A = KKᴴ where A is clearly positive definite, otherwise None."""
        diagonal = self.A.diagonal().real.tolist()
        return lower_factor(self.A, diagonal, EPS**0.5) if min(diagonal) > 0 else None


def is_shift(sigma: Any) -> bool:
    """Is it a plain finite number?"""
    return type(sigma) in (int, float) and math.isfinite(sigma)


def plain_pair(A: Any, B: Any, k: int, *, smallest: bool, near: bool = False) -> Plain | None:
    """The pair, checked; None where the pipeline has to scale, to refuse or to iterate."""
    kinds = kinds_of(A, B)
    n = A.shape[0] if kinds else 0
    if not 1 <= k <= n or n < 2:
        return None
    lapack, search = _suited(n, k, dense="sparse" not in kinds, near=near)
    if not (lapack or search):
        return None
    a = _entries(A)
    if B is None or a is None:
        return None if a is None else Plain(a, None, None, kinds)
    b = _entries(B)
    return None if b is None else _factorised(a, b, kinds, k, smallest=smallest, lapack=lapack)


def _suited(n: int, k: int, *, dense: bool, near: bool) -> tuple[bool, bool]:
    """Is LAPACK preferred, and may a short search be?"""
    if near:
        return prefers_lapack_near(n, k, dense=dense), False
    return prefers_lapack(n, k, dense=dense), dense and prefers_short_search(n, k)


def _factorised(a: Array, b: Array, kinds: tuple[str, ...], k: int, *, smallest: bool, lapack: bool) -> Plain | None:
    """The pair with a positive definite B, or for the smallest with one that is semidefinite.

    None as well for one that only LAPACK may take, unless `lapack` is preferred.
    """
    diagonal = b.diagonal().real.tolist()
    least = min(diagonal)
    if not lapack and max(diagonal) > EQUILIBRATION_RATIO**2 * least:
        return None
    if not least > 0:
        return Plain(a, b, None, kinds) if smallest and least == 0 and _is_semidefinite(b, diagonal, k) else None
    # the pipeline estimates the condition number where a pivot is unclear
    L, scaling = lower_factor(b, diagonal, UNCLEAR_PIVOT), None
    if max(diagonal) > EQUILIBRATION_RATIO**2 * least:
        scaling = equilibration(np.array(diagonal))
    if L is None or scaling is None:
        return None if L is None else Plain(a, b, L, kinds)
    plain = Plain(a, b, L, kinds, scaling)
    sizes = [float(np.abs(plain._scaled(M)).max()) for M in (a, b)]
    return plain if all(safe_scaling(size, a.dtype, 1) == 1 for size in sizes) else None


def _is_semidefinite(b: Array, diagonal: list[float], k: int) -> bool:
    """Are the rows with a zero on the diagonal zero, and is B positive definite without them and of rank k or more?"""
    rows = np.flatnonzero(diagonal)
    if rows.size < k or b[np.equal(diagonal, 0.0)].any():
        return False
    return lower_factor(np.asfortranarray(b[np.ix_(rows, rows)]), [diagonal[row] for row in rows]) is not None


def kinds_of(A: Any, B: Any) -> tuple[str, ...]:
    """What A and B are; empty unless both are matrices of one size and dtype."""
    if B is None:
        return (_kind(A),) if _kind(A) else ()
    kinds = _kind(A), _kind(B)
    return kinds if all(kinds) and A.shape == B.shape and A.dtype == B.dtype else ()


def _kind(M: Any) -> str:
    """What a square matrix in native double precision is; an empty word for anything else."""
    kind = "dense" if type(M) is np.ndarray else "sparse" if sp.issparse(M) else ""
    if not kind or M.ndim != 2 or M.shape[0] != M.shape[1]:
        return ""
    return kind if M.dtype.char in "dD" and M.dtype.isnative else ""


def _entries(M: Any) -> Array | None:
    """The entries in Fortran order; None if they are not finite, not Hermitian, all zero or of an extreme size."""
    F: Array
    if type(M) is not np.ndarray:
        F = M.toarray(order="F")
    elif M.flags.f_contiguous:
        F = M
    else:
        # the transpose of a C-ordered symmetric array is the same matrix, without a copy
        F = M.T if M.flags.c_contiguous and M.dtype.kind == "f" else np.asfortranarray(M)
    if is_plain(F):
        return F
    size, asymmetry = measure(F)
    if not 0 < size < math.inf or asymmetry > tolerable(size, F.dtype) or safe_scaling(size, F.dtype, 1) != 1:
        return None
    return F
