"""Discriminants of rows or of sums over rows, by the cheapest route to the covariance B within classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.linalg.blas import dsyrk

from ...errors import NotPositiveDefinite
from ...problem.b_policy import BReport
from ...typing import Array
from ..covariance.choice import Route, choose_route
from ..covariance.definite import ROUNDING_TOL, TOO_SMALL, Definite, any_varies, check_overflow, scales
from ..covariance.implicit import Iterated, Span, Woodbury
from ..covariance.shrinkage import Shrunk, automatic, combined, fixed, ledoit_wolf
from ..moments.grouped import Grouped
from .options import Options
from .pairs import ADVICE, Discriminants, Means, Total, formed, less_within, solved, total_of

# How far the variance of a probed direction may be above the least one.
MAX_PROBED_RATIO = 2.0
# Estimates the shrinkage of each class and of all rows.
Estimator = Callable[[Grouped, Array], Shrunk]


def by_rows(
    rows: Grouped, means: Means, options: Options, route: Route | None = None, estimate: Estimator = automatic
) -> Discriminants:
    """Compute the discriminants of all rows at once, by the given or the cheapest route."""
    n, p, classes = rows.rows, rows.columns, rows.groups
    if route is None:
        kind = {"shrunk": options.shrunk, "automatic": options.automatic, "sparse": rows.sparse, "keep": options.keep}
        route = choose_route(n, p, rows.entries, classes, **kind)
    # reweighted such that ZᵀZ is the covariance within classes
    Z = rows.reweighted(rows.weights * (means.shares / rows.totals)[rows.members])
    if route.name == "columns":
        if options.automatic:
            return _by_class(rows, means, options, route)
        W = Z.scatter()
        return replace(by_covariance(W, means, options, route.why), within=W)
    M, variances = means.M, Z.variances()
    check_variances(variances, means.floor)
    if options.automatic:
        shrunk = estimate(rows, means.priors)
        total = _by_products(shrunk, Z, M)
    else:
        shrunk = fixed(float(options.shrinkage or 0.0), variances, M, classes)
        total = less_within(shrunk, M)
    varies = variances > means.floor
    form = _unformed(Z, shrunk, scales(variances, means.floor), varies, options, route)
    return solved(form, means, total, options, route.why)


def by_covariance(W: Array, means: Means, options: Options, why: str) -> Discriminants:
    """Compute the discriminants from the upper triangle W of the covariance within classes; no automatic shrinkage."""
    check_variances(W.diagonal(), means.floor)
    shrunk = fixed(float(options.shrinkage or 0.0), W.diagonal(), means.M, means.priors.size)
    return by_shrunk(W * shrunk.total_factor, shrunk, means, less_within(shrunk, means.M), options, why)


def by_shrunk(B: Array, shrunk: Shrunk, means: Means, total: Total | None, options: Options, why: str) -> Discriminants:
    """Compute the discriminants with the upper triangle of B, to which the diagonal of the shrinkage is added."""
    B[np.diag_indices_from(B)] += shrunk.diagonal
    return formed(lambda: B.copy(order="F"), means, total, options, why)


def _by_class(rows: Grouped, means: Means, options: Options, route: Route) -> Discriminants:
    """Compute the discriminants by forming the covariance of each class once, for its estimate and for its share."""
    p = rows.columns
    B, W, variances = np.zeros((p, p), order="F"), np.zeros((p, p), order="F"), np.zeros(p)
    found = []
    for share, group in zip(means.shares, rows.one_by_one(), strict=True):
        C = group.scatter()
        C /= group.totals[0]
        check_overflow(C.diagonal())
        found.append(ledoit_wolf(group, C))
        C *= share
        variances += C.diagonal()
        if options.total:
            W += C
        C *= 1 - found[-1][0]
        B += C
    check_variances(variances, means.floor)
    if not options.total:
        return by_shrunk(B, combined(found, (0.0, np.zeros(p)), means.priors), means, None, options, route.why)
    T = dsyrk(1.0, means.M, beta=1.0, c=W, overwrite_c=1)
    shrunk = combined(found, ledoit_wolf(rows.together(), T if means.natural else None), means.priors)
    return by_shrunk(B, shrunk, means, total_of(T, shrunk.total_factor, shrunk.total_diagonal), options, route.why)


def _unformed(Z: Grouped, shrunk: Shrunk, scale: Array, varies: Array, options: Options, route: Route) -> Definite:
    """Return B in an implicit form: Gram matrix of the rows, or products."""
    if options.shrunk:
        S = Z.reweighted(Z.weights * shrunk.factors[Z.members])
        if not (shrunk.diagonal > 0).all():
            raise NotPositiveDefinite(
                f"shrinkage={options.shrinkage!r} leaves variances of zero; give a positive number as shrinkage"
            )
        return Woodbury(S, shrunk.diagonal) if route.name == "rows" else _iterated(S, shrunk.diagonal)
    by_products = route.name == "products"
    if options.policy == "error" and not (by_products and varies.all()):
        raise NotPositiveDefinite(f"{ADVICE}, or another b_policy")
    if by_products and options.policy != "ridge":
        iterated = _iterated(Z, np.zeros(Z.columns), varies, "give a number as shrinkage")
        _check_definite(iterated, scale, options.tol)
        return iterated
    if options.policy == "restrict":
        return Span(Z, scale, options.tol)
    if options.tol**2 < ROUNDING_TOL * Z.rows:
        raise NotPositiveDefinite(TOO_SMALL.format(options.tol))
    ridged = (_iterated if by_products else Woodbury)(Z, options.tol**2 * scale**2)
    ridged.report = BReport("ridge", options.tol**2, Z.columns)
    return ridged


def _iterated(
    Z: Grouped, diagonal: Array, kept: Array | None = None, advice: str = "give a larger shrinkage"
) -> Iterated:
    return Iterated(Z.gram_times, Z.variances(), diagonal, kept, advice=advice)


def _check_definite(form: Iterated, scale: Array, tol: float) -> None:
    """Raise if a direction has a variance below tol², which a product does not drop.

    The solution for a random vector is nearly in that direction, so that its variance is little larger.
    """
    b = np.random.default_rng(0).standard_normal((scale.size, 1)) * scale[:, None] * form.kept[:, None]
    w = form.solve(b)
    variance = float((w * b).sum() / ((scale[:, None] * w) ** 2).sum())
    if variance <= MAX_PROBED_RATIO * tol**2:
        raise NotPositiveDefinite(
            f"the covariance within classes has a direction of relative variance {variance:.1e}, and is too large to "
            f"be formed to drop it; {form.advice}, or a smaller tol"
        )


def _by_products(shrunk: Shrunk, Z: Grouped, M: Array) -> Total:
    """Return the shrunk total by products with the rows."""
    return Total(
        shrunk.total_factor, lambda V: Z.gram_times(V) + M @ (M.T @ V), shrunk.total_diagonal, None, within=True
    )


def check_variances(variances: Array, floor: Array) -> None:
    """Raise if no column varies within classes."""
    if not any_varies(variances, floor):
        raise ValueError("X is constant within every class of y; give data that vary within classes")
