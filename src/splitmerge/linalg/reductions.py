"""Sums over the n unknowns: every inner product, norm and Gram matrix of the methods."""

from __future__ import annotations

import numpy as np

from ..typing import Array


def column_dots(X: Array, Y: Array) -> Array:
    """The real parts of xᴴy for the columns of X and Y."""
    return np.asarray(np.einsum("ij,ij->j", X.conj(), Y).real)


def column_norms(X: Array) -> Array:
    """The lengths of the columns of X, whose entries are of safe size: a fraction of the time of NumPy's norm."""
    return np.asarray(np.sqrt(column_dots(X, X)))
