"""k pairs one by one: each eigenvector is deflated from A before the next is sought (the paper's appendix A).

The residuals of the states are those of the deflated pair; verification recomputes them for (A, B).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from ..linalg.reductions import vdot
from ..objective.state import State, start
from ..problem.products import Deflated, Products
from ..problem.start import random_vector
from ..problem.target import Target
from ..run.iteration import Iteration, Retry, RitzBlock
from ..run.reason import Reason
from ..run.rules import Check
from ..typing import Array
from .setup import Setup

# New starts for a pair that turns out to lie below the bound of the survey.
MAX_RESTARTS = 3
# Runs for one pair, each from the last vector with products computed afresh.
MAX_CONFIRMATIONS = 5
# Steps before the nth confirmation, over n².
CONFIRMATION_STEPS = 10
# Steps before the nth restart may converge, over n³.
RESTART_STEPS = 50
# Norm of the random perturbation relative to the vector that a given start has led to.
PERTURBATION = 0.01


class StepMethod(Protocol):
    """What deflation needs of a method."""

    def first(self, products: Products, x: Array, memory: Any) -> State:
        """The state at the start x."""

    def step(self, state: State) -> State:
        """The next state."""


class Ended(NamedTuple):
    """A state, why it is the last, and whether it showed A to be indefinite."""

    state: State
    reason: Reason
    indefinite: bool = False


class Deflation(Iteration):
    """Finds pair after pair, and starts again where the survey shows that a larger eigenvalue was passed over."""

    retry = Retry(attempts=3)

    def __init__(self, method: StepMethod, setup: Setup) -> None:
        assert setup.survey is not None
        self.method, self.products, self.k, self.rng = method, setup.products, setup.k, setup.rng
        self.survey, self.memory, self.shift = setup.survey, setup.memory, setup.survey.shift
        # starts that the user gave may lie in an invariant subspace
        self.doubtful = setup.given and not setup.trusted
        self.starts: list[Array] = []
        self.values: list[float] = []
        self.vectors: list[Array] = []
        self.B_vectors: list[Array] = []
        self.deflated: Products = self.products
        self.origin: Array | None = None
        self.restarts = self.confirmations = 0
        self.latest: State | None = None
        # the pair that a second run from a perturbed start has to confirm
        self.doubted: Ended | None = None

    def start(self, X: Array) -> State:
        """The first state of the first pair; the columns of X are starts for the first pairs."""
        self.starts = [np.ascontiguousarray(x) for x in X.T]
        self.values, self.vectors, self.B_vectors = [], [], []
        return self._next_pair()

    def step(self, state: State) -> State:
        """A step of the method."""
        self.latest = self.method.step(state)
        return self.latest

    def accept(self, state: State, reason: Reason, check: Check) -> State | Reason:
        """Confirm the pair, deflate it and go on to the next."""
        confirmed = self._confirmed(state, reason, check)
        if isinstance(confirmed, State):
            return confirmed
        if self.doubted is not None:
            return self._settled(self._better(self.doubted, confirmed))
        again = self._restarted(confirmed)
        if isinstance(again, State):
            return again
        if self.doubtful and self.pair < len(self.starts) and again.reason.converged:
            return self._perturbed(again)
        return self._settled(again)

    def _confirmed(self, state: State, reason: Reason, check: Check) -> State | Ended:
        """Check a converged state again with fresh products; where it fails, run on from there."""
        if not reason.converged:
            return Ended(state, reason, state.indefinite)
        fresh = start(self.deflated.monitoring, state.x)
        fresh.step = state.step
        again = check(fresh)
        if again is not None and again.converged:
            return Ended(fresh, again)
        if reason is Reason.PRECISION and fresh.at_rounding:
            return Ended(fresh, reason)
        self.confirmations += 1
        if self.confirmations == MAX_CONFIRMATIONS:
            lost = reason is Reason.RESIDUAL and fresh.at_rounding
            return Ended(fresh, Reason.PRECISION if lost else Reason.UNCONFIRMED)
        self.patience = max(self._least_steps(), CONFIRMATION_STEPS * self.confirmations**2)
        return self._first(fresh.x)

    def _restarted(self, ended: Ended) -> State | Ended:
        """Run again with a larger shift if A proved indefinite, from elsewhere if a larger pair was passed over."""
        if ended.indefinite:
            self.shift += 2 * abs(ended.state.value)
            return self._launch()
        done = ended.reason.converged or ended.reason is Reason.EXHAUSTED
        if not done or not self._passed_over(ended.state):
            return ended
        if self.restarts == MAX_RESTARTS:
            return Ended(ended.state, Reason.MISSED)
        self.restarts += 1
        self.origin = self.survey.leader if self.pair == 0 else None
        return self._launch()

    def _perturbed(self, ended: Ended) -> State:
        """Run again from the result plus a small random vector, without record: a start in an invariant subspace
        (a vector of ones on a symmetric mesh, an eigenvector) never leaves it and ends in a saddle of f.
        """
        self.doubted, self.quiet = ended, True
        self.confirmations, self.restarts, self.patience = 0, 0, 0
        noise, norm = random_vector(self.products, self.rng), self.products.kernels.norm
        x = ended.state.x + (PERTURBATION * norm(ended.state.x) / norm(noise)) * noise
        self.deflated = self.deflated.monitoring
        return self._first(x)

    def _better(self, doubted: Ended, again: Ended) -> Ended:
        """The perturbed result if its value is clearly larger, otherwise the doubted one."""
        value = doubted.state.value + self._slack(doubted.state)
        return doubted if again.indefinite or again.state.value <= value else again

    def _settled(self, ended: Ended) -> State | Reason:
        """Lock the pair; the first state of the next one, or the reason for the end."""
        self._lock(ended.state)
        if ended.reason.converged and len(self.vectors) < self.k:
            return self._next_pair()
        return ended.reason

    def _lock(self, state: State) -> None:
        norm = state.b**0.5
        self.values.append(state.value - self.shift)
        self.vectors.append(state.x / norm)
        self.B_vectors.append(state.Bx / norm)
        self.doubted, self.quiet, self.latest = None, False, None

    def _next_pair(self) -> State:
        self.pair = len(self.vectors)
        self.restarts = 0
        self.origin = self.starts[self.pair] if self.pair < len(self.starts) else None
        return self._launch()

    def _launch(self) -> State:
        """The first state of the present pair, from its origin or from a random vector."""
        empty = np.zeros((self.products.rows, 0), self.products.dtype)
        found, B_found = (
            np.asfortranarray(np.column_stack([empty, *columns])) for columns in (self.vectors, self.B_vectors)
        )
        self.deflated = Deflated.of(self.products, self.shift, self.survey.radius, found, B_found)
        self.confirmations, self.patience = 0, self._least_steps()
        self.latest = None
        return self._first(self._start(self.origin))

    def _least_steps(self) -> int:
        """A small residual has misled before a restart, so only many steps convince."""
        return RESTART_STEPS * self.restarts**3

    def _first(self, x: Array) -> State:
        self.latest = self.method.first(self.deflated, x, self.memory)
        return self.latest

    def _start(self, x: Array | None) -> Array:
        """`x`, or a random vector if there is none or it lies in the span of the deflated vectors."""
        if x is not None:
            Bx = self.deflated.monitoring.apply_B(x)
            kept, B_kept = self.deflated.project(x, Bx)
            if vdot(kept, B_kept).real > self.products.eps * vdot(x, Bx).real:
                return x
        return random_vector(self.products, self.rng)

    def _passed_over(self, state: State) -> bool:
        """Is the value of pair j below the jth bound of the survey, which λ_j cannot be?"""
        if self.pair >= self.survey.bounds.size:
            return False
        return state.value - self.shift < float(self.survey.bounds[self.pair]) - self._slack(state)

    def _slack(self, state: State) -> float:
        """How far from an eigenvalue the value of a converged state may be."""
        scale = state.scale
        error = 10 * (state.residual + state.floor) * scale.magnitude(state.value)
        return 1e4 * scale.eps * scale.shifted_radius + error

    def interrupted(self, reason: Reason) -> Reason:
        """Keep the pair in progress as it is."""
        if self.doubted is not None and reason is Reason.MAX_SECONDS and self.latest is not None:
            ended = self._better(self.doubted, Ended(self.latest, reason, self.latest.indefinite))
            self._lock(ended.state)
            return ended.reason
        state = self.latest if self.doubted is None else self.doubted.state
        if state is not None:
            self._lock(state)
        if not self.vectors:
            raise KeyboardInterrupt
        return reason

    def checkpoint(self) -> Array | None:
        """The vectors found so far, the present iterate, and the starts of the pairs that follow."""
        state = self.latest if self.doubted is None else self.doubted.state
        following = len(self.vectors) + (state is not None)
        X = [*self.vectors, *([] if state is None else [state.x]), *self.starts[following:]]
        return np.column_stack(X) if X else None

    def block(self) -> RitzBlock:
        """The vectors found so far, to be projected again on (A, B)."""
        X = np.column_stack(self.vectors)
        return RitzBlock(np.array(self.values), X, Target.LARGEST.order)

    def tightened(self, check_tol: float, pairs: Any, *, stalled: bool) -> State:
        """All pairs once more, from the vectors of the last sweep."""
        self.doubtful = False
        return self.start(pairs.vectors.astype(self.products.dtype))
