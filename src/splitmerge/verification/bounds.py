"""Error bounds from residuals and gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..typing import Array


@dataclass(frozen=True)
class Bounds:
    """For each pair: |λ − λ̂| at most `values`; sin of the angle to the eigenspace of its cluster at most `angles`.

    Pairs with the same number in `clusters` are nearer to each other than their errors can tell apart: the angle is
    then between a vector and the invariant subspace of them all.
    """

    values: Array
    angles: Array
    clusters: Array


def bound(values: Array, errors: Array, noise: Array, gaps: Array) -> Bounds:
    """Bounds from the residual norms `errors` (in the norm of B⁻¹, `noise` included) and the gaps between the values.

    λ̂ is within its error e of an eigenvalue, and within e²/gap where the gap to all others is larger (Kato, Temple);
    the sine of the angle is at most e/gap (Davis, Kahan). `gaps` are to the eigenvalues that are not among these.
    """
    order = np.argsort(values, kind="stable")
    v, e = values[order], errors[order]
    # a new cluster begins where an interval [v − e, v + e] lies beyond all before it
    upper, lower = np.maximum.accumulate(v + e), np.minimum.accumulate((v - e)[::-1])[::-1]
    begins = np.concatenate([[True], (v - e)[1:] > upper[:-1]])
    starts, labels = np.flatnonzero(begins), np.cumsum(begins) - 1
    before = np.concatenate([[-math.inf], upper[starts[1:] - 1]])[labels]
    after = np.concatenate([lower[starts[1:]], [math.inf]])[labels]
    # what matters for a cluster is its distance to the rest, and its residuals together
    gap = np.minimum.reduceat(np.minimum(np.minimum(after - v, v - before), gaps[order]), starts)[labels]
    together = np.sqrt(np.add.reduceat(e**2, starts))[labels]
    clear = gap > together
    gap = np.where(clear, gap, 1.0)
    sorted_angles = np.where(clear, together / gap, 1.0)
    # the squares of the residuals, but never less than rounding allows one to see
    sorted_bounds = np.where(clear, np.minimum(e, together**2 / gap + noise[order]), e)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return Bounds(sorted_bounds[place], sorted_angles[place], labels[place])
