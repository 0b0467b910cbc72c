"""The objective f(x) = xᴴBx − √(xᴴAx), its derivatives, its curvature bounds and the splitting family.

At a stationary point λ = 2√(xᴴAx); the minimum is −λ₁/4; every eigenvector of a smaller eigenvalue is a strict
saddle (section 2). ∇²f ≼ 2B everywhere, which is why no line search is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..problem.factorise import factorise
from ..problem.pencil import Pencil
from ..typing import Array
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

    def _state(self, x: Array) -> State:
        Bx = self.pencil.apply_B(x)
        return State(self.pencil.products, x, self.pencil.apply_A(x, Bx), Bx)

    def value(self, x: Array) -> float:
        """f(x)."""
        return self._state(x).f

    def gradient(self, x: Array) -> Array:
        """∇f(x); x must not be in the null space of A."""
        return gradient(self._state(x))

    def hessian_product(self, x: Array, d: Array) -> Array:
        """∇²f(x) d = 2Bd − Ad/r + Ax (Axᵀd)/r³ (equation 2.3; real pencils)."""
        state = self._state(x)
        Bd = self.pencil.apply_B(d)
        Ad = self.pencil.apply_A(d, Bd)
        return 2 * Bd - Ad / state.r + state.Ax * (float(state.Ax @ d) / state.r**3)

    def splitting_matrix(self, x: Array, v: Array, F: Array) -> Array:
        """H_x(u, v) = 2B − FᵀvvᵀF/r as a dense matrix, for u = Fx/‖Fx‖, A = FᵀF, v ⟂ Fx, ‖v‖ ≤ 1."""
        Fv = _admissible(x, v, F)
        B = np.eye(self.pencil.n) if self.pencil.B is None else self.pencil.B.times_block(np.eye(self.pencil.n))
        return np.asarray(2 * B - np.outer(Fv, Fv) / self._state(x).r)

    def splitting_update(self, x: Array, v: Array, F: Array) -> Array:
        """x − H_x(u, v)⁻¹∇f, by the closed form of equation 4.4; v = 0 is a step of the power method."""
        Fv = _admissible(x, v, F)
        state = self._state(x)
        B = self.pencil.B
        products = self.pencil.products.solving(None if B is None else factorise(B))
        Tx, _ = products.solve_B(state.Ax)
        Gv, _ = products.solve_B(Fv)
        sigma = 1 - float(Fv @ Gv) / (2 * state.r)
        if sigma <= 0:
            raise ValueError(f"v is too long: σ = {sigma:.3g} must be positive, so that H_x(u, v) is positive definite")
        return Tx / (2 * state.r) + (float(Gv @ state.Ax) / (4 * sigma * state.s)) * Gv


def _admissible(x: Array, v: Array, F: Array) -> Array:
    """Fᵀv, after checking the conditions of section 4.1 on v."""
    Fx = F @ x
    if np.linalg.norm(v) > 1 + 1e-12 or abs(v @ Fx) > 1e-10 * np.linalg.norm(Fx):
        raise ValueError("v must satisfy ‖v‖ ≤ 1 and vᵀFx = 0")
    return np.asarray(F.T @ v)
