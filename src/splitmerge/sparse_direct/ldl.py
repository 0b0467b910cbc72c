"""Sparse LDLᴴ factorisation of an indefinite matrix, and its inertia count."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from ..sparse_direct.choice import indefinite_factors
from ..sparse_direct.protocol import Factors
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
        try:
            self.lu = splu(sp.csc_matrix(K))
        except RuntimeError as error:
            if "singular" not in str(error):
                raise
            raise ZeroDivisionError from None

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
