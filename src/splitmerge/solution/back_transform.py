"""From the verified pairs of a scaled, shifted, swapped or restricted pencil to the user's `Solution`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.linalg.blas import idamax, isamax

from ..linalg.reductions import column_norms, phases
from ..methods.setup import Setup
from ..planning.decision import Choice, Decision, decided
from ..preparation.workspace import Workspace
from ..problem.b_policy import Mended
from ..problem.pencil import Pencil
from ..problem.problem import Problem
from ..problem.products import Counts
from ..problem.start import Warm
from ..run.loop import Monitor
from ..sparse_direct.cholesky import SparseFactor
from ..sparse_direct.costs import WORTH_A_WORD, advice
from ..system.processes import current
from ..typing import Array
from ..verification.bounds import Bounds
from ..verification.completeness import Verified
from ..verification.residuals import Pairs
from .solution import Seconds, Solution


def present(
    workspace: Workspace,
    setup: Setup,
    monitor: Monitor,
    verified: Verified,
    mended: Mended,
    began: float,
    bounds: Bounds | None = None,
    shift: float = 0.0,
    searching: float | None = None,
) -> Solution:
    """The pairs in the user's units, coordinates and dtype, with signs fixed and errors bounded.

    `bounds` are those of pairs that come from several transformations, and have been computed for each. `shift` is η in
    the units of the pencil, if the iteration ran on (A + ηB, B). `searching` is the time of the iteration itself.
    """
    pencil, pairs, problem = setup.given_pair.pencil, verified.pairs, workspace.problem
    bounds, shift = verified.bounds(pencil.n) if bounds is None else bounds, user_shift(setup, shift)
    real = np.empty(0, pencil.dtype).real.dtype
    done, ready = time.perf_counter(), workspace.budget.clock
    decisions = (*_opening(workspace, mended), *workspace.decisions, *_closing(problem, setup, shift))
    with np.errstate(over="ignore"):
        # + 0.0 turns −0.0 into 0.0
        eigenvalues = (pairs.values * pencil.unit + 0.0).astype(real)
        error_bounds = bounds.values * abs(pencil.unit)
    if verified.reason.converged and not np.isfinite(eigenvalues).all():
        raise ValueError(f"an eigenvalue is beyond the largest number of {real}; multiply A by a small number")
    before, counts = _counts(workspace, setup)
    return Solution(
        eigenvalues=eigenvalues,
        eigenvectors=_vectors(mended, pencil, pairs),
        residuals=pairs.residuals,
        error_bounds=error_bounds,
        angle_bounds=_angles(bounds, pairs, setup, mended),
        clusters=bounds.clusters,
        converged=verified.reason.converged,
        reason=verified.reason,
        steps=monitor.steps,
        counts=counts,
        seconds=Seconds(ready - began, done - ready, 0.0 if searching is None else max(done - ready - searching, 0.0)),
        history=monitor.history.concluded(eigenvalues, before, counts.products),
        verdict=verified.verdict,
        shift=shift,
        method=setup.method,
        b_report=mended.report,
        problem=problem.kept(),
        spare=None if pairs.spare is None else user_coordinates(mended, pencil, pairs.spare).astype(pencil.dtype),
        decisions=decisions,
    )


def _angles(bounds: Bounds, pairs: Pairs, setup: Setup, mended: Mended) -> Array:
    """The bounds of angles; beside a ridge ε, with what rounding hides of residuals in the norm of (B + εI)⁻¹ ≤ 1/ε."""
    if mended.report is None or not mended.report.ridge:
        return bounds.angles
    products, pencil = setup.given_pair, setup.given_pair.pencil
    A_norm, B_norm = pencil.norms
    lengths = column_norms(pencil.vectors_of(pairs.vectors))
    rounding = products.scale.units * products.eps * (A_norm + np.abs(pairs.values) * B_norm) * lengths
    hidden = rounding / (mended.report.ridge**0.5 * pencil.length)
    tiny = float(np.finfo(float).tiny)
    return np.asarray(np.minimum(bounds.angles * (1 + hidden / np.maximum(pairs.deltas, tiny)), 1.0))


def _vectors(mended: Mended, pencil: Pencil, pairs: Pairs) -> Array:
    vectors = user_coordinates(mended, pencil, pairs.vectors)
    return np.asarray(with_signs(vectors, pencil.length).astype(pencil.dtype, copy=False))


def with_signs(vectors: Array, length: Any = 1.0) -> Array:
    """Columns times `length` (a number, or one for each of them), the entry of largest magnitude made positive."""
    scaled: Array = np.multiply(vectors, length, order="F")
    if scaled.dtype.char not in "df" or current() is not None:
        scaled *= phases(scaled)
        return scaled
    first = idamax if scaled.dtype.char == "d" else isamax
    for x in scaled.T:
        if x.item(first(x)) < 0:
            np.negative(x, out=x)
    return scaled


def user_coordinates(mended: Mended, pencil: Pencil, X: Array) -> Array:
    """Columns in the user's coordinates, up to normalisation."""
    Q: Any = mended.Q
    X = pencil.vectors_of(X)
    return X if Q is None else np.asarray(Q @ X)


