"""Common spatial patterns: filters whose output differs most in power between classes of trials."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ...checks import real, whole
from ...errors import NotPositiveDefinite
from ...problem.b_policy import POLICIES, BReport
from ...typing import Array
from .contrast import Contrast, Range, contrast, range_of
from .trials import Moments, centred, moments

# The largest entry of X may lie between these: the squares of others overflow or vanish.
SMALLEST, LARGEST = 1e-140, 1e140
SELECT = ("distance", "ends")
# So many numbers are filtered at a time.
ENTRIES = 2**22
EPS = float(np.finfo(np.float64).eps)


class CSP(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Log-power of filtered trials as features: w of C₁ w = λ (C₁ + C₂) w with λ far from ½.

    C₁ and C₂ are the mean second moments of the trials of the first class and of the second. λ is the share of the
    first class in the power of wᵀx: 1 where only the first class has any, 0 where only the second has. With more than
    two classes each is held against the mean of all other trials, and has its own `n_components` filters.

    X is trials × channels × samples. A 2-D X is trials × channels, with one sample a trial: Fukunaga and Koontz's
    transform, with the logarithm of squares as features.

    n_components
        Filters (for each class, if there are more than two); fewer when the data have fewer directions.
    shrinkage
        s of (1 − s) C + s (tr C / rank) P, P the projector on the range of the data; "auto" takes Ledoit and Wolf's s
        for the scatter of the trials.
    norm_trace
        Divide the moments of every trial by their trace, so that loud trials do not decide. A silent one stays zero.
    center
        Take away the mean over time of every channel of every trial.
    log
        Features are the logarithm of the power; otherwise the power. A silent trial has the log of the smallest number.
    select
        "distance" takes the largest |λ − ½|; "ends" as many from either end, by turns. Either way |λ − ½| descends for
        each end.
    b_policy
        For data that lack directions (average reference, components removed, channels twice): "restrict" seeks filters
        in the range of the data, "ridge" adds as much of the identity to both classes as is needed, "error" refuses.
    rank_tol
        For "restrict": eigenvalues of the composite correlation matrix below this multiple of the largest count as
        zero. None is 10 channels × eps, or eps² for single precision, in which even exact dependencies are rounded.

    After `fit`, with k filters: `filters_` (k, channels) with w(C₁ + C₂)wᵀ = 1; `patterns_` (k, channels), the rows of
    W(C₁ + C₂), which show how a source appears in the channels; `eigenvalues_` (k,); `classes_`; `filter_classes_`
    (k,), the class that λ is about; `rank_`; `report_`, what `b_policy` did.

    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["left", "right"], 30)
    >>> sources = rng.standard_normal((60, 3, 200))
    >>> sources[:30, 0] *= 3
    >>> X = np.einsum("cs,ist->ict", rng.standard_normal((3, 3)), sources)
    >>> csp = CSP(n_components=2).fit(X, y)
    >>> csp.eigenvalues_.round(2)
    array([0.78, 0.29])
    >>> csp.transform(X).shape
    (60, 2)
    """

    def __init__(
        self,
        n_components: int = 4,
        *,
        shrinkage: float | str = 0.0,
        norm_trace: bool = True,
        center: bool = False,
        log: bool = True,
        select: str = "distance",
        b_policy: str = "restrict",
        rank_tol: float | None = None,
    ) -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.norm_trace = norm_trace
        self.center = center
        self.log = log
        self.select = select
        self.b_policy = b_policy
        self.rank_tol = rank_tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the filters; `sample_weight` has a weight for each trial."""
        k = self._check_parameters()
        X, y = validate_data(self, X, y, dtype=(np.float64, np.float32), allow_nd=True, ensure_min_samples=2)
        check_classification_targets(y)
        X = _trials(X, center=self.center)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.classes_, codes = np.unique(y, return_inverse=True)
        parts = [self._moments(X, weights, codes == i, name) for i, name in enumerate(self.classes_)]
        if len(parts) < 2:
            raise ValueError(f"y has one class, {self.classes_[0]}; CSP needs trials of at least two classes")
        space = self._range(sum((part.mean for part in parts[1:]), parts[0].mean), X.dtype)
        # the second of two classes would have the filters of the first
        found = [self._filters(parts, i, space, k) for i in range(len(parts) if len(parts) > 2 else 1)]
        self.filters_ = np.concatenate([each.filters for each in found])
        self.patterns_ = np.concatenate([each.patterns for each in found])
        self.eigenvalues_ = np.concatenate([each.eigenvalues for each in found])
        self.filter_classes_ = np.repeat(self.classes_[: len(found)], found[0].eigenvalues.size)
        if self.b_policy != "restrict":
            self.report_ = found[0].report
        return self

    def transform(self, X: Any) -> Array:
        """(trials, k): the log-power, or power, of what each filter leaves of each trial."""
        X = self._read(X)
        features = np.empty((X.shape[0], self._n_features_out), X.dtype)
        # some trials at a time: X may be on disk, or of another precision than the filters
        some = max(1, ENTRIES // X[0].size)
        for first in range(0, X.shape[0], some):
            part = centred(np.asarray(X[first : first + some], np.float64), center=self.center)
            power = np.mean(np.matmul(self.filters_, part) ** 2, axis=2)
            rounding = self._rounding(part, float(np.finfo(X.dtype).eps))
            features[first : first + some] = np.log(np.maximum(power, rounding)) if self.log else power
        return features

    def sources(self, X: Any) -> Array:
        """(trials, k, samples): the filtered trials themselves."""
        X = self._read(X)
        return np.asarray(np.matmul(self.filters_, centred(X, center=self.center)).astype(X.dtype, copy=False))

    def _read(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=(np.float64, np.float32), allow_nd=True, reset=False)
        return _trials(X, center=self.center)

    def _rounding(self, X: Array, eps: float) -> Array:
        """The power of each trial behind each filter when the channels cancel but for rounding: its log is chance."""
        gross = np.sqrt(np.mean(X**2, axis=2)) @ np.abs(self.filters_).T
        return np.asarray(np.maximum(max(EPS, 100 * eps**2) * gross**2, np.finfo(np.float64).tiny))

    @property
    def _n_features_out(self) -> int:
        return int(self.filters_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_parameters(self) -> int:
        if self.shrinkage != "auto":
            real(self.shrinkage, "shrinkage", least=0.0, most=1.0)
        if self.select not in SELECT:
            raise ValueError(f"select is {self.select!r}; give one of {', '.join(map(repr, SELECT))}")
        if self.b_policy not in POLICIES:
            raise ValueError(f"b_policy is {self.b_policy!r}; give one of {', '.join(map(repr, POLICIES))}")
        if self.rank_tol is not None:
            real(self.rank_tol, "rank_tol", least=0.0, below=1.0)
        return whole(self.n_components, "n_components", 1)

    def _moments(self, X: Array, weights: Array, chosen: Array, name: Any) -> Moments:
        weights = np.where(chosen, weights, 0.0)
        if not weights.any():
            raise ValueError(f"every trial of class {name} has sample_weight 0; leave the class out of y")
        part = moments(X, weights, norm_trace=self.norm_trace, center=self.center)
        if not np.trace(part.total) > 0:
            raise ValueError(f"every trial of class {name} is zero; leave the class out of X and y")
        return part

    def _range(self, T: Array, dtype: Any) -> Range:
        """The directions in which filters are sought, and what that leaves out."""
        channels = T.shape[0]
        if self.b_policy != "restrict":
            self.rank_, self.report_ = channels, BReport(self.b_policy, rank=channels)
            return Range(np.eye(channels), np.eye(channels))
        tolerance = 10 * channels * max(EPS, float(np.finfo(dtype).eps) ** 2)
        space = range_of(T, tolerance if self.rank_tol is None else self.rank_tol)
        self.rank_, self.report_ = space.rank, BReport("restrict", 0.0, space.rank, channels - space.rank)
        return space

    def _filters(self, parts: list[Moments], i: int, space: Range, k: int) -> Contrast:
        """Of class i against the trials of all others."""
        others = [part for j, part in enumerate(parts) if j != i]
        both = (parts[i], sum(others[1:], others[0]))
        C, D = (part.shrunk(self.shrinkage, space.projector, space.rank) for part in both)
        try:
            return contrast(C, D, space, k, select=self.select, b_policy=self.b_policy)
        except NotPositiveDefinite as error:
            advice = f"the channels depend on each other; give b_policy='restrict' ({error})"
            raise NotPositiveDefinite(advice) from error


def _trials(X: Array, *, center: bool) -> Array:
    """Trials × channels × samples, of entries whose squares are numbers."""
    X = X[:, :, None] if X.ndim == 2 else X
    if X.ndim != 3 or 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}; give trials × channels × samples, none of them 0")
    if center and X.shape[2] < 2:
        raise ValueError("center=True leaves nothing of trials with one sample; give more samples, or center=False")
    largest = float(max(X.max(), -X.min()))
    if largest != 0 and not SMALLEST < largest < LARGEST:
        raise ValueError(f"the largest entry of X is {largest:g}, whose square is no number; take another unit")
    return X
