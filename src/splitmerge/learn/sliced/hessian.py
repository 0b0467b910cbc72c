"""Principal Hessian directions (PHD)."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np

from ...checks import whole
from ...solve import solve
from ...typing import Array
from ..covariance.definite import Rooted
from ..dask.blocks import Blocks
from ..dask.estimators import add_rows
from ..data.inputs import is_dask
from ..data.view import View
from ..moments.grouped import Grouped
from ..moments.moments import Moments
from .base import RESIDUAL_TOL, Directions, canonical_basis, size_of
from .route import choose
from .total import by_columns, by_rows, view_of_rows


class PrincipalHessianDirections(Directions):
    """Principal Hessian directions (Li 1992): eigenvectors of (Σ (y − ȳ)(x − x̄)(x − x̄)ᵀ/n, T) of largest magnitude.

    For normally distributed rows A = T H T with the mean Hessian H of the regression function, so that the eigenvectors
    are the directions in which the response is curved most. A linear trend is not found.

    n_components
        Number of directions, at most the rank of the covariance T of the rows, which is the default.
    residuals
        Use the residuals of the linear regression of y on X instead of y − ȳ. They have the same mean Hessian; without
        the trend the estimate varies less.
    shrinkage, b_policy, tol
        As for `SlicedInverseRegression`.

    `directions_` (n_components, features), T-orthonormal; `eigenvalues_`, in the unit of y, in descending order of
    magnitude, positive for a minimum and negative for a maximum; `mean_`; `b_report_`; `route_`.

    T is formed, or the Gram matrix of the rows if there are fewer of them than columns. The rows of a Dask array stay
    on the workers.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 4))
    >>> y = (X @ [1.0, -1.0, 0.0, 0.0]) ** 2
    >>> model = PrincipalHessianDirections(1).fit(X, y)
    >>> abs(model.directions_ / model.directions_.max()).round(1)
    array([[1. , 1. , 0. , 0.1]])
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        residuals: bool = False,
        shrinkage: float | None = None,
        b_policy: str = "restrict",
        tol: float = 1e-4,
    ) -> None:
        self.n_components = n_components
        self.residuals = residuals
        self.shrinkage = shrinkage
        self.b_policy = b_policy
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with the numerical response y; an integer weight w acts like w equal rows."""
        X, y, weights = self._rows(X, y, sample_weight, reset=True, min_rows=2)
        y = _centred(y, weights)
        route = choose(size_of(X, 1), iterative=False)[0]
        found = self._by_rows if route.name == "rows" else self._by_columns
        B, A, mean = found(X, y, weights)
        k = B.rank if self.n_components is None else whole(self.n_components, "n_components", 1, B.rank)
        self._report(B, B.rank, weights.size)
        solution = solve((A + A.T) / 2, k=k, which="largest_magnitude", tol=RESIDUAL_TOL, rng=0)
        values = solution.eigenvalues
        directions = canonical_basis(values, B.unwhiten(solution.eigenvectors))
        return self._keep(values, directions, mean, route.why)

    def _by_columns(self, X: Any, y: Array, weights: Array) -> tuple[Rooted, Array, Array]:
        """Return the factorised T, the whitened moment matrix and the mean."""
        sums = add_rows(Moments(1, X.shape[1]), X, np.zeros(weights.size, np.intp), weights)
        B, view = by_columns(sums, self._options()), view_of_rows(X, weights)
        if isinstance(X, Blocks):
            y = X.full(y)
        if self.residuals:
            y = y - np.asarray(view.times(B.solve(view.dual(y[:, None]))))[:, 0]
        return B, B.whiten(B.whiten(_moment(view, y)).T), sums.mean

    def _by_rows(self, X: Any, y: Array, weights: Array) -> tuple[Rooted, Array, Array]:
        """Return the same from the Gram matrix of the rows."""
        shares = weights / weights.sum()
        Z = Grouped(X, np.zeros(weights.size, np.intp), 1, shares)
        B = by_rows(Z, self._options())
        Y = B.whitened
        if self.residuals:
            y = y - Y @ (Y.T @ (np.sqrt(shares) * y)) / np.sqrt(shares)
        return B, Y.T @ (y[:, None] * Y), Z.means[0]


def _centred(y: Array, weights: Array) -> Array:
    """Return y − ȳ."""
    if not all(isinstance(value, (Real, np.bool_)) for value in (y if y.dtype.kind == "O" else y[:1])):
        raise ValueError("Unknown label type: y has labels; principal Hessian directions need a numerical response")
    y = np.asarray(y, np.float64)
    if y.min() == y.max():
        raise ValueError("y is constant, so that no direction explains it; give a response that varies")
    return np.asarray(y - weights @ y / weights.sum())


def _moment(view: View, y: Array) -> Array:
    """Return Σ w y x̃x̃ᵀ / Σw."""
    if is_dask(view.X):
        from ..dask.views import signed_gram

        return signed_gram(view, y)
    found = np.zeros((view.columns, view.columns))
    for rows, Z in view.blocks():
        found += (y[rows, None] * Z).T @ Z
    return found / view.total
