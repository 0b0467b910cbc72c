"""Rayleigh quotient iteration, kept from going to another pair."""

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
    """x ← (A − μB)⁻¹Bx with μ the Rayleigh quotient, after as many power steps as it takes to be sure of the pair.

    Parlett (1974) has the iteration, which converges cubically but to any pair. Szyld (1988) begins with another
    iteration and changes over when the residual shows that only one eigenvalue is left; here that one is the power
    method, and the inertia of A − (μ − ρ)B shows it. One product with A and one solve with B a power step; one
    factorisation, one solve with it and a product with A and B each a step of the iteration proper.
    """

    inner: InnerSolver | None = None

    def setup(self, products: Products, rng: np.random.Generator) -> None:
        """Nothing to set up, but entries to ask for."""
        need_entries(products, self)

    def first(self, products: Products, x: Array, memory: None) -> State:
        """Nothing is known yet."""
        return super().first(products, x, Guard())

    def step(self, state: State) -> State:
        """A step of the iteration where the guard allows it, otherwise one of the power method."""
        guard: Guard = state.memory
        if guard.low is not None:
            y = inverse_applied(state, state.value)
            # μ is an eigenvalue to rounding: x stays
            following = start(state.products, state.x if y is None else y, guard)
            if guard.holds(following):
                return following
            guard = Guard(tried=guard.tried)
        following = Power().step(state)
        following.memory = guard.tested(state, following.x * (2 * state.r))
        return following
