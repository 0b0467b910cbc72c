"""Directions of descent with their products, conjugate to each other, and steps along them."""

from __future__ import annotations

from typing import NamedTuple

from ...linalg.blas import combine
from ...methods.first_order.mirror_descent import REFRESH_STEPS
from ...objective.state import State
from ...typing import Array

# From so many times the rounding of B⁻¹Ax on, its solve may have lost a gradient.
LOST = 1e5


class Direction(NamedTuple):
    """d with A d and B d."""

    d: Array
    Ad: Array
    Bd: Array

    def plus(self, c: complex, other: Direction) -> Direction:
        """d + c times another."""
        Bd = self.Bd + c * other.Bd
        return Direction(Bd if self.d is self.Bd else self.d + c * other.d, self.Ad + c * other.Ad, Bd)


class Past(NamedTuple):
    """The last direction, the last gradient g, and gᴴBg."""

    direction: Direction
    gradient: Array
    square: float


def ascent(state: State, value: float) -> Direction:
    """g = B⁻¹Ax − `value` x with one solve and one product with A; near the end B g takes a product as well."""
    products, axpy = state.products, state.products.kernels.axpy
    Tx, BTx = products.solve_B(state.Ax, state.value * state.x, state.value * state.Bx)
    g = combine(axpy, Tx, -value, state.x)
    Bg = g if products.identity else combine(axpy, BTx, -value, state.Bx)
    if products.kernels.dot(g, Bg) <= (LOST * products.eps * state.value) ** 2 * state.b:
        # what cancellation leaves of B g is no longer that of g, and a line search with it could go anywhere
        Bg = products.apply_B(g)
    return Direction(g, products.apply_A(g, Bg), Bg)


def conjugated(state: State, g: Direction, last: Direction, past: Past) -> tuple[Direction, Past]:
    """The direction of Polak, Ribière and Polyak in the metric of B, the gradient itself where it does not ascend.

    `last` is the direction of `past`, brought to where g belongs.
    """
    dot = state.products.kernels.dot
    square = dot(g.d, g.Bd)
    beta = max((square - dot(past.gradient, g.Bd)) / past.square, 0.0) if past.square > 0 else 0.0
    direction = g.plus(beta, last) if beta else g
    if dot(direction.d, g.Bd) <= 0:
        direction = g
    return direction, Past(direction, g.d, square)


def moved(state: State, t: float, along: Direction, *, normalise: bool) -> State:
    """The state at x + td, as a vector of B-norm 1 if asked for; now and then its products are computed afresh."""
    products, axpy = state.products, state.products.kernels.axpy
    x, Ax = combine(axpy, state.x, t, along.d), combine(axpy, state.Ax, t, along.Ad)
    Bx = x if products.identity else combine(axpy, state.Bx, t, along.Bd)
    if state.step % REFRESH_STEPS == REFRESH_STEPS - 1:
        # A x and B x drift from x by a rounding error a step
        monitoring = products.monitoring
        Bx = monitoring.apply_B(x)
        Ax = monitoring.apply_A(x, Bx)
    return scaled(State(products, x, Ax, Bx), 1 / products.B_norm(x, Bx)) if normalise else State(products, x, Ax, Bx)


def scaled(state: State, factor: float) -> State:
    """The state at a multiple of x."""
    x = factor * state.x
    Bx = x if state.products.identity else factor * state.Bx
    return State(state.products, x, factor * state.Ax, Bx, state.memory)
