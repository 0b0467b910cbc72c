"""The only loop: a public generator of iterates, and the driver that watches it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..checks import instance
from ..errors import OutOfTime
from ..methods.krylov.accelerated import Accelerated
from ..methods.protocol import Method
from ..objective.state import State, excusable, start
from ..preparation.attach import attach
from ..preparation.survey import survey
from ..problem.pencil import Pencil
from ..problem.start import columns, generator, random_vector
from ..typing import Array
from .history import History
from .reason import Reason
from .rules import Check

MAX_CONFIRMATIONS = 5


def iterates(
    A: Any, B: Any = None, *, method: Method | None = None, x0: Any = None, rng: Any = None
) -> Iterator[State]:
    """Yield the start and then one state a step, for the leading pair, until the caller has seen enough.

    A may also be a `Pencil`, whose counts can then be watched; its A must be positive semidefinite as it is. Otherwise
    the arguments are those of `solve`, and the pair is scaled and shifted if need be: `state.vector` is x in the user's
    coordinates. `x0` is taken as it is.

    >>> import numpy as np, splitmerge as sm
    >>> states = sm.iterates(np.diag([3.0, 2.0, 1.0]), method=sm.Power(), x0=np.ones(3))
    >>> [round(next(states).eigenvalue, 3) for _ in range(4)]
    [2.0, 2.571, 2.816, 2.917]
    """
    method = Accelerated() if method is None else method
    instance(method, "method", Method, "an object such as SplitMerge() or Power()")
    pencil = A if isinstance(A, Pencil) else Pencil(A, B, equilibrate=True)
    rng = generator(rng)
    x = random_vector(pencil, rng) if x0 is None else columns(x0, "x0", pencil)[:, 0]
    with pencil.counting(pencil.counts.setup):
        if method.solves and pencil.solver is None:
            attach(pencil, method.inner)
        if method.solves and pencil is not A:
            pencil.shift_by(survey(pencil, rng).shift)
        memory = method.setup(pencil, rng)
    return march(pencil, method, x, memory)


def march(pencil: Pencil, method: Method, x: Array | None, memory: Any, step: int = 0) -> Iterator[State]:
    """The loop itself: the first state, then a step at a time until the method has nothing left to do.

    The first state has the number `step`: more than 0 where another method has led to it.
    """
    state = method.first(pencil, x, memory)
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
    show: Callable[[int, State], None] | None
    steps: int = 0
    last: State | None = None
    quiet: bool = False

    def run(self, x: Array, pair: int, *, patience: int = 0, quiet: bool = False) -> Outcome:
        """Iterate from x until the check fires, and confirm a success with products computed afresh.

        Success counts only after `patience` steps. A `quiet` run leaves no trace in steps and history, and does not
        call the callback.
        """
        self.last, self.quiet = None, quiet
        try:
            outcome = self._confirmed(x, pair, patience)
        except KeyboardInterrupt:
            outcome = Outcome(self.last, Reason.INTERRUPTED)
        except OutOfTime:
            outcome = Outcome(self.last, Reason.MAX_SECONDS)
        return outcome

    def _confirmed(self, x: Array, pair: int, patience: int) -> Outcome:
        for attempt in range(MAX_CONFIRMATIONS):
            # what was not confirmed is worth some more steps before it is looked at again
            state, reason = self.iterate(x, pair, max(patience, 10 * attempt**2))
            if not reason.converged:
                return Outcome(state, reason, indefinite=state.indefinite)
            with self.pencil.counting(self.pencil.counts.monitoring):
                fresh = start(self.pencil, state.x)
            fresh.step = state.step
            confirmed = self.check(fresh)
            if confirmed is not None and confirmed.converged:
                return Outcome(fresh, confirmed)
            at_rounding = fresh.residual <= excusable(self.pencil, fresh.rounding)
            if reason is Reason.PRECISION and at_rounding:
                return Outcome(fresh, reason)
            x = fresh.x
        lost = reason is Reason.RESIDUAL and at_rounding
        return Outcome(fresh, Reason.PRECISION if lost else Reason.UNCONFIRMED)

    def iterate(self, x: Array | None, pair: int, patience: int = 0, step: int = 0) -> tuple[State, Reason]:
        """The last state from x, and why it is the last; a method with a memory of its own may go on without x."""
        for state in march(self.pencil, self.method, x, self.memory, step):
            if not state.finite and self.last is not None:
                return self.last, Reason.DIVERGED
            self.last = state
            if not self.quiet:
                self.steps += state.step > 0
                self.history.record(pair, state)
            if state.indefinite:
                return state, Reason.EXHAUSTED
            reason = self.check(state)
            if reason is not None and reason.converged and state.step < patience:
                reason = None
            if self.show is not None:
                self.show(pair, state)
            if self.callback is not None and not self.quiet and self.callback(state) and reason is None:
                reason = Reason.CALLBACK
            if reason is not None:
                return state, reason
        at_rounding = state.residual <= excusable(self.pencil, state.rounding)
        return state, Reason.PRECISION if at_rounding else Reason.EXHAUSTED
