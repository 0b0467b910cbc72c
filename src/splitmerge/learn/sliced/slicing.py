"""Slices of a response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import whole
from ...typing import Array

ONE_VALUE = "y has one value or class only; at least two slices are needed"


@dataclass(frozen=True)
class Slicing:
    """Slices by label, or by the values at which the second and later slices begin.

    >>> Slicing.of([3.0, 1.0, 2.0, 9.0], 2).members([0.0, 2.9, 3.0])
    array([0, 0, 1])
    >>> Slicing.of(["b", "a", "b"], 10).members(["a", "b"])
    array([0, 1])
    """

    labels: Array | None
    begins: Array | None

    @property
    def count(self) -> int:
        """Number of slices."""
        if self.labels is not None:
            return int(self.labels.size)
        assert self.begins is not None
        return int(self.begins.size) + 1

    @classmethod
    def of(cls, y: Any, slices: Any, weights: Array | None = None) -> Slicing:
        """Determine the slices of the response y.

        If y has labels, or no more distinct values than `slices`, each of them is a slice. Otherwise the sorted rows
        are split into `slices` parts: like NumPy's `array_split` for integer weights (w acts like w equal rows), into
        equal weights otherwise. Rows with equal values stay together, in the slice that would begin with one of them,
        so that ties can reduce the number of slices. An array of `slices` has the values at which slices begin.
        """
        y = np.asarray(y)
        if np.ndim(slices) == 1:
            return cls(None, _given(slices, y))
        number = whole(slices, "n_slices", 2)
        different = np.unique(y)
        if different.size < 2:
            raise ValueError(ONE_VALUE)
        if y.dtype.kind not in "iuf" or different.size <= number:
            return cls(different, None)
        order = np.argsort(y, kind="stable")
        above = np.cumsum(np.ones(y.size) if weights is None else weights[order])
        first = np.searchsorted(above, _cuts(float(above[-1]), number), side="right")
        begins = np.unique(y[order][np.minimum(first, y.size - 1)])
        return cls(None, begins[begins > different[0]])

    def members(self, y: Any) -> Array:
        """Return the slice index of each row."""
        y = np.asarray(y)
        if self.labels is None:
            assert self.begins is not None
            return np.asarray(np.searchsorted(self.begins, y, side="right"))
        if (unknown := np.setdiff1d(y, self.labels)).size:
            raise ValueError(f"y has labels {unknown[:5]!r} that are not among the slices {self.labels!r}; remove them")
        return np.asarray(np.searchsorted(self.labels, y))


def divided(y: Any, slices: Any, weights: Array) -> tuple[Slicing, Array]:
    """Divide the sorted rows by number only, like NumPy's `array_split`: rows with equal y may be in different slices.

    Return the slicing, whose begins may repeat, and the slice index of each row. A row is not divided: it is in the
    slice in which its weight begins.

    >>> divided(np.array([1.0, 1.0, 1.0, 2.0]), 2, np.ones(4))[1]
    array([0, 0, 1, 1])
    """
    y = np.asarray(y)
    if y.size < 2:
        raise ValueError(ONE_VALUE)
    number = whole(slices, "n_slices", 2, y.size)
    if y.dtype.kind not in "iuf":
        raise ValueError("y has labels, which ties='split' cannot sort; use ties='together'")
    if y.min() == y.max():
        raise ValueError(ONE_VALUE)
    # NumPy's default sort, which statsmodels uses, decides the order of equal values
    order = np.argsort(y)
    above = np.cumsum(weights[order])
    place = np.searchsorted(_cuts(float(above[-1]), number), above - weights[order], side="right")
    first, place = np.unique(place, return_index=True, return_inverse=True)[1:]
    members = np.empty(y.size, np.intp)
    members[order] = place
    return Slicing(None, y[order][first[1:]]), members


def _cuts(total: float, number: int) -> Array:
    """Return the cumulative weights at which the second and later slices begin."""
    inner = np.arange(1, number)
    if not total.is_integer():
        return inner * (total / number)
    size, rest = divmod(int(total), number)
    return np.asarray(inner * size + np.minimum(inner, rest), np.float64)


def _given(slices: Any, y: Array) -> Array:
    begins = np.asarray(slices, np.float64)
    if y.dtype.kind not in "iuf":
        raise ValueError("n_slices has values of y, but y has labels; give a number of slices")
    if not begins.size or not np.isfinite(begins).all() or not (np.diff(begins) > 0).all():
        raise ValueError(f"n_slices is {slices!r}; give a number, or increasing values at which slices begin")
    return begins
