"""Methods of a fitted CCA: scores, reconstructions, predictions and correlations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from ...typing import Array
from ..dask.dispatch import joint_of
from ..data.inputs import is_dask
from ..data.tables import check_complete, check_features, check_table, is_list_of_tables, project
from .listed import FittedView, Listed


class PairedComponents(  # type: ignore[call-arg]
    Listed,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    RegressorMixin,  # type: ignore[misc]
    MultiOutputMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    auto_wrap_output_keys=None,
):
    """Base of an estimator with canonical directions of X and y, and with the means and divisors of their columns."""

    x_rotations_: Array
    y_rotations_: Array
    x_loadings_: Array
    y_loadings_: Array
    n_components_: int
    _coefficients: Array
    _shared: list[Array]
    _x_mean: Array
    _y_mean: Array
    _x_std: Array
    _y_std: Array
    _predict_1d: bool

    def _pair(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return X and y, which may be given as one list."""
        if y is not None or not is_list_of_tables(X):
            return X, y
        if len(X) != 2:
            raise ValueError(
                f"{type(self).__name__} requires exactly 2 views. Expected 2 views, got {len(X)}; use MCCA for several"
            )
        return tuple(check_complete(X))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Compute the directions."""
        raise NotImplementedError

    def _fitted(self) -> list[FittedView]:
        x_shared, y_shared = self._shared
        return [
            FittedView(self._x_mean, self._x_std, self.x_rotations_, self.x_loadings_, x_shared),
            FittedView(self._y_mean, self._y_std, self.y_rotations_, self.y_loadings_, y_shared),
        ]

    def transform(self, X: Any, y: Any = None, copy: bool = True) -> Any:
        """Return the scores of X, or a pair of the scores of X and y or of a list [X, y]; lazy for Dask arrays.

        `copy` has no effect: X and y are not written to.
        """
        check_is_fitted(self)
        if y is None and is_list_of_tables(X):
            return self._scores_of_list(X)
        given, X = X, check_features(self, X, reset=False)
        x_scores = self._framed(project(X, self._x_mean, self._x_std, self.x_rotations_), given)
        if y is None:
            return x_scores
        y = check_table(y, "y", len(self._y_mean), vector=True)
        if y.shape[0] != X.shape[0] and not (is_dask(X) or is_dask(y)):
            raise ValueError(f"X has {X.shape[0]} rows and y {y.shape[0]}; give the same number of samples")
        return x_scores, project(y, self._y_mean, self._y_std, self.y_rotations_)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the scores of X and of y as a pair, as scikit-learn's CCA does."""
        return self.fit(X, y, sample_weight).transform(X, y)

    def inverse_transform(self, X: Any, y: Any = None) -> Any:
        """Return the least-squares reconstruction from the scores of X, or of X and y (or a list of both) as a pair."""
        check_is_fitted(self)
        if y is None and is_list_of_tables(X):
            return self._invert_list(X)
        X = check_table(X, "X", self.n_components_) @ self.x_loadings_.T * self._x_std + self._x_mean
        if y is None:
            return X
        return X, check_table(y, "y", self.n_components_) @ self.y_loadings_.T * self._y_std + self._y_mean

    def predict(self, X: Any, copy: bool = True) -> Any:
        """Predict y by least squares on the scores of X; `copy` has no effect, as X is not written to.

        For a list, with None for the view that is not known, all views are reconstructed: by least squares on the mean
        of the scores of both views, in place of which there is that of the known ones.
        """
        check_is_fitted(self)
        if is_list_of_tables(X):
            return self._predict_list(X)
        X = check_features(self, X, reset=False)
        found = project(X, self._x_mean, self._x_std, self.x_rotations_) @ self._coefficients + self._y_mean
        return found.ravel() if self._predict_1d else found

    @property
    def coef_(self) -> Array:
        """Coefficients of shape (n_targets, n_features), of X without its means."""
        check_is_fitted(self)
        return np.asarray((self.x_rotations_ / self._x_std[:, None] @ self._coefficients).T)

    @property
    def intercept_(self) -> Array:
        """The means of y, of shape (n_targets,), as in scikit-learn."""
        check_is_fitted(self)
        return self._y_mean.copy()

    @property
    def means_(self) -> list[Array]:
        """The means of the columns of X and of y, as in cca_zoo."""
        check_is_fitted(self)
        return [self._x_mean, self._y_mean]

    def correlations(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Return the correlations of the scores of these samples, to select a ridge (`score` is the R² of y).

        >>> import splitmerge as sm
        >>> from splitmerge.learn import CCA
        >>> X, y = sm.gallery.two_views(400, 5, 4, [0.95, 0.7], rng=0)
        >>> cca = CCA(ridge=0.1).fit(X[:200], y[:200])
        >>> cca.correlations(X[200:], y[200:]).round(1)
        array([0.9, 0.7])
        """
        return mean_correlations(self.transform(X, y), sample_weight)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R² of the prediction of y as scikit-learn does, or for a list [X, y] the mean of `correlations`."""
        if y is None and is_list_of_tables(X):
            return float(self.correlations(X, sample_weight=sample_weight).mean())
        return float(super().score(X, y, sample_weight))


def mean_correlations(scores: Sequence[Any], weights: Any = None) -> Array:
    """Return for each component the correlation of the scores, averaged over all pairs of views."""
    count, k = len(scores), scores[0].shape[1]
    names = [f"view {i}" for i in range(count)]
    C = joint_of(scores, weights, scale=True, names=names).gram().reshape(count, k, count, k)
    together = np.einsum("ikjk->k", C) - np.einsum("ikik->k", C)
    return np.asarray(together / (count * (count - 1)))
