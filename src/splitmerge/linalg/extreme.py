"""The extreme eigenpairs of a dense Hermitian pair by the kernels of LAPACK, each chosen by the size of the problem.

The drivers of LAPACK reduce small matrices without BLAS-3 and bisect every wanted eigenvalue to the last bit, which
takes longer than all its other steps but the reductions. Here small matrices are whitened by triangular solves, all
eigenvalues come from the QR algorithm where that is faster than bisection, and bisection stops where the inverse
iteration that follows does not need more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs, lapack
from scipy.linalg.blas import idamax

from ..typing import Array
from .blas import kernels
from .multiply import adjoint_product
from .rounding import by_distance, pivot_threshold

# Up to this n, or this multiple of n and k, one call of a driver of LAPACK is faster than the calls of its parts.
DRIVER_N, DRIVER_NUMBERS = 10, 40
# Below this n two triangular solves are faster than the reduction of LAPACK, which makes half their operations.
SOLVED_N = 160
# All eigenvalues by the QR algorithm are faster than bisection for more than n over this many.
QR_VALUES_PER_BISECTION = 18
# Relative to the norm: where bisection may stop, and how far apart eigenvalues must be for it.
BISECTION_TOL, BISECTION_SPACING = 1e-9, 1e-5
EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
# Inner products of vectors that are orthonormal to rounding.
ORTHONORMAL_TOL = 1e-13
# Up to this many vectors are multiplied by one reflector after the other, more of them by blocks of reflectors.
UNBLOCKED_VECTORS = 16


REAL_NAMES = ("sygst", "sytrd", "ormqr", "sygvx", "syevx")


class Routines(NamedTuple):
    """LAPACK and BLAS for one dtype."""

    potrf: Callable[..., Any]
    potrs: Callable[..., Any]
    hegst: Callable[..., Any]
    hetrd: Callable[..., Any]
    unmqr: Callable[..., Any]
    hegvx: Callable[..., Any]
    heevx: Callable[..., Any]
    trsm: Callable[..., Any]


class Extreme(NamedTuple):
    """Eigenvectors, best first, and the distance of each eigenvalue to those that are not among them."""

    vectors: Array
    gaps: list[float]


@lru_cache
def routines(dtype: np.dtype[Any]) -> Routines:
    """The routines for float64 or complex128."""
    names = ("hegst", "hetrd", "unmqr", "hegvx", "heevx") if dtype.kind == "c" else REAL_NAMES
    calls: Any = get_lapack_funcs(("potrf", "potrs", *names), dtype=dtype)
    trsm: Any = get_blas_funcs("trsm", dtype=dtype)
    return Routines._make((*calls, trsm))


@lru_cache
def _workspace(n: int, dtype: np.dtype[Any]) -> int:
    name = "hetrd_lwork" if dtype.kind == "c" else "sytrd_lwork"
    query: Any = get_lapack_funcs(name, dtype=dtype)
    return int(query(n, lower=1)[0].real)


def _reflecting(k: int) -> int:
    """Numbers of workspace with which LAPACK multiplies k vectors by reflectors in the faster way."""
    return k if k <= UNBLOCKED_VECTORS else 64 * k + 65 * 64


def lower_factor(B: Array, diagonal: list[float], least: float | None = None) -> Array | None:
    """L with B = LLᴴ (its upper triangle is that of B); None if a pivot is below a fraction of its diagonal entry.

    That fraction is `least`, by default the level of rounding.
    """
    L, info = routines(B.dtype).potrf(B, lower=1, clean=0)
    if info:
        return None
    fraction = pivot_threshold(B.shape[0], B.dtype) if least is None else least
    roots = L.diagonal().real.tolist()
    if min(roots) ** 2 > fraction * max(diagonal):
        return np.asarray(L)
    return L if all(root * root > fraction * entry for root, entry in zip(roots, diagonal, strict=True)) else None


def extreme_pairs(A: Array, B: Array | None, L: Array | None, k: int, *, largest: bool) -> Extreme | None:
    """Vectors of the k largest or smallest eigenvalues of (A, B), B = LLᴴ; None where LAPACK fails.

    B = L = None is the identity. Arrays are Fortran-ordered, and the vectors B-orthonormal.
    """
    n = A.shape[0]
    if n <= DRIVER_N or n * k <= DRIVER_NUMBERS:
        return _by_driver(A, B, k, largest=largest)
    return _by_reduction(A, L, k, partial(_of_tridiagonal, largest=largest))


def nearest_pairs(A: Array, L: Array | None, k: int, sigma: float, *, inverse: bool = False) -> Extreme | None:
    """`extreme_pairs` for the k eigenvalues, or with `inverse` for those whose reciprocals are, nearest to σ."""
    return _by_reduction(A, L, k, partial(_near, sigma=sigma, inverse=inverse))


def _by_reduction(
    A: Array, L: Array | None, k: int, solve: Callable[[Array, Array, int], tuple[Array, list[float]] | None]
) -> Extreme | None:
    """Reduce the pair to a tridiagonal matrix, `solve` that, and transform its vectors back."""
    call, n = routines(A.dtype), A.shape[0]
    C, d, e, tau, info = call.hetrd(
        A if L is None else _whitened(A, L), lower=1, lwork=_workspace(n, A.dtype), overwrite_a=L is not None
    )
    found = None if info else solve(d, e, k)
    if found is None:
        return None
    Z, gaps = _orthonormal(found[0]), found[1]
    if A.dtype.kind == "c":
        Z = Z.astype(A.dtype, order="F")
    # the reflectors are below the subdiagonal: C from its second row on, as columns of n numbers
    reflectors = C.ravel(order="K")[1 : 1 + n * (n - 1)].reshape((n, n - 1), order="F")
    Z[1:], _, info = call.unmqr("L", "N", reflectors, tau, Z[1:], _reflecting(k))
    if L is None:
        return Extreme(Z, gaps)
    if k == 1:
        return Extreme(kernels(A.dtype).trsv(L, Z[:, 0], lower=1, trans=2)[:, None], gaps)
    return Extreme(call.trsm(1.0, L, Z, lower=1, trans_a=2, overwrite_b=1), gaps)


def _orthonormal(Z: Array) -> Array:
    """The columns, made orthonormal where inverse iteration has failed to, as it may for a graded matrix."""
    k = Z.shape[1]
    if k == 1 or float(np.abs(adjoint_product(Z, Z) - np.eye(k)).max()) <= ORTHONORMAL_TOL:
        return Z
    return np.asfortranarray(np.linalg.qr(Z)[0])


def _by_driver(A: Array, B: Array | None, k: int, *, largest: bool) -> Extreme | None:
    """`extreme_pairs` by one call of LAPACK."""
    call, n = routines(A.dtype), A.shape[0]
    count = min(k + 1, n)
    first = n - count if largest else 0
    if B is None:
        values, Z, found, _, info = call.heevx(A, range="I", il=first + 1, iu=first + count, lower=1)
    else:
        values, Z, found, _, info = call.hegvx(A, B, range="I", il=first + 1, iu=first + count)
    if info or found != count:
        return None
    values = values[:count].tolist()
    if largest:
        values, Z = values[::-1], Z[:, ::-1]
    return Extreme(Z[:, :k], _gaps(values, k))


def _gaps(values: list[float], k: int) -> list[float]:
    """Distances of the first k values to the last, where that follows them; otherwise there is no other."""
    return [abs(value - values[-1]) for value in values[:k]] if len(values) > k else [math.inf] * k


def _whitened(A: Array, L: Array) -> Array:
    """L⁻¹AL⁻ᴴ, of which the lower triangle is defined, as a new array."""
    call = routines(A.dtype)
    if A.shape[0] >= SOLVED_N:
        return np.asarray(call.hegst(A, L, lower=1)[0])
    return np.asarray(call.trsm(1.0, L, call.trsm(1.0, L, A, lower=1), side=1, lower=1, trans_a=2, overwrite_b=1))


def _of_tridiagonal(d: Array, e: Array, k: int, *, largest: bool) -> tuple[Array, list[float]] | None:
    """k extreme eigenvectors of the tridiagonal matrix with diagonal d and subdiagonal e, and gaps to the others."""
    n = d.size
    count = min(k + 1, n)
    first = n - count if largest else 0
    values = _by_qr(d, e, first, count) if n < QR_VALUES_PER_BISECTION * count else _roughly(d, e, first, count)
    if values is None:
        return _by_blocks(d, e, first, count, k, largest=largest)
    wanted = values[count - k :] if largest else values[:k]
    Z, info = lapack.dstein(d, e, wanted, *_one_block(n))
    if info:
        return None
    if largest:
        values, Z = values[::-1], Z if k == 1 else np.asfortranarray(Z[:, ::-1])
    safe = 1 - 2 * BISECTION_TOL / BISECTION_SPACING
    return Z, [safe * gap for gap in _gaps(values.tolist(), k)]


def _near(d: Array, e: Array, k: int, *, sigma: float, inverse: bool) -> tuple[Array, list[float]] | None:
    """`_of_tridiagonal` for those nearest to σ."""
    n = d.size
    values, info = lapack.dsterf(d, e)
    if info:
        return None
    compared = values
    if inverse:
        # the reciprocals of those within rounding of zero are infinite
        finite = np.abs(values) > n * EPS * float(np.abs(values).max())
        compared = np.where(finite, 1 / np.where(finite, values, 1.0), math.inf)
    order = by_distance(compared, sigma)
    chosen = np.sort(order[:k])
    Z = _vectors(d, e, values, chosen)
    if Z is None:
        return None
    gaps = np.abs(values[order[:k], None] - values[order[k:]]).min(axis=1, initial=math.inf)
    return np.asfortranarray(Z[:, np.searchsorted(chosen, order[:k])]), gaps.tolist()


def _vectors(d: Array, e: Array, values: Array, chosen: Array) -> Array | None:
    """The eigenvectors for the ascending eigenvalues with the indices `chosen`."""
    n, k = d.size, chosen.size
    if _is_whole(d, e):
        Z, info = lapack.dstein(d, e, values[chosen], *_one_block(n))
        return None if info else np.asarray(Z)
    # block by block, to the last bit: dstemr selects by approximations to eight digits from several blocks
    low, high = int(chosen[0]), int(chosen[-1])
    found, values, blocks, ends, info = lapack.dstebz(d, e, 2, 0.0, 1.0, low + 1, high + 1, 0.0, "B")
    if info or found != high - low + 1:
        return None
    ascending = np.argsort(values[:found], kind="stable")[chosen - low]
    by_block = np.sort(ascending)
    labels = blocks.copy()
    labels[:k] = blocks[by_block]
    Z, info = lapack.dstein(d, e, values[by_block], labels, ends)
    return None if info else np.asarray(Z[:, np.searchsorted(by_block, ascending)])


def _is_whole(d: Array, e: Array) -> bool:
    """Does the tridiagonal matrix not split into blocks?"""
    return bool(float(np.minimum.reduce(np.abs(e))) > max(EPS * _largest(d), TINY**0.5))


def _by_qr(d: Array, e: Array, first: int, count: int) -> Array | None:
    """`count` of the ascending eigenvalues; None for a matrix that splits into blocks."""
    if not _is_whole(d, e):
        return None
    values, info = lapack.dsterf(d, e)
    return None if info else values[first : first + count]


def _roughly(d: Array, e: Array, first: int, count: int) -> Array | None:
    """`count` of the ascending eigenvalues to `BISECTION_TOL`; None for close ones and a matrix that splits."""
    size = max(_largest(d), _largest(e))
    tol = BISECTION_TOL * size
    found, values, _, ends, info = lapack.dstebz(d, e, 2, 0.0, 1.0, first + 1, first + count, tol, "B")
    if info or found != count or ends[0] != d.size:
        return None
    values = values[:count]
    return values if (values[1:] - values[:-1] > BISECTION_SPACING * size).all() else None


def _largest(x: Array) -> float:
    return abs(float(x.item(idamax(x))))


def _by_blocks(
    d: Array, e: Array, first: int, count: int, k: int, *, largest: bool
) -> tuple[Array, list[float]] | None:
    """`_of_tridiagonal` by bisection to the last bit, for close eigenvalues and a matrix that splits into blocks."""
    found, values, blocks, ends, info = lapack.dstebz(d, e, 2, 0.0, 1.0, first + 1, first + count, 0.0, "B")
    if info or found != count:
        return None
    Z, info = lapack.dstein(d, e, values[:count], blocks, ends)
    if info:
        return None
    order = np.argsort(-values[:count] if largest else values[:count], kind="stable")
    return np.asfortranarray(Z[:, order[:k]]), _gaps(values[order].tolist(), k)


@lru_cache(maxsize=8)
def _one_block(n: int) -> tuple[Array, Array]:
    """What LAPACK wants to know of a matrix that does not split: block of each eigenvalue, last row of each block."""
    ends = np.zeros(n, np.int32)
    ends[0] = n
    return np.ones(n, np.int32), ends
