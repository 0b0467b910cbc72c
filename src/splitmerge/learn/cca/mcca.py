"""Canonical correlation analysis of several views."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...checks import real, whole
from ...typing import Array
from ..dask.dispatch import joint_of
from ..data.joint import Joint
from ..data.tables import check_features, check_table, project
from .analysis import Request, analyse


class MCCA(
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
    n_components, ridge, scale, tol, b_policy, solver, warm_start, random_state
        As for `CCA`; `ridge` is one number or one per view.

    Attributes
    ----------
    eigenvalues_
        (n_components,), descending, between −1 and m − 1
    correlations_
        the eigenvalues divided by m − 1; 1 for views that agree completely
    rotations_
        for each view, the factors of its scaled columns
    means_, deviations_
        for each view, the means and the divisors of its columns
    route_, b_report_, solution_, n_features_in_
        as for `CCA`; the number of features is that of all views

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

    def __init__(
        self,
        n_components: int = 2,
        *,
        views: Any = None,
        ridge: Any = 0.0,
        scale: bool = True,
        tol: float = 1e-8,
        b_policy: str = "error",
        solver: str = "auto",
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.views = views
        self.ridge = ridge
        self.scale = scale
        self.tol = tol
        self.b_policy = b_policy
        self.solver = solver
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MCCA:
        """Fit to a list of views (n, pᵢ), or to one table whose columns are assigned to views by `views`."""
        start = self._start()
        self._columns = None
        if _is_list_of_tables(X):
            data = [check_table(view, f"X[{i}]") for i, view in enumerate(X)]
            self.n_features_in_ = sum(int(view.shape[1]) for view in data)
            self.__dict__.pop("feature_names_in_", None)
        else:
            X = check_features(self, X, reset=True, min_rows=2)
            self._columns = columns_of(self.views, X.shape[1])
            data = [X[:, columns] for columns in self._columns]
        names = [f"view {i}" for i in range(len(data))]
        joint = joint_of(data, sample_weight, scale=self.scale, names=names)
        found = analyse(joint, self._request(joint, names, start))
        self.eigenvalues_ = found.values
        self.correlations_ = found.values / (len(data) - 1)
        self.n_components_ = self._n_features_out = len(found.values)
        self.means_, self.deviations_ = joint.split(joint.mean), joint.split(joint.spread)
        self.rotations_ = found.vectors
        self.route_, self.b_report_, self.solution_ = found.route, tuple(found.reports), found.solution
        return self

    def _request(self, joint: Joint, names: list[str], start: Array | None) -> Request:
        k = whole(self.n_components, "n_components", 1)
        if self._columns is not None and self.views is None:
            # views of one column have as many components as columns; two of them have one
            k = min(k, joint.columns if joint.columns > 2 else 1)
        return Request(
            k=k,
            ridge=self.ridge,
            tol=real(self.tol, "tol", below=1),
            policy=self.b_policy,
            solver=self.solver,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            names=names,
            start=start,
        )

    def transform(self, X: Any) -> Any:
        """Return a tuple of the scores of each view; for one table, the mean of the views' scores."""
        check_is_fitted(self)
        if not _is_list_of_tables(X):
            return self._consensus(check_features(self, X, reset=False))
        if len(X) != len(self.rotations_):
            raise ValueError(f"X has {len(X)} views, but {len(self.rotations_)} were fitted; give the same views")
        tables = enumerate(zip(X, self.rotations_, strict=True))
        data = [check_table(view, f"X[{i}]", len(R)) for i, (view, R) in tables]
        return tuple(project(*each) for each in zip(data, self.means_, self.deviations_, self.rotations_, strict=True))

    def _consensus(self, X: Any) -> Any:
        """Return the mean of the views' scores."""
        if self._columns is None:
            raise ValueError("X is one table, but a list of views was fitted; give a list of views")
        means, deviations = np.zeros(X.shape[1]), np.ones(X.shape[1])
        rotations = np.zeros((X.shape[1], self.n_components_))
        for columns, mean, spread, R in zip(self._columns, self.means_, self.deviations_, self.rotations_, strict=True):
            means[columns], deviations[columns] = mean, spread
            rotations[columns] = R / len(self.rotations_)
        return project(X, means, deviations, rotations)

    def _start(self) -> Array | None:
        """Return the vectors of the last fit for a warm start."""
        return np.concatenate(self.rotations_) if self.warm_start and hasattr(self, "rotations_") else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_list_of_tables(X: Any) -> bool:
    """Return whether X is a list of tables, in contrast to one table as a list of rows."""
    return isinstance(X, (list, tuple)) and bool(X) and all(getattr(view, "ndim", 0) == 2 for view in X)


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
