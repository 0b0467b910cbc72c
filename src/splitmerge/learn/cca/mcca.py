"""Canonical correlation analysis of several views."""

from __future__ import annotations

from collections.abc import Sized
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...checks import whole
from ...typing import Array
from ..dask.dispatch import joint_of
from ..data.joint import Joint, parts_of
from ..data.tables import check_complete, check_features, check_table, is_list_of_tables, project
from .components import mean_correlations
from .listed import FittedView, Listed, column_names, importances, shared_loadings
from .request import Analysis
from .streaming import Accumulated, loadings_of


class Transformer(Listed):
    """`transform` and `fit_transform` of MCCA, outside of the class, as scikit-learn wraps those in a class."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Compute the directions."""
        raise NotImplementedError

    def _consensus(self, X: Any) -> Any:
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return what `transform` does."""
        return self.fit(X, y, sample_weight).transform(X)

    def transform(self, X: Any) -> Any:
        """Return a tuple of the scores of each view; for one table, the mean of the views' scores."""
        check_is_fitted(self)
        return self._scores_of_list(X) if is_list_of_tables(X) else self._framed(self._consensus(X), X)


class MCCA(
    Accumulated,
    Transformer,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Directions in several views whose scores have maximal correlation, summed over all pairs of views.

    They maximise Σᵢ≠ⱼ uᵢᵀCᵢⱼuⱼ subject to Σᵢ uᵢᵀ(Cᵢᵢ + ridgeᵢ I)uᵢ = m, the number of views: the eigenvectors of the
    largest eigenvalues of a pair (A, B), which is formed only if that is cheaper. For two views this is `CCA`.

    Parameters
    ----------
    views
        For data in one table: a list with the columns of each view (slices or lists of indices), or the number of
        columns of each view. None: every column is a view; this is a principal component analysis of correlations.
    n_components, scale, tol, ridge, c, center, ddof, b_policy, solver, warm_start, random_state
        As for `CCA`; `ridge` and `c` are one number or one per view.

    Attributes
    ----------
    eigenvalues_
        (n_components,), descending, between −1 and m − 1
    correlations_
        the eigenvalues divided by m − 1; 1 for views that agree completely
    rotations_
        for each view, the factors of its scaled columns
    loadings_
        for each view, the least-squares coefficients of its scaled columns on its scores
    means_, deviations_
        for each view, the means and the divisors of its columns
    route_, b_report_, solution_, n_features_in_
        as for `CCA`; the number of features is that of all views
    feature_names_per_view_, feature_importances_per_view_
        for each view as for `CCA`; for one table there are `feature_names_in_` in place of the names

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> common = rng.standard_normal((300, 1))
    >>> views = [common @ rng.standard_normal((1, p)) + 0.1 * rng.standard_normal((300, p)) for p in (3, 4, 5)]
    >>> mcca = MCCA(n_components=1).fit(views)
    >>> bool(mcca.correlations_[0] > 0.98)
    True
    >>> [scores.shape for scores in mcca.transform(views)]
    [(300, 1), (300, 1), (300, 1)]
    """

    # After partial_fit these are computed when one of them is accessed.
    LEARNED: ClassVar[frozenset[str]] = frozenset(
        {
            *("eigenvalues_", "correlations_", "rotations_", "loadings_", "deviations_", "n_components_"),
            *("route_", "b_report_", "solution_", "_n_features_out", "_shared", "feature_importances_per_view_"),
        }
    )

    means_: list[Array]
    _columns: list[Any] | None
    _shared: list[Array]

    def __init__(
        self,
        n_components: int = 2,
        *,
        views: Any = None,
        scale: bool = True,
        tol: float = 1e-8,
        ridge: Any = 0.0,
        c: Any = 0.0,
        center: bool = True,
        ddof: int = 0,
        b_policy: str = "warn",
        solver: str = "auto",
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.views = views
        self.scale = scale
        self.tol = tol
        self.ridge = ridge
        self.c = c
        self.center = center
        self.ddof = ddof
        self.b_policy = b_policy
        self.solver = solver
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MCCA:
        """Fit to a list of views (n, pᵢ), or to one table whose columns are assigned to views by `views`."""
        self._check_flags()
        start = self._start()
        joint = self._joint(self._data(X, reset=True), sample_weight, scale=self.scale)
        self.means_ = joint.split(joint.mean)
        self._analyse(joint, start)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MCCA:
        """Add rows of the same views; the result is that of a fit to all rows together.

        As for `CCA`, the means and co-moments of all columns are kept, and the components are computed on access.
        """
        self._check_flags()
        begun = self._is_begun()
        joint = self._joint(self._data(X, reset=not begun), sample_weight, scale=False)
        self.means_ = joint.split(self._accumulate(joint, _names(joint.sizes)).mean)
        return self

    def _data(self, X: Any, *, reset: bool) -> list[Any]:
        """Return the views; with `reset` their columns are stored, otherwise they are compared."""
        if is_list_of_tables(X):
            return self._listed(X, reset=reset)
        if not reset:
            self._refuse_table()
        X = check_features(self, X, reset=reset, min_rows=2 if reset else 1)
        if reset:
            self.__dict__.pop("feature_names_per_view_", None)
            self._by_list = False
            self._columns = columns_of(self.views, X.shape[1])
        return [X[:, columns] for columns in self._columns or []]

    def _refuse_table(self) -> None:
        if self._columns is None:
            raise ValueError("X is one table, but a list of views was fitted; give a list of views")

    def _listed(self, views: Any, *, reset: bool) -> list[Any]:
        check_complete(views)
        if not reset:
            return self._checked_list(views)
        data = [check_table(view, f"View {i}") for i, view in enumerate(views)]
        self._columns, self._by_list = None, True
        self.n_features_in_ = sum(int(view.shape[1]) for view in data)
        self.feature_names_per_view_ = [column_names(view) for view in views]
        self.__dict__.pop("feature_names_in_", None)
        return data

    def _joint(self, data: list[Any], weights: Any, *, scale: bool) -> Joint:
        return joint_of(data, weights, center=self.center, scale=scale, names=_names(data))

    def _names(self) -> list[str]:
        return _names(self._sizes)

    def _count(self, sizes: list[int]) -> int:
        k = whole(self.n_components, "n_components", 1)
        if self._columns is None or self.views is not None:
            return k
        # views of one column have as many components as columns; two of them have one
        return min(k, sum(sizes) if len(sizes) > 2 else 1)

    def _take(self, found: Analysis, spread: Array) -> None:
        self.eigenvalues_ = found.values
        self.correlations_ = found.values / (len(self._sizes) - 1)
        self.n_components_ = self._n_features_out = len(found.values)
        self.deviations_ = [spread[part] for part in parts_of(self._sizes)]
        self.rotations_ = found.vectors
        self.loadings_ = loadings_of(found.vectors, found.own)[0]
        self._shared = shared_loadings(found.vectors, found.own, found.others)
        self.feature_importances_per_view_ = importances(found.vectors, found.variances)
        self.route_, self.b_report_, self.solution_ = found.route, tuple(found.reports), found.solution

    def inverse_transform(self, X: Any) -> Any:
        """Return the least-squares reconstruction of each view from its scores, for a list of the scores."""
        if not is_list_of_tables(X):
            raise ValueError("X must be a list of the scores of each view, as transform returns for a list of views")
        return self._invert_list(X)

    # scikit-learn's estimators of one table predict a target, and MCCA has none
    @available_if(lambda self: vars(self).get("_columns", ()) is None)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Reconstruct all views of a list, in which None stands for a view that is not known.

        The regressions are those on the mean of the scores of all views, in place of which there is that of the known
        ones. The method exists after a fit to a list.
        """
        return self._predict_list(X)

    def _fitted(self) -> list[FittedView]:
        each = (self.means_, self.deviations_, self.rotations_, self.loadings_, self._shared)
        return [FittedView(*view) for view in zip(*each, strict=True)]

    def _consensus(self, X: Any) -> Any:
        """Return the mean of the views' scores, by one product with the table."""
        self._refuse_table()
        X = check_features(self, X, reset=False)
        means, deviations = np.zeros(X.shape[1]), np.ones(X.shape[1])
        rotations = np.zeros((X.shape[1], self.n_components_))
        views = zip(self._columns or [], self.means_, self.deviations_, self.rotations_, strict=True)
        for columns, mean, spread, R in views:
            means[columns], deviations[columns] = mean, spread
            rotations[columns] = R / len(self.rotations_)
        return project(X, means, deviations, rotations)

    def correlations(self, X: Any, sample_weight: Any = None) -> Array:
        """Return the correlation of the scores of these samples by component, averaged over all pairs of views."""
        check_is_fitted(self)
        views = zip(self._fitted(), self._data(X, reset=False), strict=True)
        return mean_correlations([view.scores(rows) for view, rows in views], sample_weight)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of `correlations`, to select a ridge by cross-validation."""
        return float(self.correlations(X, sample_weight).mean())

    def _start(self) -> Array | None:
        """Return the vectors of the last fit for a warm start."""
        return np.concatenate(self.rotations_) if self.warm_start and "rotations_" in vars(self) else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _names(views: Sized) -> list[str]:
    return [f"view {i}" for i in range(len(views))]


def columns_of(views: Any, count: int) -> list[Any]:
    """Return the columns of each view; they must not overlap."""
    if count < 2:
        raise ValueError(f"X has n_features = {count}; at least two columns are needed, one per view")
    if views is None:
        return [slice(i, i + 1) for i in range(count)]
    given = list(views)
    if all(isinstance(size, (int, np.integer)) for size in given):
        ends = np.cumsum([0, *(whole(size, "views", 1) for size in given)])
        given = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        if ends[-1] != count:
            raise ValueError(f"views has {ends[-1]} columns, but X has {count}; give sizes with this sum")
    everything = np.arange(count)
    parts = [everything[columns] for columns in given]
    taken = np.concatenate(parts) if parts else everything[:0]
    if len(parts) < 2 or not all(len(part) for part in parts) or len(np.unique(taken)) < len(taken):
        raise ValueError("views must list the columns of at least two views, with each column in one view only")
    return given
