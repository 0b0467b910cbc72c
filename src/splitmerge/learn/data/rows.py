"""A data matrix as it is stored: dense, sparse or memory-mapped."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


class Rows:
    """A data matrix; sparse data are kept as CSR in canonical format, which sums over stored entries rely on."""

    def __init__(self, X: Any) -> None:
        self.X, (self.rows, self.columns) = canonical(X), X.shape

    @property
    def sparse(self) -> bool:
        """Whether X is a sparse matrix."""
        return bool(sp.issparse(self.X))

    @property
    def entries(self) -> int:
        """Number of entries that a product with X reads."""
        return int(self.X.nnz) if self.sparse else self.rows * self.columns


def real_matrix(X: Any, name: str, least: int = 1) -> Any:
    """Return an array, or a sparse matrix as CSR, with samples in rows and at least this number of columns.

    >>> real_matrix([[1, 2], [3, 4]], "X").shape
    (2, 2)
    """
    try:
        data: Any = X if sp.issparse(X) or isinstance(X, np.ndarray) else np.asarray(X)
    except ValueError:
        raise ValueError(
            f"{name} must be a real matrix with samples in rows; its rows have different lengths"
        ) from None
    if data.ndim != 2 or not data.shape[0] or data.shape[1] < least or data.dtype.kind not in "iufb":
        raise ValueError(f"{name} must be a real matrix with samples in rows; it has shape {data.shape}, {data.dtype}")
    if sp.issparse(data):
        data = X.tocsr()
    if data.dtype.kind == "b" or (data.dtype.kind in "iu" and sp.issparse(data)):
        data = data.astype(np.float64)
    return data


def canonical(X: Any) -> Any:
    """Return X; a sparse X as CSR without duplicate entries, which are summed in a copy.

    >>> import numpy as np
    >>> twice = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    >>> canonical(twice).data
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
