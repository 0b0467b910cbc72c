"""Linear discriminant analysis: eigenvectors of the pair (between, within) of covariances of classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin
from sklearn.utils.multiclass import check_classification_targets

from ...checks import real, whole
from ...problem.b_policy import check_policy
from ...typing import Array
from ..covariance.definite import any_varies, rounding_variance
from ..dask.blocks import Blocks
from ..dask.estimators import add_rows, check_labelled
from ..data.inputs import drop_zero_weights, is_dask, weights_or_ones
from ..moments.grouped import Grouped
from ..moments.moments import Moments
from .classifier import LinearScores
from .directions import Discriminants, Means, Options, by_covariance, by_rows

BETWEEN = ("total", "means")


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

    n_components
        Number of directions of `transform`, at most min(classes − 1, features), which is the default.
    shrinkage
        None, a number from 0 to 1, or "auto": estimated for each standardised class (Ledoit and Wolf 2004).
    priors
        Probabilities of the classes, scaled to a sum of 1. The default are the shares of the (weighted) rows.
    b_policy
        For a singular B: "restrict" drops the directions without variance within classes, "ridge" adds tol² of each
        variance to its diagonal, "error" raises `NotPositiveDefinite`.
    tol
        With features of unit variance, a direction with a variance below tol² counts as one without variance.
    between
        The covariance between classes with shrinkage. "total" is that of scikit-learn's solver "eigen": the shrunk
        covariance of all rows minus B. It adds a diagonal to the covariance of the means, so that the directions need
        an iteration, and favours directions in which nothing varies. "means" is the covariance of the means. Without
        shrinkage both are equal. `predict` does not depend on it.
    store_covariance
        Store B as `covariance_`; it is formed, then.

    The rows of a Dask array stay on the workers, which sum their blocks; B is formed, and results are lazy.

    The attributes are those of scikit-learn's class of this name: `classes_`, `priors_`, `means_`, `xbar_`, `coef_`,
    `intercept_`, `scalings_` (B-orthonormal columns), `explained_variance_ratio_` (of the directions of `transform`,
    relative to the sum of min(classes − 1, features) eigenvalues), and `eigenvalues_`.

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
        n_components: int | None = None,
        *,
        shrinkage: float | str | None = None,
        priors: Any = None,
        b_policy: str = "restrict",
        tol: float = 1e-4,
        between: str = "total",
        store_covariance: bool = False,
    ) -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.priors = priors
        self.b_policy = b_policy
        self.tol = tol
        self.between = between
        self.store_covariance = store_covariance

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with labels y; an integer weight w acts like w equal rows."""
        options = self._options()
        if options.automatic and is_dask(X):
            raise ValueError("shrinkage='auto' needs all rows in memory; give a number as shrinkage for a Dask array")
        X, y, weights = self._rows(X, y, sample_weight, reset=True, min_rows=2)
        X, y, weights = drop_zero_weights(X, y, weights)
        self.classes_, members = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError("y has one class only; at least two are needed")
        if len(y) == self.classes_.size:
            raise ValueError("y has one sample per class; the number of samples must exceed the number of classes")
        if isinstance(X, Blocks):
            sums = Moments(self.classes_.size, X.shape[1], separate=self.priors is not None)
            self._moments = add_rows(sums, X, members, weights)
            return self._of_sums(options, "The covariance within classes was summed over the blocks of a Dask array.")
        rows = Grouped(X, members, self.classes_.size, weights)
        means = self._means(rows.means, rows.totals, len(y))
        found = by_rows(rows, means, options)
        self.__dict__.pop("_moments", None)
        if found.within is not None and self.priors is None:
            scatter = np.multiply(found.within, rows.totals.sum(), out=found.within)
            self._moments = Moments.of(rows.totals, rows.means, np.bincount(members), scatter)
        return self._keep(found)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows; the first call needs all `classes`.

        The model is fitted as soon as each class has a row. shrinkage="auto" is not supported. Rows can be added to a
        `fit` that formed the covariance, if no priors are given.
        """
        options = self._options()
        if options.automatic:
            raise ValueError("shrinkage='auto' needs all rows at once; give a number as shrinkage, or call fit")
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
            self._moments = Moments(known.size, X.shape[1], separate=self.priors is not None)
        sums = add_rows(self._moments, X, np.searchsorted(self.classes_, y), weights)
        if not sums.weights.all():
            return self
        return self._of_sums(options, "The covariance within classes was summed over batches.", more=True)

    def _of_sums(self, options: Options, why: str, *, more: bool = False) -> Self:
        """Fit to the moments; with `more` rows expected, constant data are no error."""
        sums = self._moments
        means = self._means(sums.means, sums.weights, int(sums.rows.sum()))
        W = sums.within(None if self.priors is None else self.priors_)
        if more and not any_varies(W.diagonal(), means.floor):
            # for example after one row per class
            return self
        return self._keep(by_covariance(W, means, options, why))

    def _options(self) -> Options:
        s = self.shrinkage
        if s is not None and s != "auto":
            if isinstance(s, str):
                raise ValueError(f"shrinkage is {s!r}; give 'auto', a number from 0 to 1, or None")
            s = real(s, "shrinkage", least=0.0, most=1.0)
        if self.between not in BETWEEN:
            raise ValueError(f"between is {self.between!r}; give one of {', '.join(map(repr, BETWEEN))}")
        if self.n_components is not None:
            whole(self.n_components, "n_components", 1)
        tol = real(self.tol, "tol", least=0.0)
        return Options(s, self.between, check_policy(self.b_policy), tol, bool(self.store_covariance))

    def _rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool, min_rows: int = 1) -> tuple[Any, Array, Array]:
        X, y = check_labelled(self, X, y, reset=reset, min_rows=min_rows)
        check_classification_targets(y)
        return X, y, weights_or_ones(sample_weight, X.shape[0])

    def _means(self, means: Array, totals: Array, count: int) -> Means:
        """Set the priors and the means."""
        most = min(self.classes_.size - 1, means.shape[1])
        if self.n_components is not None:
            whole(self.n_components, "n_components", 1, most)
        self.priors_ = totals / totals.sum() if self.priors is None else self._given_priors()
        self.means_ = means.copy()
        self.xbar_ = self.priors_ @ means
        return Means(means - self.xbar_, self.priors_, rounding_variance(count, means), self.priors is None)

    def _given_priors(self) -> Array:
        priors = np.asarray(self.priors, np.float64)
        if priors.shape != (self.classes_.size,) or not (priors > 0).all() or not np.isfinite(priors).all():
            raise ValueError(f"priors is {priors!r}; give {self.classes_.size} positive numbers, one per class")
        return np.asarray(priors / priors.sum())

    def _keep(self, found: Discriminants) -> Self:
        """Set the attributes of the solution."""
        centred = self.means_ - self.xbar_
        coef = found.solved.T
        intercept = np.log(self.priors_) - 0.5 * np.einsum("ij,ij->i", centred, coef) - coef @ self.xbar_
        if self.classes_.size == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = np.ascontiguousarray(coef), intercept
        self.scalings_, self.eigenvalues_, self.route_ = found.directions, found.values, found.description
        self._n_features_out = min(found.values.size, self.n_components or found.values.size)
        total = float(found.values.sum())
        self.explained_variance_ratio_ = found.values[: self._n_features_out] / (total if total > 0 else 1.0)
        self.__dict__.pop("covariance_", None)
        if found.covariance is not None:
            self.covariance_ = found.covariance
        return self


def _all_classes(classes: Any) -> Array:
    if classes is None:
        raise ValueError("classes is None; give the labels of all classes in the first call of partial_fit")
    names = np.unique(np.asarray(classes))
    if names.size < 2:
        raise ValueError("classes has one class only; at least two are needed")
    return names
