"""k pairs one by one: each found vector is taken out of A before the next is sought (the paper's appendix A).

Their residuals are still those of the deflated pair; `pairs.verify` judges them in (A, B).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..objective.state import State, magnitude
from ..preparation.survey import Survey
from ..problem.start import random_vector
from ..run.loop import Driver, Outcome
from ..run.reason import Reason
from ..typing import Array

MAX_RESTARTS = 3


@dataclass
class Deflation:
    """Finds pair after pair with one driver, and sees to it that none that the survey knows of is passed over."""

    driver: Driver
    survey: Survey
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.pencil = self.driver.pencil
        self.shift = self.survey.shift
        self.vectors: list[Array] = []
        self.B_vectors: list[Array] = []

    def sweep(self, k: int, starts: list[Array], *, doubt: bool) -> Reason:
        """Find k pairs from scratch, from `starts` as far as they go; stop early when one fails.

        With `doubt` the starts are somebody else's: what they lead to is confirmed from a perturbed vector.
        """
        self.vectors, self.B_vectors = [], []
        reason = Reason.RESIDUAL
        for j in range(k):
            outcome = self._pair(j, starts[j] if j < len(starts) else None)
            if doubt and j < len(starts) and outcome.state is not None and outcome.reason.converged:
                outcome = self._doubted(j, outcome.state, outcome)
            reason = outcome.reason
            if outcome.state is not None:
                norm = outcome.state.b**0.5
                self.vectors.append(outcome.state.x / norm)
                self.B_vectors.append(outcome.state.Bx / norm)
            if not reason.converged:
                break
        self._deflate(0)
        return reason

    def _deflate(self, count: int) -> None:
        """Take the first `count` vectors out of A."""
        empty = np.zeros((self.pencil.n, 0), self.pencil.dtype)
        self.pencil.transform(
            shift=self.shift,
            found=np.asfortranarray(np.column_stack([empty, *self.vectors[:count]])),
            B_found=np.asfortranarray(np.column_stack([empty, *self.B_vectors[:count]])),
            radius=self.survey.radius + self.shift,
        )

    def _pair(self, j: int, x: Array | None) -> Outcome:
        """Pair j, again with a larger shift when A proves indefinite, from elsewhere when it was a smaller one."""
        restarts = 0
        while True:
            self._deflate(j)
            # a small residual misled if this is a restart: then only many steps convince
            outcome = self.driver.run(self._start(x), j, patience=50 * restarts**3)
            if outcome.state is not None and outcome.indefinite:
                self.shift += 2 * abs(outcome.state.value)
                continue
            done = outcome.reason.converged or outcome.reason is Reason.EXHAUSTED
            if not done or not self._passed_over(j, outcome.state):
                return outcome
            if restarts == MAX_RESTARTS:
                return Outcome(outcome.state, Reason.MISSED)
            restarts += 1
            x = self.survey.leader if j == 0 else None

    def _doubted(self, j: int, state: State, outcome: Outcome) -> Outcome:
        """The better of `outcome` and what comes of it with a hundredth of a random vector added.

        A start in an invariant subspace (a vector of ones on a symmetric mesh, an eigenvector) never leaves it by
        itself, and ends in a saddle of f. The steps are booked as monitoring.
        """
        noise = random_vector(self.pencil, self.rng)
        norm = self.pencil.kernels.norm
        x = state.x + (0.01 * norm(state.x) / norm(noise)) * noise
        with self.pencil.counting(self.pencil.counts.monitoring):
            again = self.driver.run(x, j, quiet=True)
        if again.reason is Reason.INTERRUPTED:
            return Outcome(state, Reason.INTERRUPTED)
        if again.state is None or again.indefinite or again.state.value <= state.value + self._slack(state):
            return outcome
        return again

    def _start(self, x: Array | None) -> Array:
        """`x`, unless there is none or it lies in the span of what was found already: then a random vector."""
        if x is not None:
            with self.pencil.counting(self.pencil.counts.monitoring):
                Bx = self.pencil.apply_B(x)
            kept, B_kept = self.pencil.project(x, Bx)
            if np.vdot(kept, B_kept).real > self.pencil.eps * np.vdot(x, Bx).real:
                return x
        return random_vector(self.pencil, self.rng)

    def _passed_over(self, j: int, state: State | None) -> bool:
        """Is the j-th value below the j-th bound of the survey, which λ_j cannot be?"""
        if state is None or j >= self.survey.bounds.size:
            return False
        return state.value - self.shift < float(self.survey.bounds[j]) - self._slack(state)

    def _slack(self, state: State) -> float:
        """How far from an eigenvalue the value of a converged state may be."""
        pencil = self.pencil
        error = 10 * (state.residual + state.rounding) * magnitude(pencil, state.value)
        return 1e4 * pencil.eps * pencil.radius + error
