"""Gradient descent without line search (section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...objective.curvature import CurvatureBound, LanczosBound
from ...objective.state import State
from ...problem.products import Products
from ..protocol import Method
from .mirror_descent import DescentSetup, descend
from .stepsize import Sampled, StepSize, as_stepsize


@dataclass(frozen=True)
class GradientDescent(Method):
    """x ← x − α∇f with a fixed α, by default in [0.9, 0.99]/λ₁(B). One product with A, one with B, no solve.

    `curvature` bounds λ₁(B): `LanczosBound()` to about 1 %, `TraceBound()` at no cost but up to n times too high.
    """

    stepsize: StepSize | float = field(default_factory=Sampled)
    curvature: CurvatureBound = field(default_factory=LanczosBound)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_stepsize(self.stepsize)
        if not hasattr(self.curvature, "largest"):
            raise ValueError(f"curvature is {self.curvature!r}; give LanczosBound() or TraceBound()")

    def setup(self, products: Products, rng: np.random.Generator) -> DescentSetup:
        """Bound λ₁(B) if the step-size rule needs it."""
        stepsize = as_stepsize(self.stepsize)
        return DescentSetup(
            None, stepsize.rule(lambda: self.curvature.largest(products, None, rng), rng), stepsize.rescale
        )

    def step(self, state: State) -> State:
        """x₊ = x − α∇f(x), mirror descent with P = I (equation 3.1)."""
        return descend(state)
