"""P = Gᴴ Π S for a sparse lower triangular G, a permutation Π and a diagonal scaling S."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from ..typing import Array
from .base import Factored


class SparseTriangular(Factored):
    """B ≈ S Πᵀ G Gᴴ Π S; row i of G corresponds to row `order[i]` of B."""

    def __init__(self, G: Any, order: Array, scaling: Array, *, exact: bool) -> None:
        self.GH = G.conj().T.tocsr()
        # SuperLU factorises a triangular matrix without fill; its solves are SciPy's fastest sparse triangular solves
        self.lu: Any = splu(
            sp.csc_matrix(G), permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        self.order, self.place = order, np.argsort(order)
        self.scaling = scaling
        self.exact = exact

    @property
    def work(self) -> float:
        """Multiplications of two triangular solves."""
        return float(2 * self.GH.nnz)

    def apply(self, x: Array) -> Array:
        """P x."""
        return np.asarray(self.GH @ (self.scaling * x)[self.order])

    def solve(self, y: Array) -> Array:
        """P⁻¹ y."""
        with np.errstate(over="ignore"):
            return np.asarray(self.lu.solve(y, "H")[self.place] / self.scaling)

    def solve_adjoint(self, x: Array) -> Array:
        """P⁻ᴴ x."""
        with np.errstate(over="ignore"):
            return np.asarray(self.lu.solve((x / self.scaling)[self.order]))
