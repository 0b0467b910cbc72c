"""Exact preconditioners, PᴴP = B: then B̃ = I, and mirror descent with step ½ is the power method (section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import get_blas_funcs

from ..linalg.cholesky import DenseFactor, not_definite
from ..problem.factorise import factorise
from ..problem.products import Products
from ..sparse_direct.cholesky import SparseFactor
from ..sparse_direct.protocol import Triangular
from ..typing import Array
from .base import Factored, Preconditioner, Prepared
from .triangular import SparseTriangular


@dataclass(frozen=True)
class Exact(Preconditioner):
    """P = Lᴴ, the Cholesky factor of B = L Lᴴ."""

    def _prepare(self, pencil: Products) -> Prepared:
        assert pencil.B is not None
        # reuse the Cholesky factor of the pencil's solver if its entries are accessible
        factor = pencil.solver
        kept = isinstance(factor, DenseFactor) or _triangular(factor) is not None
        factor = factor if kept else factorise(pencil.B, triangular=True)
        if isinstance(factor, DenseFactor):
            return _DenseCholesky(factor)
        factors = _triangular(factor)
        assert factors is not None
        return _SparseCholesky(factors)


def _triangular(factor: object) -> Triangular | None:
    """The sparse factors, if their entries are accessible."""
    factors = factor.factors if isinstance(factor, SparseFactor) else None
    return factors if isinstance(factors, Triangular) else None


class _DenseCholesky(Factored):
    exact = True

    def __init__(self, factor: DenseFactor) -> None:
        self.factor = factor
        (self.trmv,) = get_blas_funcs(("trmv",), dtype=factor.U.dtype)

    def apply(self, x: Array) -> Array:
        return np.asarray(self.trmv(self.factor.U, x))

    def solve(self, y: Array) -> Array:
        return np.asarray(self.factor.trsv(self.factor.U, y))

    def solve_adjoint(self, x: Array) -> Array:
        return np.asarray(self.factor.trsv(self.factor.U, x, trans=2))

    def gram_solve(self, b: Array) -> Array:
        return self.factor.solve(b, None, None)[0]


class _SparseCholesky(SparseTriangular):
    def __init__(self, factor: Triangular) -> None:
        pivots = factor.pivots
        G = (factor.L @ sp.diags_array(np.sqrt(pivots))).tocsc()
        super().__init__(G, factor.order, np.ones_like(pivots), exact=True)
        self.factor = factor

    def gram_solve(self, b: Array) -> Array:
        return self.factor.solve(b)


@dataclass(frozen=True)
class SquareRoot(Preconditioner):
    """P = B^½ by a full eigendecomposition of B, for theory and tests; far more expensive than `Exact`."""

    def _prepare(self, pencil: Products) -> Prepared:
        assert pencil.B is not None
        factorise(pencil.B)
        matrix = pencil.B.matrix
        values, vectors = np.linalg.eigh(matrix if pencil.B.kind == "dense" else matrix.toarray())
        if not values[0] > 0:
            raise not_definite(0, float(values[0]), float(values[-1]))
        return _Root(np.sqrt(values), vectors)


class _Root(Factored):
    exact = True

    def __init__(self, roots: Array, vectors: Array) -> None:
        self.roots, self.vectors = roots, vectors

    def apply(self, x: Array) -> Array:
        return np.asarray(self.vectors @ (self.roots * (self.vectors.conj().T @ x)))

    def solve(self, y: Array) -> Array:
        return np.asarray(self.vectors @ ((self.vectors.conj().T @ y) / self.roots))

    def solve_adjoint(self, x: Array) -> Array:
        return self.solve(x)
