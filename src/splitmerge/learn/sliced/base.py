"""Base class of the estimators of directions that explain a response."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...checks import real, whole
from ...linalg.reductions import phases
from ...problem.b_policy import check_policy
from ...typing import Array
from ..covariance.definite import Definite
from ..dask.blocks import Blocks
from ..dask.estimators import check_labelled, per_block
from ..data.inputs import drop_zero_weights, weights_or_ones
from ..data.rows import Rows
from ..data.tables import ACCEPTED
from .formula import Design, read_formula
from .route import Size
from .total import Options

# Eigenvalues with a smaller difference, relative to the largest, are treated as equal.
EQUAL_TOL = 1e-9
# Relative residual of eigenpairs that are computed by `splitmerge.solve`.
RESIDUAL_TOL = 1e-10
FULL = "With no more rows than dimensions, X explains any response; give a shrinkage."


class Directions(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """An estimator of directions whose B is the covariance T of all rows."""

    n_components: int | None
    shrinkage: float | None
    b_policy: str
    tol: float
    _design: Design

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @abstractmethod
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with the response y."""

    @classmethod
    def from_formula(cls, formula: str, data: Any, **parameters: Any) -> Self:
        """Return an estimator with the given parameters that is fitted to columns of a DataFrame.

        `formula` is "y ~ x1 + x2 + np.log(x3)", read by formulaic or patsy. The constant column is left out, as it has
        no direction, and rows with missing values are dropped. The left side is one numerical column, or the name of a
        column of labels. `transform` then takes a DataFrame with the columns that the formula names.
        """
        y, X, design = read_formula(formula, data)
        model = cls(**parameters).fit(X, y)
        model._design = design
        return model

    def transform(self, X: Any) -> Any:
        """Project the rows, centred about `mean_`, onto the directions."""
        check_is_fitted(self, "directions_")
        return self._project(self._design(X) if hasattr(self, "_design") else X)

    @per_block
    def _project(self, X: Any) -> Array:
        X = validate_data(self, X, reset=False, **ACCEPTED)
        return np.asarray(X @ self.directions_.T - self.mean_ @ self.directions_.T)

    def _rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool, min_rows: int = 1) -> tuple[Any, Array, Array]:
        """Check the parameters and the data; rows without weight are dropped."""
        self._options()
        if self.n_components is not None:
            whole(self.n_components, "n_components", 1)
        X, y = check_labelled(self, X, y, reset=reset, min_rows=min_rows)
        if reset:
            self.__dict__.pop("_design", None)
        return drop_zero_weights(X, y, weights_or_ones(sample_weight, X.shape[0]))

    def _options(self) -> Options:
        s = 0.0 if self.shrinkage is None else real(self.shrinkage, "shrinkage", least=0.0, most=1.0)
        return Options(s, check_policy(self.b_policy), real(self.tol, "tol", least=0.0))

    def _report(self, B: Definite, rank: int, count: int) -> None:
        """Tell in `b_report_` what was done to a singular T, and that the rank explains `count` rows."""
        full = not self.shrinkage and rank >= count - 1
        self.b_report_ = " ".join(filter(None, [B.describe(), FULL * full]))

    def _keep(self, values: Array, directions: Array, mean: Array, route: str) -> Self:
        """Set the attributes of the solution; the entry of largest magnitude of each direction is positive."""
        self.directions_ = np.ascontiguousarray((directions * phases(directions)).T)
        self.eigenvalues_, self.mean_, self.route_ = values, mean, route
        self._n_features_out = values.size
        return self


def size_of(X: Any, slices: int) -> Size:
    """Return what the choice of a route needs to know of checked rows."""
    if isinstance(X, Blocks):
        return Size(*X.shape, X.shape[0] * X.shape[1], slices, dask=True)
    rows = Rows(X)
    return Size(rows.rows, rows.columns, rows.entries, slices, sparse=rows.sparse)


def canonical_basis(values: Array, directions: Array) -> Array:
    """Rotate the directions of equal eigenvalues such that they are orthogonal, in ascending order of length.

    Any basis of an eigenspace is valid; without this one rounding would determine it.
    """
    found = directions.copy()
    apart = np.flatnonzero(np.abs(np.diff(values)) > EQUAL_TOL * np.abs(values).max(initial=0.0)) + 1
    for some in np.split(np.arange(values.size), apart):
        if some.size > 1:
            turn = np.linalg.svd(directions[:, some], full_matrices=False)[2]
            found[:, some] = directions[:, some] @ turn[::-1].T
    return found
