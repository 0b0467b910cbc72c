"""Sparse LDLᴴ factorisation of an indefinite matrix, and its inertia count."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..linalg import csr
from ..linalg.reductions import norm
from ..sparse_direct.backends.superlu import pivoted_lu
from ..sparse_direct.choice import indefinite_factors
from ..sparse_direct.protocol import Factors, Triangular
from ..typing import Array

# Units of rounding by which a solve with a random right-hand side may miss it: alone, and with iterative refinement.
ACCURATE_UNITS, REFINED_UNITS = 100, 1000


class SparseShifted:
    """K = L D Lᴴ without pivoting or, if that is inaccurate, LU with pivoting.

    Solves are refined by one step where the factors alone are less accurate than rounding allows. `negative` is the
    number of negative eigenvalues of K; None after LU, which does not reveal the inertia.
    """

    takes_blocks = True

    def __init__(self, K: Any, like: Factors | None = None, *, reorder: bool = False) -> None:
        self.times, self.size = csr.matvec(K), float(np.abs(K.data).max(initial=0.0))
        self.negative: int | None = None
        x = np.random.default_rng(0).standard_normal(K.shape[0]).astype(K.dtype)
        b, eps = self.times(x), float(np.finfo(K.dtype).eps)
        for factors in indefinite_factors(K, like, reorder=reorder):
            self.lu: Any = factors
            for self.refined, units in ((False, ACCURATE_UNITS), (True, REFINED_UNITS)):
                if self._error(b) <= units * eps:
                    self.name, self.negative = factors.name, factors.negative
                    return
        self.name, self.refined = "SuperLU with pivoting", True
        self.lu = pivoted_lu(K)

    @cached_property
    def backward_error(self) -> float:
        """The backward error of the factors in units of rounding, about: the growth of pivots without pivoting."""
        if not isinstance(self.lu, Triangular):
            return 1.0
        return float(np.abs(self.lu.pivots).max()) / self.size

    def _error(self, b: Array) -> float:
        """The residual of a solve relative to its right-hand side."""
        with np.errstate(invalid="ignore", over="ignore"):
            return norm(b - self.times(self.solve(b))) / norm(b)

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        w = self.lu.solve(b)
        return np.asarray(w + self.lu.solve(b - self.times(w)) if self.refined else w)
