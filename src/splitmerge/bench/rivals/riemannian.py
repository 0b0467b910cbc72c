"""Riemannian optimisation of the Rayleigh quotient on the manifold {xᴴBx = 1}."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...checks import real
from ...methods.protocol import Method
from ...objective.state import State
from ...problem.products import Products
from ...solvers.protocol import InnerSolver
from ...typing import Array
from .direction import Direction, Past, ascent, conjugated, moved, scaled

# Backtracking steps, after which the change of the Rayleigh quotient is below rounding.
MAX_BACKTRACKING_STEPS = 60


class _OnSphere(Method):
    def first(self, products: Products, x: Array, memory: Any) -> State:
        """The start, B-normalised."""
        state = super().first(products, x, None)
        return scaled(state, state.b**-0.5)


@dataclass(frozen=True)
class RiemannianGradient(_OnSphere):
    """Riemannian gradient ascent: x + t(B⁻¹Ax − μx), B-normalised, with Armijo backtracking for t.

    Absil, Mahony and Sepulchre (2008, sections 4.2 and 4.6), with normalisation as retraction and the gradient in the
    B-metric. Our choices: the first trial step is 1/μ (that of the power method), later ones are twice the last step;
    a step is accepted if it gains the fraction `sufficient` of the gain predicted by the slope (with much less than ½
    the steps may overshoot forever), otherwise it is multiplied by `shorten`. Each step takes one product with A and
    one solve with B, whatever the number of trials, because all quantities along x + td follow from Ax, Ad, Bx and Bd.
    """

    inner: InnerSolver | None = None
    sufficient: float = 0.5
    shorten: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.sufficient, "sufficient", below=1)
        real(self.shorten, "shorten", below=1)

    def step(self, state: State) -> State:
        """One gradient step with backtracking."""
        g = ascent(state, state.value)
        t = 2 * state.memory if state.memory is not None else 1 / state.value
        ray = _Ray.along(state, g, g)
        for _ in range(MAX_BACKTRACKING_STEPS):
            if ray.gain(t) >= self.sufficient * t * 2 * ray.slope / state.b:
                break
            t *= self.shorten
        following = moved(state, t, g, normalise=True)
        following.memory = t
        return following


class _Ray(NamedTuple):
    """The Rayleigh quotient along x + td: μ + (2t slope + t² curvature) / (b + 2t mixed + t² square).

    The slope is computed as dᴴ(Ax − μBx), because a difference of quotients loses all digits close to convergence.
    """

    slope: float
    curvature: float
    b: float
    mixed: float
    square: float

    @classmethod
    def along(cls, state: State, along: Direction, g: Direction) -> _Ray:
        """The quotient along a direction, given the gradient g."""
        dot, square = state.products.kernels.dot, state.products.kernels.dot(along.d, along.Bd)
        curvature = dot(along.d, along.Ad) - state.value * square
        return cls(dot(along.d, g.Bd), curvature, state.b, dot(state.x, along.Bd), square)

    def gain(self, t: float) -> float:
        """The increase of the quotient from 0 to t."""
        return (2 * t * self.slope + t * t * self.curvature) / (self.b + 2 * t * self.mixed + t * t * self.square)

    def best(self) -> float:
        """The maximiser t: slope b + curvature b t + (curvature mixed − slope square) t² = 0."""
        middle = self.curvature * self.b
        quadratic = self.curvature * self.mixed - self.slope * self.square
        denominator = math.sqrt(max(middle**2 - 4 * quadratic * self.slope * self.b, 0.0)) - middle
        return 2 * self.slope * self.b / denominator if denominator > 0 else 0.0


@dataclass(frozen=True)
class RiemannianConjugateGradient(_OnSphere):
    """Riemannian nonlinear conjugate gradients in the B-metric, with exact line search.

    Absil, Mahony and Sepulchre (2008, section 8.3): Polak–Ribière with β ≥ 0, vector transport by projection onto the
    tangent space, normalisation as retraction; the exact line search solves a quadratic equation. If the direction is
    not an ascent direction, it is replaced by the gradient. Each step takes one product with A and one solve with B.
    """

    inner: InnerSolver | None = None

    def step(self, state: State) -> State:
        """Move to the maximum along the conjugate direction."""
        direction = g = ascent(state, state.value)
        past: Past | None = state.memory
        if past is None:
            past = Past(g, g.d, state.products.kernels.dot(g.d, g.Bd))
        else:
            here = Direction(state.x, state.Ax, state.Bx)
            last = past.direction.plus(-_dot(state.x, past.direction.Bd) / state.b, here)
            direction, past = conjugated(state, g, last, past)
        following = moved(state, _Ray.along(state, direction, g).best(), direction, normalise=True)
        following.memory = past
        return following


def _dot(x: Array, y: Array) -> complex | float:
    """xᴴy, real for real vectors."""
    c = np.vdot(x, y)
    return complex(c) if c.dtype.kind == "c" else float(c)
