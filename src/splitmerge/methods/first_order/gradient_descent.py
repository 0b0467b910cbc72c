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
    """x ← x − α∇f with α in [0.9, 0.99]/λ₁(B), the paper's rule. One product with A and one with B, no solve.

    `curvature` bounds λ₁(B): `LanczosBound()` closely, `TraceBound()` for nothing but far too high.
    """

    stepsize: StepSize | float = field(default_factory=Sampled)
    curvature: CurvatureBound = field(default_factory=LanczosBound)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_stepsize(self.stepsize)
        if not hasattr(self.curvature, "largest"):
            raise ValueError(f"curvature is {self.curvature!r}; give LanczosBound() or TraceBound()")

    def setup(self, products: Products, rng: np.random.Generator) -> DescentSetup:
        """Bound λ₁(B) if the step size asks for it."""
        stepsize = as_stepsize(self.stepsize)
        return DescentSetup(
            None, stepsize.rule(lambda: self.curvature.largest(products, None, rng), rng), stepsize.rescale
        )

    def step(self, state: State) -> State:
        """Equation 3.1: mirror descent with P = I."""
        return descend(state)
