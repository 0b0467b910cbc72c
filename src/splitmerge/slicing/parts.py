"""The pairs of slices: sorted, B-orthogonal to those of other slices, bounded, and joined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..linalg.reductions import gram
from ..methods.setup import Setup
from ..problem.products import Products
from ..run.iteration import RitzBlock
from ..typing import Array
from ..verification.bounds import Bounds, bounds_of
from ..verification.residuals import COLUMNS, Pairs, measured
from .slices import Slice

# Vectors of two slices whose B-inner products are below this power of eps are left as they are.
ORTHOGONAL_EXPONENT = 2 / 3
# Error bounds beyond this multiple of the tolerance blur the ends of an interval: residuals alone leave less.
BLURRED_TOLERANCES = 10
# A value is outside of an interval if it is beyond an end by more than this fraction of the end, whatever its error.
END_FRACTION = 1e-8


class Part(NamedTuple):
    """Pairs in ascending order, and the bounds of their errors."""

    pairs: Pairs
    bounds: Bounds


def taken(pairs: Pairs, chosen: Array) -> Pairs:
    """The pairs with these indices."""
    return replace(pairs.taken(chosen), spare=None)


def bounded(pairs: Pairs, setup: Setup, part: Slice) -> Part:
    """The pairs of a slice in ascending order; if they are all, the other eigenvalues are beyond its cuts."""
    pairs = taken(pairs, np.argsort(pairs.values, kind="stable"))
    assert pairs.sigma is not None
    tiny = float(np.finfo(float).tiny) ** 0.25
    thetas = 1 / np.maximum(np.abs(pairs.values - pairs.sigma), tiny)
    beyond = np.where(pairs.values > pairs.sigma, part.high.tau - pairs.sigma, pairs.sigma - part.low.tau)
    pairs.gaps = thetas - 1 / np.maximum(beyond, tiny)
    return Part(pairs, bounds_of(pairs, setup.products.n, complete=pairs.values.size == part.count))


def orthogonalised(pairs: Pairs, setup: Setup, found: Sequence[Part]) -> Pairs:
    """The pairs of a slice, made B-orthogonal to those of other slices and measured again, where they are not.

    Vectors of different slices are orthogonal as far as their residuals are small beside the distances of the values.
    """
    products = setup.products
    BX = products.monitoring.B_in_double(pairs.vectors)
    coefficients = [gram(part.pairs.vectors, BX) for part in found]
    if max(float(np.abs(C).max(initial=0.0)) for C in coefficients) <= products.eps**ORTHOGONAL_EXPONENT:
        return pairs
    X = pairs.vectors - sum(part.pairs.vectors @ C for part, C in zip(found, coefficients, strict=True))
    return measured(setup, RitzBlock(pairs.values, X, lambda values: np.arange(values.size)))


def joined(products: Products, parts: Sequence[Part]) -> Part:
    """The parts as one."""
    if not parts:
        none, double = np.zeros(0), np.result_type(products.dtype, np.float64)
        empty = Pairs(none, np.zeros((products.n, 0), double), *(np.zeros((1, 0)),) * 3, *(none,) * 6, gaps=none)
        return Part(empty, Bounds(none, none, np.zeros(0, int)))
    if len(parts) == 1:
        return parts[0]

    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part.pairs, name) for part in parts], axis=-1) for name in COLUMNS
    }
    pairs = replace(parts[0].pairs, **columns, gaps=None, sigma=None)
    labels, clusters = 0, []
    for part in parts:
        clusters.append(part.bounds.clusters + labels)
        labels += int(part.bounds.clusters.max(initial=-1)) + 1
    values = np.concatenate([part.bounds.values for part in parts])
    angles = np.concatenate([part.bounds.angles for part in parts])
    return Part(pairs, Bounds(values, angles, np.concatenate(clusters)))


def kept(part: Part, a: float, b: float) -> Part:
    """The pairs whose values lie in [a, b], as far as their residuals, error bounds and rounding can tell.

    Rounding is that in the coordinates, the user's or those of an equilibrated pair, in which it is less. Errors that
    exceed an end, as those of zero modes may exceed a small positive one, do not bring a value over it.
    """
    values = part.pairs.values
    errors = np.minimum.reduce([part.pairs.estimates, part.pairs.deltas, part.bounds.values])
    below, above = (np.minimum(errors, END_FRACTION * abs(end) if end else math.inf) for end in (a, b))
    return chosen(part, np.flatnonzero((values >= a - below) & (values <= b + above)))


def unsure(part: Part, a: float, b: float) -> bool:
    """Is a pair that is not `kept` within its error bound of [a, b]?"""
    values, errors = part.pairs.values, np.maximum(part.bounds.values, part.pairs.noise)
    reaching = (values >= a - errors) & (values <= b + errors)
    return int(reaching.sum()) > kept(part, a, b).pairs.values.size


def blurred(part: Part, a: float, b: float, tol: float) -> bool:
    """Is a pair within its error bound of an end, and the bound above the tolerance at the scale of the interval?

    Rounding of large eigenvalues elsewhere may move those of a small interval by more than its width. Nor is an end
    certain whose magnitude is below the error bound, unless it is zero. A single point is asked for up to rounding.
    """
    values, errors = part.pairs.values, np.maximum(part.bounds.values, part.pairs.noise)
    scale = max((abs(end) for end in (a, b, *values.tolist()) if math.isfinite(end)), default=0.0)
    wide = errors > BLURRED_TOLERANCES * tol * scale
    reaching = ((values - errors < a, a), (values + errors > b, b))
    return a < b and any(bool((near & (wide | (errors > (abs(end) or math.inf)))).any()) for near, end in reaching)


def chosen(part: Part, indices: Array) -> Part:
    """The pairs with these indices, which are ascending."""
    pairs, bounds = part
    if indices.size == pairs.values.size:
        return part
    _, clusters = np.unique(bounds.clusters[indices], return_inverse=True)
    return Part(taken(pairs, indices), Bounds(bounds.values[indices], bounds.angles[indices], clusters))
