"""Iterations that compute all k pairs in one subspace: what thick-restart Lanczos and LOBPCG have in common."""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..linalg.rounding import Scale, attainable_residual
from ..objective.state import State
from ..problem.target import Target
from ..run.iteration import Iteration, RitzBlock
from ..run.reason import Reason
from ..run.rules import Check, Rule
from ..transforms import ShiftInvert, Transform
from ..typing import Array

# Probes that may find a further pair before the run gives up.
MAX_PROBES = 50
# Probes that follow a count of eigenvalues that does not fit.
REPEATED_PROBES = 3
# Components of the residuals of a start below this multiple of the tolerance are not pursued.
NEGLIGIBLE_TOLERANCES = 0.1
# A Ritz value may hide an eigenvalue that is this many times its residual norm away; farther ones are rare.
HIDDEN_FACTOR = 10
# Values nearer to each other than this fraction may belong to a cluster of which others are missing.
CLUSTER_FRACTION = 1e-3
# Rounding may displace values by this multiple of eps times the largest of them.
ROUNDING_SLACK = 1e3


class Slack(NamedTuple):
    """How much smaller, or larger, than the wanted values another one must be to be wanted more."""

    low: float
    high: float


class SubspaceIteration(Iteration):
    """One `step` advances the subspace; the state is its Ritz pair number `pair`.

    `values` are the Ritz values, the most wanted first, and `errors` estimates of their errors.
    """

    k: int
    target: Target
    transform: Transform
    scale: Scale
    values: Array
    errors: Array
    # random vectors that have joined a random start
    companions: int = 0
    # the largest |value| seen so far
    radius: float
    # does the subspace have as many dimensions as there are?
    complete: bool = False
    # is a probe needed, whatever the start was?
    hurried: bool = False

    def __init__(self) -> None:
        self.probes = 0
        # how many of the wanted values a probe looks for others among
        self.doubted = sys.maxsize
        # the last pair that took steps in this pass through the pairs
        self._last_moved = 0
        # the step at which each pair was accepted
        self._accepted: dict[int, int] = {}

    @abstractmethod
    def launch(self, X: Array) -> None:
        """Begin with the columns of X, in the coordinates of the pencil."""

    @abstractmethod
    def advance(self) -> None:
        """Expand the subspace and project on it."""

    @abstractmethod
    def ritz_pair(self, index: int) -> State:
        """The Ritz pair in place `index`, the most wanted first."""

    @abstractmethod
    def vectors(self, count: int) -> Array:
        """The `count` most wanted Ritz vectors, in the coordinates of the pencil."""

    @abstractmethod
    def aim(self, goal: float | None, angle: float | None) -> None:
        """Let this residual, or this sine, be the goal."""

    @abstractmethod
    def neglect(self, tol: float) -> None:
        """Do not pursue components of the residuals of a start that are this small relative to its values."""

    @abstractmethod
    def renewal(self, X: Array) -> Array:
        """The vectors to start again with; X are the k pairs, which verification may have improved."""

    @abstractmethod
    def salvage(self) -> bool:
        """After an interrupt: make the Ritz pairs consistent; are there any?"""

    @abstractmethod
    def gaps(self, count: int) -> Array:
        """How far the first `count` values are from where others may be, if none that is more wanted was missed."""

    @abstractmethod
    def look(self, slack: Slack) -> bool | None:
        """Search the complement of the k pairs from a random vector: is there a pair more wanted by over `slack`?

        None if many steps did not decide it.
        """

    @property
    def shift(self) -> float:  # type: ignore[override]
        """The η of A + ηB, whose values residuals are relative to."""
        return self.scale.shift

    def unrecorded(self) -> Iterator[None]:
        """Advance again and again without states: for probes and for starts that are improved beforehand."""
        while True:
            self.advance()
            yield

    def begin(self, rule: Rule) -> Check:
        """The check of every state, and the goals that the rule sets."""
        self.aim(rule.residual_tol, rule.angle_tol)
        self._neglect(rule.residual_tol or 0.0)
        return rule.begin(self.products)

    def start(self, X: Array) -> State | Reason:
        """The first state of pair 0."""
        self.launch(X)
        return self.resumed()

    def step(self, state: State) -> State:
        """Advance the subspace; the present Ritz pair."""
        self.advance()
        return self.ritz_pair(self.pair)

    def accept(self, state: State, reason: Reason, check: Check) -> State | Reason:
        """Go on to the next pair; after the last one, once more to those that later steps may have displaced."""
        if not reason.converged:
            return reason
        self._accepted[self.pair] = state.step
        if state.step:
            self._last_moved = self.pair
        if self.pair + 1 < self.k:
            if self.pair + 1 >= self.values.size:
                # the space in which B is definite has no more dimensions
                return Reason.EXHAUSTED
            self.pair += 1
            return self.ritz_pair(self.pair)
        if all(self._passes(index, check) for index in range(self._last_moved)):
            return reason
        return self.resumed()

    def _passes(self, index: int, check: Check) -> bool:
        state = self.ritz_pair(index)
        state.step = self._accepted[index]
        reason = check(state)
        return reason is not None and reason.converged

    def resumed(self) -> State | Reason:
        """The first state of another pass through the pairs."""
        self.pair = self._last_moved = 0
        return self.ritz_pair(0)

    def tightened(self, check_tol: float, pairs: Any, *, stalled: bool) -> State | Reason:
        """Go on to a smaller residual; if the last attempt did not help, the basis misses components: start again.

        So does a basis of the whole space, in which nothing changes any more.
        """
        self.aim(check_tol, None)
        self._neglect(check_tol)
        return self.start(self.renewal(pairs.vectors)) if stalled or self.complete else self.resumed()

    def _neglect(self, tol: float) -> None:
        floor = attainable_residual(self.products.n, self.products.eps)
        self.neglect(max(NEGLIGIBLE_TOLERANCES * tol, floor / 2))

    def interrupted(self, reason: Reason) -> Reason:
        """Keep the Ritz pairs as they are."""
        if not self.salvage() and reason is Reason.INTERRUPTED:
            raise KeyboardInterrupt
        return reason

    def probe(self, *, repeated: bool) -> bool:
        """Look into the complement; products are counted as monitoring."""
        slack = self._slack()
        self.doubted = self.k if repeated else self._doubtful()
        # the residuals of the pairs are relative to this, whatever the probe sees
        scale = self.scale
        try:
            for _ in range(REPEATED_PROBES if repeated else 1):
                found = self.look(slack)
                self.probes += found is not None
                if found:
                    return self.probes < MAX_PROBES
        finally:
            self.scale = scale
        return False

    def _doubtful(self) -> int:
        """How many of the wanted values there are up to one that is clear of all at which others may be missing.

        Two random starts show two copies of a multiple eigenvalue: only further ones of a cluster may be missing.
        """
        places = np.flatnonzero(self._clustered()) if self.companions else np.zeros(0, int)
        if places.size == 0:
            return self.k
        first, slack = int(places[-1]) + 1, self._coincidence()
        inner = self.target.window(self.values[:first])
        for count in range(first + 1, self.k + 1):
            sides = zip(inner, self.target.window(self.values[:count]), strict=True)
            # both edges, where there are two
            if all(a == b == math.inf or a == b == -math.inf or _apart(a, b, slack) for a, b in sides):
                return count
        return self.k

    def _slack(self) -> Slack:
        """How far errors and rounding may put a pair beyond the least wanted ones: each end has its own errors."""
        errors = self.errors[: self.k]
        low, high = (errors[1::2], errors[::2]) if self.target is Target.ENDS else (errors, errors)
        rounding = ROUNDING_SLACK * self.products.eps * float(np.abs(self.values[: self.k]).max(initial=0.0))
        return Slack(float(low.max(initial=0.0)) + rounding, float(high.max(initial=0.0)) + rounding)

    def settled(self) -> bool:
        """Are the next Ritz values less wanted than the k first ones, whatever their errors?

        On one side of σ, or at one end of the spectrum, they may converge sooner than on the other.
        """
        rest = self.values[self.k :]
        if rest.size == 0 or self.complete:
            return True
        slack, (low, high) = self._slack(), self.target.window(self.values[: self.k])
        top, bottom = int(np.argmax(rest)), int(np.argmin(rest))
        errors = HIDDEN_FACTOR * self.errors[self.k :]
        return bool(rest[top] + errors[top] <= high + slack.high and rest[bottom] - errors[bottom] >= low - slack.low)

    def crowded(self) -> bool:
        """Are two of the k values so close to each other that there may be others?"""
        return bool(self._clustered().any())

    def _clustered(self) -> Array:
        """Which of the k values are close to another one."""
        values = self.values[: self.k]
        order, clustered = np.argsort(values), np.zeros(values.size, bool)
        close = ~_apart(values[order[1:]], values[order[:-1]], self._coincidence())
        clustered[order[1:][close]] = clustered[order[:-1][close]] = True
        return clustered

    def _coincidence(self) -> float:
        """How far apart values may be that are equal within their errors."""
        size = float(np.abs(self.values[: self.k]).max(initial=0.0))
        slack = 2 * float(np.max(self.errors[: self.k], initial=0.0))
        # rounding of the largest values moves all others
        return slack + self.products.eps * (ROUNDING_SLACK * size + 10 * self.radius)

    def block(self) -> RitzBlock:
        """The k most wanted Ritz pairs as they are now.

        Recurrence residuals drift from true residuals, as does an inverse from A and B, and a probe leaves the coupling
        of old and new vectors unknown: the projection is repeated with fresh products.
        """
        count = min(self.k, self.values.size)
        transform = self.transform
        values = np.array([transform.value(theta) for theta in self.values[:count].tolist()])
        order = _order(transform, self.target)
        return RitzBlock(values, self.vectors(count), order, self.gaps(count))


def _apart(a: Any, b: Any, slack: float) -> Any:
    """Are these values too far from each other for a cluster?"""
    return np.abs(a - b) > np.maximum(CLUSTER_FRACTION * np.abs(a), slack)


def _order(transform: Transform, target: Target) -> Callable[[Array], Array]:
    """The order of the pencil's values that belongs to the order of those of T."""
    if not isinstance(transform, ShiftInvert):
        return target.order

    def order(values: Array) -> Array:
        distances = values - transform.sigma
        thetas = transform.sign / np.where(distances == 0, np.finfo(float).tiny, distances)
        rising = np.argsort(thetas, kind="stable")
        return np.asarray(rising[target.order(thetas[rising])])

    return order
