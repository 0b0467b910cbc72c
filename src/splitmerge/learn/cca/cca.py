"""Canonical correlation analysis of two views."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_consistent_length

from ...checks import whole
from ...typing import Array
from ..dask.dispatch import joint_of
from ..data.inputs import is_dask
from ..data.joint import Joint
from ..data.tables import check_features, check_table
from .components import PairedComponents
from .listed import column_names, importances, shared_loadings
from .request import Analysis
from .streaming import Accumulated, loadings_of


class CCA(Accumulated, PairedComponents):
    """Canonical correlation analysis: directions of X and of y whose scores have maximal correlation.

    All components are computed from one generalised eigenproblem (A, B) of the covariances. For large sparse data it is
    solved by products with X and y, without forming the covariances. `route_` tells which way was chosen and why. The
    arguments are those of scikit-learn's CCA and, for a list of two views `[X, y]` in place of X and y, of cca_zoo's.

    Parameters
    ----------
    n_components
        Number of pairs of directions, at most the smaller number of columns. If one side has a single column, there is
        one component for any value.
    scale
        Divide the columns by their standard deviations. Without a ridge this only changes the units.
    max_iter, copy
        Without effect, for calls that were written for scikit-learn: there is no power method, and X and y are never
        written to.
    tol
        Relative residual of an iterative solution. Covariances that are formed are decomposed to working precision.
    ridge
        Added to the variances of both views, or a pair of numbers (X, y). 0 is classical CCA; wide data need a
        positive ridge.
    c
        The regularisation of cca_zoo (rCCA, `shrinkage` of RidgeCCA), or a pair of numbers: the covariance C of a view
        is replaced by (1 − c) C + c I. 0 is classical CCA, 1 is partial least squares. Give `ridge` or `c`. cca_zoo's
        results are those with scale=False and ddof=1.
    center
        Subtract the means of the columns. If False, all covariances are second moments about zero, and `scale` divides
        by the root mean squares.
    ddof
        Covariances and variances are divided by n − ddof, or by the sum of the weights minus ddof. This matters to a
        ridge, to `c` and to the variance of the scores, not to correlations without them.
    b_policy
        For views with a singular covariance (constant or linearly dependent columns, or no more rows than columns) and
        no ridge: "restrict" restricts the view to the span of its rows, where all correlations are 1 if there are fewer
        rows than columns; "warn" does so with a warning, and computes fewer components if there are no more; "ridge"
        adds the smallest ridge that makes the covariance positive definite; "error" raises. `b_report_` tells what was
        done. With products in place of matrices, "warn" leaves out constant columns and raises in other cases. With a
        single column this is least squares, and "warn" and "error" return the minimum-norm solution without a word.
    solver
        "formed" (covariance matrices), "operators" (products with the data) or "auto": the cheaper one.
    warm_start
        Start an iteration from the vectors of the last fit, for example along a path of ridges.
    random_state
        Seed of the iteration.

    Attributes
    ----------
    correlations_
        (n_components,), descending; with a ridge they are shrunk (see `correlations`), and with `c` they are the
        covariances of the scores
    x_weights_, y_weights_, x_rotations_, y_rotations_
        the scores are (X − mean) / deviation times these, with
        variance 1 (including the ridge); without deflation, weights and rotations are equal
    x_loadings_, y_loadings_
        least-squares coefficients of the scaled columns on the scores: their correlations, if there is no ridge
    coef_, intercept_
        y ≈ (X − mean) coef_.T + intercept_, the least-squares fit of y on the scores of X; computed on access. As in
        scikit-learn, the intercepts are the means of y
    n_iter_
        for each component 1, or the steps of the iteration
    route_, b_report_, solution_
        the route and its reason, the `BReport` of each view, the `Solution` of an iteration
    n_features_in_, feature_names_in_
        of X
    feature_names_per_view_
        the names of the columns of X and of y; None without names
    feature_importances_per_view_
        for X and for y, the share of each column in the scores: its variance times the sum of its squared weights,
        relative to the sum over the columns

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

    # After partial_fit these are computed when one of them is accessed.
    LEARNED: ClassVar[frozenset[str]] = frozenset(
        {
            *("correlations_", "x_weights_", "y_weights_", "x_rotations_", "y_rotations_", "x_loadings_"),
            *("y_loadings_", "n_components_", "n_iter_", "route_", "b_report_", "solution_", "_coefficients"),
            *("_x_std", "_y_std", "_n_features_out", "_shared", "feature_importances_per_view_"),
        }
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        scale: bool = True,
        max_iter: int = 500,
        tol: float = 1e-8,
        copy: bool = True,
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
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy
        self.ridge = ridge
        self.c = c
        self.center = center
        self.ddof = ddof
        self.b_policy = b_policy
        self.solver = solver
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> CCA:
        """Fit to X (n, p) and y (n,) or (n, q): dense, sparse, memory-mapped or Dask arrays; or to a list [X, y]."""
        self._check_flags()
        start = self._start()
        joint = self._views(X, y, sample_weight, reset=True, scale=self.scale)
        self._x_mean, self._y_mean = joint.split(joint.mean)
        self._analyse(joint, start)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> CCA:
        """Add rows; the result is that of a fit to all rows together.

        The means and co-moments of all columns are kept. The components are computed on access, so that early batches
        may have fewer rows than columns. Rows can be added to a `fit` that formed the covariances of at most 1000
        columns.
        """
        self._check_flags()
        begun = self._is_begun()
        joint = self._views(X, y, sample_weight, reset=not begun, scale=False)
        if begun and joint.sizes[1] != len(self._y_mean):
            raise ValueError(
                f"y has {joint.sizes[1]} columns, but {len(self._y_mean)} were fitted; give the same columns"
            )
        self._x_mean, self._y_mean = joint.split(self._accumulate(joint, self._names()).mean)
        return self

    def _views(self, X: Any, y: Any, weights: Any, *, reset: bool, scale: bool) -> Joint:
        by_list = y is None
        X, y = self._pair(X, y)
        if y is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None; or give a list of two arrays")
        if not is_dask(X) and not is_dask(y):
            check_consistent_length(X, y)
        if reset:
            self._by_list, self.feature_names_per_view_ = by_list, [column_names(X), column_names(y)]
        X = check_features(self, X, reset=reset, min_rows=2 if reset else 1)
        y = y if hasattr(y, "ndim") else np.asarray(y)
        self._predict_1d = y.ndim == 1
        y = check_table(y, "y", vector=True)
        return joint_of([X, y], weights, center=self.center, scale=scale, names=self._names())

    def _names(self) -> list[str]:
        return ["X", "y"]

    def _count(self, sizes: list[int]) -> int:
        k = whole(self.n_components, "n_components", 1)
        return 1 if min(sizes) == 1 else k

    def _start(self) -> Array | None:
        """Return the vectors of the last fit for a warm start."""
        if not self.warm_start or "x_rotations_" not in vars(self):
            return None
        return np.concatenate([self.x_rotations_, self.y_rotations_])

    def _take(self, found: Analysis, spread: Array) -> None:
        U, V = found.vectors
        self._x_std, self._y_std = spread[: len(U)], spread[len(U) :]
        # with c, these are covariances, which are not bounded by 1
        self.correlations_ = np.clip(found.values, 0.0, np.inf if np.any(self.c) else 1.0)
        self.n_components_ = self._n_features_out = len(self.correlations_)
        self.n_iter_ = [1 if found.solution is None else int(found.solution.steps)] * self.n_components_
        self.x_weights_ = self.x_rotations_ = U
        self.y_weights_ = self.y_rotations_ = V
        # regressions on the scores, whose variance is not 1 with a ridge
        (self.x_loadings_, self.y_loadings_), inverses = loadings_of(found.vectors, found.own)
        self._coefficients = (found.others[1] @ inverses[0]).T * self._y_std
        self._shared = shared_loadings(found.vectors, found.own, found.others)
        self.feature_importances_per_view_ = importances(found.vectors, found.variances)
        self.route_, self.b_report_, self.solution_ = found.route, tuple(found.reports), found.solution

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
