"""Laplacians on tensor-product grids: sparse pairs of any dimension with closed-form spectra."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..checks import whole
from ..typing import Array


def grid_laplacian(shape: Sequence[int], *, neumann: bool = False) -> tuple[sp.csr_array, None]:
    """The finite difference Laplacian (five-point stencil in 2D) on n₁ × n₂ × … points; B = None is the identity.

    Dirichlet boundary conditions; with `neumann`, Neumann conditions: A is then singular, with the constants as its
    null space. Equal sides give multiple eigenvalues.

    >>> A, B = grid_laplacian((2, 2))
    >>> A.toarray()
    array([[ 4., -1., -1.,  0.],
           [-1.,  4.,  0., -1.],
           [-1.,  0.,  4., -1.],
           [ 0., -1., -1.,  4.]])
    """
    sides = _sides(shape, "shape", least=1)
    ones = [_stencil(n, -1.0, 2.0, 1.0 if neumann else 2.0) for n in sides]
    return _sum([[T if i == j else sp.eye_array(n) for j, n in enumerate(sides)] for i, T in enumerate(ones)]), None


def grid_laplacian_values(shape: Sequence[int], *, neumann: bool = False) -> Array:
    """All eigenvalues of `grid_laplacian`, ascending: sums of 4 sin²(θ/2).

    >>> grid_laplacian_values((2, 2))
    array([2., 4., 4., 6.])
    """
    return _tensor_sums([4 * np.sin(_angles(n, n if neumann else n + 1, neumann) / 2) ** 2 for n in _sides(shape)])


def element_laplacian(cells: Sequence[int], *, neumann: bool = False) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and mass matrices of multilinear elements on the unit interval, square, cube…, with c₁ × c₂ × … cells.

    Dirichlet boundary conditions: c − 1 unknowns along a side. With `neumann`, Neumann conditions: c + 1 unknowns along
    a side, and A is singular.

    >>> K, M = element_laplacian((4,))
    >>> K.toarray()
    array([[ 8., -4.,  0.],
           [-4.,  8., -4.],
           [ 0., -4.,  8.]])
    """
    K, M = [], []
    for c in _sides(cells, "cells", least=1 if neumann else 2):
        n = c + 1 if neumann else c - 1
        K.append(_stencil(n, -float(c), 2.0 * c, c if neumann else 2.0 * c))
        M.append(_stencil(n, 1 / (6 * c), 4 / (6 * c), (2 if neumann else 4) / (6 * c)))
    return _sum([[K[j] if i == j else M[j] for j in range(len(M))] for i in range(len(M))]), _sum([M])


def element_laplacian_values(cells: Sequence[int], *, neumann: bool = False) -> Array:
    """All eigenvalues of `element_laplacian`, ascending: sums of 6c²(1 − cos θ)/(2 + cos θ), θ = πj/c.

    >>> bool(abs(element_laplacian_values((400,))[0] / np.pi**2 - 1) < 1e-5)
    True
    """

    def along(c: int) -> Array:
        cosine = np.cos(_angles(c + 1 if neumann else c - 1, c, neumann))
        return np.asarray(6 * c**2 * (1 - cosine) / (2 + cosine))

    return _tensor_sums([along(c) for c in _sides(cells, "cells", least=1 if neumann else 2)])


def _sides(sizes: Sequence[int], name: str = "shape", least: int = 1) -> list[int]:
    if np.ndim(sizes) != 1 or not len(sizes):
        raise ValueError(f"{name} is {sizes!r}; give one integer per dimension, such as (20, 30)")
    return [whole(n, name, least) for n in sizes]


def _stencil(n: int, off: float, inside: float, ends: float) -> sp.csr_array:
    """The tridiagonal (off, inside, off) on n points, with `ends` at both ends of the diagonal (Neumann)."""
    diagonal = np.full(n, inside, dtype=np.float64)
    diagonal[0] -= inside - ends
    diagonal[-1] -= inside - ends
    upper = off * sp.csr_array(sp.eye_array(n, k=1))
    return sp.csr_array(upper + upper.T + sp.diags_array(diagonal))


def _angles(n: int, intervals: int, neumann: bool) -> Array:
    return np.pi * np.arange(0 if neumann else 1, n + (0 if neumann else 1)) / intervals


def _sum(terms: list[list[Any]]) -> sp.csr_array:
    """The sum of Kronecker products."""
    return sp.csr_array(sum(reduce(partial(sp.kron, format="csr"), factors) for factors in terms))


def _tensor_sums(parts: list[Array]) -> Array:
    return np.sort(reduce(lambda x, y: np.add.outer(x, y).ravel(), parts))
