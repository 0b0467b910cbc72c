"""What CSP and SPoC share: reading trials, covariances, features of filtered trials, and topographies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from ...checks import whole
from ...system.packages import missing
from ...typing import Array
from ..data.inputs import check_present, check_sortable, is_dask
from .covariances import check_reg
from .decomposition import Decomposition
from .space import check_rank
from .trials import Trials, array_of, power, rounding_power, three_axes

FEATURES = ("average_power", "csp_space")
# Share of the mean power below which the power of a trial may be rounding.
QUIET_POWER = 1e-6
ACCEPTED = {"dtype": (np.float64, np.float32), "allow_nd": True}


class SpatialFilters(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Filters and patterns of all components; the features are those of the first `n_components`."""

    n_components: int
    reg: Any
    log: Any
    transform_into: str
    rank: Any
    filters_: Array
    patterns_: Array

    def transform(self, X: Any) -> Any:
        """Return the features (trials, n_components), or the filtered trials (trials, n_components, samples).

        A Dask array is transformed lazily, block by block.
        """
        check_is_fitted(self)
        if is_dask(X):
            from .blocks import transformed

            return transformed(self, X)
        trials = Trials(three_axes(validate_data(self, array_of(X), reset=False, **ACCEPTED)))
        W, space = self._selected(), self.transform_into == "csp_space"
        out = np.empty((trials.count, W.shape[0], *([trials.samples] if space else [])), trials.dtype)
        for rows, part in trials.blocks():
            out[rows] = np.matmul(W, part) if space else self._features(part, W, trials.dtype)
        return out

    def inverse_transform(self, X: Any) -> Array:
        """Return each feature times its pattern: (trials, channels, n_components)."""
        check_is_fitted(self)
        if self.transform_into != "average_power":
            raise NotImplementedError("inverse_transform needs features: use transform_into='average_power'")
        X, patterns = np.asarray(X), self.patterns_[: self.n_components]
        if X.ndim != 2 or X.shape[1] != patterns.shape[0]:
            raise ValueError(f"X has shape {X.shape}; give features of the shape (trials, {patterns.shape[0]})")
        return np.asarray(X[:, None, :] * patterns.T)

    def plot_patterns(self, info: Any, components: Any = None, **options: Any) -> Any:
        """Draw the patterns on the scalp, by MNE; `info` is its description of the sensors.

        `components` are the indices of the patterns to draw; all others are options of
        `mne.decoding.SpatialFilter.plot_patterns`.
        """
        return self._topographies("patterns", info, components, options)

    def plot_filters(self, info: Any, components: Any = None, **options: Any) -> Any:
        """Draw the filters on the scalp, as `plot_patterns` does the patterns."""
        return self._topographies("filters", info, components, options)

    def _topographies(self, kind: str, info: Any, components: Any, options: dict[str, Any]) -> Any:
        check_is_fitted(self)
        name = type(self).__name__
        try:
            from mne.decoding import SpatialFilter
        except ImportError as error:
            raise ImportError(missing(f"{name}.plot_{kind}", "mne")) from error
        drawn = SpatialFilter(info, filters=self.filters_, patterns=self.patterns_, patterns_method="pinv")
        return getattr(drawn, f"plot_{kind}")(components, **{"name_format": f"{name}%01d"} | options)

    def _features(self, part: Array, W: Array, dtype: Any) -> Array:
        features = power(part, W)
        if not np.isfinite(features).all():
            raise ValueError("X has values whose squares overflow; rescale X")
        if self.log is None or self.log:
            quiet = (features <= QUIET_POWER * self.mean_).any(axis=1)
            floor = rounding_power(part[quiet], W, float(np.finfo(dtype).eps))
            features[quiet] = np.maximum(features[quiet], floor)
            return np.log(features)
        return np.asarray((features - self.mean_) / np.where(self.std_ > 0, self.std_, 1.0))

    def _selected(self) -> Array:
        return self.filters_[: self.n_components]

    @property
    def _n_features_out(self) -> int:
        return int(self._selected().shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_options(self) -> None:
        check_components(self.n_components)
        check_features(self.transform_into, self.log)
        check_reg(self.reg)
        check_rank(self.rank)

    def _read(self, X: Any, y: Any, **options: Any) -> tuple[Any, Array]:
        """Check X and y with scikit-learn; a Dask array is checked without being computed, its y is computed."""
        X = array_of(X)
        if not is_dask(X):
            X, y = validate_data(self, X, check_present(y), ensure_min_samples=2, **ACCEPTED, **options)
            check_sortable(y)
            return Trials(three_axes(X)), y
        from .blocks import DaskTrials

        trials = DaskTrials(X)
        y = validate_data(self, y=np.asarray(check_present(y)), reset=False)
        check_consistent_length(X, y)
        check_sortable(y)
        self.n_features_in_ = trials.channels
        self.__dict__.pop("feature_names_in_", None)
        return trials, y

    def _finish(self, found: Decomposition, trials: Any, weights: Array) -> Self:
        """Store the filters, and the mean and standard deviation over the trials of the power of those used."""
        self.filters_, self.patterns_, self.eigenvalues_ = found.filters, found.patterns, found.eigenvalues
        powers = trials.powers(self._selected())
        self.mean_ = np.average(powers, axis=0, weights=weights)
        self.std_ = np.sqrt(np.average((powers - self.mean_) ** 2, axis=0, weights=weights))
        return self


def check_components(n_components: Any) -> None:
    """A whole number of at least 1."""
    if isinstance(n_components, (bool, np.bool_)) or not isinstance(n_components, (int, np.integer)):
        raise TypeError(f"n_components must be an instance of int, not {n_components!r}")
    whole(n_components, "n_components", 1)


def check_choice(value: Any, name: str, choices: Sequence[str]) -> None:
    """One of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"Invalid value for {name}: {value!r}; give one of {', '.join(map(repr, choices))}")


def check_bool(value: Any, name: str) -> None:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be an instance of bool, not {value!r}")


def check_features(transform_into: Any, log: Any) -> None:
    """The kind of features, and the logarithm of powers only."""
    check_choice(transform_into, "transform_into", FEATURES)
    if log is None:
        return
    if transform_into == "csp_space":
        raise TypeError(f"log must be an instance of None, not {log!r}, as transform_into='csp_space' has no powers")
    if not isinstance(log, (bool, np.bool_)):
        raise TypeError(f"log must be an instance of bool or None, not {log!r}")
