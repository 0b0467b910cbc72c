"""Lists of views, as in cca_zoo: names of columns, scores, and reconstructions from some of the views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from warnings import warn

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.validation import check_is_fitted

from ...typing import Array
from ..data.inputs import is_dask
from ..data.tables import check_complete, check_table, project


@dataclass(frozen=True, eq=False)
class FittedView:
    """A view of a fitted model; `loadings` are regressions on its scores, `shared` on the mean of all views' scores."""

    mean: Array
    spread: Array
    rotations: Array
    loadings: Array
    shared: Array

    def scores(self, X: Any) -> Any:
        """Return the scores of rows X."""
        return project(X, self.mean, self.spread, self.rotations)

    def rows(self, scores: Any, loadings: Array) -> Any:
        """Return the least-squares reconstruction from scores."""
        return scores @ loadings.T * self.spread + self.mean


class Columns:
    """What scikit-learn asks an estimator for when it frames scores: names of the columns, and the kind of frame."""

    _sklearn_auto_wrap_output_keys = frozenset({"transform"})

    def __init__(self, model: Any, names: Array) -> None:
        self._sklearn_output_config = vars(model).get("_sklearn_output_config", {})
        self._names = names

    def get_feature_names_out(self) -> Array:
        """Return the names of the components."""
        return self._names


class Listed:
    """Base of an estimator that takes a list of views; `_sizes` has their numbers of columns.

    `_by_list` tells whether it was fitted to a list. Its `transform` is not wrapped by scikit-learn, which would frame
    the scores of the first view only.
    """

    _sizes: list[int]
    _by_list: bool
    feature_names_per_view_: list[Any]
    feature_importances_per_view_: list[Any]

    def _fitted(self) -> list[FittedView]:
        """Return the views of the fitted model."""
        raise NotImplementedError

    @property
    def weights_(self) -> list[Array]:
        """For each view, the factors of its scaled columns, as in cca_zoo."""
        check_is_fitted(self)
        return [view.rotations for view in self._fitted()]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the components; after a fit to a list, a list with the names for each view."""
        names = ClassNamePrefixFeaturesOutMixin.get_feature_names_out(self, input_features)
        return [names.copy() for _ in self._sizes] if self._by_list else names

    def _framed(self, scores: Any, rows: Any) -> Any:
        """Return the scores, as a frame if `set_output` asks for it."""
        names = ClassNamePrefixFeaturesOutMixin.get_feature_names_out(self)
        return _wrap_data_with_container("transform", scores, rows, Columns(self, names))

    def _checked_list(self, views: Sequence[Any]) -> list[Any]:
        """Check views with the fitted columns and the same rows; None stands for a view that is not given."""
        check_is_fitted(self)
        if len(views) != len(self._sizes):
            raise ValueError(f"Expected {len(self._sizes)} views, got {len(views)}; give the same views as in fit")
        for i, names in enumerate(vars(self).get("feature_names_per_view_", [])):
            if views[i] is not None:
                self._check_names(i, column_names(views[i]), names)
        checked = [
            None if view is None else check_table(view, f"View {i}", size)
            for i, (view, size) in enumerate(zip(views, self._sizes, strict=True))
        ]
        known = [view for view in checked if view is not None]
        if not any(map(is_dask, known)) and len({view.shape[0] for view in known}) > 1:
            raise ValueError("the views have different numbers of rows; give the same number of samples in each")
        return checked

    def _check_names(self, i: int, given: Array | None, fitted: Array | None) -> None:
        """Compare the names of columns as scikit-learn does for one table."""
        name = type(self).__name__
        if given is None and fitted is not None:
            warn(f"View {i} does not have valid feature names, but {name} was fitted with feature names", stacklevel=4)
        elif given is not None and fitted is None:
            warn(f"View {i} has feature names, but {name} was fitted without feature names", stacklevel=4)
        elif given is not None and fitted is not None and not np.array_equal(given, fitted):
            raise ValueError(
                f"The feature names of view {i} should match those that were passed during fit: "
                f"{_few(fitted)}; they are {_few(given)}"
            )

    def _scores_of_list(self, views: Sequence[Any]) -> tuple[Any, ...]:
        """Return the scores of each view, as frames if `set_output` asks for them."""
        checked = self._checked_list(check_complete(views))
        return tuple(
            self._framed(fitted.scores(rows), view)
            for fitted, rows, view in zip(self._fitted(), checked, views, strict=True)
        )

    def _predict_list(self, views: Sequence[Any]) -> tuple[Any, ...]:
        """Reconstruct all views from the mean of the scores of the known ones."""
        checked, fitted = self._checked_list(views), self._fitted()
        found = [view.scores(X) for view, X in zip(fitted, checked, strict=True) if X is not None]
        if not found:
            raise ValueError("At least one view must be given; all are None")
        mean = sum(found) / len(found)
        return tuple(view.rows(mean, view.shared) for view in fitted)

    def _invert_list(self, scores: Sequence[Any]) -> tuple[Any, ...]:
        """Reconstruct each view from its scores."""
        check_is_fitted(self)
        check_complete(scores)
        fitted = self._fitted()
        if len(scores) != len(fitted):
            raise ValueError(f"Expected {len(fitted)} score arrays, got {len(scores)}; give those of all views")
        k = fitted[0].rotations.shape[1]
        checked = [check_table(each, f"scores[{i}]", k) for i, each in enumerate(scores)]
        return tuple(view.rows(S, view.loadings) for view, S in zip(fitted, checked, strict=True))


def column_names(view: Any) -> Array | None:
    """Return the names of the columns of a frame; None for an array, or for columns that are not named by strings."""
    names = list(getattr(view, "columns", []))
    return np.array(names, dtype=object) if names and all(isinstance(name, str) for name in names) else None


def _few(names: Array) -> str:
    return ", ".join(names[:5]) + ", …" * (len(names) > 5)


def shared_loadings(vectors: Sequence[Array], own: Sequence[Array], others: Sequence[Array]) -> list[Array]:
    """Return the regressions of the scaled columns of each view on the mean of the scores of all views."""
    covariances = [(C + D) / len(vectors) for C, D in zip(own, others, strict=True)]
    variance = np.add.reduce([V.T @ C for V, C in zip(vectors, covariances, strict=True)]) / len(vectors)
    inverse = np.linalg.pinv((variance + variance.T) / 2, hermitian=True)
    return [C @ inverse for C in covariances]


def importances(vectors: Sequence[Array], variances: Sequence[Array]) -> list[Array]:
    """Return each column's share of the sum of the variances that the columns of its view contribute to the scores."""
    found = [v * (V**2).sum(axis=1) for V, v in zip(vectors, variances, strict=True)]
    return [each / (each.sum() or 1.0) for each in found]
