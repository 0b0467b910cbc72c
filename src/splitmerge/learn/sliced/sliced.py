"""Sufficient dimension reduction: sliced inverse regression (SIR) and sliced average variance estimation (SAVE)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...checks import whole
from ...solve import solve
from ...typing import Array
from ..covariance.definite import Rooted
from ..dask.blocks import Blocks
from ..dask.estimators import add_rows
from ..moments.moments import Moments
from .base import Sliced, canonical_basis, varies
from .slicing import Slicing

# Relative residual of the eigenpairs of sliced average variance estimation.
RESIDUAL_TOL = 1e-10


class SlicedInverseRegression(Sliced):
    """Sliced inverse regression (Li 1991): maximal variance of the slice means relative to that of all rows.

    The means of h slices span h − 1 dimensions, so that a singular value decomposition of h columns gives the
    directions without iteration.

    n_components
        Number of directions, at most min(slices − 1, features), which is the default.
    n_slices
        Number of slices of the sorted y with nearly equal numbers of rows; or the values of y at which the second and
        later slices begin. If y has labels, or no more distinct values than slices, each of them is a slice. Rows with
        equal y are in the same slice.
    shrinkage
        A number s from 0 to 1 replaces the covariance T of the rows by (1 − s)T + s trace(T)/p I. It is needed if there
        are no more rows than columns: X then explains any response, and all eigenvalues are 1 (see `b_report_`).
    b_policy, tol
        For a singular T, for example with a constant column: with features of unit variance, "restrict" drops
        directions with a variance below tol²; "ridge" adds tol² of each variance; "error" raises `NotPositiveDefinite`.

    `directions_` (n_components, features), T-orthonormal; `eigenvalues_`, shares of explained variance; `mean_`;
    `slices_`, the labels or the begins of the slices; `n_slices_`.

    The rows of a Dask array stay on the workers, which sum their blocks, and `transform` is lazy.

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
        """Fit to rows X with the response y; an integer weight w acts like w equal rows."""
        self.__dict__.pop("_moments", None)
        return self._add(X, y, sample_weight, first=True, min_rows=2)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows. The slices are given by `n_slices`, or determined by the first call or `fit`.

        The model is fitted as soon as the rows differ.
        """
        return self._add(X, y, sample_weight, first=not hasattr(self, "_moments"))

    def _add(self, X: Any, y: Any, sample_weight: Any, *, first: bool, min_rows: int = 1) -> Self:
        X, y, weights = self._rows(X, y, sample_weight, reset=first, min_rows=min_rows)
        if first:
            slicing = Slicing.of(y, self.n_slices, weights)
            sums = Moments(slicing.count, X.shape[1])
        else:
            slicing, sums = self._slicing, self._moments
        most = min(slicing.count - 1, X.shape[1])
        k = most if self.n_components is None else whole(self.n_components, "n_components", 1, most)
        add_rows(sums, X, slicing.members(y), weights)
        self._slicing, self._moments = slicing, sums
        if min_rows == 1 and not varies(sums):
            return self
        B, M = self._total(sums)
        values, directions, _ = B.pairs(M)
        return self._keep(values[:k], canonical_basis(values, directions)[:, :k], slicing)


class SlicedAverageVariance(Sliced):
    """Sliced average variance estimation (Cook and Weisberg 1991): Σ wˢ(I − Vˢ)² for whitened covariances of slices.

    It detects a response that is symmetric about the mean, which sliced inverse regression cannot detect. I − Vˢ does
    not have low rank: the p×p matrix is formed in whitened coordinates, and `splitmerge.solve` computes its largest
    eigenpairs. Vˢ is the unbiased covariance (a slice of weight w divides by w − 1), as in statsmodels.

    The parameters and attributes are those of `SlicedInverseRegression`, for up to `features` directions.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 4))
    >>> y = (X @ [1.0, -1.0, 0.0, 0.0]) ** 2
    >>> model = SlicedAverageVariance(1).fit(X, y)
    >>> abs(model.directions_ / model.directions_.max()).round(1)
    array([[1., 1., 0., 0.]])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with the response y; an integer weight w acts like w equal rows."""
        X, y, weights = self._rows(X, y, sample_weight, reset=True, min_rows=2)
        slicing = Slicing.of(y, self.n_slices, weights)
        members = slicing.members(y)
        # the covariances of the slices of a Dask array are computed on the workers
        sums = Moments(slicing.count, X.shape[1], separate=isinstance(X, Blocks))
        sums = add_rows(sums, X, members, weights)
        if not (sums.weights > 1).all():
            raise ValueError("a slice of y has one row only, which has no variance; give a smaller n_slices")
        B, _ = self._total(sums)
        k = B.rank if self.n_components is None else whole(self.n_components, "n_components", 1, B.rank)
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
        solution = solve((A + A.T) / 2, k=k, tol=RESIDUAL_TOL, rng=0)
        values = solution.eigenvalues
        return self._keep(values, canonical_basis(values, B.unwhiten(solution.eigenvectors)), slicing)


def _whitened(B: Rooted, scatter: Array) -> Array:
    """Return QᵀSQ for the S whose upper triangle is given."""
    upper = np.triu(scatter)
    return B.whiten(B.whiten(upper + np.triu(upper, 1).T).T)
