"""The splitting family: quadratic surrogates of f with Hessian H_x(u, v), and their minimisers (section 4.1).

For a factor A = FᵀF, the Hessian of f at x loses all of A but the rank-two part Fᵀ(uuᵀ + vvᵀ)F. With the paper's
u = Fx/‖Fx‖ the part of u cancels, and H_x(u, v) = 2B − FᵀvvᵀF/r with r = √(xᵀAx), for v ⟂ Fx and ‖v‖ ≤ 1. So
∇²f(x) ≼ H_x(u, v) ≼ 2B; v = 0 gives the power method. All of this is for real pencils and needs the factor F: it
serves theory and tests. `merging` picks the v for which F drops out.

H_x(u, v) x = 2Bx since v ⟂ Fx, and so H_x(u, v) x − ∇f(x) = Ax/r: the step x − H⁻¹∇f(x) is H⁻¹Ax/r.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..problem.factorise import factorise
from ..typing import Array
from .state import State


def splitting_matrix(state: State, v: Array, F: Array) -> Array:
    """H_x(u, v) as a dense matrix."""
    Fv = admissible(state.x, v, F)
    return np.asarray(2 * dense_B(state) - np.outer(Fv, Fv) / state.r)


def splitting_step(state: State, v: Array, F: Array) -> Array:
    """arg min φ_x, by a Cholesky factorisation of H_x(u, v), which must be positive definite (equation 4.1)."""
    H = splitting_matrix(state, v, F)
    return np.asarray(scipy.linalg.solve(H, state.Ax / state.r, assume_a="pos"))


def surrogate(state: State, v: Array, F: Array, y: Array) -> float:
    """φ_x(y) = f(x) + ⟨∇f(x), y − x⟩ + ½(y − x)ᵀH_x(u, v)(y − x) (equation 4.2).

    It is evaluated as yᵀBy − (vᵀFy)²/(2r) − yᵀAx/r: all terms without y cancel.
    """
    Fv = admissible(state.x, v, F)
    By = state.products.apply_B(y)
    return float(y @ By) - (float(Fv @ y) ** 2 / 2 + float(y @ state.Ax)) / state.r


def splitting_solve(state: State, v: Array, F: Array, b: Array) -> Array:
    """H_x(u, v)⁻¹b = ½(B⁻¹b + Gv Gvᵀb/(2σr)) for Gv = B⁻¹Fᵀv, by Sherman–Morrison (equation 4.3)."""
    w, Gv, sigma = _solved(state, v, F, b)
    return (w + (float(Gv @ b) / (2 * sigma * state.r)) * Gv) / 2


def splitting_update(state: State, v: Array, F: Array) -> Array:
    """x − H_x(u, v)⁻¹∇f(x) = B⁻¹Ax/(2r) + (Gvᵀ Ax)/(4σs) Gv for Gv = B⁻¹Fᵀv and s = xᵀAx (equation 4.4)."""
    Tx, Gv, sigma = _solved(state, v, F, state.Ax)
    return Tx / (2 * state.r) + (float(Gv @ state.Ax) / (4 * sigma * state.s)) * Gv


def _solved(state: State, v: Array, F: Array, b: Array) -> tuple[Array, Array, float]:
    """B⁻¹b, Gv = B⁻¹Fᵀv and σ = 1 − vᵀFGv/(2r), which is positive where H_x(u, v) is positive definite."""
    Fv = admissible(state.x, v, F)
    B = state.products.B
    products = state.products.solving(None if B is None else factorise(B))
    w, _ = products.solve_B(b)
    Gv, _ = products.solve_B(Fv)
    sigma = 1 - float(Fv @ Gv) / (2 * state.r)
    if sigma <= 0:
        raise ValueError(f"v is too long: σ = {sigma:.3g} must be positive, so that H_x(u, v) is positive definite")
    return w, Gv, sigma


def dense_B(state: State) -> Array:
    """The entries of B."""
    B, n = state.products.B, state.products.n
    return np.eye(n) if B is None else B.times_block(np.eye(n))


def admissible(x: Array, v: Array, F: Array) -> Array:
    """Fᵀv, after the check that ‖v‖ ≤ 1 and v ⟂ Fx."""
    Fx = F @ x
    if np.linalg.norm(v) > 1 + 1e-12 or abs(v @ Fx) > 1e-10 * np.linalg.norm(Fx):
        raise ValueError("v must satisfy ‖v‖ ≤ 1 and vᵀFx = 0")
    return np.asarray(F.T @ v)
