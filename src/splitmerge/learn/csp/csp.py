"""Common spatial patterns: spatial filters whose output power differs most between classes of trials."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ...typing import Array
from ..data.inputs import weights_or_ones
from .base import SpatialFilters, check_bool, check_choice
from .covariances import covariances
from .decomposition import of_pair, of_several

ESTIMATES = ("concat", "epoch")
ORDERS = ("mutual_info", "alternate")


class CSP(SpatialFilters):
    """Log-power of spatially filtered trials as features: filters w with C₁ w = λ (C₁ + C₂) w and λ far from ½.

    C₁ and C₂ are the covariances of the channels in the trials of the first and the second class. λ is the share of the
    first class in the power of wᵀx: 1 if only the first class has power there, 0 if only the second has. For more than
    two classes, their covariances are diagonalised jointly (Grosse-Wentrup and Buss 2008). Options, attributes and
    results are those of `mne.decoding.CSP`.

    X has the shape (trials, channels, samples); it may be an array, `mne.Epochs` or a Dask array, of which the blocks
    of trials are summed on the workers. A 2-D X has one sample per trial, which is the Fukunaga–Koontz transform. The
    trials should be band-pass filtered, as no mean is subtracted.

    n_components
        Number of filters that `transform` uses; fewer if the rank of the data is smaller.
    reg
        Regularisation (1 − s) C + s (tr C / rank) P of the covariances, with the projector P onto the range of the
        data: a number s, "ledoit_wolf" or "oas", which estimate it, or "diagonal_fixed", C + 0.1 (tr C / rank) P. None
        and "empirical" do not regularise.
    log
        None or True: features are the logarithms of the power; that of a trial without power is the logarithm of what
        rounding leaves. False: the power minus `mean_`, divided by `std_` unless that is zero.
    cov_est
        "concat" takes all samples of a class together, "epoch" the mean of the covariances of its trials. They differ
        in what is regularised, and with "epoch" classes with more trials have more weight in the mutual information.
    transform_into
        "average_power", or "csp_space" for the filtered trials.
    norm_trace
        Divide the covariance of each class by its trace.
    rank
        None restricts the filters to the range of the data, which average reference, removed components or duplicate
        channels make smaller. A number, or a dict of numbers that are added, is the rank to be used: that of the data,
        or less for the leading principal components. "full" restricts nothing and raises if the channels are dependent.
    component_order
        "mutual_info" of the power and the class; for two classes the distance |λ − ½|. "alternate" is the largest λ,
        the smallest, the second largest, …

    After `fit`, with r = `rank_`: `filters_` and `patterns_` (r, channels), where `patterns_` is the transposed
    pseudo-inverse of `filters_`, the projection of a source onto the channels; `eigenvalues_` (r,), None for more than
    two classes; `classes_`; `mean_` and `std_` (n_components,) of the power over the trials. For two classes
    w(C₁ + C₂)wᵀ = 1.

    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["left", "right"], 30)
    >>> sources = rng.standard_normal((60, 3, 200))
    >>> sources[:30, 0] *= 3
    >>> X = np.einsum("cs,ist->ict", rng.standard_normal((3, 3)), sources)
    >>> csp = CSP(n_components=2).fit(X, y)
    >>> csp.eigenvalues_.round(2)
    array([0.9, 0.5, 0.5])
    >>> csp.transform(X).shape
    (60, 2)
    """

    def __init__(
        self,
        n_components: int = 4,
        reg: float | str | None = None,
        log: bool | None = None,
        cov_est: str = "concat",
        transform_into: str = "average_power",
        norm_trace: bool = False,
        *,
        rank: int | str | dict[str, int] | None = None,
        component_order: str = "mutual_info",
    ) -> None:
        self.n_components = n_components
        self.reg = reg
        self.log = log
        self.cov_est = cov_est
        self.transform_into = transform_into
        self.norm_trace = norm_trace
        self.rank = rank
        self.component_order = component_order

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the filters; `sample_weight` has one weight per trial."""
        self._check_options()
        check_choice(self.cov_est, "cov_est", ESTIMATES)
        check_bool(self.norm_trace, "norm_trace")
        check_choice(self.component_order, "component_order", ORDERS)
        trials, y = self._read(X, y)
        check_classification_targets(y)
        weights = weights_or_ones(sample_weight, trials.count)
        self.classes_, codes = np.unique(y, return_inverse=True)
        shares = weights[:, None] * (codes[:, None] == np.arange(self.classes_.size))
        totals = self._check_classes(shares.sum(axis=0))
        C, space = covariances(
            trials,
            shares,
            totals,
            [f"class {name}" for name in self.classes_],
            reg=self.reg,
            rank=self.rank,
            each_trial=self.cov_est == "epoch",
            norm_trace=self.norm_trace,
        )
        self.rank_ = space.rank
        if totals.size > 2:
            found = of_several(C, totals if self.cov_est == "epoch" else np.ones(totals.size), space)
        else:
            alternate = self.component_order == "alternate"
            found = of_pair(C[0], C[0] + C[1], space, alternate=alternate, centre=0.5)
        return self._finish(found, trials, weights)

    def _check_classes(self, totals: Array) -> Array:
        if totals.size < 2:
            raise ValueError(f"y has one class, {self.classes_[0]}; give trials of at least two classes")
        if totals.size > 2 and self.component_order == "alternate":
            raise ValueError(
                f"component_order='alternate' needs two classes, and y has {totals.size}; use 'mutual_info'"
            )
        for name, total in zip(self.classes_, totals, strict=True):
            if total == 0:
                raise ValueError(f"all trials of class {name} have sample_weight 0; remove the class from X and y")
        return totals
