"""Turn whatever the user has (ndarray, sparse, LinearOperator, anything with `shape` and `@`) into an `Operator`.

On return the operator is square, finite, Hermitian to working precision and of one of four dtypes. The user's
data are shared, never written to; a copy is made only where the layout, the dtype or the scale demands one.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from ..linalg.blas import kernels
from ..typing import Array
from .symmetry import measure, tolerable

# Beyond these powers of two, products of four quantities of the size of the data could overflow.
_SAFE_EXPONENT = {"d": 100, "f": 16}
_BLOCK = 128


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
        build = _dense if self.kind == "dense" else _sparse
        return build(-self.matrix, self.size, -self.scale)

    def diagonal(self) -> Array:
        """The diagonal, where there are entries to look at."""
        if self.matrix is None:
            raise ValueError("the diagonal of an operator without entries is not known; give a matrix instead")
        return np.asarray(self.matrix.diagonal())


def adapt(M: Any, name: str, sign: int = 1) -> Operator:
    """Check `M` and wrap `sign` times it; errors name the argument as `name`."""
    if isinstance(M, LinearOperator):
        return _adapt_function(M, name, sign)
    if sp.issparse(M):
        return _adapt_sparse(M, name, sign)
    if isinstance(M, (np.ndarray, list, tuple)) or hasattr(M, "__array__"):
        return _adapt_dense(M, name, sign)
    if hasattr(M, "shape") and hasattr(M, "__matmul__"):
        return _adapt_function(M, name, sign)
    raise ValueError(
        f"{name} is a {type(M).__name__}; give an array, a scipy.sparse matrix, a LinearOperator, "
        f"or an object with `shape` and `@`"
    )


def with_dtype(op: Operator, dtype: np.dtype[Any]) -> Operator:
    """The same operator in `dtype`, which must be wide enough for it."""
    if op.dtype == dtype:
        return op
    if op.recast is not None:
        return op.recast(dtype)
    matrix = op.matrix.astype(dtype)
    return _dense(matrix, op.size, op.scale) if op.kind == "dense" else _sparse(matrix, op.size, op.scale)


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
    factor = _scaling(size, op.dtype, 1)
    if factor != 1:
        matrix = matrix * factor
    build = _dense if op.kind == "dense" else _sparse
    return build(matrix, size * factor, op.scale * factor)


def identity(n: int, dtype: np.dtype[Any]) -> Operator:
    """The identity as an operator of its own, for where it stands in the place of A."""
    return _sparse(sp.eye_array(n, dtype=dtype, format="csr"), 1.0, 1.0)


def as_dense(op: Operator) -> Operator:
    """The same with entries in a dense array: n products for an operator."""
    if op.kind == "dense":
        return op
    if op.kind == "sparse":
        return _dense(op.matrix.toarray(order="F"), op.size, op.scale)
    M = op.times_block(np.eye(op.n, dtype=op.dtype))
    M = np.asfortranarray((M + M.conj().T) / 2)
    return _dense(M, float(np.abs(M).max()), op.scale)


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
        return _dense(M, size, 1.0)
    other = sp.eye_array(A.n, dtype=A.dtype, format="csr") if B is None else B.matrix
    M = sp.csr_array(A.matrix + c * other)
    return _sparse(M, size, 1.0)


def working_dtype(dtype: Any, name: str) -> np.dtype[Any]:
    """The dtype we compute in: single stays single, everything else real or complex becomes double."""
    given: np.dtype[Any] = np.dtype(dtype)
    if given.kind not in "biufc":
        raise ValueError(f"{name} has dtype {given}; give real or complex numbers")
    if given.kind == "c":
        return np.dtype(np.complex64 if given.char == "F" else np.complex128)
    return np.dtype(np.float32 if given.char in "fe" else np.float64)


def _check_square(shape: Any, name: str) -> int:
    try:
        rows, columns = (operator.index(size) for size in shape)
    except (TypeError, ValueError):
        raise ValueError(f"{name} has shape {shape}; a square matrix is needed") from None
    if rows != columns:
        raise ValueError(f"{name} has shape {(rows, columns)}; a square matrix is needed")
    if rows == 0:
        raise ValueError(f"{name} is empty (shape {(rows, columns)}); there is nothing to solve")
    return rows


def _check_values(size: float, asymmetry: float, dtype: np.dtype[Any], name: str, *, entries: bool = True) -> None:
    if not math.isfinite(size):
        raise ValueError(f"{name} contains NaN or infinity; clean it first")
    allowed = tolerable(size, dtype)
    if asymmetry > allowed:
        word, mirror = ("Hermitian", "conj(X.T)") if dtype.kind == "c" else ("symmetric", "X.T")
        if not entries:
            raise ValueError(
                f"{name} is not {word}: |⟨v, Xu⟩ − ⟨Xv, u⟩| = {asymmetry:.3g} for random unit vectors, and products of "
                f"size {size:.3g} (rounding would explain {allowed:.1g}); check the operator"
            )
        raise ValueError(
            f"{name} is not {word}: max |X − {mirror}| = {asymmetry:.3g}, with entries up to {size:.3g} "
            f"(rounding would explain {allowed:.1g}); if only rounding is meant, pass (X + {mirror})/2"
        )


def _scaling(size: float, dtype: np.dtype[Any], sign: int) -> float:
    """`sign` times the power of two that brings `size` near 1, or times 1 when it is in the safe range."""
    if size == 0:
        return float(sign)
    exponent = math.frexp(size)[1]
    limit = _SAFE_EXPONENT["f" if dtype.char in "fF" else "d"]
    if abs(exponent) <= limit:
        return float(sign)
    # the factor itself must be a finite normal number (entries near the denormals, or near the largest)
    return math.ldexp(float(sign), max(-1000, min(1000, -exponent)))


def _adapt_dense(M: Any, name: str, sign: int) -> Operator:
    if np.ma.isMaskedArray(M) and np.ma.getmaskarray(M).any():
        raise ValueError(f"{name} has masked entries; fill them first")
    try:
        a = np.asarray(M)
    except ValueError as error:
        raise ValueError(f"{name} is not a rectangular table of numbers: {error}") from None
    dtype = working_dtype(a.dtype, name)
    _check_square(a.shape, name)
    with np.errstate(over="ignore"):  # an extended float may exceed the range of a double
        a = np.asarray(a, dtype=dtype)
    size, asymmetry = measure(a)
    _check_values(size, asymmetry, dtype, name)
    scale = _scaling(size, dtype, sign)
    return _dense(a if scale == 1 else a * scale, size * abs(scale), scale)


def _dense(a: Array, size: float, scale: float) -> Operator:
    # BLAS wants Fortran order; the transpose of a symmetric C array is that array, of a Hermitian one its conjugate.
    if not a.flags.f_contiguous:
        a = a.T if a.flags.c_contiguous and a.dtype.kind == "f" else np.asfortranarray(a)
    hemv = kernels(a.dtype).hemv

    def times(x: Array) -> Array:
        return hemv(1.0, a, x)

    return Operator("dense", a.shape[0], a.dtype, times, lambda X: np.asarray(a @ X), a, size, scale)


def _adapt_sparse(M: Any, name: str, sign: int) -> Operator:
    dtype = working_dtype(M.dtype, name)
    _check_square(M.shape, name)
    a = sp.csr_array(M)
    if not a.has_canonical_format:
        a = a.copy()
        a.sum_duplicates()
    a = a.astype(dtype, copy=False)
    size = float(np.abs(a.data).max(initial=0.0))
    asymmetry = float(abs(a - a.conj().T).max()) if math.isfinite(size) else 0.0
    _check_values(size, asymmetry, dtype, name)
    scale = _scaling(size, dtype, sign)
    return _sparse(a if scale == 1 else a * scale, size * abs(scale), scale)


def _sparse(a: Any, size: float, scale: float) -> Operator:
    def times(x: Array) -> Array:
        return a @ x  # type: ignore[no-any-return]

    return Operator("sparse", a.shape[0], a.dtype, times, times, a, size, scale)


def _adapt_function(M: Any, name: str, sign: int) -> Operator:
    n = _check_square(M.shape, name)
    u, v = np.random.default_rng(0).standard_normal((2, n))
    Mu, Mv = (_product(M, x, name) for x in (u, v))
    size = max(float(np.abs(Mu).max()), float(np.abs(Mv).max()))
    asymmetry = 0.0
    if size > 0:
        difference = np.vdot(v, Mu / size) - np.conj(np.vdot(u, Mv / size))
        asymmetry = float(abs(difference)) / float(np.linalg.norm(u) * np.linalg.norm(v)) * size
    stated = getattr(M, "dtype", None)
    dtype = working_dtype(Mu.dtype if stated is None else stated, name)
    if Mu.dtype.kind == "c":
        dtype = np.result_type(dtype, np.complex64)
    _check_values(size, asymmetry, dtype, name, entries=False)
    return _function(M, name, n, dtype, size, _scaling(size, dtype, sign))


def _function(M: Any, name: str, n: int, dtype: np.dtype[Any], size: float, scale: float) -> Operator:
    takes_complex = dtype.kind == "c" and np.dtype(getattr(M, "dtype", None) or dtype).kind == "c"

    before = math.ldexp(1.0, math.frexp(scale)[1] // 2)
    after = scale / before

    def times(x: Array) -> Array:
        # half of the scale before the product and half after it: nothing under- or overflows inside the user's code
        x = x * before if scale != 1 else x
        if dtype.kind == "c" and not takes_complex:
            # a real operator beside a complex partner
            y = _product(M, x.real, name) + 1j * _product(M, x.imag, name)
        else:
            y = _product(M, x, name)
        # a copy: the user's code may return its argument, or one buffer again and again
        return np.array(y * after if scale != 1 else y, dtype=dtype)

    def times_block(X: Array) -> Array:
        if scale != 1 or (dtype.kind == "c" and not takes_complex) or not _takes_columns(M):
            return np.column_stack([times(np.ascontiguousarray(x)) for x in X.T])
        # its own way with columns, a few at a time
        blocks = [_product(M, X[:, i : i + _BLOCK], name) for i in range(0, X.shape[1], _BLOCK)]
        return np.hstack(blocks).astype(dtype, copy=False)

    def recast(other: np.dtype[Any]) -> Operator:
        return _function(M, name, n, other, size, scale)

    return Operator("operator", n, dtype, times, times_block, None, size * abs(scale), scale, recast)


def _takes_columns(M: Any) -> bool:
    """Has the operator its own way with columns? SciPy's default hands (n, 1) to functions that may not expect it."""
    parts = [part for part in getattr(M, "args", ()) if isinstance(part, LinearOperator)]
    if parts:
        # a sum, a product, a multiple
        return all(_takes_columns(part) for part in parts)
    if type(M).__name__ == "_CustomLinearOperator":
        return getattr(M, "_CustomLinearOperator__matmat_impl", None) is not None
    own: Any = type(M)
    default: Any = LinearOperator
    return isinstance(M, LinearOperator) and own._matmat is not default._matmat


def _product(M: Any, x: Array, name: str) -> Array:
    y = np.asarray(M @ x)
    if y.shape != x.shape or y.dtype.kind not in "biufc":
        raise ValueError(f"{name} @ x gave shape {y.shape} and dtype {y.dtype} for x of shape {x.shape}; give the same")
    if not np.isfinite(y).all():
        raise ValueError(f"{name} @ x contains NaN or infinity for a finite x; check the operator")
    return y
