"""Incomplete Cholesky with a drop tolerance, for sparse B."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..checks import real
from ..problem.products import Products
from ..sparse_direct.superlu import symmetric_lu
from .base import Preconditioner, Prepared
from .diagonal import root_of_diagonal
from .triangular import SparseTriangular


@dataclass(frozen=True)
class IncompleteCholesky(Preconditioner):
    """B ≈ L D Lᴴ with entries below `drop_tol` left out and at most `fill` times the entries of B kept.

    SuperLU's incomplete LU is not symmetric; its L and the diagonal of its U are, as L D Lᴴ. A pivot that is not
    positive means breakdown: the diagonal is then raised by a shift, tenfold each time, until none is left.
    """

    drop_tol: float = 1e-3
    fill: float = 20.0

    def __post_init__(self) -> None:
        real(self.drop_tol, "drop_tol", least=0, below=1)
        real(self.fill, "fill", least=1)

    def _prepare(self, pencil: Products) -> Prepared:
        assert pencil.B is not None
        root = root_of_diagonal(pencil)
        inverse = sp.diags_array(1 / root)
        B = sp.csc_matrix(inverse @ sp.csr_array(pencil.B.matrix) @ inverse)
        identity = sp.identity(pencil.n, dtype=root.dtype, format="csc")
        shift = 0.0
        # with a shift of the size of the off-diagonal row sums the matrix is diagonally dominant: this ends
        while True:
            factor = self._attempt(B + shift * identity if shift else B)
            if factor is not None:
                G, order = factor
                return SparseTriangular(G, order, root, exact=False)
            shift = max(10 * shift, 1e-3)

    def _attempt(self, B: sp.csc_matrix) -> tuple[sp.csc_array, np.ndarray] | None:
        lu = symmetric_lu(B, drop_tol=self.drop_tol, fill_factor=self.fill)
        if lu is None or not (lu.pivots > 0).all():
            return None
        return (lu.L @ sp.diags_array(np.sqrt(lu.pivots))).tocsc(), lu.order
