"""`Problem`: what the user asks for, checked once and never changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .start import Warm

Which: TypeAlias = Literal["largest", "smallest", "magnitude", "ends", "largest_magnitude", "both_ends"]
WHICH = ("largest", "smallest", "magnitude", "ends")
# Other names for what is wanted.
ALIASES = {"largest_magnitude": "magnitude", "both_ends": "ends"}


@dataclass(frozen=True, eq=False)
class Problem:
    """The arguments of `solve`; a solution keeps those that a resumed solve needs.

    `rule` is the stopping rule that `tol`, `stop` and `max_steps` amount to. With `interval`, `k` is 1 until the
    eigenvalues in it are counted.
    """

    A: Any
    B: Any
    k: int
    which: str
    sigma: float | None
    method: Any
    tol: float
    stop: Any
    max_steps: int | None
    b_policy: str
    certify: bool
    preconditioner: Any = None
    rule: Any = None
    x0: Any = None
    rng: Any = None
    callback: Callable[..., Any] | None = None
    progress: bool = False
    interval: tuple[float, float] | None = None
    checkpoint: Any = None

    @property
    def given(self) -> bool:
        """Is there a start that is not a random vector?"""
        return self.x0 is not None

    @property
    def started(self) -> bool:
        """Is there a start of the user's?"""
        return self.given and not isinstance(self.x0, Warm)

    @property
    def followed(self) -> bool:
        """Is there a stopping rule or a callback, which LAPACK has no use for?"""
        return self.stop is not None or self.callback is not None

    @property
    def iterates(self) -> bool:
        """Is an iteration asked for? LAPACK has no steps to be limited, monitored or started."""
        return self.followed or self.started or self.max_steps is not None

    @property
    def limited(self) -> bool:
        """Are steps limited?"""
        return self.stop is not None or self.max_steps is not None

    @property
    def negated(self) -> bool:
        """Are the smallest of (A, B) found as the largest of (−A, B) by a method that knows no others?"""
        return self.which == "smallest" and self.method is not None and not self.method.subspace

    def kept(self) -> Problem:
        """What a solution keeps: without the rule, the start, the generator and the callback of this call."""
        stopping = self.tol, self.stop, self.max_steps
        rest = self.b_policy, self.certify, self.preconditioner
        asked = self.A, self.B, self.k, self.which, self.sigma, self.method
        return Problem(*asked, *stopping, *rest, interval=self.interval)
