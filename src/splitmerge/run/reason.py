"""Why an iteration ended."""

from __future__ import annotations

from enum import Enum


class Reason(Enum):
    """Why an iteration ended; `advice` says what it means and what to do."""

    RESIDUAL = "The residual met the tolerance."
    PRECISION = (
        "The residual is down to the rounding of the working precision and no longer falls: this is as good as it gets."
    )
    ANGLE = "The angle to the reference met the tolerance."
    MAX_STEPS = "The limit of steps was reached: allow more max_steps, loosen tol, or choose a faster method."
    MAX_SECONDS = "The time limit was reached: allow more seconds, or choose a faster method."
    DIVERGED = "The iterates grew beyond all bounds: take a smaller step size, below 1/λ₁(B̃)."
    STAGNATED = (
        "The residual no longer falls: the tolerance is beyond what this precision allows, or progress is too slow."
    )
    EXHAUSTED = "The search space is exhausted before the rule was met: loosen tol, or try another rng or x0."
    UNCONFIRMED = (
        "The residual recomputed from A and B stays above the tolerance: loosen tol, or solve with B more exactly."
    )
    MISSED = (
        "An eigenvalue is missing: one that is wanted more than those found is known to exist. Start from another x0, "
        "or leave method out."
    )
    MISCOUNTED = (
        "The pairs found in the interval are not as many as the inertia counts say: tighten tol, or move the ends of "
        "the interval away from clusters of eigenvalues."
    )
    CALLBACK = "The callback asked to stop."
    INTERRUPTED = "The run was interrupted from the keyboard."

    @property
    def advice(self) -> str:
        """The text of the reason."""
        return self.value

    @property
    def failed(self) -> bool:
        """Did the search itself fail, so that another one may succeed?"""
        failures = (Reason.UNCONFIRMED, Reason.EXHAUSTED, Reason.STAGNATED, Reason.DIVERGED)
        return self in (*failures, Reason.MISSED, Reason.MISCOUNTED)

    @property
    def converged(self) -> bool:
        """Does this reason mean success?"""
        return self in (Reason.RESIDUAL, Reason.PRECISION, Reason.ANGLE)
