"""A plain sparse pair in double precision, checked as the pipeline does, and factors of A − σB."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...errors import NotPositiveDefinite
from ...linalg import csr
from ...linalg.rounding import ROUNDING_UNITS, TERMS_PER_UNIT_SPARSE
from ...planning.decision import Decision
from ...preparation.definiteness import surely_definite
from ...problem.adapt import is_full
from ...problem.operator import safe_scaling, scaled_rows_and_columns, sparse_operator
from ...problem.pencil import EQUILIBRATION_RATIO, equilibration
from ...problem.problem import Problem
from ...problem.symmetry import tolerable
from ...sparse_direct.backends.qdldl import QDLDL, unpivoted
from ...sparse_direct.costs import unpivoted as usual_backend
from ...sparse_direct.fill.plane import is_surely_sparse
from ...sparse_direct.ldl import SparseShifted
from ...typing import Array
from ..plain import kinds_of
from ..result import EQUILIBRATED, wanted

# The least pivot of B with a unit diagonal; other pairs are left to the pipeline.
LEAST_PIVOT = 1e-3


class SparsePair(NamedTuple):
    """A and B as CSR arrays, and DAD and DBD, None for the identity, with a positive diagonal D (None for D = I).

    D makes a diagonal B the identity, and the diagonal of another one about 1 where it spans more than two decades.
    Where diag(B) does, residuals are `measured` for (DAD, DBD), too. `diagonal` are the places of the diagonal of DAD
    where DBD is the identity, `longest` estimates the length of the longest vector of DBD-norm 1, and `known` are
    factors of DBD, whose ordering serves A − σB where the patterns agree. The eigenvalues are `countable` where
    a further factorisation is expected to cost little beside a search.
    """

    A: Any
    B: Any
    kinds: tuple[str, ...]
    DAD: Any
    DBD: Any
    D: Array | None = None
    measured: bool = False
    diagonal: Array | None = None
    longest: float = 1.0
    known: QDLDL | None = None
    countable: bool = False

    @property
    def scaling(self) -> Array | None:
        """D where residuals are measured for (DAD, DBD), too."""
        return self.D if self.measured else None

    @property
    def units(self) -> float:
        """Units of rounding by which the entries of products are off."""
        longest = max(int(np.diff(M.indptr).max()) for M in (self.A, self.B) if M is not None)
        return max(ROUNDING_UNITS, longest / TERMS_PER_UNIT_SPARSE)

    def images(self, V: Array) -> Array:
        """The rows x, Bx and Ax of the columns x of V."""
        X = np.empty((3, V.shape[1], V.shape[0]))
        for rows, M in zip(X, (None, self.B, self.A), strict=True):
            rows[:] = (V if M is None else M @ V).T
        return X

    def opening(self, problem: Problem) -> tuple[Decision, ...]:
        """The first decisions that the pipeline would have taken."""
        first = wanted(problem, self.A.shape[0], self.kinds, self.A.dtype)
        return (first, EQUILIBRATED) if self.measured else (first,)

    def scales(self) -> list[tuple[float, float]]:
        """The 1-norms of A and B, and of DAD and DBD where residuals are measured for these, too."""
        given = _norm(self.A), 1.0 if self.B is None else _norm(self.B)
        return [given, self.factored_scale()] if self.measured else [given]

    def factored_scale(self) -> tuple[float, float]:
        """The 1-norms of DAD and DBD, which are factorised."""
        return _norm(self.DAD), 1.0 if self.DBD is None else _norm(self.DBD)

    def shifted(self, sigma: float) -> Any:
        """D(A − σB)D."""
        if sigma == 0:
            return self.DAD
        if self.DBD is not None:
            return csr.plus(self.DAD, -sigma, self.DBD)
        K = csr.like(self.DAD, self.DAD.data.copy())
        K.data[self.diagonal] -= sigma
        return K

    def factor(self, sigma: float, known: QDLDL | None = None) -> SparseShifted | None:
        """Factors of D(A − σB)D without pivoting; None where they are inaccurate."""
        try:
            factor = SparseShifted(self.shifted(sigma), self.known if known is None else known)
        except ZeroDivisionError:
            return None
        return factor if isinstance(factor.lu, QDLDL) else None


def sparse_pair(A: Any, B: Any) -> SparsePair | None:
    """The pair, checked; None where the pipeline has to scale, to refuse or to convert."""
    given = _given(A, B)
    return None if given is None else _with_masses(given)


def factorable_pair(A: Any, B: Any, *, near: bool) -> SparsePair | None:
    """The same for factors of A − σB, or of a definite A; None as well where the pipeline has to factorise otherwise.

    So it has for the smallest of a mesh in space: its search from two random vectors takes fewer solves.
    """
    given = _given(A, B)
    if given is None or not (near or (given.A.diagonal() > 0).all()):
        return None
    # its pattern is mostly that of A − σB
    denser = given.A if given.B is None else max(given.A, given.B, key=_stored)
    if usual_backend(denser) != "QDLDL":
        return None
    countable = is_surely_sparse(denser)
    return _with_places(_with_masses(given._replace(countable=countable))) if countable or near else None


def made_countable(pair: SparsePair) -> SparsePair | None:
    """A pair with a diagonal B for counts; None where factorisations are not cheap, or take what is not stored."""
    cheap = usual_backend(pair.A) == "QDLDL" and is_surely_sparse(pair.A)
    return _with_places(pair._replace(countable=True)) if cheap else None


def _given(A: Any, B: Any) -> SparsePair | None:
    """The matrices as they are; None unless both are symmetric sparse matrices with entries of moderate size."""
    kinds = kinds_of(A, B)
    if not kinds or set(kinds) != {"sparse"}:
        return None
    a, b = _entries(A), None if B is None else _entries(B)
    return None if a is None or (b is None) != (B is None) else SparsePair(a, b, kinds, a, b)


def _stored(M: Any) -> int:
    return int(M.nnz)


def _with_masses(pair: SparsePair) -> SparsePair | None:
    """The pair with a B whose diagonal is positive, if it has one."""
    if pair.B is None:
        return pair
    diagonal = pair.B.diagonal()
    least, most = float(diagonal.min()), float(diagonal.max())
    if not least > 0:
        return None
    pair = pair._replace(measured=most > EQUILIBRATION_RATIO**2 * least)
    return _lumped_pair(pair) if _is_diagonal(pair.B) else _consistent_pair(pair)


def _entries(M: Any) -> Any:
    """A CSR array in canonical format; None if it is not symmetric, zero, or has entries of an extreme size."""
    if M.dtype.char != "d" or M.format not in ("csr", "csc") or not M.has_canonical_format or M.nnz == 0 or is_full(M):
        return None
    # a symmetric matrix has the same arrays in both formats
    a = M if type(M) is sp.csr_array else sp.csr_array((M.data, M.indices, M.indptr), shape=M.shape)
    size = _moderate_size(a)
    return None if size is None or csr.asymmetry(a) > tolerable(size, a.dtype) else a


def _moderate_size(a: Any) -> float | None:
    """The largest magnitude of the entries; None where it is zero, not finite or extreme."""
    size = max(float(a.data.max()), -float(a.data.min()))
    return size if 0 < size < math.inf and safe_scaling(size, a.dtype, 1) == 1 else None


def _is_diagonal(b: Any) -> bool:
    return b.nnz == b.shape[0] and np.array_equal(b.indices, np.arange(b.nnz))


def _with_places(pair: SparsePair | None) -> SparsePair | None:
    """The pair with the places of the diagonal of DAD where DBD is the identity; None where one is not stored."""
    if pair is None or pair.DBD is not None:
        return pair
    a = pair.DAD
    places = np.flatnonzero(a.indices == np.repeat(np.arange(a.shape[0]), np.diff(a.indptr)))
    return pair._replace(diagonal=places) if places.size == a.shape[0] else None


def _lumped_pair(pair: SparsePair) -> SparsePair | None:
    """The pair with a diagonal B, which becomes the identity."""
    D = 1 / np.sqrt(pair.B.data)
    DAD = scaled_rows_and_columns(pair.A, D)
    return None if _moderate_size(DAD) is None else pair._replace(DAD=DAD, DBD=None, D=D)


def _consistent_pair(pair: SparsePair) -> SparsePair | None:
    """The pair with a B that is clear of singular."""
    DAD, DBD, D = pair.A, pair.B, None
    if pair.measured:
        D = equilibration(DBD.diagonal())
        DAD, DBD = (scaled_rows_and_columns(M, D) for M in (DAD, DBD))
        if _moderate_size(DAD) is None:
            return None
    DAD, DBD = csr.aligned(DAD, DBD)
    if not pair.countable:
        # a factorisation of B is as dear as that of A − σB
        return pair._replace(DAD=DAD, DBD=DBD, D=D) if _is_surely_definite(DBD) else None
    known = unpivoted(DBD)
    if known is None or not known.least > LEAST_PIVOT:
        return None
    longest = 1 / math.sqrt(float(known.pivots.min()))
    return pair._replace(DAD=DAD, DBD=DBD, D=D, longest=longest, known=known)


def _is_surely_definite(DBD: Any) -> bool:
    """Is it clear of singular, by some products? The pipeline refuses it where it is indefinite."""
    try:
        return surely_definite(sparse_operator(DBD, 1.0, 1.0))
    except NotPositiveDefinite:
        return False


def _norm(M: Any) -> float:
    """The 1-norm of a symmetric matrix."""
    return float(csr.row_sums(M).max())
