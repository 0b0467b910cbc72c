"""The curvature of f: its upper bound L₊, and what follows from it for gradient steps.

∇²f ≼ 2B ≼ 2λ₁(B) I at every x, while nothing bounds it from below. This one-sided bound suffices: a gradient step
of fixed size descends, without a line search (section 3.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..checks import whole
from ..linalg.lanczos import LanczosProcess, largest_eigenvalue
from ..linalg.reductions import vdot
from ..problem.pencil import Pencil, counted
from ..problem.products import Products, PSolver
from ..problem.start import random_vector
from ..typing import Array
from .difference import Objective, gradient
from .state import State


class CurvatureBound(Protocol):
    """An upper bound of λ₁(B̃), so that L₊ = 2λ₁(B̃) bounds the positive curvature of f in the domain y = P x."""

    def largest(self, pencil: Pencil | Products, P: PSolver | None, rng: np.random.Generator) -> float:
        """λ₁ of (PᴴP)⁻¹B, P = None for the identity."""


@dataclass(frozen=True)
class LanczosBound:
    """λ₁(B̃) from a few Lanczos steps, raised by about 1 % to an upper bound that holds almost surely."""

    steps: int = 80

    def __post_init__(self) -> None:
        whole(self.steps, "steps", 2)

    def largest(self, pencil: Pencil | Products, P: PSolver | None, rng: np.random.Generator) -> float:
        """λ₁ of (PᴴP)⁻¹B from at most `steps` products with B."""
        products = counted(pencil)
        if products.identity:
            return 1.0
        solve: Callable[[Array], tuple[Array, Array]]
        x = random_vector(pencil, rng)
        if P is None:
            solve, Mx = (lambda y: (y, y)), x
        else:
            # Lanczos for the pair (B, PᴴP) needs PᴴP times its start: start from (PᴴP)⁻¹ times a random vector
            preconditioner = P

            def solve(y: Array) -> tuple[Array, Array]:
                return products.solve_P(preconditioner, y), y

            x, Mx = solve(x)
        process = LanczosProcess(lambda v, _: products.apply_B(v), solve, x, Mx)
        return largest_eigenvalue(process, self.steps)


@dataclass(frozen=True)
class TraceBound:
    """λ₁(B) ≤ trace(B): needs no product, but overestimates by up to a factor n, which shortens every step."""

    def largest(self, pencil: Pencil | Products, P: PSolver | None, rng: np.random.Generator) -> float:
        """trace(B); only without a preconditioner."""
        if P is not None:
            raise ValueError("TraceBound bounds λ₁(B), not λ₁ of the preconditioned B; use LanczosBound()")
        if pencil.B is None:
            return 1.0
        if pencil.B.matrix is None:
            raise ValueError("TraceBound needs the diagonal of B, and B is an operator; use LanczosBound()")
        return float(pencil.B.diagonal().real.sum(dtype=np.float64))


def positive_curvature(pencil: Pencil, bound: CurvatureBound, rng: np.random.Generator | None = None) -> float:
    """L₊ = 2λ₁(B) or a bound above it, for which ∇²f(x) ≼ L₊I at every x (equation 2.5)."""
    return 2 * bound.largest(pencil, None, rng or np.random.default_rng(0))


def largest_curvature(pencil: Pencil, x: Array) -> float:
    """The largest eigenvalue of ∇²f(x), or 0 if that is negative; L₊ is at least that at every x (equation 2.4).

    By n Hessian products and a dense eigenvalue problem, for real pencils: it serves theory and tests.
    """
    objective = Objective(pencil)
    H = np.column_stack([objective.hessian_product(x, e) for e in np.eye(pencil.n)])
    return max(float(np.linalg.eigvalsh(H)[-1]), 0.0)


def admissible_stepsize(alpha: float, L: float) -> bool:
    """Is αL₊ in (0, 2), so that every gradient step of this size lowers f (equation 3.2)?"""
    return 0 < alpha * L < 2


def upper_bound(state: State, y: Array, L: float) -> float:
    """f(x) + ⟨∇f(x), y − x⟩ + L₊‖y − x‖²/2, which is at least f(y) (equation 3.3)."""
    d = y - state.x
    return state.f + float(vdot(gradient(state), d).real) + L / 2 * float(vdot(d, d).real)


def gradient_surrogate(state: State, y: Array, alpha: float) -> float:
    """The quadratic in y with Hessian I/α whose minimiser is the gradient step x − α∇f(x) (equation 3.4).

    It majorises f for α ≤ 1/L₊; up to 2/L₊ its minimiser still descends.
    """
    return upper_bound(state, y, 1 / alpha)
