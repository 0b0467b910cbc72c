"""Laplacians of finite elements on the unit square and cube, zero on the boundary; most are assembled by scikit-fem."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..checks import whole
from ..typing import Array
from .tetrahedra import Tetrahedra, bricks

# of Freudenthal's six tetrahedra to a cube of side 1: diagonal, edges, diagonals of faces, diagonal of the cube
AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
FACES = ((1, 1, 0), (1, 0, 1), (0, 1, 1))
MASS = {AXES: 1 / 20, FACES: 1 / 30, ((1, 1, 1),): 1 / 20}


def stencil_cube(cells: int) -> tuple[sp.csr_array, sp.csr_array]:
    """What `fem_laplacian(3, 1, cells)` assembles, from its stencil: without scikit-fem, in seconds for a million.

    >>> K, M = stencil_cube(10)
    >>> K.shape
    (729, 729)
    """
    m = whole(cells, "cells", 2) - 1
    shift: dict[int, Any] = {0: sp.eye_array(m), 1: sp.eye_array(m, k=1)}

    def moved(offset: tuple[int, ...]) -> Any:
        upper = sp.kron(sp.kron(shift[offset[0]], shift[offset[1]]), shift[offset[2]], format="coo")
        return upper + upper.T

    h = 1 / cells
    eye: Any = sp.eye_array(m**3)
    K = h * (6 * eye - sum(moved(offset) for offset in AXES))
    M = h**3 * (0.4 * eye + sum(weight * moved(offset) for offsets, weight in MASS.items() for offset in offsets))
    return sp.csr_array(K), sp.csr_array(M)


def fem_laplacian(dimension: int, order: int, cells: int) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and mass of order 1 or 2 on triangles of the unit square or tetrahedra of the unit cube.

    >>> K, M = fem_laplacian(2, order=2, cells=5)
    >>> K.shape
    (81, 81)
    """
    dimension, order, cells = whole(dimension, "dimension", 2, 3), whole(order, "order", 1, 2), whole(cells, "cells", 2)
    skfem = _skfem()
    points = [np.linspace(0, 1, cells + 1)] * dimension
    mesh = (skfem.MeshTri if dimension == 2 else skfem.MeshTet).init_tensor(*points)
    return _assembled(skfem.Basis(mesh, getattr(skfem, f"Element{'Tri' if dimension == 2 else 'Tet'}P{order}")()))


