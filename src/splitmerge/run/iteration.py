"""What the loop runs: an `Iteration` owns every mutable array of one run of a method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from ..objective.state import State
from ..problem.products import Products
from ..typing import Array
from .reason import Reason
from .rules import Check, Rule


class Retry(NamedTuple):
    """How verification treats recomputed residuals that miss the tolerance.

    `attempts` more runs are made, each to a tighter tolerance. `slack` says by which factor rounding may exceed what A
    and B allow.
    """

    attempts: int = 5
    slack: float = 1.0


class RitzBlock(NamedTuple):
    """Ritz pairs as an iteration leaves them: B-orthonormal `vectors` with `values`, neither shifted, best first.

    `order` ranks ascending values. `gaps` are distances to the eigenvalues that are not among these, as far as they are
    known. Unless `projected`, a Rayleigh–Ritz projection with fresh products is to be made.
    """

    values: Array
    vectors: Array
    order: Callable[[Array], Array]
    gaps: Array | None = None
    projected: bool = False


class Iteration(ABC):
    """One run of a method for k pairs; `pair` is the index of the pair that the present states approximate.

    A state counts as converged only from step `patience` on. While `quiet`, states are not recorded. The iteration is
    with A + ηB for η = `shift`.
    """

    products: Products
    pair: int = 0
    patience: int = 0
    quiet: bool = False
    shift: float = 0.0
    # completed probes of the complement
    probes: int = 0
    retry: Retry = Retry()

    def begin(self, rule: Rule) -> Check:
        """The check of every state for a stopping rule."""
        return rule.begin(self.products)

    @abstractmethod
    def start(self, X: Array) -> State | Reason:
        """The first state from the columns X, or the reason why nothing is to be iterated."""

    def step(self, state: State) -> State:
        """The next state."""
        raise NotImplementedError(f"{type(self).__name__} has no steps")

    def accept(self, state: State, reason: Reason, check: Check) -> State | Reason:
        """Take the state that ended for this reason; return the first state of what follows, or why all has ended."""
        return reason

    @abstractmethod
    def block(self) -> RitzBlock:
        """The Ritz pairs as they are now."""

    def tightened(self, check_tol: float, pairs: Any, *, stalled: bool) -> State | Reason:
        """The first state of another run to a smaller residual; `stalled` says that the last one did not help."""
        raise NotImplementedError(f"{type(self).__name__} cannot be continued")

    def resumed(self) -> State | Reason:
        """The first state of another run, after a probe has found more."""
        raise NotImplementedError(f"{type(self).__name__} cannot be continued")

    def probe(self, *, repeated: bool) -> bool:
        """Was a pair found that the present ones lack?"""
        return False

    def spare(self, *, converged: bool) -> Array | None:
        """Some vectors beyond the k wanted ones, for a later solve that needs them."""
        return None

    def checkpoint(self) -> Array | None:
        """The vectors to go on from in another process, the most wanted first; None where there are none yet.

        It changes nothing: the iteration goes on as if it had not been called.
        """
        return None

    def interrupted(self, reason: Reason) -> Reason:
        """Make the pairs consistent after an exception in the middle of a run, or raise if there are none."""
        return reason
