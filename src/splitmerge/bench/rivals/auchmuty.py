"""Auchmuty's unconstrained principle: the least value of a quartic is −λ₁²/4, at eigenvectors of λ₁."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...methods.protocol import Method
from ...objective.state import State
from ...problem.products import Products
from ...solvers.protocol import InnerSolver
from ...typing import Array
from .direction import Direction, Past, ascent, conjugated, moved, scaled
from .localise import Guard, inverse_applied, need_entries
from .quartic import line_search, quartic


class _OfBestLength(Method):
    def first(self, products: Products, x: Array, memory: Any) -> State:
        """The multiple of the start for which G is least: xᴴBx is its Rayleigh quotient, twice as long as for f."""
        return scaled(super().first(products, x, None), 2.0)


@dataclass(frozen=True)
class AuchmutyDescent(_OfBestLength):
    """x ← x + t(B⁻¹Ax − (xᴴBx)x): steepest descent on ¼(xᴴBx)² − ½xᴴAx in the metric of B, with the best t.

    Auchmuty (1991) has the principle, Mongeau and Torki (2004) the methods for it. Fixed here: gradients are taken in
    the metric of B, as then the steps are the same in any basis. The line search takes the best root of a cubic. One
    product with A and one solve a step.
    """

    inner: InnerSolver | None = None

    def step(self, state: State) -> State:
        """To the best point along −B⁻¹∇G."""
        return descend(state)[0]


@dataclass(frozen=True)
class AuchmutyConjugateGradient(_OfBestLength):
    """The directions of `AuchmutyDescent` made conjugate as Polak and Ribière do it, where their β is not negative.

    Mongeau and Torki (2004). Where the direction does not descend it is the gradient. One product with A and one solve
    a step.
    """

    inner: InnerSolver | None = None

    def step(self, state: State) -> State:
        """To the best point along the conjugate direction."""
        direction = g = ascent(state, state.b)
        dot = state.products.kernels.dot
        past: Past | None = state.memory
        if past is None:
            past = Past(g, g.d, dot(g.d, g.Bd))
        else:
            direction, past = conjugated(state, g, past.direction, past)
        following = moved(state, line_search(state, direction, dot(direction.d, g.Bd)), direction, normalise=False)
        following.memory = past
        return following


@dataclass(frozen=True)
class AuchmutyNewton(_OfBestLength):
    """Newton's method on ¼(xᴴBx)² − ½xᴴAx, after as many steps of descent as it takes to be sure of the pair.

    Mongeau and Torki (2004). The Hessian is μB + 2Bx(Bx)ᴴ − A with μ = xᴴBx, so that with y = (A − μB)⁻¹Bx the next
    iterate is 2μ/(2(Bx)ᴴy − 1) y. It converges quadratically but only nearby: fixed here is that descent leads to where
    `RayleighQuotientIteration` would begin, too, and takes over again should G rise. One factorisation, one
    solve with it and a product with A and B each a step of Newton's.
    """

    inner: InnerSolver | None = None

    def setup(self, products: Products, rng: np.random.Generator) -> None:
        """Nothing to set up, but entries to ask for."""
        need_entries(products, self)

    def first(self, products: Products, x: Array, memory: None) -> State:
        """Nothing is known yet."""
        state = super().first(products, x, None)
        state.memory = Guard()
        return state

    def step(self, state: State) -> State:
        """Newton's step where the guard allows it, otherwise one of descent."""
        guard: Guard = state.memory
        if guard.low is not None:
            following = _newton(state)
            if guard.holds(following) and quartic(following) <= quartic(state) * (1 - 64 * state.products.eps):
                return following
            guard = Guard(tried=guard.tried)
        following, g = descend(state)
        guard = guard.tested(state, g.d + state.b * state.x)
        if guard.low is not None:
            # the length at which Newton's direction is that of the Rayleigh quotient iteration
            following = scaled(following, (following.value / following.b) ** 0.5)
        following.memory = guard
        return following


def descend(state: State) -> tuple[State, Direction]:
    """The state at the best point along g = −B⁻¹∇G, and g."""
    g = ascent(state, state.b)
    return moved(state, line_search(state, g, state.products.kernels.dot(g.d, g.Bd)), g, normalise=False), g


def _newton(state: State) -> State:
    """2μ/(2(Bx)ᴴy − 1) y; x itself where μ is an eigenvalue to rounding."""
    products = state.products
    y = inverse_applied(state, state.b)
    if y is None:
        return state
    y = (2 * state.b / (2 * products.kernels.dot(state.Bx, y) - 1)) * y
    y, By = products.project(y, products.apply_B(y))
    return State(products, y, products.apply_A(y, By), By, state.memory)
