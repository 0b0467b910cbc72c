"""Incomplete Cholesky factorisation with a drop tolerance, for sparse B."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..checks import real
from ..problem.products import Products
from ..sparse_direct.backends.superlu import symmetric_lu
from .base import Preconditioner, Prepared
from .diagonal import root_of_diagonal
from .triangular import SparseTriangular


@dataclass(frozen=True)
class IncompleteCholesky(Preconditioner):
    """B ≈ L D Lᴴ, dropping entries below `drop_tol` and keeping at most `fill` times the nonzeros of B.

    SuperLU's incomplete LU is not symmetric; L D Lᴴ, formed from its L and the diagonal D of its U, is. A non-positive
    pivot is a breakdown: the factorisation is then repeated with a diagonal shift, increased tenfold until all pivots
    are positive (Manteuffel's shifted incomplete Cholesky).
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
        # terminates: with a shift of the size of the off-diagonal row sums the matrix is diagonally dominant
        while True:
            factor = self._attempt(B + shift * identity if shift else B)
            if factor is not None:
                G, order = factor
                return SparseTriangular(G, order, root, exact=False)
            shift = max(10 * shift, 1e-3)

    def _attempt(self, B: sp.csc_matrix) -> tuple[sp.csc_array, np.ndarray] | None:
        lu = symmetric_lu(sp.csr_array(B), drop_tol=self.drop_tol, fill_factor=self.fill)
        if lu is None or not (lu.pivots > 0).all():
            return None
        return (lu.L @ sp.diags_array(np.sqrt(lu.pivots))).tocsc(), lu.order
