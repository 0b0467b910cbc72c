"""Search directions with their matrix products, conjugate directions, and steps along them."""

from __future__ import annotations

from typing import NamedTuple

from ...linalg.blas import combine
from ...methods.first_order.mirror_descent import REFRESH_STEPS
from ...objective.state import State
from ...typing import Array

# If the relative norm of the gradient is below this multiple of eps, cancellation in B⁻¹Ax − μx makes B g inaccurate.
CANCELLATION_EPS_MULTIPLE = 1e5


class Direction(NamedTuple):
    """A direction d with A d and B d."""

    d: Array
    Ad: Array
    Bd: Array

    def plus(self, c: complex, other: Direction) -> Direction:
        """The linear combination d + c d'."""
        Bd = self.Bd + c * other.Bd
        return Direction(Bd if self.d is self.Bd else self.d + c * other.d, self.Ad + c * other.Ad, Bd)


class Past(NamedTuple):
    """The last direction, the last gradient g, and gᴴBg."""

    direction: Direction
    gradient: Array
    square: float


def ascent(state: State, value: float) -> Direction:
    """g = B⁻¹Ax − `value` x, by one solve and one product with A; close to convergence also one product with B."""
    products, axpy = state.products, state.products.kernels.axpy
    Tx, BTx = products.solve_B(state.Ax, state.value * state.x, state.value * state.Bx)
    g = combine(axpy, Tx, -value, state.x)
    Bg = g if products.identity else combine(axpy, BTx, -value, state.Bx)
    if products.kernels.dot(g, Bg) <= (CANCELLATION_EPS_MULTIPLE * products.eps * state.value) ** 2 * state.b:
        # after cancellation, the recurrence for B g is inconsistent with g and would mislead the line search
        Bg = products.apply_B(g)
    return Direction(g, products.apply_A(g, Bg), Bg)


def conjugated(state: State, g: Direction, last: Direction, past: Past) -> tuple[Direction, Past]:
    """The Polak–Ribière–Polyak direction in the B-metric; the gradient if that is not an ascent direction.

    `last` is the previous direction, transported to the tangent space of g.
    """
    dot = state.products.kernels.dot
    square = dot(g.d, g.Bd)
    beta = max((square - dot(past.gradient, g.Bd)) / past.square, 0.0) if past.square > 0 else 0.0
    direction = g.plus(beta, last) if beta else g
    if dot(direction.d, g.Bd) <= 0:
        direction = g
    return direction, Past(direction, g.d, square)


def moved(state: State, t: float, along: Direction, *, normalise: bool) -> State:
    """The state at x + td, B-normalised if `normalise`; its products are recomputed every `REFRESH_STEPS` steps."""
    products, axpy = state.products, state.products.kernels.axpy
    x, Ax = combine(axpy, state.x, t, along.d), combine(axpy, state.Ax, t, along.Ad)
    Bx = x if products.identity else combine(axpy, state.Bx, t, along.Bd)
    if state.step % REFRESH_STEPS == REFRESH_STEPS - 1:
        # the recurrences for A x and B x accumulate one rounding error per step
        monitoring = products.monitoring
        Bx = monitoring.apply_B(x)
        Ax = monitoring.apply_A(x, Bx)
    return scaled(State(products, x, Ax, Bx), 1 / products.B_norm(x, Bx)) if normalise else State(products, x, Ax, Bx)


def scaled(state: State, factor: float) -> State:
    """The state at a multiple of x."""
    x = factor * state.x
    Bx = x if state.products.identity else factor * state.Bx
    return State(state.products, x, factor * state.Ax, Bx, state.memory)
