"""Rayleigh–Ritz on the span of a block with fresh products in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, solve_triangular

from ..linalg.multiply import product
from ..linalg.reductions import column_dots, gram
from ..problem.products import Products
from ..system.processes import agreed
from ..typing import Array

# Combinations of columns of length 1 with larger coefficients cancel, and so would those of their products.
MAX_COEFFICIENT = 2.0


class Images(NamedTuple):
    """Columns X in double precision with their products A X and B X."""

    X: Array
    AX: Array
    BX: Array

    def combined(self, products: Products, C: Array) -> Images:
        """Those of X C for columns of length 1; the products are computed again where they would cancel."""
        X = product(self.X, C)
        if not np.abs(C).max(initial=0.0) <= MAX_COEFFICIENT:
            return images_of(products, X)
        return Images(X, product(self.AX, C), product(self.BX, C))

    def scaled(self, lengths: Array) -> Images:
        """Those of the columns divided by these lengths."""
        return Images(self.X / lengths, self.AX / lengths, self.BX / lengths)


def images_of(products: Products, X: Array) -> Images:
    """The columns in double precision and their products, counted as monitoring."""
    X = X.astype(np.result_type(products.dtype, np.float64), copy=False)
    return Images(X, *products.monitoring.in_double(X))


def rayleigh_ritz(products: Products, X: Array, order: Callable[[Array], Array]) -> Images:
    """Ritz vectors on the span of X in double precision; `order` ranks ascending values, best first."""
    block = images_of(products, X)
    block = block.scaled(_roots(column_dots(block.X, block.BX)))
    values, C = agreed(eigh(_hermitian(gram(block.X, block.AX)), _hermitian(gram(block.X, block.BX))))
    return block.combined(products, C[:, order(values)])


def swapped_ritz(products: Products, X: Array, sigma: float, sign: int) -> Images:
    """Rayleigh–Ritz for (B, ±(A − σB)), whose largest values come first; the vectors have B-norm 1.

    For (A, B) itself, rounding of large eigenvalues beside the wanted ones would leave components in all vectors.
    """
    block = images_of(products, X)
    KX = sign * (block.AX - sigma * block.BX)
    lengths = _roots(column_dots(block.X, KX))
    block, KX = block.scaled(lengths), KX / lengths
    _, C = agreed(eigh(_hermitian(gram(block.X, block.BX)), _hermitian(gram(block.X, KX))))
    block = block.combined(products, C[:, ::-1])
    block = block.scaled(_roots(column_dots(block.X, block.BX)))
    # Gram–Schmidt: next to large 1/(λ − σ) the others are orthogonal to rounding of the large ones only
    R = np.linalg.cholesky(_hermitian(gram(block.X, block.BX))).conj().T
    return block.combined(products, solve_triangular(R, np.eye(R.shape[0], dtype=R.dtype)))


def _roots(squares: Array) -> Array:
    """Their square roots, or LinAlgError if one of them is not positive."""
    if not (squares > 0).all():
        raise np.linalg.LinAlgError("a vector has no length in the inner product of B")
    return np.asarray(np.sqrt(squares))


def _hermitian(H: Array) -> Array:
    return (H + H.conj().T) / 2
