"""A covariance ZᵀZ, or ZᵀZ + diag(d), that is never formed: rows instead of columns, or products alone."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ...errors import NotPositiveDefinite
from ...linalg.reductions import column_dots, column_norms
from ...typing import Array
from ..moments.grouped import Grouped
from .definite import Definite, Rooted, threshold

# Relative residual of a solve by conjugate gradients, and the most steps it may take.
PRECISE, STEPS = 1e-13, 2000


class RowSpace(Rooted):
    """B = ZᵀZ of fewer rows than columns, on the span of the rows: Q = S²ZᵀUΛ⁻¹ with (ZS)(ZS)ᵀ = UΛUᵀ."""

    def __init__(self, Z: Grouped, scale: Array, tol: float) -> None:
        self.Z, self.inverse = Z, 1 / scale
        values, U = eigh(Z.gram(self.inverse), lower=False, overwrite_a=True, check_finite=False)
        kept = values > threshold(tol, Z.rows)
        self.root, self.rank = U[:, kept] / values[kept], int(kept.sum())
        self.story = f"Within the groups the rows span {self.rank} of {Z.columns} dimensions: the others were left out."

    def whiten(self, V: Array) -> Array:
        """Λ⁻¹Uᵀ(ZS)(SV)."""
        return np.asarray(self.root.T @ self.Z.times(self.inverse[:, None] ** 2 * V))

    def unwhiten(self, Y: Array) -> Array:
        """S(ZS)ᵀUΛ⁻¹Y."""
        return np.asarray(self.inverse[:, None] ** 2 * self.Z.transposed(self.root @ Y))


class Woodbury(Definite):
    """B = ZᵀZ + diag(d), d > 0, of fewer rows than columns, by a Cholesky factor of I + Z diag(d)⁻¹Zᵀ."""

    def __init__(self, Z: Grouped, diagonal: Array) -> None:
        self.Z, self.diagonal = Z, diagonal
        G = Z.gram(1 / np.sqrt(diagonal))
        G[np.diag_indices_from(G)] += 1
        self.factor = cho_factor(G, overwrite_a=True, check_finite=False)

    def times(self, V: Array) -> Array:
        """BV."""
        return np.asarray(self.Z.transposed(self.Z.times(V)) + self.diagonal[:, None] * V)

    def solve(self, V: Array) -> Array:
        """Sherman, Morrison and Woodbury, refined once: the two terms may nearly cancel."""
        W = self._solve(V)
        return W + self._solve(V - self.times(W))

    def _solve(self, V: Array) -> Array:
        W = V / self.diagonal[:, None]
        small = cho_solve(self.factor, self.Z.times(W), check_finite=False)
        return np.asarray(W - self.Z.transposed(small) / self.diagonal[:, None])


class Iterated(Definite):
    """B = ZᵀZ + diag(d), d > 0, as products with Z: solved by conjugate gradients, all columns together."""

    def __init__(self, Z: Grouped, diagonal: Array) -> None:
        self.Z, self.diagonal = Z, diagonal
        self.jacobi = (Z.variances() + diagonal)[:, None]

    def times(self, V: Array) -> Array:
        """BV."""
        return np.asarray(self.Z.transposed(self.Z.times(V)) + self.diagonal[:, None] * V)

    def solve(self, V: Array) -> Array:
        """Columns that have arrived stay where they are."""
        W, r = np.zeros_like(V), np.array(V, np.float64)
        target = PRECISE * column_norms(V)
        p, rz = np.zeros_like(r), np.ones(V.shape[1])
        for _ in range(STEPS):
            going = column_norms(r) > target
            if not going.any():
                return W
            z = r / self.jacobi
            rz, last = column_dots(r, z), rz
            p = z + p * (rz / np.where(last > 0, last, 1.0))
            Bp = self.times(p)
            alpha = np.where(going, rz / np.where(going, column_dots(p, Bp), 1.0), 0.0)
            W, r = W + p * alpha, r - Bp * alpha
        left = float((column_norms(r) / np.maximum(column_norms(V), np.finfo(float).tiny)).max())
        if left > 1e3 * PRECISE:
            raise NotPositiveDefinite(
                f"after {STEPS} steps of conjugate gradients a relative residual of {left:.1e} is left: the covariance "
                f"is too badly conditioned; give a larger shrinkage"
            )
        return W
