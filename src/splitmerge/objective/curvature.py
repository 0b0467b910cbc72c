"""Upper bounds on the curvature of f."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..checks import whole
from ..linalg.lanczos import LanczosProcess, largest_eigenvalue
from ..problem.pencil import Pencil, counted
from ..problem.products import Products, PSolver
from ..problem.start import random_vector
from ..typing import Array


class CurvatureBound(Protocol):
    """A way to bound λ₁(B̃), so that L₊ = 2λ₁(B̃) bounds the positive curvature of f."""

    def largest(self, pencil: Pencil | Products, P: PSolver | None, rng: np.random.Generator) -> float:
        """λ₁ of (PᴴP)⁻¹B, P = None for the identity."""


@dataclass(frozen=True)
class LanczosBound:
    """λ₁(B̃) from a few Lanczos steps, raised by a per cent or so to be an upper bound almost surely."""

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
            # the pair (B, PᴴP): its Lanczos needs PᴴP times the start, so start from (PᴴP)⁻¹ of a random vector
            preconditioner = P

            def solve(y: Array) -> tuple[Array, Array]:
                return products.solve_P(preconditioner, y), y

            x, Mx = solve(x)
        process = LanczosProcess(lambda v, _: products.apply_B(v), solve, x, Mx)
        return largest_eigenvalue(process, self.steps)


@dataclass(frozen=True)
class TraceBound:
    """λ₁(B) ≤ trace(B): no product at all, but often far too large, and gradient descent as much slower."""

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
    """L₊ = 2λ₁(B), for which ∇²f(x) ≼ L₊ I at every x (equation 2.5)."""
    return 2 * bound.largest(pencil, None, rng or np.random.default_rng(0))
