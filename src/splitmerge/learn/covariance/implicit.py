"""A covariance ZᵀZ, or ZᵀZ + diag(d), that is not formed: the Gram matrix of the rows instead, or only products."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ...errors import NotPositiveDefinite
from ...linalg import cg
from ...linalg.reductions import column_norms
from ...problem.b_policy import BReport, positive_part
from ...typing import Array
from ..moments.grouped import Grouped
from .definite import Definite, Rooted, rank_threshold

# Relative residual of a solve by conjugate gradients, the limit of its steps, and the residual accepted at that limit.
CG_TOL, MAX_CG_STEPS = 1e-13, 2000
MAX_CG_RESIDUAL = 1e3 * CG_TOL


class RowSpace(Rooted):
    """B = ZᵀZ with fewer rows than columns, on the span of the rows: Q = S²ZᵀUΛ⁻¹ with (ZS)(ZS)ᵀ = UΛUᵀ."""

    def __init__(self, Z: Grouped, scale: Array, tol: float) -> None:
        self.Z, self.inverse = Z, 1 / scale
        values, U = eigh(Z.gram(self.inverse), lower=False, overwrite_a=True, check_finite=False)
        part = positive_part(values, U, rank_threshold(tol, Z.rows))
        self.root, self.rank = part.vectors / part.values, part.rank
        self.report = BReport("restrict", 0.0, self.rank, Z.columns - self.rank)

    def whiten(self, V: Array) -> Array:
        """Λ⁻¹Uᵀ(ZS)(SV)."""
        return np.asarray(self.root.T @ self.Z.times(self.inverse[:, None] ** 2 * V))

    def unwhiten(self, Y: Array) -> Array:
        """S(ZS)ᵀUΛ⁻¹Y."""
        return np.asarray(self.inverse[:, None] ** 2 * self.Z.transposed(self.root @ Y))


class Woodbury(Definite):
    """B = ZᵀZ + diag(d), d > 0, with fewer rows than columns, by a Cholesky factor of I + Z diag(d)⁻¹Zᵀ."""

    def __init__(self, Z: Grouped, diagonal: Array) -> None:
        self.Z, self.diagonal = Z, diagonal
        G = Z.gram(1 / np.sqrt(diagonal))
        G[np.diag_indices_from(G)] += 1
        self.factor = cho_factor(G, overwrite_a=True, check_finite=False)

    def times(self, V: Array) -> Array:
        """BV."""
        return np.asarray(self.Z.gram_times(V) + self.diagonal[:, None] * V)

    def solve(self, V: Array) -> Array:
        """Sherman–Morrison–Woodbury with one step of iterative refinement, as its two terms may nearly cancel."""
        W = self._solve(V)
        return W + self._solve(V - self.times(W))

    def _solve(self, V: Array) -> Array:
        W = V / self.diagonal[:, None]
        small = cho_solve(self.factor, self.Z.times(W), check_finite=False)
        return np.asarray(W - self.Z.transposed(small) / self.diagonal[:, None])


class Iterated(Definite):
    """B = ZᵀZ + diag(d), d ≥ 0, solved by block conjugate gradients with the Jacobi preconditioner.

    B is restricted to the columns that are `kept`. Without a diagonal it may be singular, which is only found out by
    an iteration that does not converge; `advice` tells what to give then.
    """

    def __init__(
        self, Z: Grouped, diagonal: Array, kept: Array | None = None, advice: str = "give a larger shrinkage"
    ) -> None:
        self.Z, self.diagonal, self.advice = Z, diagonal, advice
        self.kept = np.ones(diagonal.size, bool) if kept is None else kept
        self.jacobi = np.where(self.kept, Z.variances() + diagonal, 1.0)[:, None]
        if dropped := int(np.count_nonzero(~self.kept)):
            self.report = BReport("restrict", 0.0, diagonal.size - dropped, dropped)

    def times(self, V: Array) -> Array:
        """BV."""
        return np.asarray(self.Z.gram_times(V) + self.diagonal[:, None] * V)

    def solve(self, V: Array) -> Array:
        """B⁻¹V for columns V; raise if B is too ill-conditioned."""
        kept = self.kept[:, None]
        right = np.where(kept, V, 0.0)
        norms = column_norms(right)
        W, R = cg.solve_block(
            lambda P: np.where(kept, self.times(P), 0.0),
            np.zeros(V.shape),
            right,
            target=CG_TOL * norms,
            max_steps=MAX_CG_STEPS,
            refuse=self._refuse,
            precondition=lambda r: r / self.jacobi,
        )
        residual = float((column_norms(R) / np.maximum(norms, np.finfo(float).tiny)).max())
        if residual > MAX_CG_RESIDUAL:
            raise NotPositiveDefinite(
                f"the covariance is ill-conditioned: conjugate gradients left a relative residual of {residual:.1e} "
                f"after {MAX_CG_STEPS} steps; {self.advice}"
            )
        return W

    def _refuse(self, curvature: float) -> NoReturn:
        raise NotPositiveDefinite(
            f"the covariance is singular to working precision: conjugate gradients met the curvature "
            f"{curvature:.3g}; {self.advice}"
        )
