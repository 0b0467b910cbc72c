"""From the pairs of a scaled, shifted, swapped, restricted pencil to the user's `Solution`."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from ..problem.pencil import Counts, Pencil
from ..sparse_direct.cholesky import SparseFactor
from ..sparse_direct.costs import WORTH_A_WORD, advice
from ..typing import Array
from ..verification.bounds import Bounds, bound
from ..verification.residuals import Pairs
from .solution import Seconds, Solution
from .task import Outcome, Task, Warm


def present(task: Task, outcome: Outcome, begin: float) -> Solution:
    """The pairs in the user's units, coordinates and dtype, with signs fixed and errors bounded."""
    pencil, pairs = outcome.pencil, outcome.pairs
    bounds = _bounds(pencil, pairs)
    shifted = (pairs.values + pencil.shift).tolist()
    real = np.empty(0, pencil.dtype).real.dtype
    done = time.perf_counter()
    return Solution(
        eigenvalues=np.array([pencil.original(value) for value in shifted]).astype(real),
        eigenvectors=_vectors(task, pencil, pairs),
        residuals=pairs.residuals,
        error_bounds=np.array(
            [
                pencil.original_bound(*triple)
                for triple in zip(
                    pairs.values.tolist(),
                    bounds.values.tolist(),
                    np.minimum(pairs.noise, bounds.values).tolist(),
                    strict=True,
                )
            ]
        ),
        angle_bounds=bounds.angles,
        clusters=bounds.clusters,
        converged=outcome.reason.converged,
        reason=outcome.reason,
        steps=outcome.steps,
        counts=_counts(task.pencil, pencil),
        seconds=Seconds(outcome.ready - begin, done - outcome.ready),
        history=outcome.history,
        verdict=outcome.verdict,
        shift=_shift(pencil),
        method=outcome.method,
        b_report=task.mended.report,
        problem=task.problem,
        spare=None if pairs.spare is None else _coordinates(task, pencil, pairs.spare).astype(pencil.dtype),
        story=(*_opening(task), *outcome.story, *_advice(pencil)),
    )


def _bounds(pencil: Pencil, pairs: Pairs) -> Bounds:
    """The bounds of the pencil's values, and of the angles in the norm of the user's B."""
    values, deltas, noise, gaps = pairs.values, pairs.deltas, pairs.noise, pairs.gaps
    if pairs.sigma is not None:
        # these are the vectors of 1/(λ − σ): what separates them are its gaps
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
        # the norm of ±(A − σB) makes little of what belongs to a value next to σ
        return replace(bounds, angles=np.minimum(bounds.angles * np.sqrt(np.abs(values).max() / np.abs(values)), 1.0))
    return bounds


def _vectors(task: Task, pencil: Pencil, pairs: Pairs) -> Array:
    vectors = _coordinates(task, pencil, pairs.vectors)
    if pencil.inverse is not None:
        # of length 1 in the norm of ±(A − σB): in that of B it is √μ
        vectors = vectors / np.sqrt(np.maximum(pairs.values, np.finfo(float).tiny))
    leading = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    vectors = vectors * (pencil.length * np.abs(leading) / leading)
    return np.asarray(vectors.astype(pencil.dtype))


def _coordinates(task: Task, pencil: Pencil, X: Array) -> Array:
    """Columns in the user's coordinates, up to their length."""
    Q: Any = task.mended.Q
    X = pencil.vectors_of(X)
    return X if Q is None else np.asarray(Q @ X)


def _counts(base: Pencil, pencil: Pencil) -> Counts:
    """All products in terms of the user's A and B."""
    if pencil.counts is base.counts:
        return base.counts
    for into, tally in (
        (base.counts, pencil.counts),
        (base.counts.setup, pencil.counts.setup),
        (base.counts.monitoring, pencil.counts.monitoring),
    ):
        into.add(tally.swapped())
    return base.counts


def _shift(pencil: Pencil) -> float:
    """η in the user's units: residuals are relative to |λ + η|."""
    if pencil.inverse is not None:
        return -pencil.inverse[0] * pencil.unit
    return abs(pencil.shift * pencil.unit)


def _advice(pencil: Pencil) -> list[str]:
    """What a user with large sparse matrices could install."""
    factor = pencil.solver
    if pencil.n < WORTH_A_WORD or not isinstance(factor, SparseFactor) or pencil.dtype.char not in "dD":
        return []
    sentence = advice(factor.factors)
    return [] if sentence is None else [sentence]


def _opening(task: Task) -> list[str]:
    """What the pair is like, and what was done to it before anything else."""
    pencil = task.pencil
    kinds = pencil.A.kind if pencil.B is None else f"{pencil.A.kind}, {pencil.B.kind}"
    wanted = {"magnitude": "largest by magnitude", "ends": "largest and smallest"}.get(task.which, task.which)
    if task.sigma is not None:
        wanted = f"nearest to {task.sigma:g}"
    lines = [f"Wanted: the {task.k} {wanted} of a pair of size {pencil.n} ({kinds}, {pencil.dtype})."]
    if isinstance(task.x0, Warm):
        lines.append("The vectors of an earlier solution were there to start from.")
    if task.mended.report is not None:
        lines.append(str(task.mended.report))
    if pencil.scaling is not None:
        lines.append("The diagonal of B spans more than two decades, so the unknowns were scaled to make it even.")
    elif abs(pencil.A.scale) != 1 or (pencil.B is not None and pencil.B.scale != 1):
        lines.append("The entries are of extreme size: the pair was scaled by powers of two, the answer scaled back.")
    return lines
