"""Sparse LDLᴴ factorisation of an indefinite matrix, and its inertia count."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sparse_direct.choice import indefinite_factors
from ..sparse_direct.protocol import Factors
from ..sparse_direct.superlu import pivoted_lu
from ..typing import Array


class SparseShifted:
    """K = L D Lᴴ, with one step of iterative refinement per solve; LU with pivoting if LDLᴴ is inaccurate.

    `negative` is the number of negative eigenvalues of K; None after LU, which does not reveal the inertia.
    """

    def __init__(self, K: Any, like: Factors | None = None) -> None:
        self.K = K
        self.negative: int | None = None
        for factors in indefinite_factors(K, like):
            self.lu: Any = factors
            if self._accurate():
                self.name, self.negative = factors.name, factors.negative
                return
        self.name = "SuperLU with pivoting"
        self.lu = pivoted_lu(K)

    def _accurate(self) -> bool:
        """Is the relative residual of a refined solve with a random solution small?"""
        b = np.random.default_rng(0).standard_normal(self.K.shape[0]).astype(self.K.dtype)
        b = self.K @ b
        w = self.solve(b)
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.linalg.norm(b - self.K @ w) / np.linalg.norm(b)
        return bool(error <= 1e3 * np.finfo(self.K.dtype).eps)

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        w = self.lu.solve(b)
        return np.asarray(w + self.lu.solve(b - self.K @ w))
