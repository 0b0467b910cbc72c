"""Methods of a fitted CCA: scores, reconstructions, predictions and correlations."""

from __future__ import annotations

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
from ..data.tables import check_features, check_table, project


class PairedComponents(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    RegressorMixin,  # type: ignore[misc]
    MultiOutputMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base of an estimator with canonical directions of X and y, and with the means and divisors of their columns."""

    x_rotations_: Array
    y_rotations_: Array
    x_loadings_: Array
    y_loadings_: Array
    n_components_: int
    _coefficients: Array
    _x_mean: Array
    _y_mean: Array
    _x_std: Array
    _y_std: Array
    _predict_1d: bool

    def transform(self, X: Any, y: Any = None) -> Any:
        """Return the scores of X, or a pair of the scores of X and y; lazy for Dask arrays."""
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        x_scores = project(X, self._x_mean, self._x_std, self.x_rotations_)
        if y is None:
            return x_scores
        y = check_table(y, "y", len(self._y_mean), vector=True)
        return x_scores, project(y, self._y_mean, self._y_std, self.y_rotations_)

    def inverse_transform(self, X: Any, y: Any = None) -> Any:
        """Return the least-squares reconstruction from the scores of X, or of X and y as a pair."""
        check_is_fitted(self)
        X = check_table(X, "X", self.n_components_) @ self.x_loadings_.T * self._x_std + self._x_mean
        if y is None:
            return X
        return X, check_table(y, "y", self.n_components_) @ self.y_loadings_.T * self._y_std + self._y_mean

    def predict(self, X: Any) -> Any:
        """Predict y by least squares on the scores of X."""
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        found = project(X, self._x_mean, self._x_std, self.x_rotations_) @ self._coefficients + self._y_mean
        return found.ravel() if self._predict_1d else found

    @property
    def coef_(self) -> Array:
        """Coefficients of shape (n_targets, n_features)."""
        check_is_fitted(self)
        return np.asarray((self.x_rotations_ / self._x_std[:, None] @ self._coefficients).T)

    @property
    def intercept_(self) -> Array:
        """Intercepts of shape (n_targets,)."""
        check_is_fitted(self)
        return np.asarray(self._y_mean - (self._x_mean / self._x_std) @ self.x_rotations_ @ self._coefficients)

    def correlations(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Return the correlations of the scores of these samples, to select a ridge (`score` is the R² of y).

        >>> import splitmerge as sm
        >>> from splitmerge.learn import CCA
        >>> X, y = sm.gallery.two_views(400, 5, 4, [0.95, 0.7], rng=0)
        >>> cca = CCA(ridge=0.1).fit(X[:200], y[:200])
        >>> cca.correlations(X[200:], y[200:]).round(1)
        array([0.9, 0.7])
        """
        x_scores, y_scores = self.transform(X, y)
        C = joint_of([x_scores, y_scores], sample_weight, scale=True, names=("X", "y")).gram()
        return np.asarray(np.diagonal(C, self.n_components_))
