"""The pair in single precision, where products and factorisations take half the time, and the way back to double.

What single precision finds is off by its rounding, in all directions alike. `Corrector` knows from the search which of
them are next to the wanted pair, and takes the mean of the spectrum for all others; `Polish` minimises f over the span
of the vector, its correction and the change of the last step, with products in double precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from ..errors import NotPositiveDefinite
from ..linalg.cholesky import DenseFactor
from ..objective.state import State
from ..problem.pencil import Pencil
from ..solvers.protocol import inverse_norm
from ..typing import Array
from .krylov.search import Search
from .protocol import Method

# Up to this condition of B, corrections by its factor in single precision are right to three digits.
MAX_CONDITION = 1e4
# Entries whose sizes are beyond these powers of two might overflow in single precision.
EXPONENT = 16
# Ritz vectors beyond the wanted one that a correction knows: enough for those whose values are next.
KNOWN = 8
# Steps after which it is better to begin anew in double precision.
MAX_STEPS = 15


def narrowed(pencil: Pencil) -> Pencil | None:
    """The pair in single precision with B factorised, or None where that leaves too few digits."""
    sizes = [pencil.A.size] if pencil.B is None else [pencil.A.size, pencil.B.size]
    if any(size > 0 and abs(math.frexp(size)[1]) > EXPONENT for size in sizes):
        return None
    other = pencil.recast(np.dtype(np.complex64 if pencil.dtype.kind == "c" else np.float32))
    if pencil.B is not None:
        try:
            other.solver = DenseFactor(pencil.B.matrix, other.dtype)
        except NotPositiveDefinite:
            return None
        if float(pencil.B.diagonal().real.max()) * inverse_norm(other) > MAX_CONDITION:
            return None
    return other


class Corrector:
    """d ≈ (λB − A)⁻¹r for the residual r of the nearly exact first pair, from what a search in single precision saw."""

    def __init__(self, search: Search) -> None:
        basis, size = search.basis, search.basis.size
        count = min(1 + KNOWN, size)
        values, S, _ = basis.ritz(count)
        self.values, self.Y = values[1:count], basis.vectors(S[:, 1:count])
        rest = float(basis.H[:size, :size].trace().real) - float(values[:count].sum())
        self.mean = rest / (size - count) if size > count else 0.0
        self.factor = search.pencil.solver
        self.wanted = search.wanted

    def __call__(self, value: float, r: Array) -> Array:
        """The correction, in double precision and of any length."""
        z = (r / np.linalg.norm(r)).astype(self.Y.dtype)[:, None]
        if isinstance(self.factor, DenseFactor):
            z = self.factor.half_solve(z)
        c = self.Y.conj().T @ z
        apart = value - self.values[:, None]
        # one that is as near as this is left to Rayleigh–Ritz
        least = 1e-4 * abs(value)
        near = self.Y @ (c / np.where(np.abs(apart) < least, least, apart)).astype(z.dtype)
        z = (z - self.Y @ c) * (1 / (value - self.mean)) + near
        if isinstance(self.factor, DenseFactor):
            z = self.factor.unwhiten(z)
        return np.asarray(z[:, 0].astype(r.dtype))


class Polished(State):
    """A state in double precision after so many `turns`, with the change that led to it and its products."""

    __slots__ = ("change", "turns")
    change: tuple[Array, Array, Array] | None
    turns: int

    @property
    def final(self) -> bool:
        """Has this gone on for too long, or is there nothing to correct?"""
        return self.turns >= MAX_STEPS or self.residual == 0

    @property
    def indefinite(self) -> bool:
        """Never in the way: Rayleigh–Ritz needs no positive semidefinite A."""
        return False


@dataclass(frozen=True)
class Polish(Method):
    """Rayleigh–Ritz on span{x, d, p}: x with its correction d, and the change p of the last step."""

    def first(self, pencil: Pencil, x: Array | None, memory: Any) -> State:
        """The state at x, of B-norm 1."""
        assert x is not None
        Bx = pencil.apply_B(x)
        norm = pencil.B_norm(x, Bx)
        x, Bx = x / norm, Bx / norm
        state = Polished(pencil, x, pencil.apply_A(x, Bx), Bx, memory)
        state.change, state.turns = None, 0
        return state

    def step(self, state: State) -> State:
        """One product with A and one with B."""
        assert isinstance(state, Polished)
        pencil, correct = state.pencil, state.memory
        d = correct(state.value - pencil.shift, state.Ax - state.value * state.Bx)
        d = d - np.vdot(state.Bx, d) / state.b * state.x
        Bd = pencil.apply_B(d)
        spans = [(state.x, state.Ax, state.Bx), (d, pencil.apply_A(d, Bd), Bd)]
        if state.change is not None:
            spans.append(state.change)
        Q, AQ, BQ = (np.column_stack(vectors) for vectors in zip(*spans, strict=True))
        c = _coefficients(Q.conj().T @ AQ, Q.conj().T @ BQ, correct)
        new = Polished(pencil, Q @ c, AQ @ c, BQ @ c, correct)
        new.change, new.turns = (Q[:, 1:] @ c[1:], AQ[:, 1:] @ c[1:], BQ[:, 1:] @ c[1:]), state.turns + 1
        return new


def _coefficients(H: Array, G: Array, correct: Corrector) -> Array:
    """The most wanted Ritz vector; without the last direction where that has become none of its own."""
    scale = 1 / np.sqrt(G.diagonal().real)
    H, G = (scale[:, None] * (M + M.conj().T) * (scale / 2) for M in (H, G))
    try:
        values, C = eigh(H, G, check_finite=False)
    except np.linalg.LinAlgError:
        c = np.zeros(len(scale), H.dtype)
        c[:-1] = _coefficients(H[:-1, :-1], G[:-1, :-1], correct)
        return np.asarray(scale * c)
    return np.asarray(scale * C[:, correct.wanted.order(values)[0]])
