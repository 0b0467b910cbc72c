"""CHOLMOD via scikit-sparse: the fastest backend for positive definite matrices."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...typing import Array
from ..protocol import Triangular


class Cholmod(Triangular):
    """CHOLMOD factors of a positive definite matrix in double precision."""

    name = "CHOLMOD"

    def __init__(self, factor: Any, diagonal: Array) -> None:
        self.factor, self.diagonal = factor, diagonal
        self.order = factor.P()

    @property
    def L(self) -> Any:
        """A copy of the unit lower triangular factor."""
        return self.factor.L_D()[0]

    @cached_property
    def pivots(self) -> Array:
        """The diagonal of D."""
        return np.asarray(self.factor.D().real)

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        return np.asarray(self.factor(b))


def definite(B: Any) -> Cholmod | None:
    """Factors of B; None if B is not positive definite or scikit-sparse is not installed."""
    try:
        from sksparse import cholmod
    except ImportError:
        return None
    matrix = sp.csc_matrix(B, copy=B.dtype.kind == "c")
    if matrix.dtype.kind == "c":
        # CHOLMOD treats an imaginary part of the diagonal, left by rounding, as indefinite
        matrix.setdiag(matrix.diagonal().real)
    try:
        return Cholmod(cholmod.cholesky(matrix), matrix.diagonal().real)
    except cholmod.CholmodNotPositiveDefiniteError:
        return None
    except cholmod.CholmodOutOfMemoryError:
        raise MemoryError("not enough memory for the CHOLMOD factors") from None
