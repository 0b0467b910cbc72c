"""The arguments of `solve`, checked before any work: each error names the argument, what is wrong and what to give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .checks import instance, real, whole
from .methods import Method
from .methods.krylov.accelerated import Accelerated
from .methods.lobpcg.locally_optimal import LocallyOptimal
from .preconditioners import Preconditioner, UserDiagonal, UserPreconditioner
from .problem.problem import ALIASES, WHICH, Problem
from .run.checkpoint import Checkpoint, as_checkpoint
from .run.rules import MaxSteps, Residual, Rule

MISPLACED_HINT = (
    "preconditioner and diagonal are for Accelerated and LocallyOptimal without sigma or interval; leave them out"
)


def checked(problem: Problem, diagonal: Any) -> Problem:
    """The problem with its arguments checked and its rule; matrices, k and start are checked with the pencil."""
    end, sigma = _wanted(problem.which, problem.sigma)
    interval = None if problem.interval is None else _interval(problem)
    method, callback = problem.method, problem.callback
    known = _hint(problem.preconditioner, diagonal)
    interior = "interval" if interval is not None else "" if sigma is None else f"sigma={sigma:g}"
    _check_method(method, end, known, interior=interior, certify=problem.certify)
    if callback is not None and not callable(callback):
        raise ValueError(f"callback is {callback!r}; give a function that takes a State")
    tol, stop, max_steps = problem.tol, problem.stop, problem.max_steps
    rule = stopping_rule(stop, tol, max_steps)
    checkpoint = None if problem.checkpoint is None else _checkpoint(problem.checkpoint)
    rest = rule, problem.x0, problem.rng, callback, problem.progress, interval, checkpoint
    asked = problem.A, problem.B, problem.k, end, sigma, method, tol, stop, max_steps
    return Problem(*asked, problem.b_policy, bool(problem.certify), known, *rest)


def stopping_rule(stop: Rule | None, tol: float, max_steps: int | None) -> Rule:
    """The rule that `tol`, `stop` and `max_steps` amount to."""
    residual = Residual(tol)
    if stop is not None:
        instance(stop, "stop", Rule, "a rule such as Residual(1e-8) | MaxSeconds(60)")
    limit = MaxSteps() if max_steps is None else MaxSteps(whole(max_steps, "max_steps", 1))
    return (residual if stop is None else stop) | limit


def _wanted(which: Any, sigma: Any) -> tuple[str, float | None]:
    """Which pairs are wanted: an end of the spectrum, or those nearest to σ."""
    which = ALIASES.get(which, which) if isinstance(which, str) else which
    if not isinstance(which, str) or which not in WHICH:
        names = ", ".join(map(repr, (*WHICH, *ALIASES)))
        raise ValueError(f"which is {which!r}; give one of {names}")
    if sigma is None:
        return which, None
    sigma = real(sigma, "sigma", least=-math.inf)
    if which != "largest":
        raise ValueError(f"which is {which!r} and sigma is {sigma:g}; sigma asks for the nearest: leave which out")
    return which, sigma


def _interval(problem: Problem) -> tuple[float, float]:
    """The ends of the interval; nothing else may say which pairs are wanted, or where to start."""
    given: Any = problem.interval
    try:
        low, high = given
    except (TypeError, ValueError):
        raise ValueError(f"interval is {given!r}; give its two ends, such as (0.5, 2.0)") from None
    low, high = _end(low), _end(high)
    if low > high or low == math.inf or high == -math.inf:
        raise ValueError(f"interval is ({low:g}, {high:g}); give the lower end first, then the upper one")
    others = {"k": whole(problem.k, "k", 1) != 1, "which": problem.which != "largest"}
    others |= {"sigma": problem.sigma is not None, "x0": problem.x0 is not None}
    if problem.checkpoint is not None:
        raise ValueError("checkpoint and interval are both given; slices are not resumed: leave checkpoint out")
    for name, also in others.items():
        if also:
            raise ValueError(f"{name} and interval are both given; all in interval are computed: leave {name} out")
    return low, high


def _checkpoint(given: Any) -> Checkpoint:
    """Where and how often to write; a file that cannot be written is refused now, not after a minute."""
    # most solves write none
    from .solution.checkpoint import check_target

    checkpoint = as_checkpoint(given)
    check_target(checkpoint.path)
    return checkpoint


def _end(end: Any) -> float:
    """An end of an interval, which may be infinite."""
    infinite = isinstance(end, (float, np.floating)) and math.isinf(end)
    return float(end) if infinite else real(end, "an end of interval", least=-math.inf)


def _check_method(
    method: Method | None, which: str, known: Preconditioner | None, *, interior: str, certify: Any
) -> None:
    """Refuse a method that cannot do what is asked for; `interior` names sigma or interval, if one is given."""
    ends = which in ("largest", "smallest") and not interior
    if method is not None:
        instance(method, "method", Method, "an object such as Accelerated() or SplitMerge()")
    if known is not None:
        _check_hint(method, which, interior=interior)
    if method is None or isinstance(method, Accelerated):
        return
    asked = "certify" if ends else interior or f"which={which!r}"
    if isinstance(method, LocallyOptimal):
        if not ends:
            raise ValueError(f"{asked}: LocallyOptimal finds the largest or the smallest; leave one of them out")
    elif certify or not ends:
        raise ValueError(f"{asked}: only the default method and Accelerated can do that; leave method out")


def _check_hint(method: Method | None, which: str, *, interior: str) -> None:
    """Refuse a preconditioner or diagonal that the method would not use."""
    if interior or not (method is None or isinstance(method, (Accelerated, LocallyOptimal))):
        raise ValueError(MISPLACED_HINT)
    if isinstance(method, LocallyOptimal) and method.preconditioner is not None:
        raise ValueError(f"preconditioner is given twice, as the method is {method!r}; leave one of them out")
    if isinstance(method, Accelerated) and method.inner is not None:
        raise ValueError(
            f"preconditioner has nothing to do beside inner={method.inner!r}; leave one of them out, or give it to the "
            f"inner solver as ConjugateGradient(None, preconditioner, tol=1e-13)"
        )
    if isinstance(method, Accelerated) and which == "smallest":
        raise ValueError(
            "preconditioner with which='smallest' is for LocallyOptimal, but the method is Accelerated, which "
            "factorises A; leave method out, or give LocallyOptimal()"
        )


def _hint(preconditioner: Any, diagonal: Any) -> Preconditioner | None:
    """What the user knows of an inverse: of A for the smallest, otherwise of B."""
    if preconditioner is not None and diagonal is not None:
        raise ValueError("preconditioner and diagonal are both given; give one of them")
    if diagonal is not None:
        return UserDiagonal(diagonal)
    if preconditioner is None or isinstance(preconditioner, Preconditioner):
        return preconditioner
    return UserPreconditioner(preconditioner)


def check_hint_size(hint: Preconditioner | None, n: int) -> None:
    """Refuse a preconditioner or diagonal of another size, whether it is used or not."""
    given = hint.inverse if isinstance(hint, UserPreconditioner) else None
    shape = getattr(given, "shape", (n, n))
    if tuple(shape) != (n, n):
        raise ValueError(f"preconditioner has shape {shape}, but n is {n}; give an operator of the size of A")
    if isinstance(hint, UserDiagonal) and len(hint.diagonal) != n:
        raise ValueError(f"diagonal has {len(hint.diagonal)} entries, but n is {n}; give one entry per row of B")
