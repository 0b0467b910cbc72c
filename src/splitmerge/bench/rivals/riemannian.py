"""Optimisation of the Rayleigh quotient on the manifold {xᴴBx = 1}."""

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

# so often the trial step is shortened: the quotient cannot be seen to change any more
SHORTEST = 60


class _OnSphere(Method):
    def first(self, products: Products, x: Array, memory: Any) -> State:
        """The start, of B-norm 1."""
        state = super().first(products, x, None)
        return scaled(state, state.b**-0.5)


@dataclass(frozen=True)
class RiemannianGradient(_OnSphere):
    """x ← the B-normalised x + t(B⁻¹Ax − μx), the gradient in the metric of B, t by Armijo's rule.

    Absil, Mahony and Sepulchre (2008, sections 4.2 and 4.6), with normalisation for the retraction. Fixed here: the
    first trial step of all is 1/μ (the power method's), later ones are twice the last step; a step is accepted that
    gains `sufficient` of what the slope promises (with much less than a half the steps may overshoot for ever), and
    otherwise shortened to `shorten` of it. One product with A and one solve a step, whatever the number of trials:
    along x + td everything follows from Ax, Ad, Bx and Bd.
    """

    inner: InnerSolver | None = None
    sufficient: float = 0.5
    shorten: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.sufficient, "sufficient", below=1)
        real(self.shorten, "shorten", below=1)

    def step(self, state: State) -> State:
        """Backtrack from the trial step."""
        g = ascent(state, state.value)
        t = 2 * state.memory if state.memory is not None else 1 / state.value
        ray = _Ray.along(state, g, g)
        for _ in range(SHORTEST):
            if ray.gain(t) >= self.sufficient * t * 2 * ray.slope / state.b:
                break
            t *= self.shorten
        following = moved(state, t, g, normalise=True)
        following.memory = t
        return following


class _Ray(NamedTuple):
    """The Rayleigh quotient along x + td: μ + (2t slope + t² curvature) / (b + 2t mixed + t² square).

    The slope is dᴴ(Ax − μBx) as it is: that of a difference of quotients would be lost long before x has converged.
    """

    slope: float
    curvature: float
    b: float
    mixed: float
    square: float

    @classmethod
    def along(cls, state: State, along: Direction, g: Direction) -> _Ray:
        """For a direction, g the gradient."""
        dot, square = state.products.kernels.dot, state.products.kernels.dot(along.d, along.Bd)
        curvature = dot(along.d, along.Ad) - state.value * square
        return cls(dot(along.d, g.Bd), curvature, state.b, dot(state.x, along.Bd), square)

    def gain(self, t: float) -> float:
        """By how much the quotient is larger at t than at 0."""
        return (2 * t * self.slope + t * t * self.curvature) / (self.b + 2 * t * self.mixed + t * t * self.square)

    def best(self) -> float:
        """Where it is largest: slope b + curvature b t + (curvature mixed − slope square) t² = 0."""
        middle = self.curvature * self.b
        quadratic = self.curvature * self.mixed - self.slope * self.square
        denominator = math.sqrt(max(middle**2 - 4 * quadratic * self.slope * self.b, 0.0)) - middle
        return 2 * self.slope * self.b / denominator if denominator > 0 else 0.0


@dataclass(frozen=True)
class RiemannianConjugateGradient(_OnSphere):
    """x ← the B-normalised x + td, d the gradient in the metric of B made conjugate to the last d, t the best.

    Absil, Mahony and Sepulchre (2008, section 8.3): Polak–Ribière, where not negative; transport by projection onto the
    tangent space; normalisation for the retraction; the exact line search solves a quadratic equation. Where d
    does not ascend it is the gradient. One product with A and one solve a step.
    """

    inner: InnerSolver | None = None

    def step(self, state: State) -> State:
        """The best point of the circle through x in direction d."""
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
