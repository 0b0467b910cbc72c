"""From the pairs of a scaled, shifted, swapped, restricted pencil to the user's `Solution`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .certificate import bound
from .kernels import Array
from .pairs import Pairs
from .pencil import Counts, Pencil
from .solution import Seconds, Solution
from .task import Outcome, Task


def present(task: Task, outcome: Outcome, begin: float) -> Solution:
    """The pairs in the user's units, coordinates and dtype, with signs fixed and errors bounded."""
    pencil, pairs = outcome.pencil, outcome.pairs
    bounds = bound(pairs.values, pairs.deltas, pairs.noise, pairs.beyond)
    shifted = (pairs.values + pencil.shift).tolist()
    real = np.empty(0, pencil.dtype).real.dtype
    done = time.perf_counter()
    return Solution(
        eigenvalues=np.array([pencil.original(value) for value in shifted]).astype(real),
        eigenvectors=_vectors(task, pencil, pairs),
        residuals=pairs.residuals,
        error_bounds=np.array(
            [
                pencil.original_bound(value, error)
                for value, error in zip(pairs.values.tolist(), bounds.values.tolist(), strict=True)
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
        story=(*_opening(task), *outcome.story),
    )


def _vectors(task: Task, pencil: Pencil, pairs: Pairs) -> Array:
    vectors = pencil.vectors_of(pairs.vectors)
    if pencil.inverse is not None:
        # of length 1 in the norm of ±(A − σB): in that of B it is √μ
        vectors = vectors / np.sqrt(np.maximum(pairs.values, np.finfo(float).tiny))
    Q: Any = task.mended.Q
    if Q is not None:
        vectors = np.asarray(Q @ vectors)
    leading = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    vectors = vectors * (pencil.length * np.abs(leading) / leading)
    return np.asarray(vectors.astype(pencil.dtype))


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


def _opening(task: Task) -> list[str]:
    """What the pair is like, and what was done to it before anything else."""
    pencil = task.pencil
    kinds = pencil.A.kind if pencil.B is None else f"{pencil.A.kind}, {pencil.B.kind}"
    wanted = {"magnitude": "largest by magnitude", "ends": "largest and smallest"}.get(task.which, task.which)
    if task.sigma is not None:
        wanted = f"nearest to {task.sigma:g}"
    lines = [f"Wanted: the {task.k} {wanted} of a pair of size {pencil.n} ({kinds}, {pencil.dtype})."]
    if task.mended.report is not None:
        lines.append(str(task.mended.report))
    if pencil.scaling is not None:
        lines.append("The diagonal of B spans more than two decades, so the unknowns were scaled to make it even.")
    elif abs(pencil.A.scale) != 1 or (pencil.B is not None and pencil.B.scale != 1):
        lines.append("The entries are of extreme size: the pair was scaled by powers of two, the answer scaled back.")
    return lines
