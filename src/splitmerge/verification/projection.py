"""Rayleigh–Ritz on the span of a block with fresh products in double precision."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh, solve_triangular

from ..linalg.reductions import column_dots, gram
from ..problem.products import Products
from ..typing import Array


def rayleigh_ritz(products: Products, X: Array, order: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Rayleigh–Ritz on the span of X in double precision; `order` ranks ascending values, best first."""
    X = X.astype(np.result_type(products.dtype, np.float64))
    AX, BX = products.monitoring.in_double(X)
    lengths = _roots(column_dots(X, BX))
    X, AX, BX = X / lengths, AX / lengths, BX / lengths
    values, C = eigh(_hermitian(gram(X, AX)), _hermitian(gram(X, BX)))
    chosen = order(values)
    return values[chosen], X @ C[:, chosen]


def swapped_ritz(products: Products, X: Array, sigma: float, sign: int) -> Array:
    """Rayleigh–Ritz for (B, ±(A − σB)), whose largest values come first; the vectors have B-norm 1.

    For (A, B) itself, rounding of large eigenvalues beside the wanted ones would leave components in all vectors.
    """
    X = X.astype(np.result_type(products.dtype, np.float64))
    AX, BX = products.monitoring.in_double(X)
    KX = sign * (AX - sigma * BX)
    lengths = _roots(column_dots(X, KX))
    X, BX, KX = X / lengths, BX / lengths, KX / lengths
    _, C = eigh(_hermitian(gram(X, BX)), _hermitian(gram(X, KX)))
    X, BX = X @ C[:, ::-1], BX @ C[:, ::-1]
    lengths = _roots(column_dots(X, BX))
    X, BX = X / lengths, BX / lengths
    # Gram–Schmidt: next to large 1/(λ − σ) the others are orthogonal to rounding of the large ones only
    R = np.linalg.cholesky(_hermitian(gram(X, BX))).conj().T
    return np.asarray(solve_triangular(R, X.T, trans=1).T)


def _roots(squares: Array) -> Array:
    """Their square roots, or LinAlgError if one of them is not positive."""
    if not (squares > 0).all():
        raise np.linalg.LinAlgError("a vector has no length in the inner product of B")
    return np.asarray(np.sqrt(squares))


def _hermitian(H: Array) -> Array:
    return (H + H.conj().T) / 2
