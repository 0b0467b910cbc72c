"""Rayleigh quotient iteration with guaranteed convergence to the leading pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...methods.first_order.power import Power
from ...methods.protocol import Method
from ...objective.state import State, start
from ...problem.products import Products
from ...solvers.protocol import InnerSolver
from ...typing import Array
from .localise import Guard, inverse_applied, need_entries


@dataclass(frozen=True)
class RayleighQuotientIteration(Method):
    """x ← (A − μB)⁻¹Bx with the Rayleigh quotient μ, after power steps until the leading pair is isolated.

    The iteration (Parlett 1974) converges cubically, but to an arbitrary pair. Following Szyld (1988), another
    iteration precedes it until the residual isolates one eigenvalue; here the power method, with the inertia of
    A − (μ − ρ)B as criterion. A power step takes one product with A and one solve with B; a step of Rayleigh quotient
    iteration one factorisation, one solve with it, and one product each with A and B.
    """

    inner: InnerSolver | None = None

    def setup(self, products: Products, rng: np.random.Generator) -> None:
        """Check that A and B have entries."""
        need_entries(products, self)

    def first(self, products: Products, x: Array, memory: None) -> State:
        """The start, with an empty guard."""
        return super().first(products, x, Guard())

    def step(self, state: State) -> State:
        """A Rayleigh quotient step if the guard allows it, otherwise a power step."""
        guard: Guard = state.memory
        if guard.low is not None:
            y = inverse_applied(state, state.value)
            # keep x if μ is an eigenvalue to working precision
            following = start(state.products, state.x if y is None else y, guard)
            if guard.holds(following):
                return following
            guard = Guard(tried=guard.tried)
        following = Power().step(state)
        following.memory = guard.tested(state, following.x * (2 * state.r))
        return following
