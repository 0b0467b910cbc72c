"""The front door: `solve(A, B, k)`."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable
from typing import Any

import numpy as np

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
from .state import State
from .stopping import MaxSteps, Reason, Residual, Rule, visible

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
        A start (n,), or one for each of the first pairs (n, m). Otherwise random, from `rng` (a seed or Generator).
    callback, progress
        `callback(state)` is called at every step, and stops the run by returning a true value. `progress=True` shows
        a bar on a terminal.

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
    if which not in ("largest", "smallest"):
        raise ValueError(f"which is {which!r}; give 'largest' or 'smallest'")
    method = SplitMerge() if method is None else method
    if not isinstance(method, Method):
        raise ValueError(f"method is {method!r}; give an object such as SplitMerge() or Power()")
    rule = _rule(stop, tol, max_steps)
    pencil = Pencil(A, B, negate=which == "smallest")
    k = _check_k(k, pencil.n)
    starts = _check_x0(x0, pencil, k)
    rng = np.random.default_rng(rng)
    if starts.shape[1] == 0:
        starts = random_vector(pencil, rng)[:, None]
    with pencil.counting(pencil.counts.setup):
        inner = attach(pencil, method.inner)
        known = survey(pencil, rng)
        memory = method.setup(pencil, rng)
    ready = pencil.clock = time.perf_counter()
    with progress_bar(progress, k) as show:
        driver = Driver(pencil, method, memory, rule.begin(pencil), History(), callback, show)
        deflation = Deflation(driver, known, rng)
        reason, pairs = _pairs(deflation, rule, k, starts)
    done = time.perf_counter()
    solution = Solution(
        **_present(pencil, pairs),
        converged=reason.converged,
        reason=reason,
        steps=driver.steps,
        counts=pencil.counts,
        seconds=Seconds(ready - begin, done - ready),
        history=driver.history,
        verdict=_verdict(known, k),
        shift=abs(pencil.original(0.0)),
        method=method,
        story=_story(pencil, method, inner, rule, known, which),
    )
    if not reason.converged and reason is not Reason.INTERRUPTED:
        raise NotConverged(solution)
    return solution


def _rule(stop: Rule | None, tol: float, max_steps: int | None) -> Rule:
    residual = Residual(tol)
    if stop is not None and not isinstance(stop, Rule):
        raise ValueError(f"stop is {stop!r}; give a rule such as Residual(1e-8) | MaxSeconds(60)")
    limit = MaxSteps() if max_steps is None else MaxSteps(max_steps)
    return (residual if stop is None else stop) | limit


def _check_k(k: Any, n: int) -> int:
    try:
        if isinstance(k, (bool, np.bool_)):
            raise TypeError
        count = operator.index(k)
    except TypeError:
        raise ValueError(f"k is {k!r}; give a whole number of pairs") from None
    if not 1 <= count <= n:
        raise ValueError(f"k is {count}; give a number from 1 to n = {n}")
    return count


def _check_x0(x0: Any, pencil: Pencil, k: int) -> Array:
    """The starts as columns, each finite and not zero."""
    if x0 is None:
        return np.zeros((pencil.n, 0), pencil.dtype)
    X = np.asarray(x0)
    if X.dtype.kind not in "biufc":
        raise ValueError(f"x0 has dtype {X.dtype}; give numbers")
    if X.shape[0:1] != (pencil.n,) or X.ndim > 2 or (X.ndim == 2 and not 1 <= X.shape[1] <= k):
        raise ValueError(f"x0 has shape {X.shape}; give ({pencil.n},) or ({pencil.n}, m) with m ≤ k = {k}")
    if X.dtype.kind == "c" and pencil.dtype.kind != "c":
        raise ValueError("x0 is complex but A and B are real; give a real start")
    if not np.isfinite(X).all():
        raise ValueError("x0 contains NaN or infinity; clean it first")
    X = X.reshape(pencil.n, -1)
    sizes = np.abs(X).max(axis=0)
    if (sizes == 0).any():
        raise ValueError("x0 is zero; give a start that is not, or none at all")
    return np.asarray(X / sizes).astype(pencil.dtype)


def _pairs(deflation: Deflation, rule: Rule, k: int, starts: Array) -> tuple[Reason, Pairs]:
    """Sweep over the pairs; when their residuals in (A, B) miss the tolerance, again and more tightly.

    The deflated pair carries the errors of the vectors taken out, so a residual that is small there need not be in
    (A, B). The next sweep starts from the vectors of the last one and is short.
    """
    driver, pencil = deflation.driver, deflation.pencil
    columns = [np.ascontiguousarray(x) for x in starts.T]
    tightening = 1.0
    for _ in range(MAX_SWEEPS):
        reason = deflation.sweep(k, lambda j, c=columns: c[j] if j < len(c) else None)  # type: ignore[misc]
        pairs = verify(pencil, np.column_stack(deflation.vectors))
        if reason is not Reason.RESIDUAL or rule.residual_tol is None:
            return reason, pairs
        tol = visible(rule.residual_tol, pencil)
        if pairs.residuals.max() <= tol:
            return reason, pairs
        tightening *= max(0.5 * tol / float(pairs.residuals.max()), 1e-3)
        driver.check = rule.tightened(tightening).begin(pencil)
        columns = [np.ascontiguousarray(x) for x in pairs.vectors.astype(pencil.dtype).T]
    return Reason.UNCONFIRMED, pairs


def _present(pencil: Pencil, pairs: Pairs) -> dict[str, Array]:
    """The pairs in the user's units and dtype, with signs fixed and errors bounded."""
    unit, scale = pencil.unit, 1.0 if pencil.B is None else pencil.B.scale
    leading = np.take_along_axis(pairs.vectors, np.abs(pairs.vectors).argmax(axis=0)[None], axis=0)
    vectors = pairs.vectors * (np.sqrt(scale) * np.abs(leading) / leading)
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
    top = float(np.abs(pairs.values + pencil.shift).max())
    return np.array(bounds) + visible(0, pencil) * top


