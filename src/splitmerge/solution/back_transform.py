"""From the verified pairs of a scaled, shifted, swapped or restricted pencil to the user's `Solution`."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from ..linalg.rounding import Scale
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
from ..typing import Array
from ..verification.bounds import Bounds, bound
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
) -> Solution:
    """The pairs in the user's units, coordinates and dtype, with signs fixed and errors bounded.

    `bounds` are those of pairs that come from several transformations, and have been computed for each.
    """
    pencil, pairs, problem = setup.products.pencil, verified.pairs, workspace.problem
    bounds = bounds_of(pencil, pairs) if bounds is None else bounds
    real = np.empty(0, pencil.dtype).real.dtype
    done, ready = time.perf_counter(), workspace.budget.clock
    # the value was measured with its shift, and rounded with it
    values = [pencil.value_of(value + pairs.scale.shift - pairs.scale.shift) for value in pairs.values.tolist()]
    decisions = (*_opening(workspace, mended), *workspace.decisions, *_closing(problem, setup, pairs.scale))
    return Solution(
        eigenvalues=np.array(values).astype(real),
        eigenvectors=_vectors(mended, pencil, pairs),
        residuals=pairs.residuals,
        error_bounds=_error_bounds(pencil, pairs, bounds),
        angle_bounds=bounds.angles,
        clusters=bounds.clusters,
        converged=verified.reason.converged,
        reason=verified.reason,
        steps=monitor.steps,
        counts=_counts(workspace, setup),
        seconds=Seconds(ready - began, done - ready),
        history=monitor.history,
        verdict=verified.verdict,
        shift=_shift(pencil, pairs.scale),
        method=setup.method,
        b_report=mended.report,
        problem=problem.kept(),
        spare=None if pairs.spare is None else _coordinates(mended, pencil, pairs.spare).astype(pencil.dtype),
        decisions=decisions,
    )


def bounds_of(pencil: Pencil, pairs: Pairs) -> Bounds:
    """The bounds of the pencil's values, and of the angles in the norm of the user's B."""
    values, deltas, noise, gaps = pairs.values, pairs.deltas, pairs.noise, pairs.gaps
    if pairs.sigma is not None:
        # these are the vectors of 1/(λ − σ), which are separated by its gaps
        distances = np.maximum(np.abs(values - pairs.sigma), np.finfo(float).tiny ** 0.25)
        values, deltas, noise = np.sign(values - pairs.sigma) / distances, deltas / distances**2, noise / distances**2
    if pairs.values.size == pencil.n:
        gaps = np.full(values.size, np.inf)
    elif gaps is None:
        # nothing is known of what follows the last
        gaps = np.abs(values - values[-1]) - deltas[-1]
    bounds = bound(values, deltas, noise, gaps)
    if pairs.sigma is not None:
        return replace(bounds, values=bounds.values * distances**2)
    if pencil.inverse is not None:
        # the norm of ±(A − σB) is small along the vectors of eigenvalues next to σ
        return replace(bounds, angles=np.minimum(bounds.angles * np.sqrt(np.abs(values).max() / np.abs(values)), 1.0))
    return bounds


def _error_bounds(pencil: Pencil, pairs: Pairs, bounds: Bounds) -> Array:
    noise = np.minimum(pairs.noise, bounds.values)
    triples = zip(pairs.values.tolist(), bounds.values.tolist(), noise.tolist(), strict=True)
    return np.array([pencil.bound_of(*triple) for triple in triples])


def _vectors(mended: Mended, pencil: Pencil, pairs: Pairs) -> Array:
    vectors = _coordinates(mended, pencil, pairs.vectors)
    if pencil.inverse is not None:
        # of norm 1 in ±(A − σB): in B the norm is √μ
        vectors = vectors / np.sqrt(np.maximum(pairs.values, np.finfo(float).tiny))
    leading = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    vectors = vectors * (pencil.length * np.abs(leading) / leading)
    return np.asarray(vectors.astype(pencil.dtype))


def _coordinates(mended: Mended, pencil: Pencil, X: Array) -> Array:
    """Columns in the user's coordinates, up to normalisation."""
    Q: Any = mended.Q
    X = pencil.vectors_of(X)
    return X if Q is None else np.asarray(Q @ X)


def _counts(workspace: Workspace, setup: Setup) -> Counts:
    """All products in terms of the user's A and B."""
    if setup.products.counts is not workspace.counts:
        workspace.counts.add_swapped(setup.products.counts)
    return workspace.counts


def _shift(pencil: Pencil, scale: Scale) -> float:
    """η in the user's units: residuals are relative to |λ + η|."""
    if pencil.inverse is not None:
        return -pencil.inverse[0] * pencil.unit
    return abs(scale.shift * pencil.unit)


def _opening(workspace: Workspace, mended: Mended) -> list[Decision]:
    """What the pair is, and what was done to it first."""
    problem, pencil = workspace.problem, workspace.original
    kinds = (pencil.A.kind,) if pencil.B is None else (pencil.A.kind, pencil.B.kind)
    wanted = {"k": problem.k, "which": problem.which, "sigma": problem.sigma, "interval": problem.interval}
    opening = [decided(Choice.WANTED, **wanted, n=pencil.n, kinds=kinds, dtype=pencil.dtype)]
    if isinstance(problem.x0, Warm):
        opening.append(decided(Choice.WARM_START))
    if mended.report is not None:
        opening.append(decided(Choice.B_POLICY, report=mended.report))
    if pencil.scaling is not None:
        opening.append(decided(Choice.EQUILIBRATED))
    elif abs(pencil.A.scale) != 1 or (pencil.B is not None and pencil.B.scale != 1):
        opening.append(decided(Choice.SCALED))
    return opening


def _closing(problem: Problem, setup: Setup, scale: Scale) -> list[Decision]:
    """What was run, and what a user with large sparse matrices could install."""
    closing: list[Decision] = []
    products, solver = setup.products, setup.products.solver
    if setup.survey is not None:
        if scale.shift:
            shift = abs(scale.shift * products.pencil.unit)
            closing.append(decided(Choice.SHIFTED, which=problem.which, shift=shift))
        closing.append(decided(Choice.STOP, rule=problem.rule))
    elif setup.method is not None:
        closing.append(decided(Choice.ITERATION, method=setup.method, rule=problem.rule))
    if products.n >= WORTH_A_WORD and isinstance(solver, SparseFactor) and products.dtype.char in "dD":
        sentence = advice(solver.factors)
        if sentence is not None:
            closing.append(decided(Choice.BACKEND_ADVICE, advice=sentence))
    return closing
