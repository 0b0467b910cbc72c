"""Sparse factorisations Π K Πᵀ = L D Lᴴ behind one protocol, the fastest that is installed.

CHOLMOD (scikit-sparse) for positive definite matrices; SuperLU without pivoting for all others, in an order of METIS
(pymetis) or of minimum degree.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spilu, splu

from .kernels import Array

# From this size on, nested dissection makes up for its own time by less fill.
DISSECTED = 3000


class Factors(Protocol):
    """What a factorisation offers; `order` lists the rows of K as they were eliminated."""

    name: str
    order: Array

    @property
    def L(self) -> Any:
        """The unit lower factor, in the order of elimination."""

    @property
    def pivots(self) -> Array:
        """The diagonal of D."""

    def solve(self, b: Array) -> Array:
        """K⁻¹b, for a vector or for columns."""


class SuperLU:
    """SuperLU, after an order `first` of METIS if that is given."""

    def __init__(self, lu: Any, first: Array | None) -> None:
        self.lu, self.first = lu, first
        self.name = f"SuperLU in an order of {'minimum degree' if first is None else 'nested dissection'}"
        inner = np.argsort(lu.perm_c)
        self.order: Array = inner if first is None else first[inner]

    @property
    def L(self) -> Any:
        """The lower factor."""
        return self.lu.L

    @property
    def pivots(self) -> Array:
        """The diagonal of D."""
        return np.asarray(self.lu.U.diagonal().real)

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        if self.first is None:
            return np.asarray(self.lu.solve(b))
        w = np.empty_like(b)
        w[self.first] = self.lu.solve(b[self.first])
        return w


class Cholmod:
    """CHOLMOD by scikit-sparse, of a positive definite matrix in double precision."""

    name = "CHOLMOD"

    def __init__(self, factor: Any) -> None:
        self.factor = factor
        self.order: Array = factor.P()

    @property
    def L(self) -> Any:
        """The lower factor, a copy."""
        return self.factor.L_D()[0]

    @property
    def pivots(self) -> Array:
        """The diagonal of D."""
        return np.asarray(self.factor.D().real)

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        return np.asarray(self.factor(b))


def definite_factors(B: Any) -> Factors | None:
    """The fastest factorisation for a B that should be positive definite; None when a zero pivot stops it.

    A B that is not positive definite may come back with pivots that show it.
    """
    return _cholmod(B) or symmetric_lu(B)


def _cholmod(B: Any) -> Cholmod | None:
    if B.dtype.char not in "dD":
        return None
    try:
        from sksparse import cholmod
    except ImportError:
        return None
    matrix = sp.csc_matrix(B, copy=B.dtype.kind == "c")
    if matrix.dtype.kind == "c":
        # rounding may have left an imaginary part there, which it takes for indefinite
        matrix.setdiag(matrix.diagonal().real)
    try:
        return Cholmod(cholmod.cholesky(matrix))
    except cholmod.CholmodNotPositiveDefiniteError:
        # SuperLU shows where
        return None


def symmetric_lu(B: Any, **incomplete: float) -> SuperLU | None:
    """SuperLU with one order for rows and columns, or None when a zero pivot stops it or makes it leave that order.

    With `drop_tol` and `fill_factor` the factorisation is incomplete.
    """
    first = None if incomplete else _nested_dissection(B)
    matrix = sp.csc_matrix(B, copy=True) if first is None else sp.csc_matrix(sp.csr_array(B)[first][:, first])
    factor: Any = spilu if incomplete else splu
    try:
        lu = factor(
            matrix,
            permc_spec="MMD_AT_PLUS_A" if first is None else "NATURAL",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
            **incomplete,
        )
    except RuntimeError as error:
        if "singular" not in str(error):
            raise
        return None
    return SuperLU(lu, first) if (lu.perm_r == lu.perm_c).all() else None


def _nested_dissection(B: Any) -> Array | None:
    """An order of the rows by METIS, where it is installed and B so large that this pays."""
    if B.shape[0] < DISSECTED:
        return None
    try:
        import pymetis
    except ImportError:
        return None
    graph = sp.csr_array(B)
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    off = graph.indices != rows
    pointers = np.concatenate([[0], np.cumsum(np.bincount(rows[off], minlength=graph.shape[0]))])
    order, _ = pymetis.nested_dissection(pymetis.CSRAdjacency(pointers, graph.indices[off]))
    return np.asarray(order)
