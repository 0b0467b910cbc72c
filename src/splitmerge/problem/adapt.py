"""Convert an array, a sparse matrix, a LinearOperator or any object with `shape` and `@` to an `Operator`.

On return the operator is square, finite, Hermitian to working precision and of one of four dtypes. The user's data
are shared and never modified; a copy is made only if the layout, the dtype or the scale requires one.
"""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from ..linalg import csr
from ..typing import Array
from .operator import Operator, dense_operator, safe_scaling, sparse_operator
from .symmetry import completed, lone_triangle, measure, tolerable

# Columns per call of a user operator that implements block products, to bound its temporary memory.
BLOCK_COLUMNS = 128
# A sparse matrix from this n on with more than this fraction of its entries stored becomes an array, which takes less
# than twice the memory; its factors would be full.
FULL_N, FULL_FRACTION = 200, 1 / 3


def adapt(M: Any, name: str, sign: int = 1) -> Operator:
    """Validate `M` and return `sign` × M as an `Operator`; error messages refer to the argument as `name`."""
    if isinstance(M, Operator):
        return M if sign > 0 else M.negated()
    if isinstance(M, LinearOperator):
        return _adapt_function(M, name, sign)
    if sp.issparse(M):
        return _adapt_sparse(M, name, sign)
    if type(M).__module__.startswith("dask"):
        raise ValueError(
            f"{name} is a Dask {type(M).__name__}, which would be gathered on this process; call compute() first, or "
            f"use splitmerge.learn, whose estimators take Dask arrays of samples"
        )
    if _is_array(M):
        return _adapt_dense(M, name, sign)
    if hasattr(M, "shape") and hasattr(M, "__matmul__"):
        return _adapt_function(M, name, sign)
    raise ValueError(
        f"{name} is a {type(M).__name__}; give an array, a scipy.sparse matrix, a LinearOperator, "
        f"or an object with `shape` and `@`"
    )


def shape_of(M: Any) -> tuple[int, ...]:
    """The shape of a matrix; PETSc's matrices have a method for it."""
    return tuple(M.getSize()) if hasattr(M, "getSize") else np.shape(M)


