"""Merging: the split direction v of largest decrease, and the Split-Merge step, from which F is gone (section 4.2).

v ranges over Ω = {v : v ⟂ Fx, vᵀv = 1/ρ}. The best of them solves another generalized eigenvalue problem
(`optimal_direction`); the method takes the v of largest vᵀFTx instead (`merged_direction`), for T = B⁻¹A. The step of
that v is a combination of Tx and T²x with the scalars `MergeCoefficients`. They are evaluated here as published;
`SplitMerge.step` evaluates the same step without cancellation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..linalg.reductions import vdot
from ..typing import Array
from .difference import gradient
from .splitting import dense_B, splitting_solve
from .state import State

# ρ ≥ 1 keeps ‖v‖ ≤ 1 and ρ > t keeps σ = 1 − t/ρ positive: ρ is the least of both, with t raised by 1 %.
RHO_MARGIN = 1.01


def surrogate_decrease(state: State, v: Array, F: Array) -> float:
    """f(x) − min φ_x = ½∇fᵀH_x(u, v)⁻¹∇f, the decrease of the surrogate, which v is to maximise (equation 4.5)."""
    g = gradient(state)
    return float(g @ splitting_solve(state, v, F, g)) / 2


def optimal_direction(state: State, F: Array, rho: float) -> Array:
    """The v in Ω of largest decrease, which maximises vᵀDv/vᵀCv over Ω (equation 4.6).

    D = qqᵀ for q = FTx, and C = ρI − FB⁻¹Fᵀ/(2r) must be positive definite on the complement of Fx. D is of rank
    one: v is a multiple of N(NᵀCN)⁻¹Nᵀq, for an orthonormal basis N of that complement.
    """
    C = rho * np.eye(F.shape[0]) - F @ scipy.linalg.solve(dense_B(state), F.T, assume_a="pos") / (2 * state.r)
    N = scipy.linalg.null_space((F @ state.x)[None, :])
    q = F @ scipy.linalg.solve(dense_B(state), state.Ax, assume_a="pos")
    try:
        factor = scipy.linalg.cho_factor(N.T @ C @ N)
    except np.linalg.LinAlgError:
        raise ValueError(f"rho is {rho:.3g}: C is not positive definite; give a rho above λ₁/(2r)") from None
    return _of_length(N @ scipy.linalg.cho_solve(factor, N.T @ q), rho)


def merged_direction(state: State, F: Array, rho: float) -> Array:
    """The v in Ω of largest vᵀFTx: the part of FTx orthogonal to Fx, of length 1/√ρ."""
    v = F @ scipy.linalg.solve(dense_B(state), state.Ax, assume_a="pos")
    Fx = F @ state.x
    for _ in range(2):  # the second pass removes the rounding of the first
        v = v - Fx * (float(Fx @ v) / float(Fx @ Fx))
    return _of_length(v, rho)


def _of_length(v: Array, rho: float) -> Array:
    """v/(√ρ‖v‖)."""
    norm = np.linalg.norm(v)
    if norm == 0:
        raise ValueError("x is an eigenvector; there is no split direction")
    return np.asarray(v / (math.sqrt(rho) * norm))


class MergeCoefficients(NamedTuple):
    """ζ, ω and σ of the Split-Merge step in the notation of the paper, with what they are made of.

    For s = xᴴAx, r = √s and z = ATx − qAx: q = xᴴATx/s, δ = xᴴATTx − (xᴴATx)²/s, t = zᴴB⁻¹z/(2rδ),
    σ = 1 − t/ρ, ω = 1/(4σρs), ζ = 1/(2r) − ωq.
    """

    zeta: float
    omega: float
    sigma: float
    rho: float
    q: float
    t: float
    delta: float

    @classmethod
    def of(cls, x: Array, Ax: Array, Tx: Array, ATx: Array, TTx: Array, rho: float | None = None) -> MergeCoefficients:
        """As published; ρ = max(1, 1.01 t) unless it is given."""
        s, p = float(vdot(x, Ax).real), float(vdot(Ax, Tx).real)
        r, q = math.sqrt(s), p / s
        delta = float(vdot(ATx, Tx).real) - p**2 / s
        if delta <= 0:
            raise ValueError(f"δ = {delta:.3g} must be positive; an eigenvector x leaves no split direction")
        t = float(vdot(ATx - q * Ax, TTx - q * Tx).real) / (2 * r * delta)
        if rho is None:
            rho = max(1.0, RHO_MARGIN * t)
        sigma = 1 - t / rho
        if rho < 1 or sigma <= 0:
            raise ValueError(f"rho is {rho:.3g}; give a rho ≥ 1 above t = {t:.3g}")
        omega = 1 / (4 * sigma * rho * s)
        return cls(1 / (2 * r) - omega * q, omega, sigma, rho, q, t, delta)

    def step(self, Tx: Array, TTx: Array) -> Array:
        """x₊ = ζTx + ωT²x (equation 4.7)."""
        return self.zeta * Tx + self.omega * TTx
