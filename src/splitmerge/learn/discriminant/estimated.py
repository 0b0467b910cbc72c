"""Discriminants with covariances by an estimator of the user, such as those of `sklearn.covariance`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from ...typing import Array
from .options import Options
from .pairs import Discriminants, Means, formed, total_of


def by_estimator(X: Any, members: Array, weights: Array, means: Means, options: Options) -> Discriminants:
    """Compute the discriminants; the estimator is fitted to each class and, for the directions, to all rows."""
    if sp.issparse(X):
        raise ValueError("covariance_estimator needs a dense X; give X.toarray(), or shrinkage instead")
    if not (weights == weights[0]).all():
        raise ValueError("covariance_estimator does not take sample_weight; repeat rows instead, or give shrinkage")
    p = X.shape[1]
    B = np.zeros((p, p), order="F")
    for k, prior in enumerate(means.priors):
        B += prior * _covariance(X[members == k], options.estimator)
    T = total_of(_covariance(X, options.estimator), 1.0, np.zeros(p)) if options.total else None
    name = type(options.estimator).__name__
    why = f"The covariance within classes is that of {name}, formed and factorised."
    return formed(lambda: B.copy(order="F"), means, T, options, why)


def _covariance(X: Array, estimator: Any) -> Array:
    # a copy: the estimator of the user is a parameter, which `fit` must not change
    fitted = clone(estimator, safe=False)
    fitted.fit(X)
    name = type(estimator).__name__
    if not hasattr(fitted, "covariance_"):
        raise ValueError(f"{name} does not have a covariance_ attribute; give an estimator of covariances")
    p = X.shape[1]
    C = np.atleast_2d(np.asarray(fitted.covariance_, np.float64))
    if C.shape != (p, p) or not np.isfinite(C).all():
        raise ValueError(f"covariance_ of {name} must be a finite {p}×{p} matrix; it has shape {C.shape}")
    return np.asfortranarray(C)
