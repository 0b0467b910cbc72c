"""Several views of the same rows: sums over the rows that concern them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from ...typing import Array
from .view import NUMBERS, ROWS, View

# A sparse X is multiplied before it is centred as long as no mean is so many times the deviation: a digit is lost.
MEAN = 10.0


def parts_of(sizes: Sequence[int]) -> list[slice]:
    """Where each view's piece is in a vector of the joint space."""
    return [slice(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *sizes]))]


class Joint:
    """Views X̃ᵢ that share rows and weights; a vector of the joint space holds a piece for each of them.

    >>> views = Joint([View(np.array([[0.0], [2.0]])), View(np.array([[1.0, 0.0], [3.0, 2.0]]))])
    >>> views.gram()
    array([[1., 1., 1.],
           [1., 1., 1.],
           [1., 1., 1.]])
    >>> views.others(np.ones((3, 1))).T
    array([[2., 1., 1.]])
    """

    # a pass over data elsewhere costs more than its arithmetic: seconds
    overhead = 0.0

    def __init__(self, views: Sequence[View]) -> None:
        self.views = list(views)
        self.rows, self.total, self.samples = views[0].rows, views[0].total, views[0].samples
        self.sizes = [view.columns for view in views]
        self.columns = sum(self.sizes)
        self.parts = parts_of(self.sizes)

    @property
    def entries(self) -> int:
        """How many numbers a product with all views reads."""
        return sum(view.entries for view in self.views)

    @property
    def sparse(self) -> bool:
        """Has any of them zeros that nobody stores?"""
        return any(view.sparse for view in self.views)

    @property
    def mean(self) -> Array:
        """The means of all columns."""
        return np.concatenate([view.mean for view in self.views])

    @property
    def spread(self) -> Array:
        """What all columns are divided by."""
        return np.concatenate([view.spread for view in self.views])

    def variances(self) -> Array:
        """The diagonal of `gram`."""
        return np.concatenate([view.variances() for view in self.views])

    def gram(self, W: Sequence[Array] | None = None) -> Array:
        """ZᵀZ over the sum of the weights, Z the roots of the weights times [X̃₁ X̃₂ …], or [X̃₁W₁ X̃₂W₂ …]."""
        if W is None and all(view.sparse for view in self.views):
            found = self._sparse_gram()
            if found is not None:
                return found
        width = self.columns if W is None else sum(M.shape[1] for M in W)
        found = np.zeros((width, width))
        for Z in self._blocks(W):
            found += Z.T @ Z
        return found / self.total

    def _blocks(self, W: Sequence[Array] | None) -> Iterator[Array]:
        height = max(1, min(ROWS, NUMBERS // self.columns))
        for first in range(0, self.rows, height):
            rows = slice(first, min(first + height, self.rows))
            pieces = [view.centred(rows) for view in self.views]
            yield np.hstack(pieces if W is None else [Z @ M for Z, M in zip(pieces, W, strict=True)])

    def _sparse_gram(self) -> Array | None:
        """By products of what is stored, where that loses no digits to the means."""
        mean, spread = self.mean, self.spread
        deviations = np.sqrt(self.variances()) * spread
        if (np.abs(mean) > MEAN * deviations).any():
            return None
        X = sp.csr_array(sp.hstack([view.X for view in self.views], format="csr", dtype=np.float64))
        weights = self.views[0].weights
        weighted = X if weights is None else sp.diags_array(weights) @ X
        found = np.asarray((X.T @ weighted).toarray()) / self.total - np.multiply.outer(mean, mean)
        found /= spread
        found /= spread[:, None]
        return (found + found.T) / 2

    def split(self, V: Array) -> list[Array]:
        """The pieces of the views."""
        return [V[part] for part in self.parts]

    def own(self, V: Array) -> Array:
        """Each piece times the covariance of its own view."""
        return np.concatenate([view.gram_times(U) for view, U in zip(self.views, self.split(V), strict=True)])

    def others(self, V: Array) -> Array:
        """For each view, the sum over the other views of its covariance with them times their pieces."""
        scores = [view.times(U) for view, U in zip(self.views, self.split(V), strict=True)]
        together = np.add.reduce(scores)
        return np.concatenate([view.dual(together - S) for view, S in zip(self.views, scores, strict=True)])

    def scores(self, V: Array) -> list[Array]:
        """X̃ᵢVᵢ for each view."""
        return [view.times(U) for view, U in zip(self.views, self.split(V), strict=True)]
