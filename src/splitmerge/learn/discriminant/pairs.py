"""Eigenvectors of the pair (between, within) of covariances, for a B within classes that is given in some form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsymm, dsymv, dsyrk

from ...linalg.reductions import phases
from ...typing import Array
from ..covariance.definite import Definite, Rooted, definite
from ..covariance.shrinkage import Shrunk
from .leading import leading
from .options import Options

ADVICE = "the covariance within classes is singular; give shrinkage='auto' or a number as shrinkage"


@dataclass(frozen=True)
class Means:
    """Class means in rows, their overall `mean`, and the priors; variances up to `floor` are rounding errors.

    `shares` are the weights of the classes in the covariance within classes. `natural`: the priors are the shares of
    the rows.
    """

    means: Array
    mean: Array
    priors: Array
    shares: Array
    floor: Array
    natural: bool

    @property
    def centred(self) -> Array:
        """The means about the overall mean."""
        return self.means - self.mean

    @property
    def M(self) -> Array:
        """M with the covariance MMᵀ of the means."""
        return np.asfortranarray(self.centred.T * np.sqrt(self.priors))


@dataclass(frozen=True)
class Total:
    """`factor` T + diag(`diagonal`) for a T given by products, and by its upper triangle if it can be formed.

    It is the regularised covariance of all rows, or that minus B if it does not contain the covariance `within`.
    """

    factor: float
    core: Callable[[Array], Array]
    diagonal: Array
    upper: Callable[[], Array] | None
    within: bool

    def times(self, V: Array) -> Array:
        """The product with columns V."""
        return np.asarray(self.factor * self.core(V) + self.diagonal[:, None] * V)

    def trace(self, form: Rooted) -> float:
        """The sum of all eigenvalues of the covariance between classes, relative to B."""
        assert self.upper is not None
        Q = np.asfortranarray(form.unwhiten(np.eye(form.rank)))
        inverse, T = dsyrk(1.0, Q), self.upper()
        both = 2 * np.einsum("ij,ij->", np.triu(inverse, 1), T) + inverse.diagonal() @ T.diagonal()
        return float(self.factor * both + inverse.diagonal() @ self.diagonal - self.within * form.rank)


def total_of(T: Array, factor: float, diagonal: Array) -> Total:
    """Return the regularised covariance of all rows, with the upper triangle T of the covariance."""

    def core(V: Array) -> Array:
        return np.asarray(dsymv(1.0, T, V[:, 0])[:, None] if V.shape[1] == 1 else dsymm(1.0, T, np.asfortranarray(V)))

    return Total(factor, core, diagonal, lambda: T, within=True)


def less_within(shrunk: Shrunk, M: Array) -> Total:
    """Return the shrunk total minus the shrunk within, both shrunk by one number."""
    extra = shrunk.total_diagonal - shrunk.diagonal
    return Total(shrunk.total_factor, lambda V: M @ (M.T @ V), extra, lambda: M @ M.T, within=False)


@dataclass(frozen=True)
class Discriminants:
    """Eigenvalues (descending), B-orthonormal directions, and B⁻¹ times the centred means, in columns.

    `spread` is the sum of all eigenvalues, and `offset` B⁻¹ times the overall mean, if they are asked for.
    `covariance` is B, if it is kept, and `within` the upper triangle of B before shrinkage, if it was formed.
    """

    values: Array
    directions: Array
    solved: Array
    spread: float
    offset: Array | None
    covariance: Array | None
    description: str
    within: Array | None = None


def formed(form: Callable[[], Array], means: Means, total: Total | None, options: Options, why: str) -> Discriminants:
    """Compute the discriminants of a B whose upper triangle `form` computes in Fortran order."""
    covariance = None
    if options.keep:
        upper = np.triu(form())
        covariance = upper + np.triu(upper, 1).T
    # shrinkage gives a constant column a positive variance
    floor = 0 * means.floor if options.shrunk else means.floor
    B = definite(form, floor, options.policy, options.tol, ADVICE)
    return solved(B, means, total, options, why, covariance)


def solved(
    form: Definite, means: Means, total: Total | None, options: Options, why: str, covariance: Array | None = None
) -> Discriminants:
    """Compute the discriminants of a factorised or implicit B."""
    M = means.M
    values, directions, K = form.pairs(M)
    spread = float(values.sum())
    told = [why, form.describe()]
    if options.total and total is not None:
        k = min(means.priors.size - 1, form.rank if isinstance(form, Rooted) else M.shape[0])
        values, directions, how = leading(form, total.times, k, M)
        # a total that contains B adds 1 to the eigenvalues
        values = values - 1.0 * total.within
        spread = total.trace(form) if options.named and isinstance(form, Rooted) else float(values.sum())
        told.append(how)
    elif options.directions:
        told.append("The covariance between classes has low rank: the directions were computed without iteration.")
    offset = form.solve(means.mean[:, None])[:, 0] if options.named else None
    return Discriminants(
        values,
        directions * phases(directions),
        K / np.sqrt(means.priors),
        spread,
        offset,
        covariance,
        " ".join(filter(None, told)),
    )


def scores(found: Discriminants, means: Means) -> tuple[Array, Array]:
    """Return the coefficients of the linear scores, one row per class, and their intercepts; one row for two classes.

    The scores are determined up to a common term. With an offset, they are those of scikit-learn's "lsqr" and "eigen".
    """
    coef, two = found.solved.T, means.priors.size == 2
    squares = np.einsum("ij,ij->i", means.centred, coef)
    if found.offset is not None and not two:
        coef = coef + found.offset
        return coef, np.log(means.priors) - 0.5 * np.einsum("ij,ij->i", means.means, coef)
    intercept = np.log(means.priors) - 0.5 * squares - coef @ means.mean
    return (coef[1:] - coef[:1], intercept[1:] - intercept[:1]) if two else (coef, intercept)
