"""Sliced inverse regression (SIR)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...checks import whole
from ...errors import NotPositiveDefinite
from ...typing import Array
from ..covariance.choice import Route
from ..covariance.definite import Definite, Rooted
from ..dask.blocks import Blocks
from ..dask.grouped import BlockGrouped
from ..moments.grouped import Grouped
from ..moments.moments import Moments
from .base import canonical_basis, size_of
from .route import choose
from .slices import Sliced, sum_rows
from .total import by_columns, by_products, by_rows, centred_means, varies


class SlicedInverseRegression(Sliced):
    """Sliced inverse regression (Li 1991): maximal variance of the slice means relative to that of all rows.

    The means of h slices span h − 1 dimensions, so that h solves with the covariance T of all rows give the directions.
    T is formed and factorised, replaced by the Gram matrix of the rows if there are fewer of them than columns, or used
    only in products with X (large sparse X, and Dask arrays with many columns); `route_` tells which and why.

    n_components
        Number of directions, at most min(slices − 1, features), which is the default.
    n_slices
        Number of slices of the sorted y with nearly equal numbers of rows; or the values of y at which the second and
        later slices begin. If y has labels, or no more distinct values than slices, each of them is a slice.
    shrinkage
        A number s from 0 to 1 replaces T by (1 − s)T + s trace(T)/p I. It is needed if there are no more rows than
        columns: X then explains any response, and all eigenvalues are 1 (see `b_report_`).
    b_policy, tol
        For a singular T, for example with a constant column: with features of unit variance, "restrict" drops
        directions with a variance below tol²; "ridge" adds tol² of each variance; "error" raises `NotPositiveDefinite`.
        Only with "restrict" or a shrinkage are there routes without the entries of T; products with X drop constant
        columns and directions without any variance.
    ties
        "together": rows with equal y are in the same slice. "split": the sorted rows are split by number only, as in
        statsmodels, so that equal y can be in two slices, whichever way they were sorted; not for `partial_fit`.

    `directions_` (n_components, features), T-orthonormal; `eigenvalues_`, shares of explained variance; `mean_`;
    `slices_`, the labels or the begins of the slices; `n_slices_`; `b_report_`; `route_`.

    The rows of a Dask array stay on the workers, which sum their blocks, and `transform` is lazy.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 4))
    >>> y = np.exp(X @ [1.0, 1.0, 0.0, 0.0])
    >>> model = SlicedInverseRegression(1).fit(X, y)
    >>> abs(model.directions_ / model.directions_.max()).round(1)
    array([[1., 1., 0., 0.]])
    """

    _separate = False

    def _fit(self, X: Any, members: Array, weights: Array) -> Self:
        options, slices = self._options(), self._slicing.count
        self._check_components(slices, X.shape[1])
        routes = choose(size_of(X, slices), iterative=options.iterative)
        for route in routes[:-1]:
            try:
                return self._by(route, X, members, weights)
            except NotPositiveDefinite:
                # conjugate gradients did not converge
                if route.name != "products":
                    raise
        return self._by(routes[-1], X, members, weights)

    def _by(self, route: Route, X: Any, members: Array, weights: Array) -> Self:
        slices, options = self._slicing.count, self._options()
        if route.name == "columns":
            self._moments = sum_rows(Moments(slices, X.shape[1]), X, members, weights)
            return self._of_sums(route.why)
        sums = _slice_means(X, members, weights, slices)
        B: Definite
        if route.name == "rows":
            B = by_rows(Grouped(X, np.zeros(weights.size, np.intp), 1, weights / weights.sum()), options)
        else:
            B = by_products(X, weights, weights.size, options)
        return self._solved(B, sums, route.why)

    def _of_sums(self, why: str) -> Self:
        return self._solved(by_columns(self._moments, self._options()), self._moments, why)

    def _solved(self, B: Definite, sums: Moments, why: str) -> Self:
        values, directions, _ = B.pairs(centred_means(sums))
        rank = B.rank if isinstance(B, Rooted) else B.report.rank if B.report else sums.means.shape[1]
        self._report(B, rank, int(sums.rows.sum()))
        k = self._check_components(self._slicing.count, sums.means.shape[1])
        return self._keep(values[:k], canonical_basis(values, directions)[:, :k], sums.mean, why)

    def _suffices(self, sums: Moments) -> bool:
        return varies(sums)

    def _check_components(self, slices: int, columns: int) -> int:
        most = min(slices - 1, columns)
        return most if self.n_components is None else whole(self.n_components, "n_components", 1, most)


def _slice_means(X: Any, members: Array, weights: Array, slices: int) -> Moments:
    """Return moments without scatter matrices."""
    rows = (BlockGrouped if isinstance(X, Blocks) else Grouped)(X, members, slices, weights)
    return Moments.of(rows.totals, rows.means, np.bincount(members, minlength=slices), np.zeros((0, 0)))
