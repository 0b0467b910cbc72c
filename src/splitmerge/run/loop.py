"""The only loop: a generator of states, and the run that monitors it and applies the stopping rule."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from ..errors import OutOfTime
from ..objective.state import State
from ..system.processes import concluded, current
from .checkpoint import Saving
from .history import History
from .iteration import Iteration
from .reason import Reason
from .rules import Check, Rule, is_met_at_rounding


class Stepping(Protocol):
    """Anything that makes the next state from a state."""

    def step(self, state: State) -> State:
        """The next state."""


def march(iteration: Stepping, state: State) -> Iterator[State]:
    """Yield the state and its successors until there is no further step; this is the only place that steps."""
    while True:
        yield state
        if state.final:
            return
        following = iteration.step(state)
        following.step = state.step + 1
        state = following


class Monitor:
    """Records states in the history, and shows them to the callback and the progress bar."""

    def __init__(
        self,
        callback: Callable[[State], Any] | None = None,
        show: Callable[[int, State], None] | None = None,
    ) -> None:
        self.history = History()
        self.callback, self.show = callback, show
        self.steps = 0
        # pairs that were found by earlier runs under this monitor
        self.before = 0

    def record(self, iteration: Iteration, state: State) -> None:
        """Append the state to the history."""
        if iteration.quiet:
            return
        self.steps += state.step > 0
        self.history.record(self.before + iteration.pair, state)

    def stops(self, iteration: Iteration, state: State) -> bool:
        """Show the state; does the callback ask to stop?"""
        if current() is not None:
            # one process may show them, but all must compute them
            _ = state.eigenvalue, state.residual
        if self.show is not None:
            self.show(self.before + iteration.pair, state)
        return concluded(self.callback is not None and not iteration.quiet and bool(self.callback(state)))


class Run:
    """An iteration under one stopping rule, one history and one clock; it may be run more than once.

    `saving` writes checkpoints of it.
    """

    def __init__(self, iteration: Iteration, rule: Rule, monitor: Monitor, saving: Saving | None = None) -> None:
        self.iteration, self.rule, self.monitor, self.saving = iteration, rule, monitor, saving
        self.check: Check = iteration.begin(rule)
        # wall-clock time spent in the iteration itself
        self.seconds = 0.0

    def until_end(self, first: Callable[[], State | Reason]) -> Reason:
        """Run from the first state until every pair stands or one fails, and return why it ended."""
        iteration, began = self.iteration, time.perf_counter()
        try:
            state = first()
            while isinstance(state, State):
                state = iteration.accept(*self._until_rule(state), self.check)
        except KeyboardInterrupt:
            state = iteration.interrupted(Reason.INTERRUPTED)
        except OutOfTime:
            state = iteration.interrupted(Reason.MAX_SECONDS)
        finally:
            self.seconds += time.perf_counter() - began
        if self.saving is not None:
            self.saving.at_end(iteration)
        return state

    def _until_rule(self, state: State) -> tuple[State, Reason]:
        """The last state of one march, and why it is the last."""
        iteration, monitor, last = self.iteration, self.monitor, None
        for state in march(iteration, state):  # noqa: B020
            if not state.finite and last is not None:
                return last, Reason.DIVERGED
            last = state
            monitor.record(iteration, state)
            if self.saving is not None:
                self.saving.at_state(iteration)
            if state.indefinite:
                return state, Reason.EXHAUSTED
            reason = self._checked(state)
            if monitor.stops(iteration, state) and reason is None:
                reason = Reason.CALLBACK
            if reason is not None:
                return state, reason
        # that a residual is at rounding meets a rule on residuals, and no other
        met = state.at_rounding and is_met_at_rounding(self.rule)
        return state, Reason.PRECISION if met else Reason.EXHAUSTED

    def _checked(self, state: State) -> Reason | None:
        """The reason to stop; success counts only from step `patience` on."""
        reason = self.check(state)
        early = reason is not None and reason.converged and state.step < self.iteration.patience
        return None if early else reason

    def tighten(self, factor: float) -> None:
        """From now on check for a residual tolerance `factor` times that of the rule."""
        self.check = self.rule.tightened(factor).begin(self.iteration.products)
