"""The pairs of slices: sorted, B-orthogonal to those of other slices, bounded, and joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..linalg.reductions import gram
from ..methods.setup import Setup
from ..problem.products import Products
from ..run.iteration import RitzBlock
from ..solution.back_transform import bounds_of
from ..typing import Array
from ..verification.bounds import Bounds
from ..verification.residuals import Pairs, measured
from .slices import Slice

# Vectors of two slices whose B-inner products are below this power of eps are left as they are.
ORTHOGONAL_EXPONENT = 2 / 3


class Part(NamedTuple):
    """Pairs in ascending order, and the bounds of their errors."""

    pairs: Pairs
    bounds: Bounds


def taken(pairs: Pairs, chosen: Array) -> Pairs:
    """The pairs with these indices."""
    arrays = ("values", "residuals", "rounding", "deltas", "noise")
    parts = {name: getattr(pairs, name)[chosen] for name in arrays}
    gaps = None if pairs.gaps is None else pairs.gaps[chosen]
    return replace(pairs, **parts, vectors=pairs.vectors[:, chosen], gaps=gaps, spare=None)


def bounded(pairs: Pairs, setup: Setup, part: Slice) -> Part:
    """The pairs of a slice in ascending order; all other eigenvalues are beyond its cuts."""
    pairs = taken(pairs, np.argsort(pairs.values, kind="stable"))
    assert pairs.sigma is not None
    tiny = float(np.finfo(float).tiny) ** 0.25
    thetas = 1 / np.maximum(np.abs(pairs.values - pairs.sigma), tiny)
    beyond = np.where(pairs.values > pairs.sigma, part.high.tau - pairs.sigma, pairs.sigma - part.low.tau)
    pairs.gaps = thetas - 1 / np.maximum(beyond, tiny)
    return Part(pairs, bounds_of(setup.products.pencil, pairs))


def orthogonalised(pairs: Pairs, setup: Setup, found: Sequence[Part]) -> Pairs:
    """The pairs of a slice, made B-orthogonal to those of other slices and measured again, where they are not.

    Vectors of different slices are orthogonal as far as their residuals are small beside the distances of the values.
    """
    products, transform = setup.products, setup.shift_invert
    assert transform is not None
    _, BX = products.monitoring.in_double(pairs.vectors)
    coefficients = [gram(part.pairs.vectors, BX) for part in found]
    if max(float(np.abs(C).max(initial=0.0)) for C in coefficients) <= products.eps**ORTHOGONAL_EXPONENT:
        return pairs
    X = pairs.vectors - sum(part.pairs.vectors @ C for part, C in zip(found, coefficients, strict=True))
    sizes = np.maximum(np.abs(pairs.values), np.abs(pairs.values - transform.sigma))
    ascending = np.argsort(pairs.values, kind="stable")
    block = RitzBlock(
        pairs.values[ascending], X[:, ascending], pairs.scale, order=lambda v: np.arange(v.size), sizes=sizes[ascending]
    )
    return measured(products, block, transform)


def joined(products: Products, parts: Sequence[Part]) -> Part:
    """The parts as one."""
    if not parts:
        none = np.zeros(0)
        double = np.result_type(products.dtype, np.float64)
        empty = Pairs(none, np.zeros((products.n, 0), double), none, none, none, none, products.scale, gaps=none)
        return Part(empty, Bounds(none, none, np.zeros(0, int)))
    if len(parts) == 1:
        return parts[0]

    def together(name: str) -> Array:
        return np.concatenate([getattr(part.pairs, name) for part in parts])

    vectors = np.hstack([part.pairs.vectors for part in parts])
    residuals, rounding, deltas, noise = (together(name) for name in ("residuals", "rounding", "deltas", "noise"))
    pairs = Pairs(together("values"), vectors, residuals, rounding, deltas, noise, parts[0].pairs.scale)
    labels, clusters = 0, []
    for part in parts:
        clusters.append(part.bounds.clusters + labels)
        labels += int(part.bounds.clusters.max(initial=-1)) + 1
    values = np.concatenate([part.bounds.values for part in parts])
    angles = np.concatenate([part.bounds.angles for part in parts])
    return Part(pairs, Bounds(values, angles, np.concatenate(clusters)))


def kept(part: Part, a: float, b: float) -> Part:
    """The pairs whose values lie in [a, b], as far as their error bounds can tell."""
    pairs, bounds = part
    errors = np.maximum(bounds.values, pairs.noise)
    return chosen(part, np.flatnonzero((pairs.values >= a - errors) & (pairs.values <= b + errors)))


def chosen(part: Part, indices: Array) -> Part:
    """The pairs with these indices, which are ascending."""
    pairs, bounds = part
    if indices.size == pairs.values.size:
        return part
    _, clusters = np.unique(bounds.clusters[indices], return_inverse=True)
    return Part(taken(pairs, indices), Bounds(bounds.values[indices], bounds.angles[indices], clusters))
