"""Sums over the n unknowns: every inner product, norm and Gram matrix of the methods, and random vectors by row.

A vector may be distributed by rows over the processes of an MPI program (`system.processes`). Whatever adds up over
rows goes through this module and nothing else does. On one process its functions are the BLAS or NumPy calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs

from ..system.processes import Processes, current
from ..typing import Array
from .multiply import adjoint_product, dot

# Rows of a distributed random vector that come from one stream of random numbers.
ROWS_PER_STREAM = 2**14


class InnerProducts(NamedTuple):
    """Inner product (real part, a Python float), Euclidean norm, and Vᴴw as `coefficients(1.0, V, w, trans=…)`."""

    dot: Callable[[Array, Array], float]
    norm: Callable[[Array], float]
    coefficients: Callable[..., Array]


def inner_products(dtype: np.dtype[Any]) -> InnerProducts:
    """The reductions for `dtype`; all inner products of the methods are values of Hermitian forms, hence real."""
    processes, local = current(), local_products(dtype)
    return local if processes is None else _summed_products(local, processes)


@lru_cache
def local_products(dtype: np.dtype[Any]) -> InnerProducts:
    """BLAS on the rows of this process."""
    is_complex = dtype.kind == "c"
    dot, norm, gemv = get_blas_funcs(("dotc" if is_complex else "dot", "nrm2", "gemv"), dtype=dtype)

    def real_dot(x: Array, y: Array) -> float:
        return dot(x, y).real  # type: ignore[no-any-return]

    return InnerProducts(real_dot if is_complex else dot, norm, gemv)


def _summed_products(local: InnerProducts, processes: Processes) -> InnerProducts:
    """The same over all processes."""

    def dot(x: Array, y: Array) -> float:
        return float(processes.sum(np.array([local.dot(x, y)]))[0])

    def coefficients(*arguments: Any, **options: Any) -> Array:
        return processes.sum(local.coefficients(*arguments, **options))

    return InnerProducts(dot, lambda x: math.sqrt(dot(x, x)), coefficients)


def _total(local: Any) -> Any:
    """The sum over all processes of what each has summed over its rows."""
    processes = current()
    return local if processes is None else processes.sum(np.asarray(local))[()]


def vdot(x: Array, y: Array) -> Any:
    """xᴴy, complex for complex vectors."""
    return _total(dot(x, y))


def norm(x: Array) -> float:
    """‖x‖₂; the squares of large numbers overflow in single precision."""
    x = x.astype(np.result_type(x.dtype, np.float64), copy=False)
    return math.sqrt(vdot(x, x).real)


def gram(X: Array, Y: Array) -> Array:
    """XᴴY for columns, or Xᴴy for a vector y."""
    local = adjoint_product(X, Y)
    processes = current()
    return local if processes is None else processes.sum(local)


def norms(X: Array) -> Array:
    """The norms of the columns of X, whatever their size."""
    return np.asarray(np.linalg.norm(X, axis=0)) if current() is None else column_norms(X)


def column_vdots(X: Array, Y: Array) -> Array:
    """xᴴy for the columns of X and Y."""
    return np.asarray(_total(np.einsum("ij,ij->j", X.conj(), Y)))


def column_dots(X: Array, Y: Array) -> Array:
    """The real parts of xᴴy for the columns of X and Y."""
    return np.asarray(column_vdots(X, Y).real)


def column_forms(X: Array, Y: Array) -> Array:
    """`column_dots` with sums by pairs, which lose a few units of rounding where other sums of equal terms lose n."""
    # NumPy adds by pairs along the axis that is contiguous
    terms = np.multiply(X.conj(), Y, order="F")
    return np.asarray(_total(terms.sum(axis=0)).real)


def column_norms(X: Array) -> Array:
    """The norms of the columns of X, whose squares neither overflow nor underflow; faster than `numpy.linalg.norm`."""
    return np.asarray(np.sqrt(column_dots(X, X)))


def largest(values: Array) -> float:
    """The largest of real numbers by row; −∞ if there is none."""
    local = float(values.max()) if values.size else -math.inf
    processes = current()
    return local if processes is None else float(processes.largest(np.array([local]))[0])


def column_sizes(X: Array) -> Array:
    """The largest magnitudes of the columns of X."""
    local = np.abs(X).max(axis=0, initial=0.0)
    processes = current()
    return np.asarray(local if processes is None else processes.largest(local))


def leading_entries(X: Array) -> Array:
    """The entry of largest magnitude of each column."""
    processes, rows = current(), X if X.shape[0] else np.zeros((1, X.shape[1]), X.dtype)
    local: Array = rows[np.abs(rows).argmax(axis=0), np.arange(X.shape[1])]
    return local if processes is None else processes.leading(local)


def phases(X: Array) -> Array:
    """For each column the number of modulus 1 that makes its entry of largest magnitude positive; 1 for zeros."""
    leading = leading_entries(X)
    sizes = np.abs(leading)
    # vectors of a run that failed may be zero
    return np.where(sizes == 0, 1.0, sizes / np.where(sizes == 0, 1.0, leading))


def extent(x: Array) -> int:
    """The length of the whole vector of which x are the rows of this process."""
    processes = current()
    return x.shape[0] if processes is None else processes.n


def random_vector(n: int, dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """A standard normal vector of `dtype`; the entry of a row does not depend on how the rows are distributed."""
    processes = current()
    normal = rng.standard_normal if processes is None or processes.n != n else _by_row(processes, rng)
    x = normal(n)
    if dtype.kind == "c":
        x = x + 1j * normal(n)
    return x.astype(dtype)


def _by_row(processes: Processes, rng: np.random.Generator) -> Callable[[int], Array]:
    """Normal numbers for the rows of this process: the first rows from `rng`, later ones from further streams."""

    def normal(n: int) -> Array:
        first, last = processes.first, processes.first + processes.count
        parts = [rng.standard_normal(min(n, ROWS_PER_STREAM))[first:last]]
        seed = rng.integers(2**63) if n > ROWS_PER_STREAM else 0
        for stream in range(max(first // ROWS_PER_STREAM, 1), -(-last // ROWS_PER_STREAM)):
            start = stream * ROWS_PER_STREAM
            numbers = np.random.default_rng([int(seed), stream]).standard_normal(min(n - start, ROWS_PER_STREAM))
            parts.append(numbers[max(first - start, 0) : last - start])
        return np.concatenate(parts)

    return normal
