"""`Operator`: a matrix as a function with the facts that are known of it, and sums and scalings of such operators."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ..linalg.blas import kernels
from ..typing import Array

# Beyond these powers of two, products of four quantities of the size of the data could overflow.
_SAFE_EXPONENT = {"d": 100, "f": 16}


@dataclass(frozen=True)
class Operator:
    """`scale` times the user's matrix, as a function.

    `scale` is ± a power of two: 1 unless the entries are extreme or the matrix is wanted negated.
    """

    kind: Literal["dense", "sparse", "operator"]
    n: int
    dtype: np.dtype[Any]
    times: Callable[[Array], Array]
    times_block: Callable[[Array], Array]
    matrix: Any
    size: float
    scale: float
    recast: Callable[[np.dtype[Any]], Operator] | None = None

    def negated(self) -> Operator:
        """Minus the operator."""
        if self.kind == "operator":
            times, block = self.times, self.times_block
            return replace(
                self,
                times=lambda x: -times(x),
                times_block=lambda X: -block(X),
                scale=-self.scale,
                recast=None,
            )
        build = dense_operator if self.kind == "dense" else sparse_operator
        return build(-self.matrix, self.size, -self.scale)

    def in_double(self, X: Array) -> Array:
        """The product with columns X, in the (double) precision of X."""
        if X.shape[1] == 1 and self.dtype == X.dtype:
            return self.times(np.ascontiguousarray(X[:, 0]))[:, None]
        if self.matrix is None:
            return self.times_block(X)
        matrix = self.matrix.astype(X.dtype, copy=False)
        # the transposed product: with few columns BLAS is faster at it
        return np.asarray((X.T @ matrix.T).T if self.kind == "dense" else matrix @ X)

    def diagonal(self) -> Array:
        """The diagonal, where the entries are known."""
        if self.matrix is None:
            raise ValueError("the diagonal of an operator without entries is not known; give a matrix instead")
        return np.asarray(self.matrix.diagonal())


def with_dtype(op: Operator, dtype: np.dtype[Any]) -> Operator:
    """The same operator in `dtype`, which must be wide enough for it."""
    if op.dtype == dtype:
        return op
    if op.recast is not None:
        return op.recast(dtype)
    matrix = op.matrix.astype(dtype)
    build = dense_operator if op.kind == "dense" else sparse_operator
    return build(matrix, op.size, op.scale)


def congruent(op: Operator, d: Array) -> Operator:
    """D M D for a positive diagonal D, brought back to a safe size."""
    if op.kind == "operator":

        def times(x: Array) -> Array:
            return d * op.times(d * x)

        def recast(dtype: np.dtype[Any]) -> Operator:
            return congruent(with_dtype(op, dtype), d)

        def times_block(X: Array) -> Array:
            return d[:, None] * op.times_block(d[:, None] * X)

        return Operator("operator", op.n, op.dtype, times, times_block, None, op.size, op.scale, recast)
    d = d.astype(np.empty(0, op.dtype).real.dtype)
    if op.kind == "dense":
        matrix = d[:, None] * op.matrix * d
        size = float(np.abs(matrix).max())
    else:
        matrix = sp.csr_array(sp.diags_array(d) @ op.matrix @ sp.diags_array(d))
        size = float(np.abs(matrix.data).max(initial=0.0))
    factor = safe_scaling(size, op.dtype, 1)
    if factor != 1:
        matrix = matrix * factor
    build = dense_operator if op.kind == "dense" else sparse_operator
    return build(matrix, size * factor, op.scale * factor)


def identity(n: int, dtype: np.dtype[Any]) -> Operator:
    """The identity as an operator of its own, for where it stands in the place of A."""
    return sparse_operator(sp.eye_array(n, dtype=dtype, format="csr"), 1.0, 1.0)


def as_dense(op: Operator) -> Operator:
    """The same with entries in a dense array: n products for an operator."""
    if op.kind == "dense":
        return op
    if op.kind == "sparse":
        return dense_operator(op.matrix.toarray(order="F"), op.size, op.scale)
    M = op.times_block(np.eye(op.n, dtype=op.dtype))
    M = np.asfortranarray((M + M.conj().T) / 2)
    return dense_operator(M, float(np.abs(M).max()), op.scale)


def plus(A: Operator, c: float, B: Operator | None) -> Operator:
    """A + c B with entries, B = None for the identity; A itself for c = 0.

    Its `size` is that of the two parts, whose rounding is in it even where they cancel.
    """
    if c == 0:
        return A
    if A.matrix is None or (B is not None and B.matrix is None):
        raise ValueError("A − σB needs the entries of A and B; give matrices instead of operators")
    size = A.size + abs(c) * (1.0 if B is None else B.size)
    if A.kind == "dense" or (B is not None and B.kind == "dense"):
        M = A.matrix.copy(order="F") if A.kind == "dense" else A.matrix.toarray(order="F")
        if B is None:
            M.flat[:: A.n + 1] += c
        else:
            M += c * (B.matrix if B.kind == "dense" else B.matrix.toarray())
        return dense_operator(M, size, 1.0)
    other = sp.eye_array(A.n, dtype=A.dtype, format="csr") if B is None else B.matrix
    M = sp.csr_array(A.matrix + c * other)
    return sparse_operator(M, size, 1.0)


def safe_scaling(size: float, dtype: np.dtype[Any], sign: int) -> float:
    """`sign` times the power of two that brings `size` near 1, or times 1 when it is in the safe range."""
    if size == 0:
        return float(sign)
    exponent = math.frexp(size)[1]
    limit = _SAFE_EXPONENT["f" if dtype.char in "fF" else "d"]
    if abs(exponent) <= limit:
        return float(sign)
    # the factor itself must be a finite normal number (entries near the denormals, or near the largest)
    return math.ldexp(float(sign), max(-1000, min(1000, -exponent)))


def dense_operator(a: Array, size: float, scale: float) -> Operator:
    """An array whose largest entry is `size` as an operator."""
    # BLAS wants Fortran order; the transpose of a symmetric C array is that array, of a Hermitian one its conjugate.
    if not a.flags.f_contiguous:
        a = a.T if a.flags.c_contiguous and a.dtype.kind == "f" else np.asfortranarray(a)
    hemv = kernels(a.dtype).hemv

    def times(x: Array) -> Array:
        return hemv(1.0, a, x)

    return Operator("dense", a.shape[0], a.dtype, times, lambda X: np.asarray(a @ X), a, size, scale)


def sparse_operator(a: Any, size: float, scale: float) -> Operator:
    """A CSR array whose largest entry is `size` as an operator."""

    def times(x: Array) -> Array:
        return a @ x  # type: ignore[no-any-return]

    return Operator("sparse", a.shape[0], a.dtype, times, times, a, size, scale)