def cube_pair(
    cells: int | tuple[int, int, int], bisected: int = 0, *, rng: Any = None
) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and mass of quadratic tetrahedra on the unit cube cut into a × b × c bricks.

    The six tetrahedra of a brick share its diagonal. As many bricks as `bisected` says, most of them near the middle,
    are cut there in halves, with 8 unknowns more in each: n = (2a − 1)(2b − 1)(2c − 1) + 8 `bisected`. The cut bricks
    hold the largest eigenvalues, and as they are alike these are clustered.

    >>> K, M = cube_pair((3, 3, 4), bisected=10, rng=0)
    >>> K.shape
    (255, 255)
    """
    counts = (cells,) * 3 if np.ndim(cells) == 0 else tuple(cells)  # type: ignore[arg-type]
    if len(counts) != 3:
        raise ValueError(f"cells is {cells!r}; give a whole number, or three of them")
    a, b, c = (whole(count, "cells", 1) for count in counts)
    mesh = bricks((a, b, c))
    diagonals = mesh.longest(3.0)
    number = whole(bisected, "bisected", 0, len(diagonals))
    mesh = mesh.bisected(_central(mesh, diagonals, np.random.default_rng(rng))[:number])
    return _quadratic(mesh)


def lapla3_like() -> tuple[sp.csr_array, sp.csr_array]:
    """A pair like the paper's Lapla3: the same n = 5,795, and the same kind of mesh.

    As far as the diagonals of its matrices tell, Lapla3 has 8 × 8 × 8 bricks of six tetrahedra in the unit cube, made
    by bisection of 4 × 4 × 4, of which a few edges stayed uncut; then 310 of the bricks, in the middle rather than at
    the boundary, were cut at their diagonals. Which ones is left to chance here, with a fixed seed.

    | | Lapla3 | here |
    |---|---|---|
    | nonzeros of B | 141,779 | 143,783 |
    | nonzeros of A, without rounding errors | 122,367 | 124,449 |
    | λ₁ and λₙ | 26,776.9 and 29.618 | 26,951.0 and 29.618 |
    | (λᵢ − λᵢ₊₁)/λ₁ in thousandths, i = 1, …, 9 | 26, 8, 6, 8, 8, 17, 7, 1, 4 | 27, 3, 8, 18, 4, 5, 5, 3, 5 |

    The paper counts 136,565 nonzeros in A: 14,198 of those in the file are zeros but for rounding. How far the cuts
    reach from the middle was chosen among many variants for these numbers; other seeds give about the same.

    >>> lapla3_like()[0].shape
    (5795, 5795)
    """
    generator = np.random.default_rng(0)
    mesh = bricks((4, 4, 4))
    for square in (3.0, 2.0):
        mesh = mesh.bisected(mesh.longest(square))
    edges = mesh.longest(1.0)
    on_a_face = _boundaries(mesh, edges) == 1
    # uncut, an edge in a face of the cube has three inner unknowns fewer
    cut = _central(mesh, edges[on_a_face], generator)[:-20]
    mesh = mesh.bisected(np.vstack([edges[~on_a_face], cut]))
    return _quadratic(mesh.bisected(_central(mesh, mesh.longest(0.75), generator)[:310]))


def lapla4_like() -> tuple[sp.csr_array, sp.csr_array]:
    """A pair like the paper's Lapla4: the same n = 10,891, one step of bisection further than `lapla3_like`.

    All of the 8 × 8 × 8 bricks are cut at their diagonals, and 570 of their 1,344 inner faces too. It is not known
    whether Lapla4 is made like this, as we have no file of it. The paper's 269,639 nonzeros of B are 268,025 here, and
    its 259,425 of A are 239,557, or some 256,000 with those that are rounding errors.

    >>> lapla4_like()[0].shape
    (10891, 10891)
    """
    mesh = bricks((8, 8, 8))
    mesh = mesh.bisected(mesh.longest(3.0))
    faces = mesh.longest(2.0)
    inner = faces[_boundaries(mesh, faces) == 0]
    return _quadratic(mesh.bisected(_central(mesh, inner, np.random.default_rng(0))[:570]))


def _central(mesh: Tetrahedra, edges: Array, generator: np.random.Generator) -> Array:
    """The edges from about the middle of the cube outwards."""
    away = ((mesh.middles(edges) / mesh.points.max(axis=0) - 0.5) ** 2).sum(axis=1)
    return np.asarray(edges[np.argsort(away + 0.1 * generator.standard_normal(len(edges)))])


def _boundaries(mesh: Tetrahedra, edges: Array) -> Array:
    """In how many faces of the cube each edge lies."""
    middles = mesh.middles(edges)
    return np.asarray(((middles == 0) | (middles == mesh.points.max(axis=0))).sum(axis=1))


def _quadratic(mesh: Tetrahedra) -> tuple[sp.csr_array, sp.csr_array]:
    skfem = _skfem()
    points = (mesh.points / mesh.points.max(axis=0)).T
    tetrahedra = skfem.MeshTet(np.ascontiguousarray(points), np.ascontiguousarray(mesh.corners.T))
    K, M = _assembled(skfem.Basis(tetrahedra, skfem.ElementTetP2()))
    return _rounded(K), _rounded(M)


def _assembled(basis: Any) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and mass of the inner unknowns."""
    from skfem.models.poisson import laplace, mass

    inner = basis.complement_dofs(basis.get_dofs())
    K, M = (sp.csr_array(form.assemble(basis))[inner][:, inner] for form in (laplace, mass))
    return sp.csr_array(K), sp.csr_array(M)


def _rounded(X: sp.csr_array) -> sp.csr_array:
    """Symmetric to the last bit, and without entries that are zero but for rounding."""
    X.data[abs(X.data) < 1e-12 * abs(X.data).max()] = 0.0
    X.eliminate_zeros()
    return sp.csr_array((X + X.T) / 2)


def _skfem() -> Any:
    try:
        import skfem
    except ImportError:
        raise ImportError("this pair is assembled by scikit-fem; pip install 'splitmerge[fem]'") from None
    return skfem
