"""Error bounds from residuals and gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from ..typing import Array
from .residuals import Pairs


@dataclass(frozen=True)
class Bounds:
    """For each pair: |λ − λ̂| at most `values`; sin of the angle to the eigenspace of its cluster at most `angles`.

    Pairs with the same number in `clusters` are nearer to each other than their errors can tell apart: the angle is
    then between a vector and the invariant subspace of them all.
    """

    values: Array
    angles: Array
    clusters: Array


def bounds_of(pairs: Pairs, n: int) -> Bounds:
    """The bounds for verified pairs of an n×n pair, in its units."""
    values, errors, noise, gaps, sigma = pairs.values, pairs.errors + pairs.noise, pairs.noise, pairs.gaps, pairs.sigma
    if sigma is not None:
        # the vectors belong to θ = 1/(λ − σ), are separated by its gaps, and have Rayleigh quotients next to it
        distances = np.maximum(np.abs(values - sigma), np.finfo(float).tiny ** 0.25)
        values, noise = np.sign(values - sigma) / distances, noise / distances**2 + pairs.offsets / distances
        errors = pairs.errors / distances + noise
    if pairs.values.size == n:
        gaps = np.full(values.size, np.inf)
    elif gaps is None:
        # nothing is known of what follows the last
        gaps = np.abs(values - values[-1]) - errors[-1]
    found = bound(values, errors, noise, gaps)
    if sigma is None:
        return found
    fractions = found.values * distances
    with np.errstate(divide="ignore", invalid="ignore"):
        widths = np.where(fractions < 1, distances * fractions / (1 - fractions), math.inf)
    return Bounds(widths, found.angles, found.clusters)


def bound(values: Array, errors: Array, noise: Array, gaps: Array) -> Bounds:
    """Bounds from the residual norms `errors` (in the norm of B⁻¹, `noise` included) and the gaps between the values.

    λ̂ is within its error e of an eigenvalue, and within e²/gap where the gap to all others is larger (Kato, Temple);
    the sine of the angle is at most e/gap (Davis, Kahan). `gaps` are to the eigenvalues that are not among these. The
    values must be Rayleigh quotients up to `noise`.
    """
    # plain floats: for a few pairs they are many times as fast as arrays
    v, e, w, g = values.tolist(), errors.tolist(), noise.tolist(), gaps.tolist()
    clusters = _clustered(v, e)
    # each value must be clear of the error intervals of all clusters below and above it
    below = list(accumulate((max(v[i] + e[i] for i in cluster) for cluster in clusters), max, initial=-math.inf))
    above = list(accumulate((min(v[i] - e[i] for i in cluster) for cluster in clusters[::-1]), min, initial=math.inf))
    bounds, angles, labels = e.copy(), [1.0] * len(v), [0] * len(v)
    for label, cluster in enumerate(clusters):
        low, high = below[label], above[len(clusters) - 1 - label]
        gap = min(min(high - v[i], v[i] - low, g[i]) for i in cluster)
        # a cluster is separated from the rest if its gap exceeds its residuals together
        together = math.sqrt(sum(e[i] * e[i] for i in cluster))
        for i in cluster:
            labels[i] = label
            if gap > together:
                angles[i] = together / gap
                bounds[i] = min(e[i], together * together / gap + w[i])
    return Bounds(np.array(bounds), np.array(angles), np.array(labels, dtype=int))


def _clustered(values: list[float], errors: list[float]) -> list[list[int]]:
    """The indices in groups whose intervals [v − e, v + e] overlap, in ascending order."""
    clusters: list[list[int]] = []
    upper = -math.inf
    for i in sorted(range(len(values)), key=lambda i: (values[i] - errors[i], values[i])):
        if clusters and not values[i] - errors[i] > upper:
            clusters[-1].append(i)
        else:
            clusters.append([i])
        upper = max(upper, values[i] + errors[i])
    return clusters
