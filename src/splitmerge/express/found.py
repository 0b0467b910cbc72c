"""Pairs from LAPACK with the figures of `verification`: residuals recomputed from A and B, and error norms."""

from __future__ import annotations

import math
from operator import truediv
from typing import NamedTuple

import numpy as np

from ..linalg.blas import hermitian_product, kernels
from ..linalg.extreme import ORTHONORMAL_TOL, Extreme, extreme_pairs, nearest_pairs, routines
from ..linalg.reductions import vdot
from ..linalg.rounding import by_distance
from ..typing import Array
from .plain import Plain

TINY = float(np.finfo(float).tiny)


class Found(NamedTuple):
    """Vectors x and images Bx in rows, √(xᴴBx), and the figures of `Pairs` for x over that.

    `norms` are those of r, x and Bx in the user's coordinates, and in those of the scaled pair if there is one.
    """

    vectors: Array
    images: Array
    roots: list[float]
    values: list[float]
    errors: list[float]
    offsets: list[float]
    norms: list[list[list[float]]]
    gaps: list[float]

    def taken(self, chosen: list[int]) -> Found:
        """The pairs with these indices."""
        roots, values, errors, offsets, gaps = (
            [column[i] for i in chosen] for column in (self.roots, self.values, self.errors, self.offsets, self.gaps)
        )
        norms = [[[row[i] for i in chosen] for row in system] for system in self.norms]
        return Found(self.vectors[chosen], self.images[chosen], roots, values, errors, offsets, norms, gaps)


def in_order(found: Found, which: str) -> Found:
    """The best pairs first; rounding may have exchanged some."""
    return chosen(found, sorted(range(len(found.values)), key=found.values.__getitem__, reverse=which == "largest"))


def nearest_first(found: Found, sigma: float) -> Found:
    """The pairs with the nearest to σ first; rounding may have exchanged some."""
    return chosen(found, by_distance(np.array(found.values), sigma).tolist())


def chosen(found: Found, order: list[int]) -> Found:
    """The pairs in this order, without a copy where they have it."""
    return found if order == list(range(len(order))) else found.taken(order)


def by_lapack(plain: Plain, K: Array | None, k: int, *, largest: bool) -> Extreme | None:
    """The k pairs at an end of (A, B), or with A = KKᴴ the largest of (B, A), by LAPACK."""
    if K is None:
        return extreme_pairs(plain.A, plain.B, plain.L, k, largest=largest)
    return extreme_pairs(plain.matrix_B(), plain.A, K, k, largest=True)


def near_by_lapack(plain: Plain, K: Array | None, k: int, sigma: float) -> Extreme | None:
    """Those nearest to σ, of (A, B) or of (B, A)."""
    if K is None:
        return nearest_pairs(plain.A, plain.L, k, sigma)
    return nearest_pairs(plain.matrix_B(), K, k, sigma, inverse=True)


def standard(plain: Plain, extreme: Extreme) -> Found:
    """The figures of pairs of (A, B); their error norms are √(rᴴB⁻¹r)."""
    if extreme.vectors.shape[1] == 1:
        return _alone(plain, None, extreme)
    X = _images(plain, extreme.vectors)
    values, roots, norms = residuals(plain.scaling, X)
    errors = norms[0][0]
    if plain.L is not None:
        W = routines(X.dtype).trsm(1.0, plain.L, X[2].T, lower=1).T
        errors = list(map(truediv, map(math.sqrt, np.vecdot(W, W).real.tolist()), roots))
    return Found(X[0], X[1], roots, values, errors, [0.0] * len(roots), norms, extreme.gaps)


