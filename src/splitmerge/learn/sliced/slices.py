"""Base class of the estimators with slices of a response: the same slices and sums for `fit` and `partial_fit`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from ...typing import Array
from ..dask.blocks import Blocks
from ..dask.estimators import add_rows
from ..data.view import BLOCK_ENTRIES
from ..moments.moments import Moments
from .base import Directions
from .slicing import Slicing, divided

TIES = ("together", "split")


class Sliced(Directions):
    """An estimator of directions with slices of the response."""

    # whether each slice needs a covariance matrix of its own
    _separate: bool
    _slicing: Slicing
    _moments: Moments

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_slices: Any = 10,
        shrinkage: float | None = None,
        b_policy: str = "restrict",
        tol: float = 1e-4,
        ties: str = "together",
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.shrinkage = shrinkage
        self.b_policy = b_policy
        self.tol = tol
        self.ties = ties

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X with the response y; an integer weight w acts like w equal rows."""
        X, y, weights = self._rows(X, y, sample_weight, reset=True, min_rows=2)
        slicing, members = self._slices(y, weights)
        if slicing.count >= y.size:
            raise ValueError(
                f"each of the {y.size} rows is a slice of its own, which any X explains; give a smaller n_slices"
            )
        self.__dict__.pop("_moments", None)
        self._slicing = slicing
        return self._fit(X, members, weights)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows to those of earlier calls, or of a `fit` that formed the covariance (see `route_`).

        The slices are given by `n_slices` as values of y, or determined by the first call or `fit`. The model is
        fitted as soon as the rows suffice.
        """
        if self.ties == "split":
            raise ValueError("ties='split' needs all rows at once; give values of y as n_slices, or call fit")
        first = not hasattr(self, "_moments")
        if first and hasattr(self, "directions_"):
            raise ValueError("the last fit did not keep its sums (see route_); begin with partial_fit on a clone")
        X, y, weights = self._rows(X, y, sample_weight, reset=first)
        slicing = self._slices(y, weights)[0] if first else self._slicing
        members = slicing.members(y)
        self._check_components(slicing.count, X.shape[1])
        sums = self._moments if not first else Moments(slicing.count, X.shape[1], separate=self._separate)
        # only now: a call that is refused leaves nothing behind
        self._moments, self._slicing = sum_rows(sums, X, members, weights), slicing
        return self._of_sums("The covariance was summed over batches.") if self._suffices(sums) else self

    @abstractmethod
    def _fit(self, X: Any, members: Array, weights: Array) -> Self:
        """Fit to checked rows in the slices `members`."""

    @abstractmethod
    def _of_sums(self, why: str) -> Self:
        """Fit to the moments."""

    @abstractmethod
    def _suffices(self, sums: Moments) -> bool:
        """Return whether the moments of some batches determine directions."""

    @abstractmethod
    def _check_components(self, slices: int, columns: int) -> int:
        """Return the number of directions that is asked for; raise if it is too large."""

    def _slices(self, y: Array, weights: Array) -> tuple[Slicing, Array]:
        if self.ties not in TIES:
            raise ValueError(f"ties is {self.ties!r}; give one of {', '.join(map(repr, TIES))}")
        if self.ties == "split" and np.ndim(self.n_slices) == 0:
            return divided(y, self.n_slices, weights)
        slicing = Slicing.of(y, self.n_slices, weights)
        return slicing, slicing.members(y)

    def _keep(self, values: Array, directions: Array, mean: Array, route: str) -> Self:
        slicing = self._slicing
        self.n_slices_ = slicing.count
        self.slices_ = slicing.begins if slicing.labels is None else slicing.labels
        return super()._keep(values, directions, mean, route)


def sum_rows(sums: Moments, X: Any, members: Array, weights: Array) -> Moments:
    """Add rows in blocks: those of one slice at a time are copied if every slice has its own scatter matrix."""
    if not sums.separate or isinstance(X, Blocks):
        return add_rows(sums, X, members, weights)
    step = max(1, BLOCK_ENTRIES // X.shape[1])
    for first in range(0, X.shape[0], step):
        some = slice(first, first + step)
        sums.add(X[some], members[some], weights[some])
    return sums
