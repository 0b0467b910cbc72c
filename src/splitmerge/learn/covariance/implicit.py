"""A covariance, or one plus a diagonal, that is not formed: the Gram matrix of the rows instead, or only products."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ...errors import NotPositiveDefinite
from ...linalg import cg
from ...linalg.reductions import column_norms
from ...problem.b_policy import BReport, positive_part
from ...typing import Array
from ..moments.grouped import Grouped
from .definite import ROUNDING_TOL, Definite, Rooted, rank_threshold

# Relative residual of a solve by conjugate gradients, the limit of its steps, and the multiple of that residual that is
# accepted at the limit.
CG_TOL, MAX_CG_STEPS, MAX_RESIDUAL_INCREASE = 1e-13, 2000, 1e3


class Span(Rooted):
    """B = fZᵀZ + rS⁻² on the span of the rows of ZS, with S = diag(1/`scale`): Q = S²ZᵀU(Λ(fΛ + r))^−½.

    UΛUᵀ is the Gram matrix (ZS)(ZS)ᵀ. Eigenvalues up to rounding are dropped; for r = 0, those up to tol².

    >>> X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    >>> span = Span(Grouped(X, np.zeros(2, int), 1), np.ones(3), 1e-4)
    >>> span.rank, abs(span.whitened).round(4).ravel()
    (1, array([0.7071, 0.7071]))
    """

    def __init__(self, Z: Grouped, scale: Array, tol: float, factor: float = 1.0, ridge: float = 0.0) -> None:
        self.Z, self.inverse = Z, 1 / scale
        values, U = eigh(Z.gram(self.inverse), lower=False, overwrite_a=True, check_finite=False)
        rounding = ROUNDING_TOL * Z.rows * float(values[-1])
        part = positive_part(values, U, rounding if ridge else max(rounding, rank_threshold(tol, Z.rows)))
        shrunk = factor * part.values + ridge
        self.rank = part.rank
        self.root = part.vectors / np.sqrt(part.values * shrunk)
        # the rows of ZQ
        self.whitened = part.vectors * np.sqrt(part.values / shrunk)
        self.report = None if ridge else BReport("restrict", 0.0, self.rank, Z.columns - self.rank)

    def whiten(self, V: Array) -> Array:
        """QᵀV."""
        return np.asarray(self.root.T @ self.Z.times(self.inverse[:, None] ** 2 * V))

    def unwhiten(self, Y: Array) -> Array:
        """QY."""
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
    """B = C + diag(d), d ≥ 0, solved by block conjugate gradients with the Jacobi preconditioner.

    `gram_times` is the product with C, and `variances` its diagonal. B is restricted to the columns that are `kept`.
    Without a diagonal it may be singular: columns V in its range have a solution there, as conjugate gradients begin at
    zero, and others are only found out by an iteration that does not converge; `advice` tells what to give then.
    """

    def __init__(
        self,
        gram_times: Callable[[Array], Array],
        variances: Array,
        diagonal: Array,
        kept: Array | None = None,
        *,
        advice: str = "give a larger shrinkage",
        tol: float = CG_TOL,
    ) -> None:
        self.gram_times, self.diagonal, self.advice, self.tol = gram_times, diagonal, advice, tol
        self.kept = np.ones(diagonal.size, bool) if kept is None else kept
        self.jacobi = np.where(self.kept, variances + diagonal, 1.0)[:, None]
        if dropped := int(np.count_nonzero(~self.kept)):
            self.report = BReport("restrict", 0.0, diagonal.size - dropped, dropped)

    def times(self, V: Array) -> Array:
        """BV."""
        return np.asarray(self.gram_times(V) + self.diagonal[:, None] * V)

    def solve(self, V: Array) -> Array:
        """B⁻¹V for columns V; raise if B is too ill-conditioned."""
        kept = self.kept[:, None]
        right = np.where(kept, V, 0.0)
        norms = column_norms(right)
        W, R = cg.solve_block(
            lambda P: np.where(kept, self.times(P), 0.0),
            np.zeros(V.shape),
            right,
            target=self.tol * norms,
            max_steps=MAX_CG_STEPS,
            refuse=self._refuse,
            precondition=lambda r: r / self.jacobi,
        )
        residual = float((column_norms(R) / np.maximum(norms, np.finfo(float).tiny)).max())
        # not finite after an overflow
        if not residual <= MAX_RESIDUAL_INCREASE * self.tol:
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
