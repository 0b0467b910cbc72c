"""The front door: `solve(A, B, k)`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from .checks import instance, real, whole
from .errors import NotConverged
from .methods.krylov.accelerated import Accelerated
from .methods.lobpcg.locally_optimal import LocallyOptimal
from .methods.protocol import Method
from .objective.state import State
from .preconditioners import Given, GivenDiagonal, Preconditioner
from .problem.b_policy import mend
from .problem.pencil import Pencil
from .problem.start import generator
from .run.by_deflation import deflate
from .run.by_search import pursue
from .run.reason import Reason
from .run.rules import MaxSteps, Residual, Rule
from .solution.back_transform import present
from .solution.solution import Problem, Solution
from .solution.task import Task, Warm

WHICH = ("largest", "smallest", "magnitude", "ends")


def solve(
    A: Any,
    B: Any = None,
    k: int = 1,
    *,
    which: str = "largest",
    sigma: float | None = None,
    method: Method | None = None,
    tol: float = 1e-8,
    stop: Rule | None = None,
    max_steps: int | None = None,
    x0: Any = None,
    rng: Any = None,
    b_policy: str = "error",
    certify: bool = False,
    callback: Callable[[State], Any] | None = None,
    progress: bool = False,
    preconditioner: Any = None,
    diagonal: Any = None,
) -> Solution:
    """The k largest (or smallest, or nearest) eigenpairs of A u = λ B u, A Hermitian and B Hermitian positive definite.

    A, B
        Array, scipy.sparse matrix, LinearOperator, or any object with `shape` and `@`; B = None is the identity.
        They are never written to.
    which, sigma
        "largest", "smallest", "magnitude" (the largest |λ|) or "ends" (both ends by turns); `sigma` asks for the values
        nearest to it instead, and so needs the entries of A and B.
    method
        None chooses: LAPACK for small problems, otherwise `Accelerated()`; or any method of `splitmerge.methods`.
    tol, stop
        `tol` is the relative residual to reach (see `Solution.residuals`); `stop` replaces it by any rule.
    max_steps
        Steps for one pair, 100,000 by default; they hold beside `stop`, too.
    x0
        A start (n,), or a block of them (n, m): approximate eigenvectors, best first. What they lead to is checked from
        a random vector (counted as monitoring), as a start in an invariant subspace leads to the wrong pair. Otherwise
        random, from `rng` (a seed or Generator).
    b_policy
        For a B that is singular or indefinite to working precision: "error", "ridge" (B + εI) or "restrict" (to the
        range of B); `Solution.b_report` says what was done.
    certify
        Prove by counting eigenvalues that none was passed over; needs the entries of A and B.
    callback, progress
        `callback(state)` is called at every step, and stops the run by returning a true value (which counts as not
        converged). `progress=True` shows a bar on a terminal.
    preconditioner, diagonal
        What is known of a matrix that is not to be factorised: A when the smallest are wanted, otherwise B. An object
        such as `MultiGrid()`, or an operator or function that applies an approximate inverse (Hermitian positive
        definite); or just the diagonal of an operator.

    Raises `NotConverged`, whose `.solution` holds everything computed so far, when the rule is not met. Ctrl-C
    during the iteration returns what is there, with `converged` False.

    >>> import numpy as np, splitmerge as sm
    >>> sol = sm.solve(np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 1.0, 2.0]), k=2)
    >>> sol.eigenvalues.round(8)
    array([2. , 1.5])
    >>> sol.converged, sol.verdict
    (True, 'certified')
    """
    begin = time.perf_counter()
    sigma = _check_question(which, sigma)
    if method is not None:
        instance(method, "method", Method, "an object such as Accelerated() or SplitMerge()")
    if callback is not None and not callable(callback):
        raise ValueError(f"callback is {callback!r}; give a function that takes a State")
    hint = _hint(preconditioner, diagonal)
    by_default = method is None or isinstance(method, (Accelerated, LocallyOptimal))
    _check_method(method, which, sigma, hint, by_default=by_default, certify=certify)
    mended = mend(A, B, b_policy)
    pencil = Pencil(mended.A, mended.B, negate=which == "smallest" and not by_default, equilibrate=True)
    task = Task(
        pencil=pencil,
        k=whole(k, "k", 1, pencil.n),
        which=which,
        sigma=sigma,
        rule=_rule(stop, tol, max_steps),
        x0=x0,
        rng=generator(rng),
        mended=mended,
        certify=certify,
        callback=callback,
        progress=progress,
        hint=hint,
        problem=Problem(A, B, k, which, sigma, method, tol, stop, max_steps, b_policy, bool(certify), hint),
    )
    # LAPACK has no steps to be limited, watched or started
    started = x0 is not None and not isinstance(x0, Warm)
    iterate = stop is not None or max_steps is not None or callback is not None or started
    return carry_out(task, method, begin, iterate=iterate)


def carry_out(task: Task, method: Method | None, begin: float, *, iterate: bool) -> Solution:
    """The solution of a task that began at `begin`; `iterate` says that LAPACK cannot do what was asked for."""
    if method is None or isinstance(method, (Accelerated, LocallyOptimal)):
        outcome = pursue(task, method, iterate=iterate)
    else:
        outcome = deflate(task, method)
    solution = present(task, outcome, begin)
    if not solution.converged and solution.reason is not Reason.INTERRUPTED:
        raise NotConverged(solution)
    return solution


def _check_question(which: str, sigma: float | None) -> float | None:
    """σ as a number, if there is one and nothing else says which pairs are wanted."""
    if not isinstance(which, str) or which not in WHICH:
        raise ValueError(f"which is {which!r}; give one of {', '.join(map(repr, WHICH))}")
    if sigma is None:
        return None
    sigma = real(sigma, "sigma", least=-math.inf)
    if which != "largest":
        raise ValueError(f"which is {which!r} and sigma is {sigma:g}; sigma asks for the nearest: leave which out")
    return sigma


def _check_method(
    method: Method | None,
    which: str,
    sigma: float | None,
    hint: Preconditioner | None,
    *,
    by_default: bool,
    certify: bool,
) -> None:
    """Can the method do what is asked for?"""
    ends = which in ("largest", "smallest")
    if hint is not None and (sigma is not None or not by_default):
        raise ValueError("preconditioner and diagonal are for the default method without sigma; leave them out")
    if isinstance(method, LocallyOptimal) and (sigma is not None or not ends):
        raise ValueError("LocallyOptimal finds the largest or the smallest; leave sigma out, or the method")
    if not by_default and (sigma is not None or certify or not ends):
        raise ValueError(f"sigma, certify and which={which!r} are for the default method; leave method out")


def _hint(preconditioner: Any, diagonal: Any) -> Preconditioner | None:
    """What the caller knows of an inverse."""
    if preconditioner is not None and diagonal is not None:
        raise ValueError("preconditioner and diagonal are both given; give one of them")
    if diagonal is not None:
        return GivenDiagonal(diagonal)
    return (
        preconditioner
        if preconditioner is None or isinstance(preconditioner, Preconditioner)
        else Given(preconditioner)
    )


def _rule(stop: Rule | None, tol: float, max_steps: int | None) -> Rule:
    residual = Residual(tol)
    if stop is not None:
        instance(stop, "stop", Rule, "a rule such as Residual(1e-8) | MaxSeconds(60)")
    limit = MaxSteps() if max_steps is None else MaxSteps(whole(max_steps, "max_steps", 1))
    return (residual if stop is None else stop) | limit