def _counts(workspace: Workspace, setup: Setup) -> tuple[int, Counts]:
    """All products in terms of the user's A and B; before them the number that those of the set-up do not include."""
    counts, own = workspace.counts, setup.products.counts
    if own is counts:
        return 0, counts
    before = counts.products
    counts.add_swapped(own)
    return before, counts


def user_shift(setup: Setup, shift: float) -> float:
    """η in the user's units, for the iteration on (A + ηB, B) or on (B, A + ηB)."""
    pencil = setup.products.pencil
    if pencil.inverse is not None:
        return -pencil.inverse[0] * pencil.unit
    return abs(shift * pencil.unit)


def _opening(workspace: Workspace, mended: Mended) -> list[Decision]:
    """What the pair is, and what was done to it first."""
    problem, pencil = workspace.problem, workspace.original
    kinds = (pencil.A.kind,) if pencil.B is None else (pencil.A.kind, pencil.B.kind)
    wanted = {"k": problem.k, "which": problem.which, "sigma": problem.sigma, "interval": problem.interval}
    opening = [decided(Choice.WANTED, **wanted, n=pencil.n, kinds=kinds, dtype=pencil.dtype)]
    if isinstance(problem.x0, Warm):
        opening.append(_resumed(problem.x0))
    if mended.report is not None:
        opening.append(decided(Choice.B_POLICY, report=mended.report))
    if pencil.scaling is not None:
        opening.append(decided(Choice.EQUILIBRATED))
    elif abs(pencil.A.scale) != 1 or (pencil.B is not None and pencil.B.scale != 1):
        opening.append(decided(Choice.SCALED))
    return opening


def _resumed(start: Warm) -> Decision:
    """The start was an earlier solution, or a checkpoint that tells what it had cost."""
    spent, columns = start.spent, start.vectors.shape[1]
    if spent is None:
        return decided(Choice.WARM_START)
    return decided(Choice.RESUMED, columns=columns, steps=spent.steps, counts=spent.counts, seconds=spent.seconds)


def _closing(problem: Problem, setup: Setup, shift: float) -> list[Decision]:
    """What was run, and what a user with large sparse matrices could install."""
    closing: list[Decision] = []
    products, solver = setup.products, setup.products.solver
    if setup.survey is not None:
        if shift:
            closing.append(decided(Choice.SHIFTED, which=problem.which, shift=shift))
        closing.append(decided(Choice.STOP, rule=problem.rule))
    elif setup.method is not None:
        closing.append(decided(Choice.ITERATION, method=setup.method, rule=problem.rule))
    if products.n >= WORTH_A_WORD and isinstance(solver, SparseFactor) and products.dtype.char in "dD":
        sentence = advice(solver.factors)
        if sentence is not None:
            closing.append(decided(Choice.BACKEND_ADVICE, advice=sentence))
    return closing
