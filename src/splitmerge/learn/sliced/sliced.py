"""Directions in which a response depends on the features: sliced inverse regression, sliced average variance."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...checks import whole
from ...solve import solve
from ...typing import Array
from ..covariance.definite import Rooted
from ..dask.blocks import Blocks
from ..moments.moments import Moments
from .base import Sliced, settled, varies
from .slicing import Slicing


class SlicedInverseRegression(Sliced):
    """Sliced inverse regression (Li 1991): the largest variance of slices' means for the variance of all rows.

    The means of h slices span h − 1 dimensions, so that a singular value decomposition of h columns gives the
    directions, without an iteration.

    n_components
        How many directions, at most min(slices − 1, features), and so many if None.
    n_slices
        How many slices of nearly as many rows, by the sorted y; or the values of y at which all but the first begin.
        A y of labels, or with no more different values, has a slice for each. Rows of equal y are never parted.
    shrinkage
        A number s from 0 to 1 makes the covariance T of the rows (1 − s)T + s trace(T)/p I. With no more rows than
        columns nothing else will do: the rows explain any response in full, and all values are 1 (see `b_report_`).
    b_policy, tol
        When T is singular, as with a constant column: "restrict" leaves directions out that have less than tol² of the
        variance, where each feature has 1; "ridge" adds tol² of each variance; "error" raises `NotPositiveDefinite`.

    `directions_` (n_components, features), T-orthonormal; `eigenvalues_`, shares of variance explained; `mean_`;
    `slices_`, labels or beginnings; `n_slices_`.

    The rows of a Dask array stay where they are: their blocks are summed up there, and `transform` is lazy.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 4))
    >>> y = np.exp(X @ [1.0, 1.0, 0.0, 0.0])
    >>> model = SlicedInverseRegression(1).fit(X, y)
    >>> abs(model.directions_ / model.directions_.max()).round(1)
    array([[1., 1., 0., 0.]])
    """

    _slicing: Slicing
    _moments: Moments

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with the response y; a weight counts as so many rows."""
        self.__dict__.pop("_moments", None)
        return self._take(X, y, sample_weight, first=True, least=2)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take more rows in. The slices are those of `n_slices`, or of the first call, or of `fit`.

        There is nothing to transform with before the rows differ.
        """
        return self._take(X, y, sample_weight, first=not hasattr(self, "_moments"))

    def _take(self, X: Any, y: Any, sample_weight: Any, *, first: bool, least: int = 1) -> Self:
        X, y, weights = self._rows(X, y, sample_weight, reset=first, least=least)
        if first:
            slicing = Slicing.of(y, self.n_slices, weights)
            sums = Moments(slicing.count, X.shape[1])
        else:
            slicing, sums = self._slicing, self._moments
        most = min(slicing.count - 1, X.shape[1])
        wanted = most if self.n_components is None else whole(self.n_components, "n_components", 1, most)
        sums.add(X, slicing.members(y), weights)
        self._slicing, self._moments = slicing, sums
        if least == 1 and not varies(sums):
            return self
        B, M = self._total(sums)
        values, directions, _ = B.pairs(M)
        return self._keep(values[:wanted], settled(values, directions)[:, :wanted], slicing)


class SlicedAverageVariance(Sliced):
    """Sliced average variance estimation (Cook and Weisberg 1991): Σ wˢ(I − Vˢ)² for whitened covariances of slices.

    It sees a response that is symmetric about the mean, which sliced inverse regression cannot see. I − Vˢ has no low
    rank, so that in whitened coordinates the p×p matrix is formed, and `splitmerge.solve` finds its largest pairs.
    Vˢ is the unbiased covariance (a slice of weight w divides by w − 1), as in statsmodels.

    The arguments and attributes are those of `SlicedInverseRegression`, for up to `features` directions.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 4))
    >>> y = (X @ [1.0, -1.0, 0.0, 0.0]) ** 2
    >>> model = SlicedAverageVariance(1).fit(X, y)
    >>> abs(model.directions_ / model.directions_.max()).round(1)
    array([[1., 1., 0., 0.]])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with the response y; a weight counts as so many rows."""
        X, y, weights = self._rows(X, y, sample_weight, reset=True, least=2)
        slicing = Slicing.of(y, self.n_slices, weights)
        members = slicing.members(y)
        # rows that are not here have to be summed up slice by slice
        sums = Moments(slicing.count, X.shape[1], separate=isinstance(X, Blocks)).add(X, members, weights)
        if not (sums.weights > 1).all():
            raise ValueError("a slice of y has one row only, which has no variance; give a smaller n_slices")
        B, _ = self._total(sums)
        wanted = B.rank if self.n_components is None else whole(self.n_components, "n_components", 1, B.rank)
        A = np.zeros((B.rank, B.rank))
        for s, weight in enumerate(sums.weights):
            if isinstance(X, Blocks):
                V = _whitened(B, sums.scatter[s])
            else:
                chosen = np.flatnonzero(members == s)
                part = X[chosen].toarray() if hasattr(X, "toarray") else X[chosen]
                Y = B.whiten((np.sqrt(weights[chosen])[:, None] * (part - sums.means[s])).T)
                V = Y @ Y.T
            E = np.eye(B.rank) - V / (weight - 1)
            A += weight / sums.total * (E @ E)
        solution = solve((A + A.T) / 2, k=wanted, tol=1e-10, rng=0)
        values = solution.eigenvalues
        return self._keep(values, settled(values, B.unwhiten(solution.eigenvectors)), slicing)


def _whitened(B: Rooted, scatter: Array) -> Array:
    """QᵀSQ for the S whose upper triangle is given."""
    upper = np.triu(scatter)
    return B.whiten(B.whiten(upper + np.triu(upper, 1).T).T)
