"""All eigenpairs in an interval: count at its ends, then LAPACK, or slice after slice by shift-invert."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..errors import NotPositiveDefinite
from ..methods.setup import Setup
from ..planning.choose import choose
from ..planning.costs import check_fits
from ..planning.decision import Choice
from ..planning.plan import Engine
from ..preparation.definiteness import check_B
from ..preparation.solver import attached
from ..preparation.workspace import Workspace
from ..problem.b_policy import Mended
from ..problem.operator import plus
from ..problem.pencil import Pencil
from ..problem.problem import Problem
from ..problem.start import generator
from ..problem.target import Target
from ..run.loop import Monitor
from ..run.progress import progress_bar
from ..run.reason import Reason
from ..solution.back_transform import present
from ..solution.solution import Solution
from ..system.budget import Budget
from ..verification.bounds import bounds_of
from ..verification.completeness import Verified
from ..verification.verdict import BY_LAPACK, UNFINISHED, Verdict
from .cuts import Counter
from .ends import Ends, Uncountable, counted_ends
from .parts import Part, blurred, chosen, joined, kept, unsure
from .sweep import Sweep, ran, slice_tolerance

COUNTED = Verdict(
    "certified", "inertia counts at the ends of the interval and of its slices agree with the pairs found"
)
AT_AN_END = Verdict("certified", f"{COUNTED.why}, those within rounding of an end included")
UNCLEAR = Verdict(
    "probed", "inertia counts agree with the pairs found, but eigenvalues are too near to an end to be counted for sure"
)


class Found(NamedTuple):
    """The pairs, why their computation ended, and the set-up that they come from."""

    part: Part
    reason: Reason
    verdict: Verdict
    setup: Setup


def all_within(problem: Problem, pencil: Pencil, mended: Mended, began: float) -> Solution:
    """Every eigenpair in the interval of the problem, in ascending order."""
    plan = choose(problem, pencil)
    workspace = Workspace(problem, pencil, plan, generator(problem.rng), budget=Budget(problem.rule.time_limit))
    _form(workspace)
    ends, counter = None, Counter(workspace.products().setup, slice_tolerance(problem.rule))
    if plan.candidates[0].engine is not Engine.LAPACK:
        ends = _counted(workspace, counter)
    count = 0 if ends is None else ends.count
    with progress_bar(problem.progress, count) as show:
        monitor = Monitor(problem.callback, show)
        direct = None
        if workspace.plan.candidates[0].engine is Engine.LAPACK:
            direct = _by_lapack(workspace, monitor)
        found = direct
        if found is None or found.verdict is UNCLEAR:
            found = _sliced(workspace, monitor, counter, ends, direct)
        missed = found.reason.failed and found.reason is not Reason.MISCOUNTED and direct is None
        if missed and workspace.plan.candidates[-1].engine is Engine.LAPACK:
            workspace.form(A=True, B=True)
            direct = _by_lapack(workspace, monitor)
            found = direct or found
    part, reason, verdict, setup = found
    if found is direct:
        workspace.decide(Choice.LAPACK, k=part.pairs.values.size, n=pencil.n)
    workspace.problem = replace(problem, k=int(part.pairs.values.size))
    verified = Verified(part.pairs, reason, verdict)
    return present(workspace, setup, monitor, verified, mended, began, part.bounds)


def _form(workspace: Workspace) -> None:
    """Compute the entries of operators that the plan needs."""
    plan = workspace.plan
    if plan.forms_A or plan.forms_B:
        workspace.form(A=plan.forms_A, B=plan.forms_B)
        if workspace.formed_A and plan.candidates[0].engine is not Engine.LAPACK:
            workspace.decide(Choice.FORMED_A, n=workspace.pencil.n)


def _scaled(workspace: Workspace) -> tuple[float, float]:
    """The interval in the units of the scaled pair."""
    assert workspace.problem.interval is not None
    a, b = workspace.problem.interval
    return a / workspace.pencil.unit, b / workspace.pencil.unit


def _counted(workspace: Workspace, counter: Counter) -> Ends:
    """Count at the ends; the number of eigenvalues may show that LAPACK is faster."""
    check_B(workspace)
    pencil = workspace.pencil
    a, b = _scaled(workspace)
    check_fits(plus(pencil.A, -counter.radius, pencil.B), "A − τB")
    ends = counted_ends(counter, a, b)
    low, high, unit = ends.low.decided, ends.high.decided, pencil.unit
    workspace.decide(Choice.COUNTED, low=low.tau * unit, high=high.tau * unit, below=low.below, above=high.below)
    if ends.count:
        workspace.plan = choose(replace(workspace.problem, k=ends.count), pencil)
        _form(workspace)
    return ends


def _sliced(
    workspace: Workspace, monitor: Monitor, counter: Counter, ends: Ends | None, unclear: Found | None
) -> Found:
    """The pairs of all slices; those of LAPACK, which are `unclear` at an end, where that fails."""
    try:
        found = _by_slices(workspace, monitor, counter, _counted(workspace, counter) if ends is None else ends)
    except Uncountable:
        if unclear is None:
            raise
        return unclear
    return unclear if unclear is not None and found.reason is Reason.UNCONFIRMED else found


def _by_lapack(workspace: Workspace, monitor: Monitor) -> Found | None:
    """The pairs from one decomposition; None if B is not definite or residuals miss the tolerance."""
    try:
        _, solver = attached(workspace.products().setup, None)
    except NotPositiveDefinite:
        # slicing can do with a semidefinite B
        return None
    products, (a, b) = workspace.products(solver=solver), _scaled(workspace)
    setup = workspace.setup(products, Target.LARGEST, window=(a, b))
    workspace.budget.begin()
    reason, pairs = ran(setup, workspace.problem.rule, monitor, products.found)
    if reason is Reason.UNCONFIRMED:
        return None
    bounds = bounds_of(pairs, products.n)
    near = np.minimum(np.abs(pairs.values - a), np.abs(pairs.values - b)) <= np.maximum(bounds.values, pairs.noise)
    part = kept(Part(pairs, bounds), a, b)
    # only a count tells on which side of an end a near one is
    verdict = UNCLEAR if near.any() else BY_LAPACK
    return Found(part, reason, verdict if reason.converged else UNFINISHED, setup)


def _by_slices(workspace: Workspace, monitor: Monitor, counter: Counter, ends: Ends) -> Found:
    """The pairs of all slices; those of the slices so far after an interrupt, or when time runs out."""
    sweep = Sweep(workspace, monitor, counter)
    sweep.over(ends)
    workspace.decide(Choice.SLICED, **sweep.figures())
    part, verdict = joined(counter.products, sweep.found), UNFINISHED
    if sweep.reason.converged:
        below, above = ends.beyond
        part = chosen(part, np.arange(below, part.pairs.values.size - above))
    inside = kept(part, *ends.undecided)
    if sweep.reason.converged:
        sure = ends.clear and not unsure(part, *ends.undecided) and not blurred(inside, ends.a, ends.b, counter.tol)
        verdict = (AT_AN_END if ends.touched else COUNTED) if sure else UNCLEAR
    return Found(inside, sweep.reason, verdict, sweep.setup)
