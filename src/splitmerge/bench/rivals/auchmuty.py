"""Auchmuty's unconstrained variational principle: the minimum of a quartic is −λ₁²/4, at eigenvectors of λ₁."""

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
        """The multiple of the start that minimises G, where xᴴBx is the Rayleigh quotient: twice that for f."""
        return scaled(super().first(products, x, None), 2.0)


@dataclass(frozen=True)
class AuchmutyDescent(_OfBestLength):
    """x ← x + t(B⁻¹Ax − (xᴴBx)x): steepest descent on ¼(xᴴBx)² − ½xᴴAx in the B-metric, with exact line search.

    The principle is due to Auchmuty (1991), the methods to Mongeau and Torki (2004). Our choices: gradients are taken
    in the B-metric, which makes the steps basis-independent; the line search takes the best root of a cubic. Each step
    takes one product with A and one solve with B.
    """

    inner: InnerSolver | None = None

    def step(self, state: State) -> State:
        """Move to the minimum along −B⁻¹∇G."""
        return descend(state)[0]


@dataclass(frozen=True)
class AuchmutyConjugateGradient(_OfBestLength):
    """Nonlinear conjugate gradients on the function of `AuchmutyDescent`: Polak–Ribière with β ≥ 0.

    Mongeau and Torki (2004). If the direction is not a descent direction, it is replaced by the gradient. Each step
    takes one product with A and one solve with B.
    """

    inner: InnerSolver | None = None

    def step(self, state: State) -> State:
        """Move to the minimum along the conjugate direction."""
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
    """Newton's method on ¼(xᴴBx)² − ½xᴴAx, after descent steps until convergence to the leading pair is certain.

    Mongeau and Torki (2004). The Hessian is μB + 2Bx(Bx)ᴴ − A with μ = xᴴBx, so that with y = (A − μB)⁻¹Bx the next
    iterate is 2μ/(2(Bx)ᴴy − 1) y. Convergence is quadratic, but only local. Our choices: descent steps precede, with
    the switching criterion of `RayleighQuotientIteration`, and are resumed if G increases. Each Newton step takes one
    factorisation, one solve with it, and one product each with A and B.
    """

    inner: InnerSolver | None = None

    def setup(self, products: Products, rng: np.random.Generator) -> None:
        """Check that A and B have entries."""
        need_entries(products, self)

    def first(self, products: Products, x: Array, memory: None) -> State:
        """The scaled start, with an empty guard."""
        state = super().first(products, x, None)
        state.memory = Guard()
        return state

    def step(self, state: State) -> State:
        """A Newton step if the guard allows it, otherwise a descent step."""
        guard: Guard = state.memory
        if guard.low is not None:
            following = _newton(state)
            if guard.holds(following) and quartic(following) <= quartic(state) * (1 - 64 * state.products.eps):
                return following
            guard = Guard(tried=guard.tried)
        following, g = descend(state)
        guard = guard.tested(state, g.d + state.b * state.x)
        if guard.low is not None:
            # at this length the Newton direction equals that of Rayleigh quotient iteration
            following = scaled(following, (following.value / following.b) ** 0.5)
        following.memory = guard
        return following


def descend(state: State) -> tuple[State, Direction]:
    """The state at the minimum along g = −B⁻¹∇G, and g."""
    g = ascent(state, state.b)
    return moved(state, line_search(state, g, state.products.kernels.dot(g.d, g.Bd)), g, normalise=False), g


def _newton(state: State) -> State:
    """The Newton iterate 2μ/(2(Bx)ᴴy − 1) y; x itself if μ is an eigenvalue to working precision."""
    products = state.products
    y = inverse_applied(state, state.b)
    if y is None:
        return state
    y = (2 * state.b / (2 * products.kernels.dot(state.Bx, y) - 1)) * y
    y, By = products.project(y, products.apply_B(y))
    return State(products, y, products.apply_A(y, By), By, state.memory)
