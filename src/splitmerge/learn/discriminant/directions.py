"""Discriminant directions: eigenvectors of the pair (between, within) of covariances, by the cheapest route."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.blas import dsymm, dsymv, dsyrk

from ...errors import NotPositiveDefinite
from ...problem.b_policy import BReport
from ...typing import Array
from ..covariance.choice import Route, choose_route
from ..covariance.definite import ROUNDING_TOL, TOO_SMALL, Definite, Rooted, any_varies, definite, scales
from ..covariance.implicit import Iterated, RowSpace, Woodbury
from ..covariance.shrinkage import Shrunk, automatic, fixed
from ..moments.grouped import Grouped
from .leading import leading

ADVICE = "the covariance within classes is singular; give shrinkage='auto' or a number as shrinkage"


@dataclass(frozen=True)
class Options:
    """The checked parameters of the estimator."""

    shrinkage: float | str | None
    between: str
    policy: str
    tol: float
    keep: bool

    @property
    def automatic(self) -> bool:
        """Whether the shrinkage is estimated."""
        return self.shrinkage == "auto"

    @property
    def shrunk(self) -> bool:
        """Whether there is any shrinkage."""
        return bool(self.shrinkage)

    @property
    def total(self) -> bool:
        """Whether the covariance between classes is the shrunk total minus that within."""
        return self.shrunk and self.between == "total"


@dataclass(frozen=True)
class Means:
    """Class means about the overall mean, in rows, and the priors; variances up to `floor` are rounding errors.

    `natural`: the priors are the shares of the rows.
    """

    centred: Array
    priors: Array
    floor: Array
    natural: bool

    @property
    def M(self) -> Array:
        """M with the covariance MMᵀ of the means."""
        return np.asfortranarray(self.centred.T * np.sqrt(self.priors))


@dataclass(frozen=True)
class Discriminants:
    """Eigenvalues (descending), B-orthonormal directions, and B⁻¹ times the centred means, in columns.

    `covariance` is B, if it is kept, and `within` the upper triangle of B before shrinkage, if it was formed.
    """

    values: Array
    directions: Array
    solved: Array
    covariance: Array | None
    description: str
    within: Array | None = None


Product = Callable[[Array], Array]


def by_rows(rows: Grouped, means: Means, options: Options) -> Discriminants:
    """Compute the discriminants of all rows at once."""
    n, p, classes = rows.rows, rows.columns, rows.groups
    kind = {"shrunk": options.shrunk, "automatic": options.automatic, "sparse": rows.sparse, "keep": options.keep}
    route = choose_route(n, p, rows.entries, classes, **kind)
    # reweighted such that ZᵀZ is the covariance within classes
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
    """Compute the discriminants from the upper triangle W of the covariance within classes; no automatic shrinkage."""
    _check_variances(W.diagonal(), means.floor)
    shrunk = fixed(float(options.shrinkage or 0.0), W.diagonal(), means.M, means.priors.size)

    def form() -> Array:
        B = np.multiply(W, shrunk.total_factor, order="F")
        B[np.diag_indices_from(B)] += shrunk.diagonal
        return B

    return _formed(form, means, _less_within(shrunk, means.M), options, why)


def _by_columns(rows: Grouped, Z: Grouped, means: Means, options: Options, route: Route) -> Discriminants:
    """Compute the discriminants by forming B with an estimated shrinkage per class."""
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
    # shrinkage gives a constant column a positive variance
    floor = 0 * means.floor if options.shrunk else means.floor
    B = definite(form, floor, options.policy, options.tol, ADVICE)
    return _solved(B, means, total, options, why, covariance)


def _unformed(Z: Grouped, shrunk: Shrunk, scale: Array, options: Options, route: Route) -> Definite:
    """Return B in an implicit form: Gram matrix of the rows, or products."""
    if options.shrunk:
        S = Z.reweighted(Z.weights * shrunk.factors[Z.members])
        if not (shrunk.diagonal > 0).all():
            raise NotPositiveDefinite(
                f"shrinkage={options.shrinkage!r} leaves variances of zero; give a positive number as shrinkage"
            )
        return Woodbury(S, shrunk.diagonal) if route.name == "rows" else Iterated(S, shrunk.diagonal)
    if options.policy == "error":
        raise NotPositiveDefinite(f"{ADVICE}, or another b_policy")
    if options.policy == "restrict":
        return RowSpace(Z, scale, options.tol)
    if options.tol**2 < ROUNDING_TOL * Z.rows:
        raise NotPositiveDefinite(TOO_SMALL.format(options.tol))
    ridged = Woodbury(Z, options.tol**2 * scale**2)
    ridged.report = BReport("ridge", options.tol**2, Z.columns)
    return ridged


def _less_within(shrunk: Shrunk, M: Array) -> Product:
    """Return the product with the shrunk total minus the shrunk within, both shrunk by one number."""
    extra = (shrunk.total_diagonal - shrunk.diagonal)[:, None]
    return lambda V: np.asarray(shrunk.total_factor * (M @ (M.T @ V)) + extra * V)


def _by_products(shrunk: Shrunk, Z: Grouped, M: Array) -> Product:
    """Return the product with the shrunk total, by products with the rows."""

    def total(V: Array) -> Array:
        both = Z.transposed(Z.times(V)) + M @ (M.T @ V)
        return np.asarray(shrunk.total_factor * both + shrunk.total_diagonal[:, None] * V)

    return total


def _solved(
    form: Definite, means: Means, total: Product, options: Options, why: str, covariance: Array | None
) -> Discriminants:
    M = means.M
    values, directions, solved = form.pairs(M)
    told = [why, form.describe()]
    if options.total:
        k = min(means.priors.size - 1, form.rank if isinstance(form, Rooted) else M.shape[0])
        values, directions, how = leading(form, total, k, M)
        # with an estimated shrinkage `total` still contains B, which adds 1 to the eigenvalues
        values = values - 1.0 if options.automatic else values
        told.append(how)
    else:
        told.append("The covariance between classes has low rank: the directions were computed without iteration.")
    largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=0)[None], axis=0)
    solved = solved / np.sqrt(means.priors)
    return Discriminants(
        values, directions * np.where(largest < 0, -1, 1), solved, covariance, " ".join(filter(None, told))
    )


def _check_variances(variances: Array, floor: Array) -> None:
    if not any_varies(variances, floor):
        raise ValueError("X is constant within every class of y; give data that vary within classes")
