"""Common spatial patterns: spatial filters whose output power differs most between classes of trials."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ...checks import real, whole
from ...errors import NotPositiveDefinite
from ...problem.b_policy import BReport, check_policy
from ...typing import Array
from .contrast import Contrast, Range, contrast, range_of
from .trials import TrialMoments, centred, trial_moments

# Limits of the largest magnitude in X; squares overflow or underflow outside.
MIN_MAGNITUDE, MAX_MAGNITUDE = 1e-140, 1e140
SELECT = ("distance", "ends")
# Number of entries of X that are filtered at a time (32 MiB).
BLOCK_ENTRIES = 2**22
EPS = float(np.finfo(np.float64).eps)


class CSP(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Log-power of spatially filtered trials as features: filters w with C₁ w = λ (C₁ + C₂) w and λ far from ½.

    C₁ and C₂ are the mean second moments of the trials of the first and the second class. λ is the share of the first
    class in the power of wᵀx: 1 if only the first class has power there, 0 if only the second has. With more than two
    classes, each one is contrasted with all other trials and has its own `n_components` filters.

    X has the shape (trials, channels, samples). A 2-D X has one sample per trial, which is the Fukunaga–Koontz
    transform, with the logarithms of squares as features.

    n_components
        Number of filters (per class, if there are more than two); fewer if the rank of the data is smaller.
    shrinkage
        s of (1 − s) C + s (tr C / rank) P, with the projector P onto the range of the data; "auto" is the estimate of
        Ledoit and Wolf for the scatter of the trials.
    norm_trace
        Divide the second moments of each trial by their trace, so that trials of high power do not dominate. A trial of
        zeros stays zero.
    center
        Subtract the mean over time of each channel of each trial.
    log
        Features are the logarithms of the power, otherwise the power. The log-power of a trial of zeros is that of the
        smallest positive number.
    select
        "distance" selects the largest |λ − ½|; "ends" alternates between the two ends of the spectrum.
    b_policy
        For rank-deficient data (average reference, removed components, duplicate channels): "restrict" restricts the
        filters to the range of the data, "ridge" adds a multiple of the identity to both classes, "error" raises.
    rank_tol
        For "restrict": eigenvalues of the composite correlation matrix below this multiple of the largest are zero. The
        default is 10 channels × eps of double precision, or × eps² of single precision for single-precision data.

    After `fit`, with k filters: `filters_` (k, channels) with w(C₁ + C₂)wᵀ = 1; `patterns_` (k, channels), the rows of
    W(C₁ + C₂), the projection of a source onto the channels; `eigenvalues_` (k,); `classes_`; `filter_classes_` (k,),
    the class whose share λ is; `rank_`; `report_`, the `BReport` of the composite matrix.

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
        """Fit the filters; `sample_weight` has one weight per trial."""
        k = self._check_parameters()
        X, y = validate_data(self, X, y, dtype=(np.float64, np.float32), allow_nd=True, ensure_min_samples=2)
        check_classification_targets(y)
        X = _trials(X, center=self.center)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.classes_, codes = np.unique(y, return_inverse=True)
        parts = [self._moments(X, weights, codes == i, name) for i, name in enumerate(self.classes_)]
        if len(parts) < 2:
            raise ValueError(f"y has one class, {self.classes_[0]}; give trials of at least two classes")
        space = self._range(sum((part.mean for part in parts[1:]), parts[0].mean), X.dtype)
        # for two classes, those of the second class are the same filters
        found = [self._filters(parts, i, space, k) for i in range(len(parts) if len(parts) > 2 else 1)]
        self.filters_ = np.concatenate([each.filters for each in found])
        self.patterns_ = np.concatenate([each.patterns for each in found])
        self.eigenvalues_ = np.concatenate([each.eigenvalues for each in found])
        self.filter_classes_ = np.repeat(self.classes_[: len(found)], found[0].eigenvalues.size)
        if self.b_policy != "restrict":
            self.report_ = found[0].report
        return self

    def transform(self, X: Any) -> Array:
        """Return the log-power, or power, of each filtered trial: (trials, k)."""
        X = self._read(X)
        features = np.empty((X.shape[0], self._n_features_out), X.dtype)
        # in blocks of trials, as X may be memory-mapped or in single precision
        step = max(1, BLOCK_ENTRIES // X[0].size)
        for first in range(0, X.shape[0], step):
            part = centred(np.asarray(X[first : first + step], np.float64), center=self.center)
            power = np.mean(np.matmul(self.filters_, part) ** 2, axis=2)
            floor = self._rounding_power(part, float(np.finfo(X.dtype).eps))
            features[first : first + step] = np.log(np.maximum(power, floor)) if self.log else power
        return features

    def sources(self, X: Any) -> Array:
        """Return the filtered trials: (trials, k, samples)."""
        X = self._read(X)
        return np.asarray(np.matmul(self.filters_, centred(X, center=self.center)).astype(X.dtype, copy=False))

    def _read(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=(np.float64, np.float32), allow_nd=True, reset=False)
        return _trials(X, center=self.center)

    def _rounding_power(self, X: Array, eps: float) -> Array:
        """Return the power that rounding leaves where the channels cancel in a filter; smaller ones are random."""
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
        check_policy(self.b_policy)
        if self.rank_tol is not None:
            real(self.rank_tol, "rank_tol", least=0.0, below=1.0)
        return whole(self.n_components, "n_components", 1)

    def _moments(self, X: Array, weights: Array, chosen: Array, name: Any) -> TrialMoments:
        weights = np.where(chosen, weights, 0.0)
        if not weights.any():
            raise ValueError(f"all trials of class {name} have sample_weight 0; remove the class from X and y")
        part = trial_moments(X, weights, norm_trace=self.norm_trace, center=self.center)
        if not np.trace(part.total) > 0:
            raise ValueError(f"all trials of class {name} are zero; remove the class from X and y")
        return part

    def _range(self, T: Array, dtype: Any) -> Range:
        """Return the range in which the filters are, and set `rank_` and `report_`."""
        channels = T.shape[0]
        if self.b_policy != "restrict":
            self.rank_, self.report_ = channels, BReport(self.b_policy, rank=channels)
            return Range(np.eye(channels), np.eye(channels))
        tolerance = 10 * channels * max(EPS, float(np.finfo(dtype).eps) ** 2)
        space = range_of(T, tolerance if self.rank_tol is None else self.rank_tol)
        self.rank_, self.report_ = space.rank, BReport("restrict", 0.0, space.rank, channels - space.rank)
        return space

    def _filters(self, parts: list[TrialMoments], i: int, space: Range, k: int) -> Contrast:
        """Contrast class i with the trials of all other classes."""
        others = [part for j, part in enumerate(parts) if j != i]
        both = (parts[i], sum(others[1:], others[0]))
        C, D = (part.shrunk(self.shrinkage, space.projector, space.rank) for part in both)
        try:
            return contrast(C, D, space, k, select=self.select, b_policy=self.b_policy)
        except NotPositiveDefinite as error:
            raise NotPositiveDefinite(
                f"the channels are linearly dependent; use b_policy='restrict' ({error})"
            ) from error


def _trials(X: Array, *, center: bool) -> Array:
    """Check the shape (trials, channels, samples) and the magnitude of X."""
    X = X[:, :, None] if X.ndim == 2 else X
    if X.ndim != 3 or 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}; give a non-empty array (trials, channels, samples)")
    if center and X.shape[2] < 2:
        raise ValueError("center=True makes trials with one sample zero; give more samples, or center=False")
    largest = float(max(X.max(), -X.min()))
    if largest != 0 and not MIN_MAGNITUDE < largest < MAX_MAGNITUDE:
        raise ValueError(f"the largest entry of X is {largest:g}: X² overflows or underflows; rescale X")
    return X
