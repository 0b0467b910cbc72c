"""The power method."""

from __future__ import annotations

from dataclasses import dataclass

from ...objective.state import State
from ...solvers.protocol import InnerSolver
from ..protocol import Method


@dataclass(frozen=True)
class Power(Method):
    """x ← B⁻¹Ax/(2r): gradient descent with step size ½ in the domain where B = I. One product with A, one solve."""

    inner: InnerSolver | None = None

    def step(self, state: State) -> State:
        """B x₊ = Ax/(2r), the minimiser of the surrogate f(x) + ⟨∇f(x), d⟩ + dᴴBd (equation 3.5)."""
        products = state.products
        x, Bx = products.solve_B(state.Ax * (0.5 / state.r), state.x, state.Bx)
        return State(products, x, products.apply_A(x, Bx), Bx, state.memory)
