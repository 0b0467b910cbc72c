"""Error bounds from residuals and gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..linalg.rounding import ROUNDING_UNITS
from ..typing import Array
from .residuals import Pairs

# No value is nearer to σ than this, so that 1/(λ − σ)² does not overflow.
LEAST_DISTANCE = float(np.finfo(float).tiny) ** 0.25
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Bounds:
    """For each pair: |λ − λ̂| at most `values`; sin of the angle to the eigenspace of its cluster at most `angles`.

    Pairs with the same number in `clusters` are nearer to each other than their errors can tell apart: the angle is
    then between a vector and the invariant subspace of them all.
    """

    values: Array
    angles: Array
    clusters: Array


def bounds_of(pairs: Pairs, n: int, *, complete: bool = True) -> Bounds:
    """The bounds for verified pairs of an n×n pair, in its units.

    Unless they are `complete` as far as is known, an eigenvalue may be missing in every gap.
    """
    columns = pairs.values, pairs.errors, pairs.noise, pairs.offsets
    values, errors, noise, offsets = (column.tolist() for column in columns)
    gaps = None if pairs.gaps is None else pairs.gaps.tolist()
    known = {"projected": pairs.projected, "complete": complete}
    bounds = bounds_from(values, errors, noise, offsets, gaps, pairs.sigma, n, **known)
    # in terms of 1/(λ − σ) there is none where rounding is as large as λ − σ
    return replace(bounds, values=np.where(np.isinf(bounds.values), pairs.deltas, bounds.values))


def bounds_from(
    values: list[float],
    errors: list[float],
    noise: list[float],
    offsets: list[float],
    gaps: list[float] | None,
    sigma: float | None,
    n: int,
    *,
    projected: bool = False,
    complete: bool = True,
) -> Bounds:
    """The same from the columns of `Pairs`, in plain floats: for a few pairs they are many times as fast as arrays."""
    distances, blur = [], None
    if sigma is None:
        errors = [error + level for error, level in zip(errors, noise, strict=True)]
    else:
        # the vectors belong to θ = 1/(λ − σ), are separated by its gaps, and have Rayleigh quotients next to it
        distances = [max(abs(value - sigma), LEAST_DISTANCE) for value in values]
        # far from σ, rounding of λ − σ hides small differences of λ, and Ritz vectors are mixtures of such pairs
        blur = [EPS * (abs(value) + abs(sigma)) / (d * d) for value, d in zip(values, distances, strict=True)]
        values = [_sign(value - sigma) / d for value, d in zip(values, distances, strict=True)]
        noise = [w / (d * d) + o / d for w, o, d in zip(noise, offsets, distances, strict=True)]
        errors = [error / d + w for error, w, d in zip(errors, noise, distances, strict=True)]
    if not complete:
        gaps = [0.0] * len(values)
    elif len(values) == n:
        gaps = [math.inf] * n
    elif gaps is None:
        # nothing is known of what follows the last
        gaps = [abs(value - values[-1]) - errors[-1] for value in values]
    found, angles, labels = _bounds(values, errors, noise, gaps, blur, projected=projected)
    if sigma is not None:
        fractions = [width * d for width, d in zip(found, distances, strict=True)]
        found = [d * f / (1 - f) if f < 1 else math.inf for f, d in zip(fractions, distances, strict=True)]
    return Bounds(np.array(found), np.array(angles), np.array(labels, dtype=int))


def _sign(x: float) -> float:
    return math.copysign(1.0, x) if x else 0.0


def bound(values: Array, errors: Array, noise: Array, gaps: Array) -> Bounds:
    """Bounds from the residual norms `errors` (in the norm of B⁻¹, `noise` included) and the gaps between the values.

    λ̂ is within its error e of an eigenvalue, and within e²/gap where the gap to all others is larger (Kato, Temple);
    the sine of the angle is at most e/gap (Davis, Kahan). `gaps` are to the eigenvalues that are not among these. The
    values must be Rayleigh quotients up to `noise`.
    """
    found, angles, labels = _bounds(values.tolist(), errors.tolist(), noise.tolist(), gaps.tolist())
    return Bounds(np.array(found), np.array(angles), np.array(labels, dtype=int))


def _bounds(
    v: list[float],
    e: list[float],
    w: list[float],
    g: list[float],
    blur: list[float] | None = None,
    *,
    projected: bool = True,
) -> tuple[list[float], list[float], list[int]]:
    """`bound` for lists of values, errors, noise and gaps; values nearer to each other than `blur` are clusters.

    Unless they come from a Rayleigh–Ritz projection, rounding may have mixed the vectors of a cluster.
    """
    widths = e if blur is None else [x + y for x, y in zip(e, blur, strict=True)]
    separate = _separate(v, e, w, g, widths)
    if separate is not None:
        return separate
    lows, highs = [x - y for x, y in zip(v, widths, strict=True)], [x + y for x, y in zip(v, widths, strict=True)]
    clusters = _clustered(v, lows, highs)
    # each value must be clear of the error intervals of all clusters below and above it
    above, high = [], math.inf
    for cluster in clusters[::-1]:
        above.append(high)
        high = min(high, *[lows[i] for i in cluster])
    low, bounds, angles, labels = -math.inf, e.copy(), [1.0] * len(v), [0] * len(v)
    mixed = _mixed(v, clusters, blur)
    for label, cluster in enumerate(clusters):
        high = above[-1 - label]
        gap = min([min(high - v[i], v[i] - low, g[i]) for i in cluster])
        # a cluster is separated from the rest if its gap exceeds its residuals together
        together = e[cluster[0]] if len(cluster) == 1 else math.sqrt(sum([e[i] * e[i] for i in cluster]))
        # vectors of a cluster are a mixture, unless they are Ritz vectors and its values are not blurred
        exact = len(cluster) == 1 or projected
        for i in cluster:
            labels[i] = label
            if gap > together:
                angles[i] = together / gap
                bounds[i] = min(e[i], together * together / gap + w[i] + mixed[i]) if exact else e[i]
        low = max(low, *[highs[i] for i in cluster])
    return bounds, angles, labels


def _mixed(v: list[float], clusters: list[list[int]], blur: list[float] | None) -> list[float]:
    """By how much blurred values of a cluster may be exchanged, and its vectors mixed by rounding of the largest value.

    Without a blur, rounding of the values is part of the noise.
    """
    if blur is None:
        return [0.0] * len(v)
    alone = {cluster[0] for cluster in clusters if len(cluster) == 1}
    rounding = ROUNDING_UNITS * EPS * max([abs(x) for x in v])
    return [0.0 if i in alone else blur[i] + rounding for i in range(len(v))]


def _separate(
    v: list[float], e: list[float], w: list[float], g: list[float], widths: list[float]
) -> tuple[list[float], list[float], list[int]] | None:
    """`_bounds` for values in descending or ascending order without clusters; None for any others."""
    last = len(v) - 1
    sign = -1.0 if last > 0 and v[0] > v[last] else 1.0
    bounds, angles, below = [], [], math.inf
    for i, error in enumerate(e):
        value, gap = v[i], g[i]
        if i < last:
            distance = sign * (v[i + 1] - value)
            if not distance > widths[i] + widths[i + 1]:
                return None
            gap = min(gap, below, distance - widths[i + 1])
            below = distance - widths[i]
        else:
            gap = min(gap, below)
        clear = gap > error
        angles.append(error / gap if clear else 1.0)
        bounds.append(min(error, error * error / gap + w[i]) if clear else error)
    labels = list(range(last + 1))
    return bounds, angles, labels if sign > 0 else labels[::-1]


def _clustered(values: list[float], lows: list[float], highs: list[float]) -> list[list[int]]:
    """The indices in groups whose intervals [low, high] overlap, in ascending order."""
    clusters: list[list[int]] = []
    upper = -math.inf
    for low, _, i in sorted(zip(lows, values, range(len(values)), strict=True)):
        if clusters and not low > upper:
            clusters[-1].append(i)
        else:
            clusters.append([i])
        upper = max(upper, highs[i])
    return clusters
