"""A polishing step minimises f over the span of a nearly exact vector, its correction and the last change."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import eigh

from ...linalg.multiply import product
from ...linalg.reductions import gram, vdot
from ...linalg.rounding import Scale
from ...objective.state import State
from ...problem.products import Products
from ...problem.target import Target
from ...typing import Array

# Polishing steps after which it is better to search in double precision.
MAX_POLISH_STEPS = 15


class Corrector(Protocol):
    """d ≈ (λB − A)⁻¹r for the residual r of the nearly exact first pair."""

    target: Target

    def __call__(self, value: float, r: Array) -> Array:
        """The correction, in double precision and of any length."""


class Polished(State):
    """A state in double precision after `turns` polishing steps, with the change that led to it and its products."""

    __slots__ = ("change", "turns")

    def __init__(self, products: Products, scale: Scale, x: Array, Ax: Array, Bx: Array) -> None:
        super().__init__(products, x, Ax, Bx)
        self.scale = scale
        self.change: tuple[Array, Array, Array] | None = None
        self.turns = 0

    @property
    def final(self) -> bool:
        """Has this gone on for too long, or is there nothing to correct?"""
        return self.turns >= MAX_POLISH_STEPS or self.residual == 0

    @property
    def indefinite(self) -> bool:
        """Rayleigh–Ritz needs no positive semidefinite A."""
        return False


def first_polished(products: Products, scale: Scale, x: Array) -> Polished:
    """The state at x, of B-norm 1, with residuals relative to `scale`; `products` are shifted as it is."""
    Bx = products.apply_B(x)
    length = products.B_norm(x, Bx)
    x, Bx = x / length, Bx / length
    return Polished(products, scale, x, products.apply_A(x, Bx), Bx)


def polish(state: Polished, correct: Corrector) -> Polished:
    """Rayleigh–Ritz on span{x, correction d, last change p}: one product with A and one with B."""
    products = state.products
    d = correct(state.value - state.scale.shift, state.Ax - state.value * state.Bx)
    d = d - vdot(state.Bx, d) / state.b * state.x
    Bd = products.apply_B(d)
    spans = [(state.x, state.Ax, state.Bx), (d, products.apply_A(d, Bd), Bd)]
    if state.change is not None:
        spans.append(state.change)
    Q, AQ, BQ = (np.column_stack(vectors) for vectors in zip(*spans, strict=True))
    c = _coefficients(gram(Q, AQ), gram(Q, BQ), correct)
    new = Polished(products, state.scale, product(Q, c), product(AQ, c), product(BQ, c))
    new.change = product(Q[:, 1:], c[1:]), product(AQ[:, 1:], c[1:]), product(BQ[:, 1:], c[1:])
    new.turns = state.turns + 1
    return new


def _coefficients(H: Array, G: Array, correct: Corrector) -> Array:
    """The most wanted Ritz vector; without the last direction where that has become linearly dependent."""
    scale = 1 / np.sqrt(G.diagonal().real)
    H, G = (scale[:, None] * (M + M.conj().T) * (scale / 2) for M in (H, G))
    try:
        values, C = eigh(H, G, check_finite=False)
    except np.linalg.LinAlgError:
        c = np.zeros(len(scale), H.dtype)
        c[:-1] = _coefficients(H[:-1, :-1], G[:-1, :-1], correct)
        return np.asarray(scale * c)
    return np.asarray(scale * C[:, correct.target.order(values)[0]])
