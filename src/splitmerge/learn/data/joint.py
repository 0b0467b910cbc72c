"""Several views of the same rows, and their joint covariance matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from ...typing import Array
from .view import BLOCK_ENTRIES, BLOCK_ROWS, View

# A sparse Gram matrix is centred afterwards if no mean exceeds this multiple of the deviation: cancellation costs at
# most two digits.
MAX_MEAN_TO_DEVIATION = 10.0


def parts_of(sizes: Sequence[int]) -> list[slice]:
    """Return the slice of each view in a vector of the joint space."""
    return [slice(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *sizes]))]


class Joint:
    """Views X̃ᵢ with the same rows and weights; a vector of the joint space is the concatenation of one per view.

    >>> views = Joint([View(np.array([[0.0], [2.0]])), View(np.array([[1.0, 0.0], [3.0, 2.0]]))])
    >>> views.gram()
    array([[1., 1., 1.],
           [1., 1., 1.],
           [1., 1., 1.]])
    >>> views.others(np.ones((3, 1))).T
    array([[2., 1., 1.]])
    """

    # seconds of overhead per pass over data that are not in this process
    pass_seconds = 0.0

    def __init__(self, views: Sequence[View]) -> None:
        self.views = list(views)
        self.rows, self.total, self.samples = views[0].rows, views[0].total, views[0].samples
        self.sizes = [view.columns for view in views]
        self.columns = sum(self.sizes)
        self.parts = parts_of(self.sizes)

    @property
    def entries(self) -> int:
        """Number of entries that a product with all views reads."""
        return sum(view.entries for view in self.views)

    @property
    def sparse(self) -> bool:
        """Whether any view is sparse."""
        return any(view.sparse for view in self.views)

    @property
    def mean(self) -> Array:
        """The means of all columns."""
        return np.concatenate([view.mean for view in self.views])

    @property
    def spread(self) -> Array:
        """The divisors of all columns."""
        return np.concatenate([view.spread for view in self.views])

    def variances(self) -> Array:
        """The diagonal of `gram`."""
        return np.concatenate([view.variances() for view in self.views])

    def gram(self, W: Sequence[Array] | None = None) -> Array:
        """Return ZᵀZ / Σw for Z = diag(w)^½ [X̃₁ X̃₂ …], or diag(w)^½ [X̃₁W₁ X̃₂W₂ …]."""
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
        height = max(1, min(BLOCK_ROWS, BLOCK_ENTRIES // self.columns))
        for first in range(0, self.rows, height):
            rows = slice(first, min(first + height, self.rows))
            if W is None:
                Z = np.empty((rows.stop - rows.start, self.columns))
                for view, part in zip(self.views, self.parts, strict=True):
                    view.centred(rows, Z[:, part])
                yield Z
            else:
                yield np.hstack([view.centred(rows) @ M for view, M in zip(self.views, W, strict=True)])

    def _sparse_gram(self) -> Array | None:
        """Sparse product, then centring; None if the means are so large that this would cancel."""
        mean, spread = self.mean, self.spread
        deviations = np.sqrt(self.variances()) * spread
        if (np.abs(mean) > MAX_MEAN_TO_DEVIATION * deviations).any():
            return None
        X = sp.csr_array(sp.hstack([view.X for view in self.views], format="csr", dtype=np.float64))
        weights = self.views[0].weights
        weighted = X if weights is None else sp.diags_array(weights) @ X
        found = np.asarray((X.T @ weighted).toarray()) / self.total - np.multiply.outer(mean, mean)
        found /= spread
        found /= spread[:, None]
        return (found + found.T) / 2

    def split(self, V: Array) -> list[Array]:
        """Split joint vectors by view."""
        return [V[part] for part in self.parts]

    def own(self, V: Array) -> Array:
        """Multiply each view's part by the covariance of that view (the block diagonal)."""
        return np.concatenate([view.gram_times(U) for view, U in zip(self.views, self.split(V), strict=True)])

    def others(self, V: Array) -> Array:
        """Multiply by the cross-covariances of different views (the blocks off the diagonal)."""
        scores = [view.times(U) for view, U in zip(self.views, self.split(V), strict=True)]
        together = np.add.reduce(scores)
        return np.concatenate([view.dual(together - S) for view, S in zip(self.views, scores, strict=True)])
