"""Sparse LDLᴴ factorisation of a positive definite matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..linalg import csr
from ..linalg.cholesky import UNCLEAR_PIVOT, check_condition, check_pivots, not_definite
from ..sparse_direct.backends.superlu import symmetric_lu
from ..sparse_direct.choice import definite_factors, triangular_factors
from ..sparse_direct.protocol import Factors, Triangular
from ..typing import Array

# An ordering is reused for a matrix with up to this multiple of the nonzeros of the factorised one.
MAX_NONZEROS_RATIO = 1.2


class SparseFactor:
    """Π B Πᵀ = L D Lᴴ without pivoting, with a fill-reducing ordering Π.

    `least` is the smallest ratio of a pivot to its diagonal entry of B. `known` are factors of B that were made before
    it was known to be definite.
    """

    def __init__(self, B: Any, *, triangular: bool = False, known: Factors | None = None) -> None:
        factors = known
        if factors is None:
            factors = triangular_factors(B) if triangular else definite_factors(B)
        if factors is None:
            raise not_definite(_zero_pivot(B), 0.0)
        if isinstance(factors, Triangular):
            diagonal = np.abs(B.diagonal())
            if check_pivots(factors.pivots, diagonal[factors.order], factors.order) < UNCLEAR_PIVOT:
                check_condition(factors.solve, diagonal.astype(B.dtype))
        self.factors, self.least, self.matrix = factors, factors.least, B
        # whether it serves the matrix that was asked about last
        self._served: tuple[Any, bool] = (None, False)

    def serves(self, matrix: Any) -> bool:
        """Has the sum of `matrix` and the factorised one about as many entries, so that its factor costs no more?"""
        if self._served[0] is not matrix:
            most = MAX_NONZEROS_RATIO * self.matrix.nnz
            self._served = matrix, bool(matrix.nnz <= most and csr.union_nonzeros(matrix, self.matrix) <= most)
        return self._served[1]

    def orders(self, matrix: Any) -> bool:
        """Is the ordering good for `matrix`, too? One by minimum degree is not where there are further entries."""
        nested = getattr(self.factors, "first", None) is not None
        return bool(matrix.nnz <= (MAX_NONZEROS_RATIO if nested else 1) * self.matrix.nnz)

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """One forward and one backward substitution."""
        return self.factors.solve(b), b

    def solve_block(self, R: Array) -> tuple[Array, Array]:
        """Forward and backward substitution for a block of columns, which is cheaper than column by column."""
        return self.factors.solve(np.asfortranarray(R)), R


def _zero_pivot(B: Any) -> int:
    """The row of the zero pivot, located by factorising B plus a diagonal shift of the size of rounding errors."""
    diagonal = B.diagonal().real
    if diagonal.min() <= 0:
        return int(np.argmin(diagonal))
    shift = float(diagonal.max()) * float(np.finfo(B.dtype).eps)
    lu = symmetric_lu(B + sp.diags_array(np.full(B.shape[0], shift, B.dtype)))
    if lu is None:
        return int(np.argmin(diagonal))
    return int(lu.order[np.argmin(lu.pivots / diagonal[lu.order])])
