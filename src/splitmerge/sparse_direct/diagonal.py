"""The factor of a diagonal B, such as a lumped mass: its square roots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..linalg.cholesky import check_pivots
from ..linalg.reductions import column_norms
from ..typing import Array


class DiagonalFactor:
    """B = R² with R = diag(`root`); the same operations as those of a dense factor."""

    def __init__(self, B: Any) -> None:
        diagonal = B.diagonal().real
        check_pivots(diagonal, np.abs(diagonal))
        self.root = np.sqrt(diagonal)
        self.inverse = 1 / self.root

    def whitened(self, times: Callable[[Array], Array], y: Array) -> Array:
        """R⁻¹AR⁻¹y, where `times` applies A."""
        w = times(self.inverse * y)
        w *= self.inverse
        return w

    def whiten(self, X: Array) -> Array:
        """R X for columns X."""
        return np.asarray((X.T * self.root).T)

    def unwhiten(self, Y: Array) -> Array:
        """R⁻¹Y for columns Y."""
        return np.asarray((Y.T * self.inverse).T)

    half_solve = unwhiten

    def dual(self, y: Array) -> Array:
        """R y = B x for x = R⁻¹y."""
        return np.asarray(self.root * y)

    def dual_norms(self, R: Array) -> Array:
        """The B⁻¹-norm of each column."""
        return column_norms(self.half_solve(R))

    def solve(self, b: Array, guess: Array | None, B_guess: Array | None) -> tuple[Array, Array]:
        """B⁻¹b."""
        return self.inverse * self.inverse * b, b

    def solve_block(self, R: Array) -> tuple[Array, Array]:
        """B⁻¹R for columns."""
        return self.unwhiten(self.unwhiten(R)), R


def is_diagonal(B: Any) -> bool:
    """Has a CSR matrix entries on its diagonal only?"""
    n = B.shape[0]
    return bool(B.nnz == n and (B.indices == np.arange(n)).all() and (np.diff(B.indptr) == 1).all())
