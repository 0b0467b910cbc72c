"""LazyEV: shift-invert iteration from above with an adaptive shift and linear systems solved by conjugate gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple, NoReturn

import numpy as np

from ...checks import real, whole
from ...linalg import cg
from ...linalg.blas import combine
from ...linalg.lanczos import LanczosProcess
from ...methods.protocol import Method
from ...objective.state import State, start
from ...preconditioners import Diagonal, Prepared
from ...problem.products import Products
from ...problem.start import random_vector
from ...typing import Array

# Lanczos steps of the bounds of the spectra of A and B.
BOUND_LANCZOS_STEPS = 80


class Setup(NamedTuple):
    """An estimated upper bound of the spectrum of (A, B), and the diagonal preconditioner of B."""

    top: float
    P: Prepared | None


class Shift(NamedTuple):
    """The shift λ, its last decrease, the steps left before its next change, and whether it is final."""

    value: float
    moved: float
    left: int
    last: bool
    P: Prepared | None


@dataclass(frozen=True)
class LazyEV(Method):
    """Inexact shift-invert iteration x ≈ (λB − A)⁻¹Bx with a shift λ > λ₁ that decreases towards λ₁.

    Allen-Zhu and Li (2017), with AppxPCA± from LazySVD (2016): after some steps, Δ = ½/(xᴴB(λB − A)⁻¹Bx) is at least
    half of λ − λ₁, and λ is replaced by λ − Δ/2, until Δ ≤ `gap` λ/3; then λ is fixed. λ₂ need not be known, but
    convergence with the final λ is fast only if `gap` is not much larger than (λ₁ − λ₂)/λ₁. Our choices: `steps` steps
    between changes of λ (None: 2 log n); the first λ is 2 λ₁(A)/λₙ(B), both estimated by Lanczos; the systems are
    solved by conjugate gradients from x/(λ − μ), preconditioned by the diagonal of B, to a residual of `reduction`
    times that of the eigenproblem; negative curvature increases λ by twice its last decrease. Each inner step takes one
    product each with A and B, and each outer step one more; no solves with B.
    """

    gap: float = 0.01
    steps: int | None = None
    reduction: float = 0.1
    solves: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.gap, "gap", below=1)
        real(self.reduction, "reduction", below=1)
        if self.steps is not None:
            whole(self.steps, "steps", 1)

    def setup(self, products: Products, rng: np.random.Generator) -> Setup:
        """Estimate the first shift."""
        lowest, highest = _ends(products.apply_plain_A, products, rng)
        least, most = (1.0, 1.0) if products.identity else _ends(products.apply_B, products, rng)
        top = 2 * max(abs(lowest), abs(highest)) / max(least, products.eps * most)
        entries = products.B is not None and products.B.matrix is not None
        return Setup(top, Diagonal().prepare(products) if entries else None)

    def first(self, products: Products, x: Array, memory: Setup) -> State:
        """The start with its shift, corrected for a shift of A since the set-up."""
        state = super().first(products, x, None)
        top = max(memory.top + products.scale.shift, 2 * state.value)
        state.memory = Shift(top, top, self._count(products), False, memory.P)
        return state

    def _count(self, products: Products) -> int:
        return self.steps or math.ceil(2 * math.log(products.n + 1))

    def step(self, state: State) -> State:
        """One inexact shift-invert step, and a new λ if it is due."""
        products, shift = state.products, state.memory
        y = self._inverse(state, shift)
        if y is None:
            further = 2 * shift.moved
            raised = Shift(shift.value + further, further, self._count(products), False, shift.P)
            return start(products, state.x, raised)
        following = start(products, y, shift._replace(left=shift.left - 1))
        if shift.last or shift.left > 1:
            return following
        delta = 0.5 * state.b / products.kernels.dot(state.Bx, y)
        # far from convergence Δ overestimates: keep λ above the Rayleigh quotient
        value = max(shift.value - delta / 2, following.value + delta / 4)
        last = delta <= self.gap * value / 3
        following.memory = Shift(value, delta / 2, self._count(products), last, shift.P)
        return following

    def _inverse(self, state: State, shift: Shift) -> Array | None:
        """An approximation of (λB − A)⁻¹Bx by CG; None if λB − A is found not to be positive definite."""
        products = state.products
        dot, norm, axpy = products.kernels.dot, products.kernels.norm, products.kernels.axpy
        room = shift.value - state.value
        if room <= 0:
            return None
        y = state.x / room
        r = combine(axpy, state.Ax, -state.value, state.Bx) / room
        target = max(self.reduction * norm(r), 0.01 * products.eps * norm(state.Bx))

        def multiply(p: Array) -> Array:
            Bp = products.apply_B(p)
            return np.asarray(shift.value * Bp - products.apply_A(p, Bp))

        try:
            return cg.solve(
                multiply,
                y,
                r,
                target=target,
                max_steps=10 * products.n,
                dot=dot,
                norm=norm,
                axpy=axpy,
                refuse=_refuse,
                precondition=None if shift.P is None else partial(products.solve_P, shift.P),
                poll=products.budget.check,
            )[0]
        except _Indefinite:
            return None


class _Indefinite(Exception):
    """λB − A has a direction of non-positive curvature."""


def _refuse(curvature: float) -> NoReturn:
    raise _Indefinite(curvature)


def _ends(multiply: Callable[[Array], Array], products: Products, rng: np.random.Generator) -> tuple[float, float]:
    """The extreme Ritz values of a Hermitian matrix after a few Lanczos steps."""
    x = random_vector(products, rng)
    process = LanczosProcess(lambda v, _: multiply(v), lambda y: (y, y), x, x)
    while process.steps < BOUND_LANCZOS_STEPS and not process.exhausted:
        process.extend()
    values = process.ritz(0, process.steps - 1)[0]
    return float(values[0]), float(values[-1])