def as_pair(A: Any, B: Any, name: str = "B") -> tuple[Any, Any]:
    """A and B with the rows and columns of labelled (pandas) tables in the order of A's rows.

    A one-dimensional B is the diagonal of a matrix (lumped mass): a sparse one beside a sparse or matrix-free A.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        labels = A.index if isinstance(A, pandas.DataFrame) else None
        A = _aligned(A, labels, "A", pandas)
        B = _aligned(B, labels, name, pandas)
    return A, _with_diagonal(A, B, name)


def _aligned(M: Any, labels: Any, name: str, pandas: Any) -> Any:
    """A pandas table or series as an array in the order of `labels`, or of its own rows; anything else as it is."""
    if not isinstance(M, (pandas.DataFrame, pandas.Series)):
        return M
    labels, whose = (M.index, name) if labels is None else (labels, "A")
    for axis, index in enumerate(M.axes):
        if index.equals(labels):
            continue
        if not (index.size == labels.size and index.is_unique and labels.is_unique and index.isin(labels).all()):
            raise ValueError(
                f"{name}.{('index', 'columns')[axis]} has not the labels of {whose}.index, each of them once; "
                f"rename them, or pass {name}.to_numpy() if the positions are right"
            )
        M = M.reindex(labels, axis=axis)
    return M.to_numpy()


def _with_diagonal(A: Any, B: Any, name: str) -> Any:
    """diag(B) for a one-dimensional array or list of numbers; anything else as it is."""
    if isinstance(B, (list, tuple)) and not any(isinstance(entry, (list, tuple, np.ndarray)) for entry in B):
        B = np.array(B)
    if not isinstance(B, np.ndarray) or B.ndim != 1:
        return B
    shape: Any = (len(A),) if isinstance(A, (list, tuple)) else getattr(A, "shape", None)
    if isinstance(shape, tuple) and shape[:1] not in ((), B.shape):
        raise ValueError(
            f"{name} has shape {B.shape}, but A has {shape[0]} rows; give a diagonal of that length, or a matrix"
        )
    _check_mask(B, name)
    diagonal = np.asarray(B, dtype=working_dtype(B.dtype, name))
    return np.diag(diagonal) if _is_array(A) else sp.diags_array(diagonal, format="csr")


def working_dtype(dtype: Any, name: str) -> np.dtype[Any]:
    """The working precision: single stays single; every other real or complex dtype becomes double."""
    given: np.dtype[Any] = np.dtype(dtype)
    if given.kind not in "biufc":
        raise ValueError(f"{name} has dtype {given}; give real or complex numbers")
    if given.kind == "c":
        return np.dtype(np.complex64 if given.char == "F" else np.complex128)
    return np.dtype(np.float32 if given.char in "fe" else np.float64)


def _is_array(M: Any) -> bool:
    """Is M, or can it become, a dense array?"""
    return not sp.issparse(M) and (isinstance(M, (np.ndarray, list, tuple)) or hasattr(M, "__array__"))


def _check_mask(M: Any, name: str) -> None:
    if np.ma.isMaskedArray(M) and np.ma.getmaskarray(M).any():
        raise ValueError(f"{name} has masked entries; fill them first")


def _check_square(shape: Any, name: str) -> int:
    try:
        rows, columns = (operator.index(size) for size in shape)
    except (TypeError, ValueError):
        raise ValueError(f"{name} has shape {shape}; a square matrix is needed") from None
    if rows != columns:
        raise ValueError(f"{name} has shape {(rows, columns)}; a square matrix is needed")
    if rows == 0:
        raise ValueError(f"{name} is empty (shape {(rows, columns)}); give a matrix with at least one row")
    return rows


def check_values(
    size: float, asymmetry: float, dtype: np.dtype[Any], name: str, *, entries: bool = True, of: Any = None
) -> None:
    """Refuse values that are not finite, and an asymmetry that rounding does not explain; `of` is the whole matrix."""
    if not math.isfinite(size):
        raise ValueError(f"{name} contains NaN or infinity; remove or replace these entries")
    allowed = tolerable(size, dtype)
    if asymmetry > allowed:
        word, mirror = ("Hermitian", "conj(X.T)") if dtype.kind == "c" else ("symmetric", "X.T")
        if not entries:
            raise ValueError(
                f"{name} is not {word}: |⟨v, Xu⟩ − ⟨Xv, u⟩| = {asymmetry:.3g} for random unit vectors, and products of "
                f"size {size:.3g} (rounding explains up to {allowed:.1g}); check the operator"
            )
        side = "" if of is None else lone_triangle(of)
        advice = completed(side, dtype.kind) if side else f"if that is rounding error, give (X + {mirror})/2"
        raise ValueError(
            f"{name} is not {word}: max |X − {mirror}| = {asymmetry:.3g}, with entries up to {size:.3g} "
            f"(rounding explains up to {allowed:.1g}); {advice}"
        )


def _adapt_dense(M: Any, name: str, sign: int) -> Operator:
    _check_mask(M, name)
    try:
        a = np.asarray(M)
    except ValueError as error:
        raise ValueError(f"{name} is not a rectangular table of numbers: {error}") from None
    dtype = working_dtype(a.dtype, name)
    _check_square(a.shape, name)
    with np.errstate(over="ignore"):  # an extended float may exceed the range of a double
        a = np.asarray(a, dtype=dtype)
    size, asymmetry = measure(a)
    check_values(size, asymmetry, dtype, name, of=a)
    scale = safe_scaling(size, dtype, sign)
    return dense_operator(a if scale == 1 else a * scale, size * abs(scale), scale)


def _adapt_sparse(M: Any, name: str, sign: int) -> Operator:
    dtype = working_dtype(M.dtype, name)
    _check_square(M.shape, name)
    a = sp.csr_array(M)
    if not a.has_canonical_format:
        a = a.copy()
        a.sum_duplicates()
    if is_full(a):
        return _adapt_dense(a.toarray(), name, sign)
    a = a.astype(dtype, copy=False)
    size = float(np.abs(a.data).max(initial=0.0))
    asymmetry = csr.asymmetry(a) if math.isfinite(size) else 0.0
    check_values(size, asymmetry, dtype, name, of=a)
    scale = safe_scaling(size, dtype, sign)
    return sparse_operator(a if scale == 1 else a * scale, size * abs(scale), scale)


def is_full(M: Any) -> bool:
    """Does a sparse matrix become an array?"""
    n = M.shape[0]
    return bool(n >= FULL_N and M.nnz > FULL_FRACTION * n * n)


def _adapt_function(M: Any, name: str, sign: int) -> Operator:
    n = _check_square(M.shape, name)
    u, v = np.random.default_rng(0).standard_normal((2, n))
    multiply = _Multiply(M, name)
    # an operator with block products is tried on a block, too; SciPy takes a single column for a vector
    blocks = multiply.takes_columns
    Mu, Mv = multiply.tried(u), multiply.tried(np.column_stack([v, u]))[:, 0] if blocks else multiply.tried(v)
    size = max(float(np.abs(Mu).max()), float(np.abs(Mv).max()))
    asymmetry = 0.0
    if size > 0:
        difference = np.vdot(v, Mu / size) - np.conj(np.vdot(u, Mv / size))
        asymmetry = float(abs(difference)) / float(np.linalg.norm(u) * np.linalg.norm(v)) * size
    stated = getattr(M, "dtype", None)
    dtype = working_dtype(Mu.dtype if stated is None else stated, name)
    if Mu.dtype.kind == "c":
        dtype = np.result_type(dtype, np.complex64)
    check_values(size, asymmetry, dtype, name, entries=False)
    return _function(multiply, n, dtype, size, safe_scaling(size, dtype, sign))


class _Multiply:
    """Products with the user's operator M, their shape and values checked; x is copied for an M that writes to it."""

    def __init__(self, M: Any, name: str) -> None:
        self.M, self.name = M, name
        self.takes_columns = _takes_columns(M)
        self.overwrites = False

    def tried(self, x: Array) -> Array:
        """The product as a new array, and a look at what became of x."""
        given = x.copy()
        # a copy: an operator may return one buffer for all products
        product = self.checked(given, np.asarray(self.M @ given)).copy()
        self.overwrites = self.overwrites or not np.array_equal(given, x)
        return product

    def __call__(self, x: Array) -> Array:
        """M x, which the next product may overwrite."""
        if not math.isfinite(float(np.abs(x).max(initial=0.0))):
            # a method has diverged, and the loop will see it
            return np.full_like(x, np.nan)
        return self.checked(x, np.asarray(self.M @ (x.copy() if self.overwrites else x)))

    def checked(self, x: Array, y: Array) -> Array:
        """y, if it can be the product with x."""
        if y.shape != x.shape or y.dtype.kind not in "biufc":
            raise ValueError(
                f"{self.name} @ x has shape {y.shape} and dtype {y.dtype} for x of shape {x.shape}; "
                f"return a numeric array of the shape of x"
            )
        if not np.isfinite(y).all() and np.isfinite(x).all():
            raise ValueError(f"{self.name} @ x contains NaN or infinity for a finite x; check the operator")
        return y

    def into(self, y: Array, out: Array) -> None:
        """Write the product y into `out`, which is real where all products so far were."""
        if y.dtype.kind == "c" and out.dtype.kind != "c":
            if y.imag.any():
                raise ValueError(f"{self.name} @ x is complex for a real x, but was real before; check the operator")
            y = y.real
        out[...] = y


