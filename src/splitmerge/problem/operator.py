"""`Operator`: a Hermitian matrix or matrix-free operator with its properties, and sums and scalings of operators."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import scipy.sparse as sp

from ..linalg import csr
from ..linalg.blas import hermitian_product, kernels, one_norm
from ..linalg.reductions import largest
from ..linalg.rounding import ROUNDING_UNITS, TERMS_PER_UNIT_DENSE, TERMS_PER_UNIT_SPARSE
from ..system.processes import current
from ..typing import Array

# Largest binary exponent of the entries, by precision: beyond it a product of four such entries could overflow.
_MAX_BINARY_EXPONENT = {"d": 100, "f": 16}


class Entries(Protocol):
    """The entries of an operator whose rows are distributed over the processes of an MPI program."""

    @property
    def norm(self) -> float:
        """The 1-norm."""

    @property
    def longest(self) -> int:
        """The largest number of entries in a row."""

    def negated(self) -> Entries:
        """The entries of −M."""

    def diagonal(self) -> Array:
        """The rows of the diagonal that this process holds."""

    def congruent(self, d: Array) -> Operator:
        """D M D for the diagonal d of D by row, rescaled if it is near overflow."""

    def plus(self, c: float, other: Operator | None, size: float) -> Operator:
        """M + c B, where B = None is the identity; its largest entry counts as `size`."""

    def factorised(self) -> Any:
        """The factors of an indefinite M, with their inertia."""

    def multigrid(self, near_null: Array | None) -> Any:
        """A multigrid cycle, as a function of a vector."""


@dataclass(frozen=True)
class Operator:
    """`scale` times the user's matrix.

    `scale` is ± a power of two: 1 unless the entries are close to overflow or underflow, or the matrix is negated.
    `matrix` is None for a matrix-free operator, and for one whose rows are distributed: `local_rows` of them belong to
    this process, and `entries` has those that are known. `size` is the largest magnitude of an entry, for a matrix-free
    operator that of its product with a standard normal vector.
    """

    kind: Literal["dense", "sparse", "operator", "distributed"]
    n: int
    dtype: np.dtype[Any]
    times: Callable[[Array], Array]
    times_block: Callable[[Array], Array]
    matrix: Any
    size: float
    scale: float
    recast: Callable[[np.dtype[Any]], Operator] | None = None
    local_rows: int | None = None
    entries: Entries | None = None

    @property
    def rows(self) -> int:
        """The number of rows that this process holds."""
        return self.n if self.local_rows is None else self.local_rows

    @property
    def known(self) -> bool:
        """Are the entries known, on this process or on all of them together?"""
        return self.matrix is not None or self.entries is not None

    def negated(self) -> Operator:
        """The operator −M."""
        if self.matrix is None:
            times, block = self.times, self.times_block
            return replace(
                self,
                times=lambda x: -times(x),
                times_block=lambda X: -block(X),
                scale=-self.scale,
                recast=None,
                entries=None if self.entries is None else self.entries.negated(),
            )
        build = dense_operator if self.kind == "dense" else sparse_operator
        return build(-self.matrix, self.size, -self.scale)

    @cached_property
    def norm(self) -> float:
        """The 1-norm; for a matrix-free operator `size`, which exceeds the norm of every row."""
        if self.kind == "dense":
            return one_norm(self.matrix)
        if self.kind == "sparse":
            return float(csr.row_sums(self.matrix).max())
        return self.size if self.entries is None else self.entries.norm

    @cached_property
    def units(self) -> float:
        """Units of rounding by which the entries of a product are off, relative to the norm."""
        if self.kind == "sparse" or self.entries is not None:
            longest = self.entries.longest if self.entries else int(np.diff(self.matrix.indptr).max(initial=0))
            return max(ROUNDING_UNITS, longest / TERMS_PER_UNIT_SPARSE)
        return max(ROUNDING_UNITS, self.n / TERMS_PER_UNIT_DENSE)

    def in_double(self, X: Array) -> Array:
        """M X for a block of columns X, in the (double) precision of X."""
        if X.shape[1] == 1 and self.dtype == X.dtype:
            return self.times(np.ascontiguousarray(X[:, 0]))[:, None]
        if self.matrix is None:
            return self.times_block(X)
        matrix = self.matrix.astype(X.dtype, copy=False)
        return hermitian_product(matrix, X) if self.kind == "dense" else np.asarray(matrix @ X)

    def diagonal(self) -> Array:
        """The diagonal (of a distributed one, the rows of this process); ValueError for a matrix-free operator."""
        if self.entries is not None:
            return self.entries.diagonal()
        if self.matrix is None:
            raise ValueError("the diagonal needs matrix entries, but this operator is matrix-free; give a matrix")
        return np.asarray(self.matrix.diagonal())


def with_dtype(op: Operator, dtype: np.dtype[Any]) -> Operator:
    """The operator converted to `dtype`, which must be able to represent its entries."""
    if op.dtype == dtype:
        return op
    if op.recast is not None:
        return op.recast(dtype)
    matrix = op.matrix.astype(dtype)
    build = dense_operator if op.kind == "dense" else sparse_operator
    return build(matrix, op.size, op.scale)


def congruent(op: Operator, d: Array) -> Operator:
    """The congruence D M D with a positive diagonal D, rescaled by a power of two if it is near overflow."""
    if op.entries is not None:
        return op.entries.congruent(d)
    d = d.astype(np.empty(0, op.dtype).real.dtype)
    if op.kind == "operator":
        return _congruent_products(op, d)
    if op.kind == "dense":
        matrix = d[:, None] * op.matrix * d
        size = float(np.abs(matrix).max())
    else:
        matrix = scaled_rows_and_columns(op.matrix, d)
        size = float(np.abs(matrix.data).max(initial=0.0))
    factor = safe_scaling(size, op.dtype, 1)
    if factor != 1:
        matrix = matrix * factor
    build = dense_operator if op.kind == "dense" else sparse_operator
    return build(matrix, size * factor, op.scale * factor)


def _congruent_products(op: Operator, d: Array) -> Operator:
    """D M D for a matrix-free M."""

    def times(x: Array) -> Array:
        return d * op.times(d * x)

    def recast(dtype: np.dtype[Any]) -> Operator:
        return congruent(with_dtype(op, dtype), d)

    def times_block(X: Array) -> Array:
        return d[:, None] * op.times_block(d[:, None] * X)

    probe = np.random.default_rng(0).standard_normal(op.rows).astype(op.dtype)
    rest = None, largest(np.abs(times(probe))), op.scale, recast, op.local_rows
    return Operator("operator", op.n, op.dtype, times, times_block, *rest)


def scaled_rows_and_columns(M: Any, d: Array) -> Any:
    """D M D for a CSR array M and the diagonal d of D."""
    return csr.like(M, M.data * np.repeat(d, np.diff(M.indptr)) * d[M.indices])


def identity(n: int, dtype: np.dtype[Any]) -> Operator:
    """The identity, for use in place of A: a sparse operator unless vectors are distributed."""
    processes = current()
    if processes is not None:
        return Operator("operator", n, dtype, np.copy, np.copy, None, 1.0, 1.0, None, processes.count)
    return sparse_operator(sp.eye_array(n, dtype=dtype, format="csr"), 1.0, 1.0)


def as_dense(op: Operator) -> Operator:
    """The operator with its entries in a dense array; takes n products if it is matrix-free."""
    if op.kind == "dense":
        return op
    if op.kind == "sparse":
        return dense_operator(op.matrix.toarray(order="F"), op.size, op.scale)
    M = op.times_block(np.eye(op.n, dtype=op.dtype))
    M = np.asfortranarray((M + M.conj().T) / 2)
    return dense_operator(M, float(np.abs(M).max()), op.scale)


def plus(A: Operator, c: float, B: Operator | None) -> Operator:
    """The matrix A + c B, where B = None is the identity; A itself for c = 0.

    Its `size` is the sum of the sizes of both terms, because their rounding errors remain when they cancel.
    """
    if c == 0:
        return A
    if not A.known or (B is not None and not B.known):
        raise ValueError("A − σB needs the entries of A and B; give matrices instead of matrix-free operators")
    size = A.size + abs(c) * (1.0 if B is None else B.size)
    if A.entries is not None:
        return A.entries.plus(c, B, size)
    if A.kind == "dense" or (B is not None and B.kind == "dense"):
        return dense_operator(_dense_sum(A, c, B), size, 1.0)
    other = sp.eye_array(A.n, dtype=A.dtype, format="csr") if B is None else B.matrix
    return sparse_operator(csr.plus(A.matrix, c, other), size, 1.0)


def _dense_sum(A: Operator, c: float, B: Operator | None) -> Array:
    """A + c B as a dense array."""
    M: Array = A.matrix.copy(order="F") if A.kind == "dense" else A.matrix.toarray(order="F")
    if B is None:
        M.flat[:: A.n + 1] += c
    else:
        M += c * (B.matrix if B.kind == "dense" else B.matrix.toarray())
    return M


def safe_scaling(size: float, dtype: np.dtype[Any], sign: int) -> float:
    """`sign` times the power of two that scales `size` to about 1; ±1 if `size` is far from over- and underflow."""
    if size == 0:
        return float(sign)
    exponent = math.frexp(size)[1]
    single = dtype.char in "fF"
    if abs(exponent) <= _MAX_BINARY_EXPONENT["f" if single else "d"]:
        return float(sign)
    # the factor itself must be a finite normal number, even for denormal entries
    most = 120 if single else 1000
    return math.ldexp(float(sign), max(-most, min(most, -exponent)))


def dense_operator(a: Array, size: float, scale: float) -> Operator:
    """An operator from a dense array whose largest entry is `size`."""
    # BLAS needs Fortran order; for a C-ordered symmetric array the transpose is the same matrix, without a copy.
    if not a.flags.f_contiguous:
        a = a.T if a.flags.c_contiguous and a.dtype.kind == "f" else np.asfortranarray(a)
    hemv = kernels(a.dtype).hemv

    def times(x: Array) -> Array:
        return hemv(1.0, a, x)

    def times_block(X: Array) -> Array:
        return hermitian_product(a, X) if X.dtype == a.dtype else np.asarray(a @ X)

    return Operator("dense", a.shape[0], a.dtype, times, times_block, a, size, scale)


def sparse_operator(a: Any, size: float, scale: float) -> Operator:
    """An operator from a CSR array whose largest entry is `size`."""
    return Operator("sparse", a.shape[0], a.dtype, csr.matvec(a), csr.matmat(a), a, size, scale)
