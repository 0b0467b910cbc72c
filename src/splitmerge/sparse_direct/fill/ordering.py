"""The adjacency graph of a sparse matrix, and its nested dissection ordering by METIS."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...typing import Array

# The profile of a narrow matrix has at most this multiple of its nonzeros, and each of its rows at most this width.
NARROW_PROFILE, NARROW_BAND = 3, 64


def graph_of(K: Any) -> sp.csr_array:
    """The adjacency matrix of the graph of K: its off-diagonal sparsity pattern, with entries 1."""
    K = sp.csr_array(K)
    n = K.shape[0]
    rows = np.repeat(np.arange(n, dtype=K.indices.dtype), np.diff(K.indptr))
    off = K.indices != rows
    pointers = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows[off], minlength=n), out=pointers[1:])
    columns = K.indices[off]
    return sp.csr_array((np.ones(columns.size, np.int8), columns, pointers), shape=K.shape)


def narrow_profile(K: Any) -> Array | None:
    """The distance of the first entry of each row from the diagonal, plus 1, if K need not be reordered; else None."""
    K = sp.csr_array(K)
    rows = np.flatnonzero(np.diff(K.indptr))
    widths = np.ones(K.shape[0])
    if rows.size:
        widths[rows] += np.maximum(rows - np.minimum.reduceat(K.indices, K.indptr[rows]), 0)
    narrow = widths.max() <= NARROW_BAND and widths.sum() <= NARROW_PROFILE * K.nnz
    return widths if narrow else None


def nested_dissection(graph: sp.csr_array) -> Array | None:
    """The fill-reducing nested dissection ordering by METIS; None if pymetis is not installed."""
    try:
        import pymetis
    except ImportError:
        return None
    order, _ = pymetis.nested_dissection(pymetis.CSRAdjacency(graph.indptr, graph.indices))
    return np.asarray(order)