def _function(multiply: _Multiply, n: int, dtype: np.dtype[Any], size: float, scale: float) -> Operator:
    stated = getattr(multiply.M, "dtype", None)
    takes_complex = dtype.kind == "c" and np.dtype(stated or dtype).kind == "c"

    before = math.ldexp(1.0, math.frexp(scale)[1] // 2)
    after = scale / before

    def times(x: Array) -> Array:
        # √scale before and √scale after the product avoid overflow and underflow inside the user's code
        x = x * before if scale != 1 else x
        # a copy, because the user's code may return its argument or reuse one output buffer
        product = np.empty(n, dtype)
        if dtype.kind == "c" and not takes_complex:
            # a real operator in a complex pair: apply it to the real and imaginary parts
            product[:] = multiply(x.real)
            product += 1j * multiply(x.imag)
        else:
            multiply.into(multiply(x), product)
        if scale != 1:
            product *= after
        return product

    def times_block(X: Array) -> Array:
        product = np.empty(X.shape, dtype)
        if scale != 1 or (dtype.kind == "c" and not takes_complex) or not multiply.takes_columns:
            for column, x in zip(product.T, X.T, strict=True):
                column[:] = times(np.ascontiguousarray(x))
            return product
        # the operator implements block products; limit the number of columns per call
        for i in range(0, X.shape[1], BLOCK_COLUMNS):
            some = slice(i, i + BLOCK_COLUMNS)
            multiply.into(multiply(X[:, some]), product[:, some])
        return product

    def recast(other: np.dtype[Any]) -> Operator:
        return _function(multiply, n, other, size, scale)

    return Operator("operator", n, dtype, times, times_block, None, size * abs(scale), scale, recast)


def _takes_columns(M: Any) -> bool:
    """Does the operator implement `matmat`? SciPy's default calls `matvec` with shape (n, 1), which may fail."""
    parts = [part for part in getattr(M, "args", ()) if isinstance(part, LinearOperator)]
    if parts:
        # a sum, product or multiple of operators
        return all(_takes_columns(part) for part in parts)
    if type(M).__name__ == "_CustomLinearOperator":
        return getattr(M, "_CustomLinearOperator__matmat_impl", None) is not None
    own: Any = type(M)
    default: Any = LinearOperator
    return isinstance(M, LinearOperator) and own._matmat is not default._matmat
