"""Sums over the n unknowns: every inner product, norm and Gram matrix of the methods, and random vectors by row.

A vector may be distributed by rows. Whatever adds up over rows goes through this module and nothing else does, so
that a distributed version has to replace these functions only. On one process they are the BLAS or NumPy calls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs

from ..typing import Array


class InnerProducts(NamedTuple):
    """Inner product (real part, a Python float), Euclidean norm, and Vᴴw as `coefficients(1.0, V, w, trans=…)`."""

    dot: Callable[[Array, Array], float]
    norm: Callable[[Array], float]
    coefficients: Callable[..., Array]


@lru_cache
def inner_products(dtype: np.dtype[Any]) -> InnerProducts:
    """The BLAS reductions for `dtype`; all inner products of the methods are values of Hermitian forms, hence real."""
    is_complex = dtype.kind == "c"
    dot, norm, gemv = get_blas_funcs(("dotc" if is_complex else "dot", "nrm2", "gemv"), dtype=dtype)

    def real_dot(x: Array, y: Array) -> float:
        return dot(x, y).real  # type: ignore[no-any-return]

    return InnerProducts(real_dot if is_complex else dot, norm, gemv)


def vdot(x: Array, y: Array) -> Any:
    """xᴴy, complex for complex vectors."""
    return np.vdot(x, y)


def norm(x: Array) -> float:
    """‖x‖₂; the squares of large numbers overflow in single precision."""
    return float(np.linalg.norm(x.astype(np.result_type(x.dtype, np.float64), copy=False)))


def gram(X: Array, Y: Array) -> Array:
    """XᴴY for columns, or Xᴴy for a vector y."""
    return X.conj().T @ Y


def norms(X: Array) -> Array:
    """The norms of the columns of X, whatever their size."""
    return np.asarray(np.linalg.norm(X, axis=0))


def column_vdots(X: Array, Y: Array) -> Array:
    """xᴴy for the columns of X and Y."""
    return np.asarray(np.einsum("ij,ij->j", X.conj(), Y))


def column_dots(X: Array, Y: Array) -> Array:
    """The real parts of xᴴy for the columns of X and Y."""
    return np.asarray(column_vdots(X, Y).real)


def column_norms(X: Array) -> Array:
    """The norms of the columns of X, whose squares neither overflow nor underflow; faster than `numpy.linalg.norm`."""
    return np.asarray(np.sqrt(column_dots(X, X)))


def random_vector(n: int, dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """A standard normal vector of `dtype`; the entry of a row does not depend on how the rows are distributed."""
    x = rng.standard_normal(n)
    if dtype.kind == "c":
        x = x + 1j * rng.standard_normal(n)
    return x.astype(dtype)
