"""The covariance T of all rows, shrunk or mended, as a factorised B: formed, by the rows, or by products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk

from ...errors import NotPositiveDefinite
from ...problem.b_policy import BReport
from ...typing import Array
from ..covariance.definite import ROUNDING_TOL, TOO_SMALL, Rooted, any_varies, definite, rounding_variance, scales
from ..covariance.implicit import Iterated, Span
from ..dask.blocks import Blocks
from ..dask.dispatch import view_of
from ..data.inputs import check_finite
from ..data.view import View
from ..moments.grouped import Grouped
from ..moments.moments import Moments

ADVICE = "the covariance of X is singular; give a shrinkage"
# Relative residual of solves by conjugate gradients, which rounding limits if the covariance is singular.
CG_TOL = 1e-12


@dataclass(frozen=True)
class Options:
    """The checked parameters for T: it becomes (1 − s)T + s trace(T)/p I; b_policy and tol are for a singular T."""

    shrinkage: float
    policy: str
    tol: float

    @property
    def iterative(self) -> bool:
        """Whether solves with T need no entries of T: dependent columns are found neither for an error nor a ridge."""
        return bool(self.shrinkage) or self.policy == "restrict"


def centred_means(sums: Moments) -> Array:
    """Return M with the covariance MMᵀ of the means of the groups."""
    return np.asfortranarray((sums.means - sums.mean).T * np.sqrt(sums.weights / sums.total))


def varies(sums: Moments) -> bool:
    """Return whether any column is not constant."""
    within = np.sum([scatter.diagonal() for scatter in sums.scatter], axis=0) / sums.total
    M = centred_means(sums)
    variances = within + np.einsum("ij,ij->i", M, M)
    return any_varies(variances, rounding_variance(int(sums.rows.sum()), sums.means))


def by_columns(sums: Moments, options: Options) -> Rooted:
    """Form and factorise T."""
    if not varies(sums):
        _refuse_constant()
    M, s = centred_means(sums), options.shrinkage

    def form() -> Array:
        T = dsyrk(1.0, M, beta=1.0, c=sums.within(), overwrite_c=1)
        mean = T.trace() / len(T)
        T *= 1 - s
        T[np.diag_indices_from(T)] += s * mean
        return T

    floor = rounding_variance(int(sums.rows.sum()), sums.means)
    return definite(form, 0 * floor if s else floor, options.policy, options.tol, ADVICE)


def by_rows(Z: Grouped, options: Options) -> Span:
    """Factorise the Gram matrix of fewer rows than columns, whose weights have the sum 1."""
    with np.errstate(invalid="ignore", over="ignore"):
        variances = Z.variances()
    floor, s = rounding_variance(Z.rows, Z.means), options.shrinkage
    if not any_varies(variances, floor):
        _refuse_constant()
    if s:
        return Span(Z, np.ones(Z.columns), options.tol, 1 - s, s * float(variances.mean()))
    if options.policy == "error":
        raise NotPositiveDefinite(f"{ADVICE}, or another b_policy")
    scale, ridge = scales(variances, floor), options.tol**2
    if options.policy == "restrict":
        return Span(Z, scale, options.tol)
    if ridge < ROUNDING_TOL * Z.rows:
        raise NotPositiveDefinite(TOO_SMALL.format(options.tol))
    ridged = Span(Z, scale, options.tol, ridge=ridge)
    ridged.report = BReport("ridge", ridge, ridged.rank)
    return ridged


def by_products(X: Any, weights: Array, count: int, options: Options) -> Iterated:
    """Return T for solves by conjugate gradients; `count` is the number of rows with positive weight."""
    view = view_of_rows(X, weights)
    with np.errstate(invalid="ignore", over="ignore"):
        variances = view.variances()
    floor, s = rounding_variance(count, view.mean[None]), options.shrinkage
    check_finite(view.mean, variances, "X")
    if not any_varies(variances, floor):
        _refuse_constant()
    diagonal, vary = np.full(variances.size, s * float(variances.mean())), None if s else variances > floor
    return Iterated(lambda V: (1 - s) * view.gram_times(V), (1 - s) * variances, diagonal, vary, tol=CG_TOL)


def view_of_rows(X: Any, weights: Array) -> View:
    """Return the centred view of rows in memory, or of all rows of a Dask array."""
    if isinstance(X, Blocks):
        X, weights = X.X, X.full(weights)
    with np.errstate(invalid="ignore", over="ignore"):
        return view_of(X, None if (weights == 1).all() else weights)


def _refuse_constant() -> None:
    raise ValueError("X is constant, so that it has no directions; give data that vary")
