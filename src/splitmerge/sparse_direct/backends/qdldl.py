"""QDLDL: L D Lᵀ of a real matrix without pivoting, in an approximate minimum degree ordering.

It has no supernodes, which makes it the fastest backend where factors are sparse: for small matrices and for meshes in
the plane. A further matrix with the same pattern is factorised in the same ordering, for a fraction of the time.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...typing import Array
from ..protocol import Triangular


class Analysis:
    """The ordering and the pattern of L, for matrices with the same sparsity pattern.

    It has room for the numbers of one factorisation. Another one is repeated when it is used again.
    """

    def __init__(self, K: Any, lower: Array, upper: sp.csc_matrix, solver: Any) -> None:
        self.indptr, self.indices = K.indptr, K.indices
        # the entries of K in its lower triangle, which are those of the upper triangle by columns
        self.lower, self.upper, self.solver = lower, upper, solver
        self.loaded: Array | None = upper.data

    def fits(self, K: Any) -> bool:
        """Has K the same pattern?"""
        return np.array_equal(self.indptr, K.indptr) and np.array_equal(self.indices, K.indices)

    def load(self, entries: Array) -> Any:
        """The solver with the factors of the matrix with these entries, which are made if it has others."""
        if self.loaded is not entries:
            matrix = copy(self.upper)
            matrix.data = entries
            self.loaded = None
            self.solver.update(matrix, upper=True)
            self.loaded = entries
        return self.solver


class QDLDL(Triangular):
    """QDLDL factors of a symmetric matrix in double precision."""

    name = "QDLDL"
    pivots: Array = np.empty(0)

    def __init__(self, analysis: Analysis, entries: Array, diagonal: Array) -> None:
        self.analysis, self.entries, self.diagonal = analysis, entries, diagonal
        strict, self.pivots, self.order = analysis.load(entries).factors()
        heights = np.diff(strict.indptr) + 1.0
        # those of L, and what a factorisation takes
        self.nonzeros, self.flops = int(heights.sum()), float(np.square(heights).sum())

    @property
    def L(self) -> Any:
        """A copy of the unit lower triangular factor."""
        strict = self.analysis.load(self.entries).factors()[0]
        return sp.csc_array(strict + sp.eye_array(strict.shape[0]))

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        solve = self.analysis.load(self.entries).solve
        if b.ndim == 1:
            return np.asarray(solve(b))
        w = np.empty(b.shape, order="F")
        for i in range(b.shape[1]):
            w[:, i] = solve(b[:, i])
        return w


def unpivoted(K: Any, like: object = None) -> QDLDL | None:
    """Factors of a symmetric CSR array in canonical format; None if a zero pivot stops it, or without QDLDL.

    `like` may be factors of a matrix with the same pattern.
    """
    if K.dtype.char != "d":
        return None
    if isinstance(like, QDLDL) and like.analysis.fits(K):
        analysis = like.analysis
        entries = K.data[analysis.lower]
    else:
        made = _analysis(K)
        if made is None:
            return None
        analysis, entries = made, made.upper.data
    factors = QDLDL(analysis, entries, K.diagonal())
    # another factorisation in the same ordering stops at a zero pivot without an exception
    return factors if factors.pivots.all() and np.isfinite(factors.pivots).all() else None


def _analysis(K: Any) -> Analysis | None:
    """Order and factorise K; None where that fails."""
    try:
        from qdldl import Solver
    except ImportError:
        return None
    n = K.shape[0]
    rows = np.repeat(np.arange(n, dtype=K.indices.dtype), np.diff(K.indptr))
    lower = K.indices <= rows
    indices, indptr = K.indices[lower], np.zeros(n + 1, K.indptr.dtype)
    np.cumsum(np.bincount(rows[lower], minlength=n), out=indptr[1:])
    if not np.diff(indptr).all() or not np.array_equal(indices[indptr[1:] - 1], np.arange(n)):
        # a diagonal entry is not stored
        return None
    upper = sp.csc_matrix((K.data[lower], indices, indptr), shape=K.shape)
    try:
        return Analysis(K, lower, upper, Solver(upper, upper=True))
    except RuntimeError:
        # a zero pivot
        return None
