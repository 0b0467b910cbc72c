"""Preconditioned mirror descent (section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...checks import instance
from ...linalg.blas import combine
from ...objective.curvature import CurvatureBound, LanczosBound
from ...objective.difference import gradient
from ...objective.state import State
from ...preconditioners import Exact, Preconditioner, Prepared
from ...problem.products import Products
from ..protocol import Method
from .stepsize import Adaptive, Rule, StepSize, as_stepsize

# Steps between recomputations of A x and B x: the updated products drift from x by one rounding error a step.
REFRESH_STEPS = 50


class DescentSetup(NamedTuple):
    """P (None for the identity), the step-size rule, and whether to rescale after the step."""

    P: Prepared | None
    rule: Rule
    rescale: bool


@dataclass(frozen=True)
class MirrorDescent(Method):
    """x ← x − α(PᴴP)⁻¹∇f: gradient descent in the domain y = P x. One product with A, one P-solve, and one product
    with B unless P is exact. `Sampled()` is the paper's step size; the default needs no spectral bound.
    """

    preconditioner: Preconditioner = field(default_factory=Exact)
    stepsize: StepSize | float = field(default_factory=Adaptive)
    curvature: CurvatureBound = field(default_factory=LanczosBound)

    def __post_init__(self) -> None:
        super().__post_init__()
        instance(self.preconditioner, "preconditioner", Preconditioner, "an object such as Exact() or Diagonal()")
        as_stepsize(self.stepsize)
        if not hasattr(self.curvature, "largest"):
            raise ValueError(f"curvature is {self.curvature!r}; give LanczosBound() or TraceBound()")

    def setup(self, products: Products, rng: np.random.Generator) -> DescentSetup:
        """Build P; bound λ₁(B̃) if the step-size rule needs it (it is 1 for an exact P)."""
        P = None if products.identity else self.preconditioner.prepare(products)
        stepsize = as_stepsize(self.stepsize)
        rule = stepsize.rule(lambda: 1.0 if P is None or P.exact else self.curvature.largest(products, P, rng), rng)
        return DescentSetup(P, rule, stepsize.rescale)

    def step(self, state: State) -> State:
        """x₊ = P⁻¹y₊ for the gradient step y₊ from y = P x, that is x − α(PᴴP)⁻¹∇f(x) (equation 3.7)."""
        return descend(state)


def descend(state: State) -> State:
    """x − αd for d = (PᴴP)⁻¹∇f; A x and B x are updated with the products A d and B d."""
    products, axpy = state.products, state.products.kernels.axpy
    P, rule, rescale = state.memory
    g = gradient(state)
    d = g if P is None else products.solve_P(P, g)
    # B d = PᴴP d = g for an exact P
    Bd = g if P is not None and P.exact else products.apply_B(d)
    Ad = products.apply_A(d, Bd)
    alpha = rule(state, d, Ad, Bd)
    x, Ax = combine(axpy, state.x, -alpha, d), combine(axpy, state.Ax, -alpha, Ad)
    Bx = x if products.identity else combine(axpy, state.Bx, -alpha, Bd)
    if state.step % REFRESH_STEPS == REFRESH_STEPS - 1:
        monitoring = products.monitoring
        Bx = monitoring.apply_B(x)
        Ax = monitoring.apply_A(x, Bx)
    moved = State(products, x, Ax, Bx, state.memory)
    if rescale:
        moved.rescale()
    return moved