def swapped(plain: Plain, K: Array, extreme: Extreme) -> Found | None:
    """The figures of pairs of (B, A) with A = KKᴴ; their error norms are those of 1/λ, relative to it."""
    if extreme.vectors.shape[1] == 1:
        return _alone(plain, K, extreme)
    X = _orthogonal(_images(plain, extreme.vectors))
    if X is None:
        return None
    values, roots, norms = residuals(plain.scaling, X)
    W = routines(X.dtype).potrs(K, X[2].T, lower=1)[0].T
    BW = W if plain.B is None else W @ plain.B.T
    # ‖w‖_B and |xᴴBw| for w = A⁻¹r
    squares, products = np.vecdot(W, BW).real.tolist(), np.vecdot(X[1], W).tolist()
    errors = [math.sqrt(max(square, 0.0)) / root for square, root in zip(squares, roots, strict=True)]
    offsets = [abs(product) / (root * root) for product, root in zip(products, roots, strict=True)]
    return Found(X[0], X[1], roots, values, errors, offsets, norms, extreme.gaps)


def _alone(plain: Plain, K: Array | None, extreme: Extreme) -> Found:
    """The figures of a single pair, for which vectors are faster than blocks; K is the factor of a swapped pair."""
    call, x = kernels(plain.A.dtype), extreme.vectors[:, 0]
    Bx, r = x if plain.B is None else call.hemv(1.0, plain.B, x), call.hemv(1.0, plain.A, x)
    square = max(call.dot(x, Bx), TINY)
    value, root = call.dot(x, r) / square, math.sqrt(square)
    r, d = call.axpy(Bx, r, a=-value), plain.scaling
    norms = [[[call.norm(y) / root] for y in (r, x, Bx)]]
    if d is not None:
        norms.append([[call.norm(y) / root] for y in (r * d, x / d, Bx * d)])
    error, offset = norms[0][0][0], 0.0
    if K is not None:
        w = call.trsv(K, call.trsv(K, r, lower=1), lower=1, trans=2)
        Bw = w if plain.B is None else call.hemv(1.0, plain.B, w)
        error, offset = math.sqrt(max(call.dot(w, Bw), 0.0)) / root, abs(complex(vdot(Bx, w))) / square
    elif plain.L is not None:
        error = call.norm(call.trsv(plain.L, r, lower=1)) / root
    return Found(x[None], Bx[None], [root], [value], [error], [offset], norms, extreme.gaps)


def _images(plain: Plain, V: Array) -> Array:
    """The rows x, Bx and Ax of the columns x of V."""
    X = np.empty((3, V.shape[1], V.shape[0]), V.dtype)
    for rows, M in zip(X, (None, plain.B, plain.A), strict=True):
        rows[:] = (V if M is None else hermitian_product(M, V)).T
    return X


def _orthogonal(X: Array) -> Array | None:
    """B-orthogonal rows: vectors of (B, A) are orthogonal to rounding of the largest 1/λ of all, and of A."""
    X /= np.sqrt(np.maximum(np.vecdot(X[0], X[1]).real, TINY))[:, None]
    G = X[0].conj() @ X[1].T
    if float(np.abs(G - np.eye(len(G))).max()) <= ORTHONORMAL_TOL:
        return X
    try:
        return np.linalg.solve(np.linalg.cholesky(G).conj(), X)
    except np.linalg.LinAlgError:
        return None


def residuals(scaling: Array | None, X: Array) -> tuple[list[float], list[float], list[list[list[float]]]]:
    """Rayleigh quotients, √(xᴴBx), and the norms of r = Ax − λBx (which takes the place of Ax), x and Bx over it."""
    squares, forms = np.vecdot(X[0], X[1:]).real.tolist()
    squares = [max(square, TINY) for square in squares]
    values, roots = list(map(truediv, forms, squares)), list(map(math.sqrt, squares))
    X[2] -= X[1] * np.array(values)[:, None]
    norms, d = [_norms(X, roots)], scaling
    if d is not None:
        norms.append(_norms(X * np.stack([1 / d, d, d])[:, None], roots))
    return values, roots, norms


def _norms(X: Array, roots: list[float]) -> list[list[float]]:
    """The norms of the rows r, x and Bx over √(xᴴBx)."""
    x, Bx, r = (list(map(truediv, map(math.sqrt, row), roots)) for row in np.vecdot(X, X).real.tolist())
    return [r, x, Bx]
