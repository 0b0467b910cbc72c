"""Refinement of a start that is close to the eigenvector of the largest eigenvalue of a dense pair.

For a vector x and a τ just below its Rayleigh quotient ρ, let S = τB − A + w (Bx)(Bx)ᴴ with w > 0. If S is positive
definite, τB − A has at most one negative eigenvalue, so at most one eigenvalue of the pair exceeds τ, whatever x is; as
λ₁ ≥ ρ > τ, there is exactly one. The Cholesky factor of S also corrects x, as S is close to λB − A on its complement.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...linalg.blas import kernels
from ...linalg.reductions import norm
from ...objective.state import State
from ...problem.target import Target
from ...run.iteration import Iteration, Retry, RitzBlock
from ...run.reason import Reason
from ...run.rules import Check
from ...typing import Array
from ..setup import Setup
from .polish import Polished, first_polished, polish


class DeflatedFactor(NamedTuple):
    """S = LLᴴ: at most one eigenvalue of the pair exceeds `bound`, which is τ and what rounding adds to it."""

    L: Array
    bound: float
    target: Target = Target.LARGEST

    def __call__(self, value: float, r: Array) -> Array:
        """S⁻¹r for r scaled to norm 1."""
        trsv, z = kernels(self.L.dtype).trsv, (r / norm(r)).astype(self.L.dtype)
        return np.asarray(trsv(self.L, trsv(self.L, z, lower=1), lower=1, trans=2, overwrite_x=1)).astype(r.dtype)


class NearStart(Iteration):
    """One pair: polishing steps from a given vector."""

    retry = Retry(attempts=0)

    def __init__(self, setup: Setup) -> None:
        assert setup.deflated is not None
        self.products, self.correct = setup.products, setup.deflated
        self.latest: State | None = None
        self.reason: Reason | None = None

    def start(self, X: Array) -> State:
        """The state at the given vector."""
        self.latest = first_polished(self.products, self.products.scale, X[:, 0])
        return self.latest

    def step(self, state: State) -> State:
        """Polish."""
        assert isinstance(state, Polished)
        self.latest = polish(state, self.correct)
        return self.latest

    def accept(self, state: State, reason: Reason, check: Check) -> Reason:
        """What polishing does not reach is left to a search."""
        self.latest = state
        self.reason = Reason.UNCONFIRMED if reason is Reason.EXHAUSTED else reason
        return self.reason

    def checkpoint(self) -> Array | None:
        """The present vector."""
        return None if self.latest is None else self.latest.x[:, None]

    def interrupted(self, reason: Reason) -> Reason:
        """Keep the latest state."""
        if self.latest is None:
            raise KeyboardInterrupt
        self.reason = reason
        return reason

    def block(self) -> RitzBlock:
        """The pair, whose distance from all other eigenvalues is known."""
        state = self.latest
        assert state is not None
        value = np.array([state.value])
        gaps = np.maximum(value - self.correct.bound, 0.0)
        return RitzBlock(value, (state.x / state.b**0.5)[:, None], Target.LARGEST.order, gaps, projected=True)
