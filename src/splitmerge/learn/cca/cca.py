"""Canonical correlation analysis of two views."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from ...checks import real, whole
from ...typing import Array
from ..dask.dispatch import joint_of
from ..data.inputs import is_dask
from ..data.joint import Joint
from ..data.tables import check_features, check_table
from ..moments.moments import Comoments
from .analysis import Analysis, Request, analyse, analyse_moments
from .components import PairedComponents

# Attributes of the solution. After partial_fit they are computed when one of them is accessed.
LEARNED = {
    *("correlations_", "x_weights_", "y_weights_", "x_rotations_", "y_rotations_", "x_loadings_", "y_loadings_"),
    *("n_components_", "route_", "b_report_", "solution_", "_coefficients", "_x_std", "_y_std", "_n_features_out"),
}

# `fit` keeps the co-moments for a later `partial_fit` up to this number of columns (8 MB).
MAX_KEPT_COLUMNS = 1000


class CCA(PairedComponents):
    """Canonical correlation analysis: directions of X and of y whose scores have maximal correlation.

    All components are computed from one generalised eigenproblem (A, B) of the covariances. For large sparse data it is
    solved by products with X and y, without forming the covariances. `route_` tells which way was chosen and why.

    Parameters
    ----------
    n_components
        Number of pairs of directions, at most the smaller number of columns. If one side has a single column, there is
        one component for any value.
    ridge
        Added to the variances of both views, or a pair of numbers (X, y). 0 is classical CCA; wide data need a
        positive ridge.
    scale
        Divide the columns by their standard deviations. Without a ridge this only changes the units.
    tol
        Relative residual of an iterative solution. Covariances that are formed are decomposed to working precision.
    b_policy
        For views with a singular covariance (constant or linearly dependent columns, or no more rows than columns) and
        no ridge: "error" raises; "ridge" adds the smallest ridge that makes the covariance positive definite;
        "restrict" restricts the view to the span of its rows, where all correlations are 1 if there are fewer rows than
        columns. `b_report_` tells what was done. With a single column this is least squares, and "error" returns the
        minimum-norm solution, as "restrict" does.
    solver
        "formed" (covariance matrices), "operators" (products with the data) or "auto": the cheaper one.
    warm_start
        Start an iteration from the vectors of the last fit, for example along a path of ridges.
    random_state
        Seed of the iteration.

    Attributes
    ----------
    correlations_
        (n_components,), descending; with a ridge they are shrunk (see `correlations`)
    x_weights_, y_weights_, x_rotations_, y_rotations_
        the scores are (X − mean) / deviation times these, with
        variance 1 (including the ridge); without deflation, weights and rotations are equal
    x_loadings_, y_loadings_
        least-squares coefficients of the scaled columns on the scores
    coef_, intercept_
        y ≈ X coef_.T + intercept_, the least-squares fit of y on the scores of X; computed on access
    route_, b_report_, solution_
        the route and its reason, the `BReport` of each view, the `Solution` of an iteration
    n_features_in_, feature_names_in_
        of X

    Examples
    --------
    >>> import splitmerge as sm
    >>> X, y = sm.gallery.two_views(200, 5, 4, [0.9, 0.6], exact=True, rng=0)
    >>> cca = CCA(n_components=2).fit(X, y)
    >>> cca.correlations_.round(10)
    array([0.9, 0.6])
    >>> x_scores, y_scores = cca.transform(X, y)
    >>> np.corrcoef(x_scores[:, 0], y_scores[:, 0])[0, 1].round(10)
    np.float64(0.9)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        ridge: Any = 0.0,
        scale: bool = True,
        tol: float = 1e-8,
        b_policy: str = "error",
        solver: str = "auto",
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.scale = scale
        self.tol = tol
        self.b_policy = b_policy
        self.solver = solver
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CCA:
        """Fit to X (n, p) and y (n,) or (n, q): dense, sparse, memory-mapped or Dask arrays."""
        start = self._start()
        joint = self._views(X, y, sample_weight, reset=True, scale=self.scale)
        self._moments: Comoments | None = None
        self._x_mean, self._y_mean = joint.split(joint.mean)
        found = analyse(joint, self._request(joint.sizes, start))
        self._take(found, joint.spread)
        if found.covariance is not None and joint.columns <= MAX_KEPT_COLUMNS:
            squares = joint.total * found.covariance * np.multiply.outer(joint.spread, joint.spread)
            self._moments = Comoments(joint.total, joint.mean, squares, joint.samples)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> CCA:
        """Add rows; the result is that of a fit to all rows together.

        The means and co-moments of all columns are kept. The components are computed on access, so that early batches
        may have fewer rows than columns. Rows can be added to a `fit` that formed the covariances of at most 1000
        columns.
        """
        moments: Comoments | None = vars(self).get("_moments")
        first = moments is None
        if first and "correlations_" in vars(self):
            raise ValueError("the last fit did not keep its co-moments (see route_); begin with partial_fit on a clone")
        joint = self._views(X, y, sample_weight, reset=first, scale=False)
        if moments is not None and joint.columns != len(moments.mean):
            raise ValueError(
                f"y has {joint.sizes[1]} columns, but {len(self._y_mean)} were fitted; give the same columns"
            )
        more = Comoments.of(joint)
        moments = self._moments = more if moments is None else moments + more
        self._x_mean, self._y_mean = joint.split(moments.mean)
        for name in LEARNED & vars(self).keys():
            delattr(self, name)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the scores of X and of y as a pair, as scikit-learn's CCA does."""
        return self.fit(X, y, sample_weight).transform(X, y)

    def __getattr__(self, name: str) -> Any:
        moments = vars(self).get("_moments")
        if name not in LEARNED or moments is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        sizes = [len(self._x_mean), len(self._y_mean)]
        self._take(*analyse_moments(moments, sizes, self._request(sizes, None), scale=self.scale))
        return vars(self)[name]

    def _views(self, X: Any, y: Any, weights: Any, *, reset: bool, scale: bool) -> Joint:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if not is_dask(X) and not is_dask(y):
            check_consistent_length(X, y)
        X = check_features(self, X, reset=reset, min_rows=2 if reset else 1)
        y = y if hasattr(y, "ndim") else np.asarray(y)
        self._predict_1d = y.ndim == 1
        return joint_of([X, check_table(y, "y", vector=True)], weights, scale=scale, names=("X", "y"))

    def _request(self, sizes: list[int], start: Array | None) -> Request:
        k = whole(self.n_components, "n_components", 1)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return Request(
            k=1 if min(sizes) == 1 else k,
            ridge=self.ridge,
            tol=real(self.tol, "tol", below=1),
            policy=self.b_policy,
            solver=self.solver,
            seed=seed,
            names=("X", "y"),
            start=start,
        )

    def _start(self) -> Array | None:
        """Return the vectors of the last fit for a warm start."""
        if not self.warm_start or "x_rotations_" not in vars(self):
            return None
        return np.concatenate([self.x_rotations_, self.y_rotations_])

    def _take(self, found: Analysis, spread: Array) -> None:
        U, V = found.vectors
        self._x_std, self._y_std = spread[: len(U)], spread[len(U) :]
        self.correlations_ = np.clip(found.values, 0.0, 1.0)
        self.n_components_ = self._n_features_out = len(self.correlations_)
        self.x_weights_ = self.x_rotations_ = U
        self.y_weights_ = self.y_rotations_ = V
        # regressions on the scores, whose variance is not 1 with a ridge
        inverses = [np.linalg.pinv(W.T @ CW, hermitian=True) for W, CW in zip((U, V), found.own, strict=True)]
        self.x_loadings_, self.y_loadings_ = (CW @ M for CW, M in zip(found.own, inverses, strict=True))
        self._coefficients = (found.second_from_first @ inverses[0]).T * self._y_std
        self.route_, self.b_report_, self.solution_ = found.route, tuple(found.reports), found.solution

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
