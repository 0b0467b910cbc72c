"""What estimators with slices of a response have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.linalg.blas import dsyrk
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...checks import real, whole
from ...typing import Array
from ..covariance.definite import Rooted, check_policy, definite, rounding, vary
from ..dask.blocks import per_block
from ..data.arguments import keep_positive, weights_of
from ..data.tables import ACCEPTED, labelled
from ..moments.moments import Moments
from .slicing import Slicing

# Values that differ by less of the largest are taken to be one.
EQUAL = 1e-9
ADVICE = "the covariance of X is singular; give a shrinkage"


class Sliced(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """What they have in common: B is the covariance T of all rows, and transforming is projecting."""

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
        """The rows about `mean_`, along the directions."""
        check_is_fitted(self, "directions_")
        X = validate_data(self, X, reset=False, **ACCEPTED)
        return np.asarray(X @ self.directions_.T - self.mean_ @ self.directions_.T)

    def _rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool, least: int = 1) -> tuple[Any, Array, Array]:
        check_policy(self.b_policy)
        real(self.tol, "tol", least=0.0)
        if self.shrinkage is not None:
            real(self.shrinkage, "shrinkage", least=0.0, most=1.0)
        if self.n_components is not None:
            whole(self.n_components, "n_components", 1)
        X, y = labelled(self, X, y, reset=reset, at_least=least)
        return keep_positive(X, y, weights_of(sample_weight, X.shape[0]))

    def _total(self, sums: Moments) -> tuple[Rooted, Array]:
        """The covariance of all rows in a form to solve with, and M for the covariance MMᵀ of the slices' means."""
        self.mean_ = sums.mean
        M = _about(sums)
        s, count = float(self.shrinkage or 0.0), int(sums.rows.sum())
        if not varies(sums):
            raise ValueError("X is constant: there is no direction to be found")

        def form() -> Array:
            T = dsyrk(1.0, M, beta=1.0, c=sums.within(), overwrite_c=1)
            mean = T.trace() / len(T)
            T *= 1 - s
            T[np.diag_indices_from(T)] += s * mean
            return T

        floor = rounding(count, sums.means)
        B = definite(form, 0 * floor if s else floor, self.b_policy, self.tol, ADVICE)
        full = "There are no more rows than dimensions, so that they explain any response; a shrinkage would help."
        self.b_report_ = " ".join(filter(None, [B.story, full * (not s and B.rank >= count - 1)]))
        return B, M

    def _keep(self, values: Array, directions: Array, slicing: Slicing) -> Self:
        """Set the attributes."""
        largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=0)[None], axis=0)
        # the largest entry of each is positive
        self.directions_ = np.ascontiguousarray((directions * np.where(largest < 0, -1, 1)).T)
        self.eigenvalues_ = values
        self.n_slices_ = slicing.count
        self.slices_ = slicing.begins if slicing.labels is None else slicing.labels
        self._n_features_out = values.size
        return self


def _about(sums: Moments) -> Array:
    """M, for the covariance MMᵀ of the means of the slices."""
    return np.asfortranarray((sums.means - sums.mean).T * np.sqrt(sums.weights / sums.total))


def varies(sums: Moments) -> bool:
    """Is any column other than constant?"""
    within = np.sum([scatter.diagonal() for scatter in sums.scatter], axis=0) / sums.total
    M = _about(sums)
    variances = within + np.einsum("ij,ij->i", M, M)
    return vary(variances, rounding(int(sums.rows.sum()), sums.means))


def settled(values: Array, directions: Array) -> Array:
    """The directions, those of equal values turned so that they come by their length, the shortest first.

    Otherwise rounding would turn them.
    """
    found = directions.copy()
    apart = np.flatnonzero(-np.diff(values) > EQUAL * np.abs(values).max(initial=0.0)) + 1
    for some in np.split(np.arange(values.size), apart):
        if some.size > 1:
            turn = np.linalg.svd(directions[:, some], full_matrices=False)[2]
            found[:, some] = directions[:, some] @ turn[::-1].T
    return found
