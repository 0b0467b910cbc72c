"""The difference-based objective f(x) = xᴴBx − √(xᴴAx) and its derivatives.

At a stationary point λ = 2√(xᴴAx); the minimum is −λ₁/4; every eigenvector of a smaller eigenvalue is a strict
saddle point (section 2).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..problem.pencil import Pencil
from ..typing import Array
from . import splitting
from .state import State


def gradient(state: State) -> Array:
    """∇f = 2Bx − Ax/√(xᴴAx), from the products that the state carries (equation 2.2)."""
    g = (-1.0 / state.r) * state.Ax
    return state.products.kernels.axpy(state.Bx, g, a=2.0)


@dataclass(frozen=True)
class Objective:
    """f for one pencil, whose A must be positive semidefinite.

    >>> import numpy as np
    >>> f = Objective(Pencil(np.diag([4.0, 1.0])))
    >>> f.value(np.array([1.0, 0.0]))  # −λ₁/4, at the multiple of the leading eigenvector where 2√(xᵀAx) = λ₁
    -1.0
    >>> f.gradient(np.array([1.0, 0.0]))
    array([0., 0.])
    """

    pencil: Pencil

    def state(self, x: Array) -> State:
        """x with the products A x and B x."""
        Bx = self.pencil.apply_B(x)
        return State(self.pencil.products, x, self.pencil.apply_A(x, Bx), Bx)

    def value(self, x: Array) -> float:
        """f(x) = xᴴBx − √(xᴴAx) (equation 2.1)."""
        return self.state(x).f

    def gradient(self, x: Array) -> Array:
        """∇f(x); x must not be in the null space of A."""
        return gradient(self.state(x))

    def hessian_product(self, x: Array, d: Array) -> Array:
        """∇²f(x) d = 2Bd − Ad/r + Ax (Axᵀd)/r³ for r = √(xᵀAx); real pencils (equation 2.3)."""
        state = self.state(x)
        Bd = self.pencil.apply_B(d)
        Ad = self.pencil.apply_A(d, Bd)
        return 2 * Bd - Ad / state.r + state.Ax * (float(state.Ax @ d) / state.r**3)

    def splitting_matrix(self, x: Array, v: Array, F: Array) -> Array:
        """H_x(u, v) = 2B − FᵀvvᵀF/r as a dense matrix, for u = Fx/‖Fx‖, A = FᵀF, v ⟂ Fx, ‖v‖ ≤ 1."""
        return splitting.splitting_matrix(self.state(x), v, F)

    def splitting_update(self, x: Array, v: Array, F: Array) -> Array:
        """x − H_x(u, v)⁻¹∇f in closed form; v = 0 is a step of the power method."""
        return splitting.splitting_update(self.state(x), v, F)
