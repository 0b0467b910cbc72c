"""Linear discriminant analysis: eigenvectors of the pair (between, within) of covariances of classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets

from ...typing import Array
from ..covariance.definite import any_varies, rounding_variance
from ..dask.blocks import Blocks
from ..dask.estimators import add_rows, check_labelled
from ..dask.grouped import BlockGrouped
from ..data.inputs import drop_zero_weights, weights_or_ones
from ..moments.grouped import Grouped
from ..moments.moments import Moments
from .classifier import LinearScores
from .directions import by_covariance, by_rows
from .distributed import FORMED_BY_BLOCKS, block_route, by_class_sums, estimates
from .estimated import by_estimator
from .options import Options, check_batches, check_components, checked, checked_priors
from .pairs import Discriminants, Means, scores


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    ClassifierMixin,  # type: ignore[misc]
    LinearScores,
    BaseEstimator,  # type: ignore[misc]
):
    """Gaussian classes with a common covariance B: the most discriminative directions, and a classifier.

    The directions maximise the variance between classes relative to that within classes. The means of c classes span
    c − 1 dimensions, so that a singular value decomposition of c columns gives the directions. B is formed and
    factorised, or used only in products with X, whichever is cheaper; `route_` tells which and why.

    solver
        Whose results are returned; how they are computed does not depend on it. "svd", "lsqr" and "eigen" have the
        attributes and the conventions of scikit-learn's solvers: shrinkage is refused by "svd"; "lsqr" has no
        directions; "lsqr" and "eigen" store `covariance_`, and do not centre scores and projections. "auto" is "svd",
        but takes shrinkage and a covariance estimator, too.
    shrinkage
        None, a number from 0 to 1, or "auto": estimated for each standardised class (Ledoit and Wolf 2004).
    priors
        Probabilities of the classes, scaled to a sum of 1. The default are the shares of the (weighted) rows. They are
        the weights of the classes in B, too, except without shrinkage for the solvers "auto" and "svd".
    n_components
        Number of directions of `transform`, at most min(classes − 1, features), which is the default.
    store_covariance
        Store B as `covariance_`; it is formed, then.
    tol
        With features of unit variance, a direction with a variance below tol² counts as one without variance.
    covariance_estimator
        An object with `fit(X)` and `covariance_`, as in `sklearn.covariance`, for the covariance of each class.
    b_policy
        For a singular B: "restrict" drops the directions without variance within classes, "ridge" adds tol² of each
        variance to its diagonal, "error" raises `NotPositiveDefinite`.
    between
        The covariance between classes with shrinkage. "total" is that of scikit-learn's solver "eigen": the shrunk
        covariance of all rows minus B. It adds a diagonal to the covariance of the means, so that the directions need
        an iteration, and favours directions in which nothing varies. "means" is the covariance of the means. Without
        shrinkage both are equal. `predict` does not depend on it.

    The rows of a Dask array stay on the workers, which sum their blocks, and results are lazy. A large B is not formed
    if there is a shrinkage, if there are few rows, or if it does not fit into the memory.

    The attributes are those of scikit-learn's class of this name, in float32 for X in float32: `classes_`, `priors_`,
    `means_`, `xbar_`, `coef_`, `intercept_`, `scalings_` (B-orthonormal columns), `explained_variance_ratio_` (of the
    directions of `transform`, relative to the sum of min(classes − 1, features) eigenvalues, for "eigen" of all of
    them), and `eigenvalues_`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> model.score(X, y), model.transform(X).shape
    (0.98, (150, 2))
    >>> model.explained_variance_ratio_.round(4)
    array([0.9912, 0.0088])
    """

    def __init__(
        self,
        solver: str = "auto",
        shrinkage: float | str | None = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        *,
        b_policy: str = "restrict",
        between: str = "total",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.b_policy = b_policy
        self.between = between

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with labels y; an integer weight w acts like w equal rows."""
        options = checked(self)
        # rows without weight are in no sum that would show NaN
        X, y, weights = self._rows(X, y, sample_weight, reset=True, min_rows=2, finite=sample_weight is not None)
        X, y, weights = drop_zero_weights(X, y, weights)
        self.classes_, members = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError("y has one class only; at least two are needed")
        if len(y) == self.classes_.size:
            raise ValueError(
                "The number of samples must be more than the number of classes, but y has one sample per class"
            )
        self._dtype = _dtype(X)
        if isinstance(X, Blocks):
            if options.estimator is not None:
                raise ValueError("covariance_estimator needs all rows in memory; give shrinkage for a Dask array")
            return self._of_blocks(X, members, weights, options)
        rows = Grouped(X, members, self.classes_.size, weights)
        if not np.isfinite(rows.means).all():
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
        means = self._means(rows.means, rows.totals, len(y), options)
        self.__dict__.pop("_moments", None)
        if options.estimator is not None:
            return self._keep(by_estimator(X, members, weights, means, options), means, options)
        found = by_rows(rows, means, options)
        if found.within is not None and (means.natural or options.pooled):
            scatter = np.multiply(found.within, rows.totals.sum(), out=found.within)
            self._moments = Moments.of(rows.totals, rows.means, np.bincount(members), scatter)
        return self._keep(found, means, options)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows; the first call needs all `classes`.

        The model is fitted as soon as each class has a row. shrinkage="auto" is not supported. Rows can be added to a
        `fit` that formed the covariance, if no priors are weights of the classes in it.
        """
        options = checked(self)
        check_batches(options)
        first = not hasattr(self, "_moments")
        if first and hasattr(self, "coef_"):
            raise ValueError(
                "the last fit did not keep its moments (see route_ and priors); begin with partial_fit on a clone"
            )
        X, y, weights = self._rows(X, y, sample_weight, reset=first)
        known = _all_classes(classes) if first else self.classes_
        if not first and classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
            raise ValueError(f"classes is {classes!r}; give {known!r}, as in the first call of partial_fit")
        if (unknown := np.setdiff1d(y, known)).size:
            raise ValueError(f"y has labels {unknown!r} that are not among the classes {known!r}; remove them")
        if first:
            # only now: a call that is refused leaves nothing behind
            self.classes_ = known
            self._moments = Moments(known.size, X.shape[1], separate=self._separate(options))
        self._dtype = _dtype(X) if first else np.promote_types(self._dtype, _dtype(X))
        sums = add_rows(self._moments, X, np.searchsorted(self.classes_, y), weights)
        if not sums.weights.all():
            return self
        return self._of_sums(options, "The covariance within classes was summed over batches.", more=True)

    def _separate(self, options: Options) -> bool:
        """Whether each class needs a scatter matrix of its own."""
        return self.priors is not None and not options.pooled

    def _of_blocks(self, X: Blocks, members: Array, weights: Array, options: Options) -> Self:
        """Fit to the rows of a Dask array."""
        groups, separate = self.classes_.size, self._separate(options) or options.automatic
        self.__dict__.pop("_moments", None)
        route = block_route(X.shape, groups, options, matrices=groups if separate else 1)
        if route is not None:
            rows = BlockGrouped(X, members, groups, weights)
            means = self._means(rows.means, rows.totals, len(members), options)
            return self._keep(by_rows(rows, means, options, route, estimates), means, options)
        sums = add_rows(Moments(groups, X.shape[1], separate=separate), X, members, weights)
        if options.automatic:
            means = self._means(sums.means, sums.weights, len(members), options)
            return self._keep(by_class_sums(X, members, weights, sums, means, options), means, options)
        self._moments = sums
        return self._of_sums(options, FORMED_BY_BLOCKS)

    def _of_sums(self, options: Options, why: str, *, more: bool = False) -> Self:
        """Fit to the moments; with `more` rows expected, constant data are no error."""
        sums = self._moments
        means = self._means(sums.means, sums.weights, int(sums.rows.sum()), options)
        W = sums.within(means.shares if self._separate(options) else None)
        if more and not any_varies(W.diagonal(), means.floor):
            # for example after one row per class
            return self
        return self._keep(by_covariance(W, means, options, why), means, options)

    def _rows(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, min_rows: int = 1, finite: bool = True
    ) -> tuple[Any, Array, Array]:
        X, y = check_labelled(self, X, y, reset=reset, min_rows=min_rows, finite=finite)
        check_classification_targets(y)
        return X, y, weights_or_ones(sample_weight, X.shape[0])

    def _means(self, means: Array, totals: Array, count: int, options: Options) -> Means:
        """Check the priors and the number of directions, and return the means."""
        check_components(self.n_components, *means.shape)
        natural = totals / totals.sum()
        priors = natural if self.priors is None else checked_priors(self.priors, self.classes_.size)
        shares = natural if options.pooled else priors
        return Means(means.copy(), priors @ means, priors, shares, rounding_variance(count, means), self.priors is None)

    def _keep(self, found: Discriminants, means: Means, options: Options) -> Self:
        """Set the attributes of the solution, in the dtype of X."""
        for name in ("covariance_", "scalings_", "eigenvalues_", "explained_variance_ratio_"):
            self.__dict__.pop(name, None)
        coef, intercept = scores(found, means)
        kept = {"means_": means.means, "xbar_": means.mean, "priors_": means.priors}
        kept |= {"coef_": np.ascontiguousarray(coef), "intercept_": intercept}
        most = min(means.priors.size - 1, means.mean.size)
        if options.directions:
            most = found.values.size
            kept |= {"scalings_": found.directions, "eigenvalues_": found.values}
        self._n_features_out = min(most, self.n_components or most)
        if options.directions:
            spread = found.spread if found.spread > 0 else 1.0
            kept["explained_variance_ratio_"] = found.values[: self._n_features_out] / spread
        if found.covariance is not None:
            kept["covariance_"] = found.covariance
        for name, value in kept.items():
            setattr(self, name, np.asarray(value, self._dtype))
        self.route_ = found.description
        return self


def _dtype(X: Any) -> Any:
    """Return the dtype of the results for data X."""
    given = X.X.dtype if isinstance(X, Blocks) else X.dtype
    return np.dtype(np.float32 if given == np.float32 else np.float64)


def _all_classes(classes: Any) -> Array:
    if classes is None:
        raise ValueError("classes is None; give the labels of all classes in the first call of partial_fit")
    names = np.unique(np.asarray(classes))
    if names.size < 2:
        raise ValueError("classes has one class only; at least two are needed")
    return names
