"""Data in rows as they are stored: dense, sparse, or on disk."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp


class Rows:
    """A matrix of data; a sparse one by rows, with every entry stored once, as sums over what is stored need it."""

    def __init__(self, X: Any) -> None:
        self.X, (self.rows, self.columns) = once(X), X.shape

    @property
    def sparse(self) -> bool:
        """Has X zeros that nobody stores?"""
        return bool(sp.issparse(self.X))

    @property
    def entries(self) -> int:
        """How many numbers a product with X reads."""
        return int(self.X.nnz) if self.sparse else self.rows * self.columns


def once(X: Any) -> Any:
    """X; if it is sparse, by rows and without entries that are stored in parts, which are added up in a copy.

    >>> import numpy as np
    >>> twice = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    >>> once(twice).data
    array([3.])
    """
    if not sp.issparse(X):
        return X
    given: Any = X
    stored = sp.csr_array(given)
    if not stored.has_canonical_format:
        stored = stored.copy()
        stored.sum_duplicates()
    return stored
