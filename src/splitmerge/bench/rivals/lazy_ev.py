"""LazyEV: shift-and-invert from above, with a shift that finds its way and systems solved by conjugate gradients."""

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

BOUND_STEPS = 80


class Setup(NamedTuple):
    """A number that no eigenvalue of (A, B) should exceed, and the diagonal of B."""

    top: float
    P: Prepared | None


class Shift(NamedTuple):
    """λ, how much further up it was before, how many steps are left before it is moved, and whether it is the last."""

    value: float
    moved: float
    left: int
    last: bool
    P: Prepared | None


@dataclass(frozen=True)
class LazyEV(Method):
    """x ← (λB − A)⁻¹Bx nearly, with λ > λ₁ that comes down to λ₁ as fast as x allows.

    Allen-Zhu and Li (2017), whose AppxPCA± is that of LazySVD (2016): after some steps
    Δ = ½/(xᴴB(λB − A)⁻¹Bx) is at least half of λ − λ₁, λ becomes λ − Δ/2, and so on until Δ ≤ `gap` λ/3; then λ stays.
    No knowledge of λ₂ is needed, but the steps with the last λ are fast only if `gap` is not far above (λ₁ − λ₂)/λ₁.
    Fixed here: `steps` before λ is moved, None for 2 log n; λ begins at twice λ₁(A)/λₙ(B), both from Lanczos; the
    systems are solved by conjugate gradients from x/(λ − μ), preconditioned by the diagonal of B, to a residual
    `reduction` times that of the eigenproblem; negative curvature undoes the last move of λ twice over. One product
    with A and B each an inner step, and one more; it never solves with B.
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
        """Where λ begins."""
        lowest, highest = _ends(products.apply_plain_A, products, rng)
        least, most = (1.0, 1.0) if products.identity else _ends(products.apply_B, products, rng)
        top = 2 * max(abs(lowest), abs(highest)) / max(least, products.eps * most)
        entries = products.B is not None and products.B.matrix is not None
        return Setup(top, Diagonal().prepare(products) if entries else None)

    def first(self, products: Products, x: Array, memory: Setup) -> State:
        """The start; A may have been shifted since the set-up."""
        state = super().first(products, x, None)
        top = max(memory.top + products.scale.shift, 2 * state.value)
        state.memory = Shift(top, top, self._count(products), False, memory.P)
        return state

    def _count(self, products: Products) -> int:
        return self.steps or math.ceil(2 * math.log(products.n + 1))

    def step(self, state: State) -> State:
        """One application of the inverse, and a new λ when it is time for one."""
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
        # where x is still far from an eigenvector Δ promises too much: λ must stay above what x itself shows
        value = max(shift.value - delta / 2, following.value + delta / 4)
        last = delta <= self.gap * value / 3
        following.memory = Shift(value, delta / 2, self._count(products), last, shift.P)
        return following

    def _inverse(self, state: State, shift: Shift) -> Array | None:
        """(λB − A)⁻¹Bx nearly; None when λB − A turns out not to be positive definite."""
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
    """The extreme Ritz values of a Hermitian matrix."""
    x = random_vector(products, rng)
    process = LanczosProcess(lambda v, _: multiply(v), lambda y: (y, y), x, x)
    while process.steps < BOUND_STEPS and not process.exhausted:
        process.extend()
    values = process.ritz(0, process.steps - 1)[0]
    return float(values[0]), float(values[-1])
