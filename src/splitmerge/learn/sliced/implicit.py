"""The covariance of all rows, not formed: by the Gram matrix of fewer rows than columns, or only by products."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from scipy.linalg import eigh

from ...errors import NotPositiveDefinite
from ...linalg import cg
from ...linalg.reductions import column_norms
from ...problem.b_policy import positive_part
from ...typing import Array
from ..covariance.definite import ROUNDING_TOL, Definite, Rooted, rank_threshold
from ..data.view import View
from ..moments.grouped import Grouped

# Relative residual of a solve by conjugate gradients, the limit of its steps, and the residual accepted at that limit.
CG_TOL, MAX_CG_STEPS, MAX_CG_RESIDUAL = 1e-12, 2000, 1e-9


class Span(Rooted):
    """B = fZᵀZ + rS⁻² on the span of the rows of ZS, with S = diag(1/`scale`): Q = S²ZᵀU(Λ(fΛ + r))^−½.

    UΛUᵀ is the Gram matrix (ZS)(ZS)ᵀ. Eigenvalues up to rounding are dropped; for r = 0, those up to tol².

    >>> X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    >>> span = Span(Grouped(X, np.zeros(2, int), 1), np.ones(3), 1.0, 0.0, 1e-4)
    >>> span.rank, abs(span.whitened).round(4).ravel()
    (1, array([0.7071, 0.7071]))
    """

    def __init__(self, Z: Grouped, scale: Array, factor: float, ridge: float, tol: float) -> None:
        self.Z, self.inverse = Z, 1 / scale
        values, U = eigh(Z.gram(self.inverse), lower=False, overwrite_a=True, check_finite=False)
        rounding = ROUNDING_TOL * Z.rows * float(values[-1])
        part = positive_part(values, U, rounding if ridge else max(rounding, rank_threshold(tol, Z.rows)))
        shrunk = factor * part.values + ridge
        self.rank = part.rank
        self.root = part.vectors / np.sqrt(part.values * shrunk)
        # the rows of ZQ
        self.whitened = part.vectors * np.sqrt(part.values / shrunk)

    def whiten(self, V: Array) -> Array:
        """QᵀV."""
        return np.asarray(self.root.T @ self.Z.times(self.inverse[:, None] ** 2 * V))

    def unwhiten(self, Y: Array) -> Array:
        """QY."""
        return np.asarray(self.inverse[:, None] ** 2 * self.Z.transposed(self.root @ Y))


class Products(Definite):
    """B = f X̃ᵀWX̃/Σw + r I, solved by block conjugate gradients with the Jacobi preconditioner.

    For r = 0 B may be singular: the columns of V must be in its range, and the solution is in the range, too, as
    conjugate gradients begin at zero. Constant columns, which do not `vary`, get zeros.
    """

    def __init__(self, view: View, variances: Array, vary: Array, factor: float, ridge: float) -> None:
        self.view, self.factor, self.ridge = view, factor, ridge
        self.vary = vary[:, None]
        self.jacobi = np.where(self.vary, factor * variances[:, None] + ridge, 1.0)

    def times(self, V: Array) -> Array:
        """BV."""
        return np.asarray(self.vary * (self.factor * self.view.gram_times(V) + self.ridge * V))

    def solve(self, V: Array) -> Array:
        """B⁻¹V for columns V; raise if conjugate gradients do not converge."""
        V = self.vary * V
        norms = column_norms(V)
        W, R = cg.solve_block(
            self.times,
            np.zeros(V.shape),
            V,
            target=CG_TOL * norms,
            max_steps=MAX_CG_STEPS,
            refuse=_refuse,
            precondition=lambda r: r / self.jacobi,
        )
        residual = float((column_norms(R) / np.maximum(norms, np.finfo(float).tiny)).max())
        # not finite after an overflow
        if not residual <= MAX_CG_RESIDUAL:
            raise NotPositiveDefinite(
                f"the covariance of X is ill-conditioned: conjugate gradients left a relative residual of "
                f"{residual:.1e} after {MAX_CG_STEPS} steps; give a larger shrinkage"
            )
        return W


def _refuse(curvature: float) -> NoReturn:
    raise NotPositiveDefinite(
        f"the covariance of X is singular to working precision: conjugate gradients met the curvature "
        f"{curvature:.3g}; give a larger shrinkage"
    )
