"""The default from start to end: choose a route, search or call LAPACK, and prove or probe that nothing is missing."""

from __future__ import annotations

import numpy as np

from ..linalg.cholesky import DenseFactor
from ..methods.direct import direct
from ..methods.krylov.accelerated import Accelerated
from ..methods.krylov.search import Search
from ..methods.lobpcg.locally_optimal import LocallyOptimal
from ..methods.lobpcg.search import LocalSearch, usual_block
from ..planning.choose import choose
from ..planning.plan import Route
from ..problem.pencil import Pencil
from ..problem.target import Wanted
from ..solution.task import Outcome, Task, Warm, starts, story
from ..sparse_direct.cholesky import SparseFactor
from ..sparse_direct.costs import recount_seconds
from ..system.progress import Show, progress_bar
from ..transforms.shift_invert import Inverted
from ..typing import Array
from ..verification.confirm import Pursuit
from ..verification.inertia import count_between, counted_in_the_gap, counts_fit, resolution
from ..verification.residuals import Pairs, judge, refine
from ..verification.verdict import BY_CHANCE, UNFINISHED, Verdict
from .by_narrow import pursue_in_single, suits_single
from .history import History
from .loop import Driver
from .reason import Reason
from .rules import visible

# Up to this size a sparse factorisation costs less than the solves of a probe. Beyond it, a probe is expected to take
# so many steps, each a solve and so many seconds by the size of the vectors.
SMALL_SPARSE, PROBE, A_STEP = 15_000, 40, 1.2e-7
# What a whole decomposition may leave, in roundings of one product.
LAPACK_ROUNDING = 10


def pursue(task: Task, method: Accelerated | LocallyOptimal | None, *, iterate: bool) -> Outcome:
    """The pairs by LAPACK or by a search, whichever `choose` says; `iterate` leaves it no choice."""
    with progress_bar(task.progress, task.k) as show:
        return _pursue(task, method, show, iterate=iterate)


def _pursue(
    task: Task,
    method: Accelerated | LocallyOptimal | None,
    show: Show | None,
    *,
    iterate: bool,
    narrow: bool = True,
) -> Outcome:
    """What `pursue` does; a search in single precision is for `narrow` only, as it may fail."""
    pencil, k, rng = task.pencil, task.k, task.rng
    X = starts(task)
    if task.certify and not pencil.has_entries:
        raise ValueError("certify=True needs the entries of A and B, as A − τB is factorised; give matrices")
    with pencil.counting(pencil.counts.setup):
        route = task.route
        if route is None:
            suits = narrow and suits_single(task)
            route = choose(
                pencil, k, task.which, task.sigma, method, rng, iterate=iterate, narrow=suits, hint=task.hint
            )
        check = task.rule.begin(route.pencil)
    ready = route.pencil.begin()
    if route.domain is None:
        outcome = _by_lapack(task, route, ready)
        # where a bad B leaves nothing of LAPACK's answer, the search may still find it
        return _pursue(task, method, show, iterate=True) if outcome.reason is Reason.UNCONFIRMED else outcome
    if route.narrow is not None:
        assert not isinstance(method, LocallyOptimal)
        found = pursue_in_single(task, route, method or Accelerated(), X, check, ready, show)
        if found is not None:
            return found
        pencil.solver = None
        return _pursue(task, method, show, iterate=iterate, narrow=False)
    method, search = _search(task, route, method, X.shape[1])
    if isinstance(task.x0, Warm) and route.pencil.inverse is None:
        search.known(-task.x0.shift / abs(route.pencil.unit))
    driver = Driver(route.pencil, method, search, check, History(), task.callback, show)
    # the first run from a random vector is a probe itself, and enough for a single pair
    probing = k > 1 or task.x0 is not None
    pursuit = Pursuit(driver, search, task.rule, lambda pairs: _complete(task, route, search, pairs), probing)
    reason, pairs = pursuit.run(X)
    if reason is Reason.MISSED and not task.certify:
        # too near to rounding to be counted, and random vectors find nothing
        reason = pursuit.reason
    return Outcome(
        route.pencil,
        pairs,
        reason,
        verdict=_verdict(pursuit, reason, asked=task.certify),
        story=story(task, route, method),
        ready=ready,
        method=method,
        steps=driver.steps,
        history=driver.history,
    )


def _search(
    task: Task, route: Route, method: Accelerated | LocallyOptimal | None, width: int
) -> tuple[Accelerated | LocallyOptimal, Search | LocalSearch]:
    """The method of the route and its search, which is started from `width` columns."""
    if route.local is not None:
        asked = method.block if isinstance(method, LocallyOptimal) else None
        local, block = route.local, max(asked or usual_block(task.k), width)
        search = LocalSearch(route.pencil, task.k, local.P, task.rng, block=block, itself=local.itself)
        return LocallyOptimal(local.preconditioner, asked), search
    assert route.domain is not None
    accelerated = method if isinstance(method, Accelerated) else Accelerated()
    krylov = Search(route.pencil, route.domain, task.k, route.wanted, task.rng, accelerated.max_basis, width=width)
    krylov.blind = task.x0 is None
    return accelerated, krylov


