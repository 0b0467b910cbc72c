"""From rows in classes to discriminant directions: the pair (between, within), in the form that `within` chose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.blas import dsymm, dsymv, dsyrk

from ...errors import NotPositiveDefinite
from ...typing import Array
from ..covariance.definite import RIDGED, ROUNDING, TOO_SMALL, Definite, Rooted, definite, scales, vary
from ..covariance.implicit import Iterated, RowSpace, Woodbury
from ..covariance.shrinkage import Shrunk, automatic, fixed
from ..covariance.within import Route, choose
from ..moments.grouped import Grouped
from .leading import leading

ADVICE = "the covariance within the classes is singular; give shrinkage='auto' or a number"


@dataclass(frozen=True)
class Options:
    """What the user wants, checked."""

    shrinkage: float | str | None
    between: str
    policy: str
    tol: float
    keep: bool

    @property
    def automatic(self) -> bool:
        """Is the shrinkage to be found?"""
        return self.shrinkage == "auto"

    @property
    def shrunk(self) -> bool:
        """Is there anything to be shrunk?"""
        return bool(self.shrinkage)

    @property
    def total(self) -> bool:
        """Is what lies between the classes no longer just their means?"""
        return self.shrunk and self.between == "total"


@dataclass(frozen=True)
class Means:
    """Means of the classes about their common one, in rows, with the priors; variances up to `floor` are rounding."""

    centred: Array
    priors: Array
    floor: Array
    # are the priors the shares of the rows?
    natural: bool

    @property
    def M(self) -> Array:
        """MMᵀ is their covariance."""
        return np.asfortranarray(self.centred.T * np.sqrt(self.priors))


@dataclass(frozen=True)
class Discriminants:
    """Values and within-orthonormal directions, best first, and B⁻¹ times the centred means, in columns.

    `covariance` is B, if it was to be kept, and `within` the upper triangle of what was shrunk to it, if it was formed.
    """

    values: Array
    directions: Array
    solved: Array
    covariance: Array | None
    story: str
    within: Array | None = None


Product = Callable[[Array], Array]


def by_rows(rows: Grouped, means: Means, options: Options) -> Discriminants:
    """Of all rows at once."""
    n, p, classes = rows.rows, rows.columns, rows.groups
    kind = {"shrunk": options.shrunk, "automatic": options.automatic, "sparse": rows.sparse, "keep": options.keep}
    route = choose(n, p, rows.entries, classes, **kind)
    # the weights become those with which ZᵀZ is the covariance within
    Z = rows.reweighted(rows.weights * (means.priors / rows.totals)[rows.members])
    if route.name == "columns":
        if options.automatic:
            return _by_columns(rows, Z, means, options, route)
        W = Z.scatter()
        return replace(by_covariance(W, means, options, route.why), within=W)
    M, variances = means.M, Z.variances()
    _check_variances(variances, means.floor)
    if options.automatic:
        shrunk = automatic(rows, means.priors)
        total = _by_products(shrunk, Z, M)
    else:
        shrunk = fixed(float(options.shrinkage or 0.0), variances, M, classes)
        total = _less_within(shrunk, M)
    form = _unformed(Z, shrunk, scales(variances, means.floor), options, route)
    return _solved(form, means, total, options, route.why, None)


def by_covariance(W: Array, means: Means, options: Options, why: str) -> Discriminants:
    """Of the covariance within classes, whose upper triangle W is; shrunk by a number, or not at all."""
    _check_variances(W.diagonal(), means.floor)
    shrunk = fixed(float(options.shrinkage or 0.0), W.diagonal(), means.M, means.priors.size)

    def form() -> Array:
        B = np.multiply(W, shrunk.total_factor, order="F")
        B[np.diag_indices_from(B)] += shrunk.diagonal
        return B

    return _formed(form, means, _less_within(shrunk, means.M), options, why)


def _by_columns(rows: Grouped, Z: Grouped, means: Means, options: Options, route: Route) -> Discriminants:
    """The same, with a shrinkage that is to be found for each class."""
    W = Z.scatter() if options.total else None
    _check_variances(Z.variances() if W is None else W.diagonal(), means.floor)
    T = None if W is None else dsyrk(1.0, means.M, beta=1.0, c=W, overwrite_c=1)
    shrunk = automatic(rows, means.priors, T if means.natural else None)
    S = Z.reweighted(Z.weights * shrunk.factors[Z.members])

    def form() -> Array:
        B = S.scatter()
        B[np.diag_indices_from(B)] += shrunk.diagonal
        return B

    def total(V: Array) -> Array:
        one = V.shape[1] == 1
        product = dsymv(1.0, T, V[:, 0])[:, None] if one else dsymm(1.0, T, np.asfortranarray(V))
        return np.asarray(shrunk.total_factor * product + shrunk.total_diagonal[:, None] * V)

    return _formed(form, means, total, options, route.why)


def _formed(form: Callable[[], Array], means: Means, total: Product, options: Options, why: str) -> Discriminants:
    covariance = None
    if options.keep:
        upper = np.triu(form())
        covariance = upper + np.triu(upper, 1).T
    # shrunk, a constant column has a variance that is none of rounding
    floor = 0 * means.floor if options.shrunk else means.floor
    B = definite(form, floor, options.policy, options.tol, ADVICE)
    return _solved(B, means, total, options, why, covariance)


def _unformed(Z: Grouped, shrunk: Shrunk, scale: Array, options: Options, route: Route) -> Definite:
    """The forms that are made of the rows."""
    if options.shrunk:
        S = Z.reweighted(Z.weights * shrunk.factors[Z.members])
        if not (shrunk.diagonal > 0).all():
            raise NotPositiveDefinite(f"shrinkage={options.shrinkage!r} adds nothing to some variances; give a number")
        return Woodbury(S, shrunk.diagonal) if route.name == "rows" else Iterated(S, shrunk.diagonal)
    if options.policy == "error":
        raise NotPositiveDefinite(f"{ADVICE}; or take another b_policy")
    if options.policy == "restrict":
        return RowSpace(Z, scale, options.tol)
    if options.tol**2 < ROUNDING * Z.rows:
        raise NotPositiveDefinite(TOO_SMALL.format(options.tol))
    ridged = Woodbury(Z, options.tol**2 * scale**2)
    ridged.story = RIDGED.format(options.tol**2)
    return ridged


def _less_within(shrunk: Shrunk, M: Array) -> Product:
    """The shrunk total less the shrunk within, where both are shrunk by one number: products with the means alone."""
    extra = (shrunk.total_diagonal - shrunk.diagonal)[:, None]
    return lambda V: np.asarray(shrunk.total_factor * (M @ (M.T @ V)) + extra * V)


def _by_products(shrunk: Shrunk, Z: Grouped, M: Array) -> Product:
    """The shrunk total as products with the rows."""

    def total(V: Array) -> Array:
        both = Z.transposed(Z.times(V)) + M @ (M.T @ V)
        return np.asarray(shrunk.total_factor * both + shrunk.total_diagonal[:, None] * V)

    return total


def _solved(
    form: Definite, means: Means, total: Product, options: Options, why: str, covariance: Array | None
) -> Discriminants:
    M = means.M
    values, directions, solved = form.pairs(M)
    stories = [why, form.story]
    if options.total:
        k = min(means.priors.size - 1, form.rank if isinstance(form, Rooted) else M.shape[0])
        values, directions, story = leading(form, total, k, M)
        # of the total as it is the values are those of what lies between, and 1
        values = values - 1.0 if options.automatic else values
        stories.append(story)
    else:
        stories.append("What lies between the classes has low rank: the directions took no iteration.")
    largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=0)[None], axis=0)
    solved = solved / np.sqrt(means.priors)
    return Discriminants(
        values, directions * np.where(largest < 0, -1, 1), solved, covariance, " ".join(filter(None, stories))
    )


def _check_variances(variances: Array, floor: Array) -> None:
    if not vary(variances, floor):
        raise ValueError("X does not vary within any class of y, so there is nothing to compare the classes with")
