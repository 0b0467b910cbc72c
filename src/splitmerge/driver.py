"""The only loop: a public generator of iterates, and the driver that watches it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .history import History
from .inner import attach
from .kernels import Array
from .krylov import random_vector
from .methods import Method
from .pencil import Pencil
from .state import State, start
from .stopping import Check, Reason

MAX_CONFIRMATIONS = 5


def iterates(
    pencil: Pencil, method: Method, x0: Array | None = None, *, rng: Any = None, memory: Any = None
) -> Iterator[State]:
    """Yield the start and then one state a step, without end unless the method has nothing left to do.

    A must be positive semidefinite, unless the method is `Lanczos`. `memory` is what `method.setup` returned, when
    the caller has it already.

    >>> import numpy as np, splitmerge as sm
    >>> states = sm.iterates(sm.Pencil(np.diag([3.0, 2.0, 1.0])), sm.Power(), np.ones(3))
    >>> [round(next(states).eigenvalue, 3) for _ in range(4)]
    [2.0, 2.571, 2.816, 2.917]
    """
    generator = np.random.default_rng(rng)
    x = random_vector(pencil, generator) if x0 is None else np.asarray(x0, dtype=pencil.dtype)
    if pencil.solver is None:
        with pencil.counting(pencil.counts.setup):
            attach(pencil, method.inner)
    if memory is None:
        with pencil.counting(pencil.counts.setup):
            memory = method.setup(pencil, generator)
    state = method.first(pencil, x, memory)
    step = 0
    while True:
        state.step = step
        yield state
        if state.final:
            return
        state = method.step(state)
        step += 1


@dataclass(frozen=True)
class Outcome:
    """The last state of a pair (None if it was interrupted before its first) and why it is the last."""

    state: State | None
    reason: Reason
    indefinite: bool = False


@dataclass
class Driver:
    """Runs the generator for one pair after another, under one stopping check, one history and one clock."""

    pencil: Pencil
    method: Method
    memory: Any
    check: Check
    history: History
    callback: Callable[[State], Any] | None
    show: Callable[[State], None] | None
    steps: int = 0
    last: State | None = None

    def run(self, x: Array, pair: int) -> Outcome:
        """Iterate from x until the check fires, and confirm a success with products computed afresh."""
        self.last = None
        try:
            outcome = self._confirmed(x, pair)
        except KeyboardInterrupt:
            outcome = Outcome(self.last, Reason.INTERRUPTED)
        return outcome

    def _confirmed(self, x: Array, pair: int) -> Outcome:
        for _ in range(MAX_CONFIRMATIONS):
            state, reason = self._iterate(x, pair)
            if not reason.converged:
                return Outcome(state, reason, indefinite=state.indefinite)
            with self.pencil.counting(self.pencil.counts.monitoring):
                fresh = start(self.pencil, state.x)
            fresh.step = state.step
            confirmed = self.check(fresh)
            if confirmed is not None and confirmed.converged:
                return Outcome(fresh, confirmed)
            at_rounding = fresh.residual <= fresh.rounding
            if reason is Reason.PRECISION and at_rounding:
                return Outcome(fresh, reason)
            x = fresh.x
        lost = reason is Reason.RESIDUAL and at_rounding
        return Outcome(fresh, Reason.PRECISION if lost else Reason.UNCONFIRMED)

    def _iterate(self, x: Array, pair: int) -> tuple[State, Reason]:
        """The last state from x, and why it is the last."""
        for state in iterates(self.pencil, self.method, x, memory=self.memory):
            self.last = state
            self.steps += state.step > 0
            self.history.record(pair, state)
            if state.indefinite:
                return state, Reason.EXHAUSTED
            reason = self.check(state)
            if self.show is not None:
                self.show(state)
            if self.callback is not None and self.callback(state) and reason is None:
                reason = Reason.CALLBACK
            if reason is not None:
                return state, reason
        return state, Reason.PRECISION if state.residual <= state.rounding else Reason.EXHAUSTED