def _by_lapack(task: Task, route: Route, ready: float) -> Outcome:
    pencil = route.pencil
    values, vectors, gaps = direct(pencil, task.k, route.order)
    shift = max(0.0, -float(values.min()))
    pencil.transform(
        shift=shift, found=pencil.found, B_found=pencil.B_found, radius=float(np.abs(values).max()) + shift
    )
    if pencil.inverse is not None:
        values, vectors = refine(pencil, values, vectors, Wanted.LARGEST.order)
    pairs = judge(pencil, values, vectors)
    pairs.gaps = gaps
    tol = task.rule.residual_tol or 0.0
    if (pairs.residuals <= tol).all():
        reason = Reason.RESIDUAL
    elif (pairs.residuals <= LAPACK_ROUNDING * np.maximum(visible(pencil), pairs.rounding)).all():
        reason = Reason.PRECISION
    else:
        reason = Reason.UNCONFIRMED
    why = "LAPACK reduced the whole pair to tridiagonal form and counted the eigenvalues there"
    return Outcome(pencil, pairs, reason, Verdict("certified", why), route.lines, ready)


def _complete(task: Task, route: Route, search: Search | LocalSearch, pairs: Pairs) -> bool | None:
    """Does the count of eigenvalues agree with the pairs? Counted when asked for, or if cheaper than a probe."""
    pencil = route.pencil
    if not task.certify and not _count_is_cheap(task, route):
        return None
    # a count is made in the memory of the factor, which the vectors of states need
    search.keep_given()
    if pencil.dense and route.wanted is Wanted.LARGEST and search.values.size > task.k:
        fits = counted_in_the_gap(pencil, pairs, float(search.values[task.k]))
        if fits:
            return True
        if fits is False:
            _renew(pencil)
    fits = _counted(route, pairs)
    if not fits:
        _renew(pencil)
    return fits


def _count_is_cheap(task: Task, route: Route) -> bool:
    """Does a count cost less than a probe? A single pair needs neither."""
    if task.k == 1 or route.local is not None or isinstance(route.domain, Inverted):
        return False
    pencil, prediction = route.pencil, route.prediction
    if pencil.dense or not isinstance(pencil.solver, SparseFactor) or pencil.A.kind != "sparse":
        return pencil.dense
    if not pencil.solver.serves(pencil.A.matrix):
        return False
    if prediction is None:
        return pencil.n <= SMALL_SPARSE
    return recount_seconds(pencil.n, prediction.flops) < PROBE * (prediction.solve_seconds + A_STEP * pencil.n)


def _renew(pencil: Pencil) -> None:
    """Factorise B again: a count was made in the memory of the factor."""
    if isinstance(pencil.solver, DenseFactor):
        pencil.solver = DenseFactor(pencil.B.matrix)  # type: ignore[union-attr]


def _counted(route: Route, pairs: Pairs) -> bool | None:
    """Do the counts fit, as near to the last pair as rounding and the errors of the pairs allow?"""
    pencil, values, deltas = route.pencil, pairs.values, pairs.deltas
    fits: bool | None = None
    # an eigenvalue that is no further off than this counts as equal
    margin = max(
        resolution(pencil, pairs, float(np.abs(values[-1]))),
        float(np.finfo(pencil.dtype).tiny) ** 0.5,
    )
    for _ in range(3):
        if isinstance(route.domain, Inverted):
            sigma = route.domain.sigma - route.wanted.centre
            distances = np.abs(values - sigma)
            reach = -_clear(-float(distances.max()), -distances, deltas, margin)
            inside = int((distances < reach).sum())
            count = count_between(pencil, sigma - reach, sigma + reach) if reach > 0 else 0
            fits = None if count is None else count == inside
        else:
            low, high = route.wanted.window(values)
            fits = counts_fit(
                pencil, pairs, -_clear(-low, -values, deltas, margin), _clear(high, values, deltas, margin)
            )
        if fits is not None:
            return fits
        margin *= 2
    return fits


def _clear(tau: float, values: Array, deltas: Array, margin: float) -> float:
    """The first τ from `tau` upwards that is in none of the intervals in which the eigenvalues of the pairs are."""
    edges = np.maximum(deltas, 0.0) + margin
    for lower, upper in sorted(zip((values - edges).tolist(), (values + edges).tolist(), strict=True)):
        if lower <= tau <= upper:
            tau = upper + margin
    return tau


def _verdict(pursuit: Pursuit, reason: Reason, *, asked: bool) -> Verdict:
    if not reason.converged:
        return UNFINISHED
    if pursuit.counted:
        return Verdict("certified", "a factorisation counted the eigenvalues beyond the last pair: they are all here")
    why = BY_CHANCE.why
    if pursuit.probes:
        why = f"search {pursuit.probes} of the rest from a random vector found nothing more wanted"
    if pursuit.counted is False:
        why += ", but a count of the eigenvalues, which rounding may have falsified, does not agree"
    elif asked:
        why += "; the count that was asked for could not be made, for rounding or for memory"
    return Verdict("probed", why)
