"""Linear discriminant analysis: the pair (between, within) of covariances of classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin
from sklearn.utils.multiclass import check_classification_targets

from ...checks import real, whole
from ...typing import Array
from ..covariance.definite import check_policy, rounding, vary
from ..dask.blocks import Blocks
from ..data.arguments import keep_positive, weights_of
from ..data.inputs import is_dask
from ..data.tables import labelled
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
    """Classes as Gaussians with one covariance B: the best directions to tell them apart, and a classifier.

    The directions are those with the largest variance between classes for that within them. The means of c classes span
    c − 1 dimensions, so that a singular value decomposition of c columns gives them. B is formed and factorised, or
    stands for itself in products with X, whichever is cheaper: `route_` says which and why.

    n_components
        How many directions `transform` takes, at most min(classes − 1, features), and so many if None.
    shrinkage
        None, a number from 0 to 1, or "auto": Ledoit's and Wolf's, for each class after standardising it.
    priors
        Probabilities of the classes, scaled to a sum of 1; the shares of the (weighted) rows if None.
    b_policy
        When B is singular: "restrict" leaves the directions without variance within classes out, "ridge" adds tol² of
        each variance to its diagonal, "error" raises `NotPositiveDefinite`.
    tol
        A direction counts as one without variance when it has less than tol² of it where each feature has 1.
    between
        What lies between shrunk classes. "total" is that of scikit-learn's "eigen": the shrunk covariance of all rows
        less B, which adds a diagonal to the covariance of the means, so that it takes an iteration to find directions,
        and favours those in which nothing varies. "means" is the covariance of the means alone. Without shrinkage they
        are the same; `predict` does not depend on it.
    store_covariance
        Keep B as `covariance_`, which makes it to be formed.

    The rows of a Dask array stay where they are: their blocks are summed up there, B is formed, and answers are lazy.

    Attributes are those of scikit-learn's class of this name: `classes_`, `priors_`, `means_`, `xbar_`, `coef_`,
    `intercept_`, `scalings_` (within-orthonormal, in columns), `explained_variance_ratio_` (of the sum of the
    min(classes − 1, features) values, those of `transform`), and `eigenvalues_`.

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
        """Fit to rows X with labels y; a weight counts as so many rows."""
        options = self._options()
        if options.automatic and is_dask(X):
            raise ValueError("shrinkage='auto' needs all rows at once; give a number for a Dask array")
        X, y, weights = self._rows(X, y, sample_weight, reset=True, least=2)
        X, y, weights = keep_positive(X, y, weights)
        self.classes_, members = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError("y has one class only; at least two are needed")
        if len(y) == self.classes_.size:
            raise ValueError("y has one sample for each class; the number of samples must be more than that of classes")
        if isinstance(X, Blocks):
            sums = Moments(self.classes_.size, X.shape[1], separate=self.priors is not None)
            self._moments = sums.add(X, members, weights)
            return self._of_sums(options, "Block after block, the covariance within was summed up.")
        rows = Grouped(X, members, self.classes_.size, weights)
        means = self._means(rows.means, rows.totals, len(y))
        found = by_rows(rows, means, options)
        self.__dict__.pop("_moments", None)
        if found.within is not None and self.priors is None:
            scatter = np.multiply(found.within, rows.totals.sum(), out=found.within)
            self._moments = Moments.of(rows.totals, rows.means, np.bincount(members), scatter)
        return self._keep(found)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Take more rows in; the first call names all `classes`.

        There is nothing to predict with before each class has had a row. shrinkage="auto" needs all rows at once. A
        call after `fit` goes on from there, where that has formed the covariance and no priors are given.
        """
        options = self._options()
        if options.automatic:
            raise ValueError("shrinkage='auto' needs all rows at once; give a number for partial_fit, or call fit")
        first = not hasattr(self, "_moments")
        if first and hasattr(self, "coef_"):
            raise ValueError(
                "fit kept no sums to go on from (see route_ and priors); begin with partial_fit on a clone"
            )
        X, y, weights = self._rows(X, y, sample_weight, reset=first)
        if first:
            if classes is None:
                raise ValueError("classes is None; the first call of partial_fit needs the labels of all classes")
            names = np.unique(np.asarray(classes))
            if names.size < 2:
                raise ValueError("classes names one class only; at least two are needed")
            self.classes_ = names
            self._moments = Moments(names.size, X.shape[1], separate=self.priors is not None)
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(f"classes is {classes!r}; the first call of partial_fit had {self.classes_!r}")
        if (strange := np.setdiff1d(y, self.classes_)).size:
            raise ValueError(f"y has labels {strange!r} that are not among the classes {self.classes_!r}")
        sums = self._moments.add(X, np.searchsorted(self.classes_, y), weights)
        if not sums.weights.all():
            return self
        return self._of_sums(options, "Batch after batch, the covariance within was summed up.", more=True)

    def _of_sums(self, options: Options, why: str, *, more: bool = False) -> Self:
        """What the sums say; there may be `more` to come."""
        sums = self._moments
        means = self._means(sums.means, sums.weights, int(sums.rows.sum()))
        W = sums.within(None if self.priors is None else self.priors_)
        if more and not vary(W.diagonal(), means.floor):
            # one row of each class, say
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

    def _rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool, least: int = 1) -> tuple[Any, Array, Array]:
        X, y = labelled(self, X, y, reset=reset, at_least=least)
        check_classification_targets(y)
        return X, y, weights_of(sample_weight, X.shape[0])

    def _means(self, means: Array, totals: Array, count: int) -> Means:
        """Set the attributes that come before any algebra."""
        most = min(self.classes_.size - 1, means.shape[1])
        if self.n_components is not None:
            whole(self.n_components, "n_components", 1, most)
        self.priors_ = totals / totals.sum() if self.priors is None else self._given_priors()
        self.means_ = means.copy()
        self.xbar_ = self.priors_ @ means
        return Means(means - self.xbar_, self.priors_, rounding(count, means), self.priors is None)

    def _given_priors(self) -> Array:
        priors = np.asarray(self.priors, np.float64)
        if priors.shape != (self.classes_.size,) or not (priors > 0).all() or not np.isfinite(priors).all():
            raise ValueError(
                f"priors must be {self.classes_.size} positive numbers, one for each class; got {priors!r}"
            )
        return np.asarray(priors / priors.sum())

    def _keep(self, found: Discriminants) -> Self:
        """Set the attributes that the solution gives."""
        centred = self.means_ - self.xbar_
        coef = found.solved.T
        intercept = np.log(self.priors_) - 0.5 * np.einsum("ij,ij->i", centred, coef) - coef @ self.xbar_
        if self.classes_.size == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = np.ascontiguousarray(coef), intercept
        self.scalings_, self.eigenvalues_, self.route_ = found.directions, found.values, found.story
        self._n_features_out = min(found.values.size, self.n_components or found.values.size)
        total = float(found.values.sum())
        self.explained_variance_ratio_ = found.values[: self._n_features_out] / (total if total > 0 else 1.0)
        self.__dict__.pop("covariance_", None)
        if found.covariance is not None:
            self.covariance_ = found.covariance
        return self
