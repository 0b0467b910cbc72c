"""Base class of the estimators with slices of a response."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.linalg.blas import dsyrk
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...checks import real, whole
from ...problem.b_policy import check_policy
from ...typing import Array
from ..covariance.definite import Rooted, any_varies, definite, rounding_variance
from ..dask.estimators import check_labelled, per_block
from ..data.inputs import drop_zero_weights, weights_or_ones
from ..data.tables import ACCEPTED
from ..moments.moments import Moments
from .slicing import Slicing

# Eigenvalues with a smaller difference, relative to the largest, are treated as equal.
EQUAL_TOL = 1e-9
ADVICE = "the covariance of X is singular; give a shrinkage"


class Sliced(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """An estimator of directions whose B is the covariance T of all rows."""

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_slices: Any = 10,
        shrinkage: float | None = None,
        b_policy: str = "restrict",
        tol: float = 1e-4,
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.shrinkage = shrinkage
        self.b_policy = b_policy
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with the response y."""

    @per_block
    def transform(self, X: Any) -> Array:
        """Project the rows, centred about `mean_`, onto the directions."""
        check_is_fitted(self, "directions_")
        X = validate_data(self, X, reset=False, **ACCEPTED)
        return np.asarray(X @ self.directions_.T - self.mean_ @ self.directions_.T)

    def _rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool, min_rows: int = 1) -> tuple[Any, Array, Array]:
        check_policy(self.b_policy)
        real(self.tol, "tol", least=0.0)
        if self.shrinkage is not None:
            real(self.shrinkage, "shrinkage", least=0.0, most=1.0)
        if self.n_components is not None:
            whole(self.n_components, "n_components", 1)
        X, y = check_labelled(self, X, y, reset=reset, min_rows=min_rows)
        return drop_zero_weights(X, y, weights_or_ones(sample_weight, X.shape[0]))

    def _total(self, sums: Moments) -> tuple[Rooted, Array]:
        """Return the factorised covariance of all rows, and M with the covariance MMᵀ of the slice means."""
        self.mean_ = sums.mean
        M = _centred_means(sums)
        s, count = float(self.shrinkage or 0.0), int(sums.rows.sum())
        if not varies(sums):
            raise ValueError("X is constant, so that it has no directions; give data that vary")

        def form() -> Array:
            T = dsyrk(1.0, M, beta=1.0, c=sums.within(), overwrite_c=1)
            mean = T.trace() / len(T)
            T *= 1 - s
            T[np.diag_indices_from(T)] += s * mean
            return T

        floor = rounding_variance(count, sums.means)
        B = definite(form, 0 * floor if s else floor, self.b_policy, self.tol, ADVICE)
        full = "With no more rows than dimensions, X explains any response; give a shrinkage."
        self.b_report_ = " ".join(filter(None, [B.describe(), full * (not s and B.rank >= count - 1)]))
        return B, M

    def _keep(self, values: Array, directions: Array, slicing: Slicing) -> Self:
        """Set the attributes of the solution; the entry of largest magnitude of each direction is positive."""
        largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=0)[None], axis=0)
        self.directions_ = np.ascontiguousarray((directions * np.where(largest < 0, -1, 1)).T)
        self.eigenvalues_ = values
        self.n_slices_ = slicing.count
        self.slices_ = slicing.begins if slicing.labels is None else slicing.labels
        self._n_features_out = values.size
        return self


def _centred_means(sums: Moments) -> Array:
    """Return M with the covariance MMᵀ of the means of the slices."""
    return np.asfortranarray((sums.means - sums.mean).T * np.sqrt(sums.weights / sums.total))


def varies(sums: Moments) -> bool:
    """Return whether any column is not constant."""
    within = np.sum([scatter.diagonal() for scatter in sums.scatter], axis=0) / sums.total
    M = _centred_means(sums)
    variances = within + np.einsum("ij,ij->i", M, M)
    return any_varies(variances, rounding_variance(int(sums.rows.sum()), sums.means))


def canonical_basis(values: Array, directions: Array) -> Array:
    """Rotate the directions of equal eigenvalues such that they are orthogonal, in ascending order of length.

    Any basis of an eigenspace is valid; without this one rounding would determine it.
    """
    found = directions.copy()
    apart = np.flatnonzero(-np.diff(values) > EQUAL_TOL * np.abs(values).max(initial=0.0)) + 1
    for some in np.split(np.arange(values.size), apart):
        if some.size > 1:
            turn = np.linalg.svd(directions[:, some], full_matrices=False)[2]
            found[:, some] = directions[:, some] @ turn[::-1].T
    return found
