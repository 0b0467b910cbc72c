"""How far to go along the (preconditioned) gradient: a fixed step, the paper's sampled one, or an adaptive one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...checks import real
from ...objective.state import State
from ...typing import Array

Rule: TypeAlias = Callable[[State, Array, Array, Array], float]


class StepSize(ABC):
    """Options of a step-size rule."""

    rescale: bool = False

    @abstractmethod
    def rule(self, largest: Callable[[], float], rng: np.random.Generator) -> Rule:
        """The step α for (state, d, Ad, Bd), where x moves to x − αd; `largest()` bounds λ₁(B̃) when asked."""


def as_stepsize(given: StepSize | float) -> StepSize:
    """A number stands for a fixed step."""
    if isinstance(given, StepSize):
        return given
    return Fixed(real(given, "stepsize (a rule such as Adaptive(), or a fixed step)"))


@dataclass(frozen=True)
class Fixed(StepSize):
    """The same α at every step; convergence is guaranteed for α < 1/λ₁(B̃)."""

    alpha: float

    def __post_init__(self) -> None:
        real(self.alpha, "alpha")

    def rule(self, largest: Callable[[], float], rng: np.random.Generator) -> Rule:
        """α itself."""
        return lambda state, d, Ad, Bd: self.alpha


@dataclass(frozen=True)
class Sampled(StepSize):
    """The paper's rule: one α for the whole run, drawn uniformly from [low, high]/λ₁(B̃)."""

    low: float = 0.9
    high: float = 0.99

    def __post_init__(self) -> None:
        real(self.low, "low", below=1)
        real(self.high, "high", below=1)
        if self.low > self.high:
            raise ValueError(f"low is {self.low} and high is {self.high}; give low ≤ high")

    def rule(self, largest: Callable[[], float], rng: np.random.Generator) -> Rule:
        """Draw α."""
        alpha = rng.uniform(self.low, self.high) / largest()
        return lambda state, d, Ad, Bd: alpha


@dataclass(frozen=True)
class Adaptive(StepSize):
    """A fraction of the step that minimises f over the ray x − αd and its multiples; needs no spectral knowledge.

    f is least where the Rayleigh quotient is largest, and that takes a quadratic equation in α with no product
    beyond the one that the step makes anyway. The full step zigzags like any steepest descent and is about twice
    as fast as the power method; 0.8 of it still descends at every step and is several times faster.
    """

    relaxation: float = 0.8
    rescale = True

    def __post_init__(self) -> None:
        real(self.relaxation, "relaxation", most=1)

    def rule(self, largest: Callable[[], float], rng: np.random.Generator) -> Rule:
        """The relaxed exact line search."""
        return self._step

    def _step(self, state: State, d: Array, Ad: Array, Bd: Array) -> float:
        dot, s, b = state.products.kernels.dot, state.s, state.b
        sd, bd = dot(state.x, Ad), dot(state.x, Bd)
        sdd, bdd = dot(d, Ad), dot(d, Bd)
        # the derivative of the quotient along x − αd is a positive multiple of c0 + c1 α + c2 α²
        c0, c1, c2 = s * bd - sd * b, sdd * b - s * bdd, sd * bdd - sdd * bd
        denominator = -c1 + math.sqrt(max(c1 * c1 - 4 * c2 * c0, 0.0))
        if denominator == 0 or c0 == 0:
            return 0.5
        alpha = 2 * c0 / denominator
        return self.relaxation * alpha if alpha > 0 else alpha
