"""Every kind of matrix that `solve` accepts, made from a dense one."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from checking import operator_of


class Custom:
    """Anything with `shape` and `@`."""

    def __init__(self, M, dtype=False):
        self._M = np.asarray(M)
        self.shape = self._M.shape
        if dtype:
            self.dtype = self._M.dtype

    def __matmul__(self, x):
        return self._M @ x


class Arraylike:
    def __init__(self, M):
        self._M = M

    def __array__(self, dtype=None, copy=None):
        return np.array(self._M, dtype=dtype)


def strided(M):
    big = np.full((2 * len(M), 3 * len(M)), np.nan, M.dtype)
    big[::2, ::3] = M
    return big[::2, ::3]


def reversed_view(M):
    return M[::-1, ::-1].copy()[::-1, ::-1]


def read_only(M):
    M = M.copy()
    M.flags.writeable = False
    return M


def coo_with_duplicates(M):
    rows, columns = np.indices(M.shape).reshape(2, -1)
    data = M.ravel()
    order = np.random.default_rng(0).permutation(2 * data.size)
    return sp.coo_array(
        (
            np.r_[0.25 * data, 0.75 * data][order],
            (np.r_[rows, rows][order], np.r_[columns, columns][order]),
        ),
        shape=M.shape,
    )


def messy_csr(M, container=sp.csr_array):
    """Each row backwards, each entry in two parts, one stored zero."""
    n = len(M)
    indices = np.tile(np.repeat(np.arange(n)[::-1], 2), n)
    data = np.repeat(M[:, ::-1], 2, axis=1).ravel() / 2
    return container((data, indices, np.arange(n + 1) * 2 * n), shape=M.shape)


def read_only_csr(M):
    M = sp.csr_array(M)
    for part in (M.data, M.indices, M.indptr):
        part.flags.writeable = False
    return M


def wide_indices(M):
    M = sp.csr_array(M)
    M.indices, M.indptr = M.indices.astype(np.int64), M.indptr.astype(np.int64)
    return M


DENSE = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": strided,
    "negative strides": reversed_view,
    "read-only": read_only,
    "big-endian": lambda M: M.astype(M.dtype.newbyteorder(">")),
    "list": lambda M: M.tolist(),
    "tuple": lambda M: tuple(map(tuple, M.tolist())),
    "masked, nothing masked": np.ma.masked_array,
    "__array__": Arraylike,
    "longdouble": lambda M: M.astype(np.result_type(M.dtype, np.longdouble)),
}
SPARSE = {
    **{f"{f}_array": getattr(sp, f"{f}_array") for f in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")},
    **{f"{f}_matrix": getattr(sp, f"{f}_matrix") for f in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")},
    "coo with duplicates": coo_with_duplicates,
    "messy csr": messy_csr,
    "messy csc": lambda M: messy_csr(M.T.copy(), sp.csc_array),
    "read-only csr": read_only_csr,
    "int64 indices": wide_indices,
}
OPERATORS = {
    "LinearOperator": operator_of,
    "aslinearoperator": aslinearoperator,
    "sparse LinearOperator": lambda M: aslinearoperator(sp.csr_array(M)),
    "object": Custom,
    "object with dtype": lambda M: Custom(M, dtype=True),
}
KINDS = DENSE | SPARSE | OPERATORS


def family(kind):
    """Where the kinds of a family end up as the same thing."""
    return "dense" if kind in DENSE else "sparse" if kind in SPARSE else "operator"
