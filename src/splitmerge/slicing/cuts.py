"""Cuts: points of the real line at which the eigenvalues below are counted.

By Sylvester's law of inertia A − τB has as many negative eigenvalues as (A, B) has eigenvalues below τ; for a singular
positive semidefinite B, plus a constant. Rounding may falsify the count of an eigenvalue next to τ, so every count
comes with an estimate of the distance to the nearest one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..linalg.ldl import DenseShifted
from ..linalg.reductions import norm, random_vector, vdot
from ..linalg.rounding import ROUNDING_UNITS, attainable_residual
from ..problem.factorise import counting_factor
from ..problem.operator import plus
from ..problem.products import Products
from ..solvers.estimate import is_singular
from ..sparse_direct.ldl import SparseShifted
from ..typing import Array

# A count is certain if the nearest eigenvalue is this multiple of what rounding may move it by away.
CLEAR_ROUNDING_ERRORS = 2
# Steps of inverse iteration that estimate the distance: one that is within rounding dominates after the first.
INVERSE_STEPS = 3


class Cut(NamedTuple):
    """A point τ, the number of eigenvalues `below` it, and the eigenvalue `nearest` to it, as inverse iteration saw it.

    Rounding of A and B moves an eigenvalue here by up to `rounding`.
    """

    tau: float
    below: int
    nearest: float
    rounding: float

    @property
    def distance(self) -> float:
        """How far the nearest eigenvalue is, at most."""
        return abs(self.nearest - self.tau)

    @property
    def clear(self) -> bool:
        """Is the count certain?"""
        return self.distance > CLEAR_ROUNDING_ERRORS * self.rounding


class Counter:
    """Counts eigenvalues of one pencil; `factorisations` is the number of its factorisations so far.

    The pairs between two cuts will be computed to the relative residual `tol`.
    """

    def __init__(self, products: Products, tol: float = 1e-8) -> None:
        self.products, self.tol = products, max(tol, attainable_residual(products.n, products.eps))
        self.factorisations = 0
        self.n = products.n

    @property
    def radius(self) -> float:
        """The norm of A relative to that of B: a first guess of the spectral radius."""
        scale = self.products.scale
        return scale.A_norm / scale.B_norm if scale.A_norm > 0 and scale.B_norm > 0 else 1.0

    def rounding(self, tau: float, length: float = 1.0) -> float:
        """How far rounding may move an eigenvalue at τ whose B-normalised vector has this Euclidean norm."""
        return float(self.products.scale.perturbation(np.array([tau]), np.array([length]))[0])

    def clearance(self, tau: float, span: float) -> float:
        """How far from eigenvalues a border in an interval of this width must be, for them to be told apart."""
        return self.tol * (max(abs(tau), span) or self.radius)

    def at(self, tau: float) -> Cut | None:
        """The cut at τ; None where A − τB is singular, or its factorisation does not show the inertia."""
        self.factorisations += 1
        K = plus(self.products.A, -tau, self.products.B)
        try:
            factor = counting_factor(K)
        except ZeroDivisionError:
            return None
        if factor.negative is None or is_singular(K, factor):
            return None
        nearest, length = self._nearest(tau, factor)
        return Cut(tau, factor.negative, nearest, self.rounding(tau, length) * _excess(factor))

    def _nearest(self, tau: float, factor: DenseShifted | SparseShifted) -> tuple[float, float]:
        """An estimate of the eigenvalue nearest to τ, and the Euclidean norm of its vector of B-norm 1.

        Inverse iteration with T = (A − τB)⁻¹B: ‖Tx‖_B is at most 1/|λ − τ| for ‖x‖_B = 1, and the sign of xᴴBTx tells
        the side of τ.
        """
        products = self.products
        y = random_vector(products.n, products.dtype, np.random.default_rng(0))
        By, side = products.apply_B(y), 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            growth = _norm(y, By)
            for _ in range(INVERSE_STEPS):
                if not 0 < growth < math.inf:
                    break
                Bx = np.asarray(By / growth, dtype=products.dtype)
                y = products.solve_K(factor, Bx)
                By = products.apply_B(y)
                growth, side = _norm(y, By), float(vdot(y, Bx).real)
            length = norm(y)
        if growth == 0:
            return math.inf, 1.0
        if not (math.isfinite(growth) and math.isfinite(length)):
            return tau, 1.0
        return tau + math.copysign(1 / growth, side), length / growth


def _excess(factor: DenseShifted | SparseShifted) -> float:
    """By which factor the backward error of a factorisation exceeds the rounding of A and B."""
    return max(1.0, factor.backward_error / ROUNDING_UNITS)


def _norm(x: Array, Bx: Array) -> float:
    """‖x‖_B."""
    square = float(vdot(x, Bx).real)
    return math.sqrt(max(square, 0.0)) if math.isfinite(square) else math.inf
