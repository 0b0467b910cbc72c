"""Step-size rules for (preconditioned) gradient steps: fixed, sampled as in the paper, and adaptive."""

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
        """α of the step x − αd as a function of (state, d, Ad, Bd); `largest()` computes a bound of λ₁(B̃)."""


def as_stepsize(given: StepSize | float) -> StepSize:
    """The rule itself, or `Fixed` for a number."""
    if isinstance(given, StepSize):
        return given
    return Fixed(real(given, "stepsize (a rule such as Adaptive(), or a fixed step)"))


@dataclass(frozen=True)
class Fixed(StepSize):
    """The same α at every step; f descends at every step if α < 1/λ₁(B̃)."""

    alpha: float

    def __post_init__(self) -> None:
        real(self.alpha, "alpha")

    def rule(self, largest: Callable[[], float], rng: np.random.Generator) -> Rule:
        """α itself."""
        return lambda state, d, Ad, Bd: self.alpha


@dataclass(frozen=True)
class Sampled(StepSize):
    """The paper's rule: one α for the whole run, uniform in [low, high]/λ₁(B̃), so that αL₊ < 2 for L₊ = 2λ₁(B̃)."""

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
    """Relaxed exact line search: `relaxation` times the α that minimises f over multiples of x − αd.

    That α maximises the Rayleigh quotient: it is the root of a quadratic equation, and needs no spectral bound and no
    further product. The full step zigzags as steepest descent does and is about twice as fast as the power method;
    0.8 of it still descends at every step and is several times faster.
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
