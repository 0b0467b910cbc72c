"""Dense LDLᴴ factorisation and inertia count."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from ..typing import Array


class DenseShifted:
    """K = L D Lᴴ with Bunch–Kaufman pivoting; `negative` is the number of negative eigenvalues of K."""

    # with pivoting it is rounding
    backward_error = 1.0

    takes_blocks = True

    def __init__(self, K: Array) -> None:
        hermitian = K.dtype.kind == "c"
        names = ("hetrf", "hetrs") if hermitian else ("sytrf", "sytrs")
        functions: Any = get_lapack_funcs(names, dtype=K.dtype)
        decompose, self._solve = functions
        self.ldl, self.pivots, info = decompose(K, lower=1, lwork=64 * K.shape[0])
        if info > 0:
            raise ZeroDivisionError
        self.negative = _negative(self.ldl.diagonal().real, self.pivots)

    def solve(self, b: Array) -> Array:
        """K⁻¹b."""
        return np.asarray(self._solve(self.ldl, self.pivots, b, lower=1)[0])


def _negative(diagonal: Array, pivots: Array) -> int:
    """The number of negative eigenvalues of D; a 2×2 Bunch–Kaufman pivot has one eigenvalue of each sign."""
    pairs = int((pivots < 0).sum()) // 2
    return pairs + int((diagonal[pivots > 0] < 0).sum())
