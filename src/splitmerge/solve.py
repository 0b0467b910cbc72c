"""The front door: `solve(A, B, k)`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .checks import instance, whole
from .deflation import Deflation, Pairs, verify
from .driver import Driver
from .errors import NotConverged
from .history import History
from .inner import InnerSolver, attach
from .kernels import Array
from .krylov import Survey, random_vector, survey
from .methods import Method, SplitMerge
from .pencil import Pencil
from .progress import progress_bar
from .solution import Seconds, Solution, Verdict
from .state import State, excusable
from .stopping import MaxSteps, Reason, Residual, Rule, columns, generator, visible

MAX_SWEEPS = 4


def solve(
    A: Any,
    B: Any = None,
    k: int = 1,
    *,
    which: str = "largest",
    method: Method | None = None,
    tol: float = 1e-8,
    stop: Rule | None = None,
    max_steps: int | None = None,
    x0: Any = None,
    rng: Any = None,
    callback: Callable[[State], Any] | None = None,
    progress: bool = False,
) -> Solution:
    """The k largest (or smallest) eigenpairs of A u = λ B u, A Hermitian and B Hermitian positive definite.

    A, B
        Array, scipy.sparse matrix, LinearOperator, or any object with `shape` and `@`; B = None is the identity.
        They are never written to.
    method
        `SplitMerge()` unless said otherwise; see `splitmerge.methods`.
    tol, stop
        `tol` is the relative residual to reach (see `Solution.residuals`); `stop` replaces it by any rule.
    max_steps
        Steps for one pair, 100,000 by default; they hold beside `stop`, too.
    x0
        A start (n,), or one for each of the first pairs (n, m). What it leads to is confirmed from a perturbed vector
        (counted as monitoring), as a start in an invariant subspace leads to the wrong pair. Otherwise random, from
        `rng` (a seed or Generator).
    callback, progress
        `callback(state)` is called at every step, and stops the run by returning a true value (which counts as not
        converged). `progress=True` shows a bar on a terminal.

    Raises `NotConverged`, whose `.solution` holds everything computed so far, when the rule is not met. Ctrl-C
    during the iteration returns what is there, with `converged` False.

    >>> import numpy as np, splitmerge as sm
    >>> sol = sm.solve(np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 1.0, 2.0]), k=2, rng=0)
    >>> sol.eigenvalues.round(8)
    array([2. , 1.5])
    >>> sol.converged
    True
    """
    begin = time.perf_counter()
    if not isinstance(which, str) or which not in ("largest", "smallest"):
        raise ValueError(f"which is {which!r}; give 'largest' or 'smallest'")
    method = SplitMerge() if method is None else method
    instance(method, "method", Method, "an object such as SplitMerge() or Power()")
    if callback is not None and not callable(callback):
        raise ValueError(f"callback is {callback!r}; give a function that takes a State")
    rule = _rule(stop, tol, max_steps)
    pencil = Pencil(A, B, negate=which == "smallest", equilibrate=True)
    k = whole(k, "k", 1, pencil.n)
    rng = generator(rng)
    starts = _starts(x0, pencil, k, rng)
    with pencil.counting(pencil.counts.setup):
        inner = attach(pencil, method.inner)
        check = rule.begin(pencil)
        known = survey(pencil, rng)
        memory = method.setup(pencil, rng)
    ready = pencil.clock = time.perf_counter()
    with progress_bar(progress, k) as show:
        driver = Driver(pencil, method, memory, check, History(), callback, show)
        reason, pairs = _pairs(Deflation(driver, known, rng), rule, k, starts, doubt=x0 is not None)
    done = time.perf_counter()
    solution = Solution(
        **_present(pencil, pairs),
        converged=reason.converged,
        reason=reason,
        steps=driver.steps,
        counts=pencil.counts,
        seconds=Seconds(ready - begin, done - ready),
        history=driver.history,
        verdict=_verdict(known, pairs.values.size, reason),
        shift=abs(pencil.original(0.0)),
        method=method,
        story=_story(pencil, method, inner, rule, which),
    )
    if not reason.converged and reason is not Reason.INTERRUPTED:
        raise NotConverged(solution)
    return solution


def _rule(stop: Rule | None, tol: float, max_steps: int | None) -> Rule:
    residual = Residual(tol)
    if stop is not None:
        instance(stop, "stop", Rule, "a rule such as Residual(1e-8) | MaxSeconds(60)")
    limit = MaxSteps() if max_steps is None else MaxSteps(whole(max_steps, "max_steps", 1))
    return (residual if stop is None else stop) | limit


def _starts(x0: Any, pencil: Pencil, k: int, rng: np.random.Generator) -> Array:
    """The starts as columns, at most one for each pair."""
    if x0 is None:
        return random_vector(pencil, rng)[:, None]
    X = columns(x0, "x0", pencil)
    if X.shape[1] > k:
        raise ValueError(f"x0 has shape {np.shape(x0)}; give at most one column for each of the k = {k} pairs")
    return X


def _pairs(deflation: Deflation, rule: Rule, k: int, starts: Array, *, doubt: bool) -> tuple[Reason, Pairs]:
    """Sweep over the pairs; when their residuals in (A, B) miss the tolerance, again and more tightly.

    The deflated pair carries the errors of the vectors taken out, so a residual that is small there need not be in
    (A, B). The next sweep starts from the vectors of the last one and is short.
    """
    driver, pencil = deflation.driver, deflation.pencil
    starting = [np.ascontiguousarray(x) for x in starts.T]
    tightening = 1.0
    for _ in range(MAX_SWEEPS):
        reason = deflation.sweep(k, starting, doubt=doubt)
        if not deflation.vectors:
            raise KeyboardInterrupt
        try:
            pairs = verify(pencil, np.column_stack(deflation.vectors))
        except KeyboardInterrupt:
            # what was found is worth its residuals; a second Ctrl-C ends it
            return Reason.INTERRUPTED, verify(pencil, np.column_stack(deflation.vectors))
        tol = rule.residual_tol
        if tol is None or reason not in (Reason.RESIDUAL, Reason.PRECISION):
            return reason, pairs
        if (pairs.residuals <= tol).all():
            return Reason.RESIDUAL, pairs
        tol = max(tol, visible(pencil))
        if all(r <= max(tol, excusable(pencil, e)) for r, e in zip(pairs.residuals, pairs.rounding, strict=True)):
            return Reason.PRECISION, pairs
        tightening *= max(0.5 * tol / float(pairs.residuals.max()), 1e-3)
        driver.check = rule.tightened(tightening).begin(pencil)
        doubt = False
        starting = [np.ascontiguousarray(x) for x in pairs.vectors.astype(pencil.dtype).T]
    return Reason.UNCONFIRMED, pairs


def _present(pencil: Pencil, pairs: Pairs) -> dict[str, Array]:
    """The pairs in the user's units and dtype, with signs fixed and errors bounded."""
    unit, scale = pencil.unit, 1.0 if pencil.B is None else pencil.B.scale
    vectors = pencil.vectors_of(pairs.vectors)
    leading = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    vectors = vectors * (np.sqrt(scale) * np.abs(leading) / leading)
    real = np.empty(0, pencil.dtype).real.dtype
    return {
        "eigenvalues": (pairs.values * unit).astype(real),
        "eigenvectors": vectors.astype(pencil.dtype),
        "residuals": pairs.residuals,
        "error_bounds": _error_bounds(pencil, pairs) * abs(unit),
    }