def _verdict(known: Survey, k: int) -> Verdict:
    checked = min(k, known.ritz.size)
    return Verdict(
        "unchecked",
        f"no proof was made that nothing larger exists; the first {checked} values are not below the bounds of a "
        f"Lanczos survey of {known.ritz.size} steps",
    )


def _story(
    pencil: Pencil, method: Method, inner: InnerSolver | None, rule: Rule, known: Survey, which: str
) -> tuple[str, ...]:
    """The route in sentences, for `explain`."""
    kinds = pencil.A.kind if pencil.B is None else f"{pencil.A.kind}, {pencil.B.kind}"
    lines = [
        f"The {which} eigenvalues of a pair of size {pencil.n} ({kinds}, {pencil.dtype}) were sought with {method!r}."
    ]
    if inner is None:
        lines.append("B is the identity, so no work was done for it.")
    else:
        lines.append(f"Systems with B were solved by {inner.describe()}.")
    if which == "smallest":
        lines.append("The smallest of (A, B) were found as the largest of (−A, B).")
    if abs(pencil.A.scale) != 1 or (pencil.B is not None and pencil.B.scale != 1):
        lines.append(
            "The entries are of extreme size, so the pair was scaled by powers of two and the answer scaled back."
        )
    if pencil.shift:
        lines.append(
            f"{'−A' if which == 'smallest' else 'A'} is not positive semidefinite, as the objective needs it: "
            f"η = {abs(pencil.shift * pencil.unit):.6g} times B was added, and taken off the eigenvalues again."
        )
    lines.append(f"It was to stop at {rule!r}.")
    tol = rule.residual_tol
    if tol is not None and visible(tol, pencil) > tol:
        lines.append(f"{pencil.dtype} cannot show a residual of {tol:.1g}: {visible(tol, pencil):.1g} was asked for.")
    return tuple(lines)
