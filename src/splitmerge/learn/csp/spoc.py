"""Source power comodulation: spatial filters whose output power follows a continuous target."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..data.inputs import weights_or_ones
from .base import SpatialFilters
from .covariances import covariances
from .decomposition import of_pair


class SPoC(SpatialFilters):
    """Log-power of spatially filtered trials as features that covary with y: filters w with A w = λ B w and |λ| large.

    B is the mean of the covariances Cᵢ of the trials, and A the mean of zᵢ Cᵢ, where z is y with mean 0 and standard
    deviation 1. λ is the covariance of z and the power of wᵀx, whose mean is 1 (Dähne et al. 2014). Options, attributes
    and results are those of `mne.decoding.SPoC`; X and the options n_components, reg, log, transform_into and rank are
    as in `CSP` with cov_est="epoch".

    After `fit`, with r = `rank_`: `filters_` and `patterns_` (r, channels), in the order of decreasing |λ|, with
    wBwᵀ = 1; `eigenvalues_` (r,); `mean_` and `std_` (n_components,) of the power over the trials.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.uniform(1, 9, 50)
    >>> sources = rng.standard_normal((50, 3, 200))
    >>> sources[:, 0] *= np.sqrt(y)[:, None]
    >>> X = np.einsum("cs,ist->ict", rng.standard_normal((3, 3)), sources)
    >>> spoc = SPoC(n_components=1).fit(X, y)
    >>> abs(np.corrcoef(np.exp(spoc.transform(X)[:, 0]), y)[0, 1]) > 0.95
    np.True_
    """

    def __init__(
        self,
        n_components: int = 4,
        reg: float | str | None = None,
        log: bool | None = None,
        transform_into: str = "average_power",
        *,
        rank: int | str | dict[str, int] | None = None,
    ) -> None:
        self.n_components = n_components
        self.reg = reg
        self.log = log
        self.transform_into = transform_into
        self.rank = rank

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the filters; `sample_weight` has one weight per trial."""
        self._check_options()
        trials, y = self._read(X, y, y_numeric=True)
        if y.dtype.kind not in "biuf":
            raise ValueError(f"y has entries of the type {y.dtype}; give numbers, or use CSP for classes")
        weights = weights_or_ones(sample_weight, trials.count)
        with np.errstate(over="ignore", invalid="ignore"):
            target = np.asarray(y, np.float64) - np.average(y, weights=weights)
            deviation = float(np.sqrt(np.average(target**2, weights=weights)))
        if not np.isfinite(deviation):
            raise ValueError("y has values whose squares overflow; rescale y")
        if not deviation > np.finfo(np.float64).eps * np.abs(y).max():
            raise ValueError("y is constant; give a target that differs between trials")
        columns = np.column_stack([weights, weights * target / deviation])
        totals = np.full(2, weights.sum())
        (B, A), space = covariances(trials, columns, totals, ["X"], reg=self.reg, rank=self.rank, each_trial=True)
        self.rank_ = space.rank
        return self._finish(of_pair(A, B, space, alternate=False, centre=0.0), trials, weights)
