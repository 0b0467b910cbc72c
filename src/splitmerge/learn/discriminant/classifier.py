"""Prediction and projection by linear scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...typing import Array
from ..dask.estimators import per_block


class LinearScores(TransformerMixin):  # type: ignore[misc]
    """Predictions of a model with `classes_`, `coef_` and `intercept_`; projections with `xbar_` and `scalings_`.

    As in scikit-learn, the solver "lsqr" has no projections, and those of "eigen" are not centred.

    Results for a Dask array are lazy and computed block by block.
    """

    solver: str
    classes_: Array
    coef_: Array
    intercept_: Array
    scalings_: Array
    xbar_: Array
    _n_features_out: int

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "coef_")
        return validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])

    @per_block
    def decision_function(self, X: Any) -> Array:
        """Return log-probabilities of the classes up to a common term; for two classes, the log-odds of the second."""
        scores = np.asarray(self._checked(X) @ self.coef_.T + self.intercept_)
        return scores.ravel() if self.classes_.size == 2 else scores

    def _scores(self, X: Any) -> Array:
        """Return one column per class, also for two classes."""
        scores: Array = self.decision_function(X)
        return np.column_stack([np.zeros_like(scores), scores]) if scores.ndim == 1 else scores

    @per_block
    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row."""
        best = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    @per_block
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes."""
        return np.asarray(softmax(self._scores(X), axis=1))

    @per_block
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities of the classes."""
        return np.asarray(log_softmax(self._scores(X), axis=1))

    @per_block
    def transform(self, X: Any) -> Array:
        """Project the rows onto the first directions, centred about `xbar_` unless the solver is "eigen"."""
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'auto', 'svd' or 'eigen').")
        X = self._checked(X)
        kept = self.scalings_[:, : self._n_features_out]
        projected = np.asarray(X @ kept)
        return projected if self.solver == "eigen" else projected - self.xbar_ @ kept