def _error_bounds(pencil: Pencil, pairs: Pairs) -> Array:
    """‖r‖ in the norm of B⁻¹, with an allowance for the rounding of the residual itself."""
    bounds = []
    with pencil.counting(pencil.counts.monitoring):
        for r in pairs.errors.T.astype(pencil.dtype):
            w, _ = pencil.solve_B(np.ascontiguousarray(r))
            bounds.append(max(float(np.vdot(r, w).real), 0.0) ** 0.5)
    return np.array(bounds) + pencil.rounding_of(pairs.values, np.linalg.norm(pairs.vectors, axis=0))


def _verdict(known: Survey, count: int, reason: Reason) -> Verdict:
    if reason is Reason.MISSED:
        return Verdict("unchecked", "a Lanczos survey shows that a pair was passed over")
    checked = min(count, known.bounds.size)
    return Verdict(
        "unchecked",
        f"no proof was made that no pair was passed over; the first {checked} are not worse than the bounds of a "
        f"Lanczos survey of {known.bounds.size} steps",
    )


def _story(pencil: Pencil, method: Method, inner: InnerSolver | None, rule: Rule, which: str) -> tuple[str, ...]:
    """The route in sentences, for `explain`."""
    kinds = pencil.A.kind if pencil.B is None else f"{pencil.A.kind}, {pencil.B.kind}"
    lines = [
        f"The {which} eigenvalues of a pair of size {pencil.n} ({kinds}, {pencil.dtype}) were sought with {method!r}."
    ]
    if inner is None:
        lines.append("B is the identity, so no work was done for it.")
    else:
        lines.append(f"Systems with B were solved by {inner.describe(pencil)}.")
    if which == "smallest":
        lines.append("The smallest of (A, B) were found as the largest of (−A, B).")
    if pencil.scaling is not None:
        lines.append("The diagonal of B spans more than two decades, so the unknowns were scaled to make it even.")
    elif abs(pencil.A.scale) != 1 or (pencil.B is not None and pencil.B.scale != 1):
        lines.append(
            "The entries are of extreme size, so the pair was scaled by powers of two and the answer scaled back."
        )
    if pencil.shift:
        lines.append(
            f"{'−A' if which == 'smallest' else 'A'} is not positive semidefinite, as the objective needs it: "
            f"η = {abs(pencil.shift * pencil.unit):.6g} times B was added, and taken off the eigenvalues again."
        )
    lines.append(f"It was to stop at {rule!r}.")
    return tuple(lines)
