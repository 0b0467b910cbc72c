"""Discriminants of the rows of a Dask array: which route is taken, and shrinkage that is estimated block by block."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dsyrk

from ...typing import Array
from ..covariance.choice import Route, choose_route
from ..covariance.shrinkage import Estimate, Shrunk, column_scales, combined, estimate, scaled_squares
from ..dask.blocks import Blocks
from ..dask.grouped import BlockGrouped, fourths
from ..moments.grouped import Grouped
from ..moments.moments import Moments
from .directions import by_shrunk, check_variances
from .options import Options
from .pairs import Discriminants, Means, total_of

FORMED_BY_BLOCKS = "The covariance within classes was summed over the blocks of a Dask array."
# Largest size of the matrices that each row block sends to be added to those of the others.
MAX_SENT_BYTES = 2**29


def block_route(shape: tuple[int, int], classes: int, options: Options, matrices: int) -> Route | None:
    """Return a route that does not form the covariance within classes; None if its `matrices` can be sent."""
    n, p = shape
    if options.keep or 8 * matrices * p**2 <= MAX_SENT_BYTES:
        return None
    kind = {"shrunk": options.shrunk, "automatic": options.automatic, "sparse": False, "keep": False}
    route = choose_route(n, p, n * p, classes, distributed=True, **kind)
    if route.name == "columns":
        return None
    return Route(route.name, f"The covariance is too large to be summed over the blocks of a Dask array. {route.why}")


def by_class_sums(
    X: Blocks, members: Array, weights: Array, sums: Moments, means: Means, options: Options
) -> Discriminants:
    """Compute the discriminants with an estimated shrinkage, from the scatter of each class and a second pass."""
    totals = sums.weights
    W = sums.within(means.shares)
    check_variances(W.diagonal(), means.floor)
    T = _with_means(sums.within(), sums.means, totals)
    variances = np.array([S.diagonal() / n for S, n in zip(sums.scatter, totals, strict=True)] + [T.diagonal()])
    sizes, centres, scales = _columns(totals, sums.means, variances)
    powers = fourths(X, members, weights, totals.size, centres, scales)
    norms = [scaled_squares(S / n, scale) for S, n, scale in zip(sums.scatter, totals, scales[:-1], strict=True)]
    shrunk = _combined(sizes, variances, scales, [*norms, scaled_squares(T, scales[-1])], powers, means.priors)
    B = sums.within(means.shares * shrunk.factors)
    if not means.natural:
        T = dsyrk(1.0, means.M, beta=1.0, c=W, overwrite_c=1)
    total = total_of(T, shrunk.total_factor, shrunk.total_diagonal)
    return by_shrunk(B, shrunk, means, total, options, f"{FORMED_BY_BLOCKS} A second pass estimated the shrinkage.")


def estimates(rows: Grouped, priors: Array) -> Shrunk:
    """Estimate the shrinkage from slabs of columns of the scatter matrices, none of which is formed as a whole."""
    assert isinstance(rows, BlockGrouped)
    apart = _apart(rows.means, rows.totals)
    within = np.vstack([rows.squares / rows.totals[:, None], rows.squares.sum(axis=0) / rows.totals.sum()])
    variances = within + np.vstack([np.zeros_like(rows.means), (apart**2).sum(axis=0)])
    sizes, centres, scales = _columns(rows.totals, rows.means, variances)
    norms = np.zeros(rows.groups + 1)
    for chosen, slab in rows.slabs():
        whole = slab.sum(axis=0) / sizes[-1] + apart.T @ apart[:, chosen]
        for k, C in enumerate([*(slab / rows.totals[:, None, None]), whole]):
            norms[k] += float(((C / scales[k][:, None] / scales[k][chosen]) ** 2).sum())
    powers = fourths(rows.source, rows.members, rows.weights, rows.groups, centres, scales)
    return _combined(sizes, variances, scales, norms, powers, priors)


def _apart(means: Array, totals: Array) -> Array:
    """Return rows D with the covariance DᵀD of the means, which have the given weights."""
    shares = totals / totals.sum()
    return np.asarray(np.sqrt(shares)[:, None] * (means - shares @ means))


def _with_means(W: Array, means: Array, totals: Array) -> Array:
    """Add the covariance of the means to the upper triangle W."""
    return np.asarray(dsyrk(1.0, np.asfortranarray(_apart(means, totals).T), beta=1.0, c=W, overwrite_c=1))


def _columns(totals: Array, means: Array, variances: Array) -> tuple[Array, Array, Array]:
    """Return the weight, the means and the scales of the columns of each class and, in the last row, of all rows."""
    sizes = np.append(totals, totals.sum())
    centres = np.vstack([means, totals @ means / totals.sum()])
    scales = [column_scales(float(n), m, v) for n, m, v in zip(sizes, centres, variances, strict=True)]
    return sizes, centres, np.array(scales)


def _combined(
    sizes: Array, variances: Array, scales: Array, norms: Array | list[float], powers: Array, priors: Array
) -> Shrunk:
    found: list[Estimate] = [
        estimate(float(n), v, scale, float(squares), float(fourth))
        for n, v, scale, squares, fourth in zip(sizes, variances, scales, norms, powers, strict=True)
    ]
    return combined(found[:-1], found[-1], priors)
