"""Finite element Laplacians on the unit square and cube with Dirichlet boundary; most are assembled by scikit-fem."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..checks import whole
from ..system.packages import missing
from ..typing import Array
from .tetrahedra import Tetrahedra, bricks

# Stencil of linear elements on the Kuhn–Freudenthal triangulation (six tetrahedra per unit cube): offsets to the
# neighbours along edges and face diagonals, and the mass of each coupling, the cube diagonal included.
EDGE_OFFSETS = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
FACE_OFFSETS = ((1, 1, 0), (1, 0, 1), (0, 1, 1))
MASS_BY_OFFSETS = {EDGE_OFFSETS: 1 / 20, FACE_OFFSETS: 1 / 30, ((1, 1, 1),): 1 / 20}


def stencil_cube(cells: int) -> tuple[sp.csr_array, sp.csr_array]:
    """The pair of `fem_laplacian(3, 1, cells)`, built from its stencil without scikit-fem: seconds for n = 10⁶.

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
    K = h * (6 * eye - sum(moved(offset) for offset in EDGE_OFFSETS))
    coupled = sum(mass * moved(offset) for offsets, mass in MASS_BY_OFFSETS.items() for offset in offsets)
    M = h**3 * (0.4 * eye + coupled)
    return sp.csr_array(K), sp.csr_array(M)


def fem_laplacian(dimension: int, order: int, cells: int) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and mass matrices of P1 or P2 elements on triangles (unit square) or tetrahedra (unit cube).

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
    """Stiffness and mass matrices of P2 tetrahedra on the unit cube, divided into a × b × c bricks.

    The six tetrahedra of a brick share its diagonal. In `bisected` of the bricks, most of them near the centre, the
    diagonal is bisected, which adds 8 unknowns each: n = (2a − 1)(2b − 1)(2c − 1) + 8 `bisected`. The largest
    eigenvalues belong to the refined bricks; because these are nearly identical, the eigenvalues are clustered.

    >>> K, M = cube_pair((3, 3, 4), bisected=10, rng=0)
    >>> K.shape
    (255, 255)
    """
    counts = (cells,) * 3 if np.ndim(cells) == 0 else tuple(cells)  # type: ignore[arg-type]
    if len(counts) != 3:
        raise ValueError(f"cells is {cells!r}; give an integer, or a tuple of three integers")
    a, b, c = (whole(count, "cells", 1) for count in counts)
    mesh = bricks((a, b, c))
    diagonals = mesh.longest(3.0)
    number = whole(bisected, "bisected", 0, len(diagonals))
    mesh = mesh.bisected(_central(mesh, diagonals, np.random.default_rng(rng))[:number])
    return _quadratic(mesh)


def lapla3_like() -> tuple[sp.csr_array, sp.csr_array]:
    """A pair that resembles the paper's Lapla3: the same n = 5,795 and the same type of mesh.

    The diagonals of its matrices indicate that Lapla3 has 8 × 8 × 8 bricks of six tetrahedra in the unit cube, made by
    bisection of 4 × 4 × 4 bricks with a few edges left uncut, and that the diagonals of 310 bricks, closer to the
    centre than to the boundary, were then bisected. Here these bricks are chosen at random, with a fixed seed.

    ==========================================  ===========================  ===========================
    quantity                                    Lapla3                       here
    ==========================================  ===========================  ===========================
    nonzeros of B                               141,779                      143,783
    nonzeros of A, without rounding errors      122,367                      124,449
    λ₁ and λₙ                                   26,776.9 and 29.618          26,951.0 and 29.618
    (λᵢ − λᵢ₊₁)/λ₁ in thousandths, i = 1, …, 9  26, 8, 6, 8, 8, 17, 7, 1, 4  27, 3, 8, 18, 4, 5, 5, 3, 5
    ==========================================  ===========================  ===========================

    The paper counts 136,565 nonzeros in A; 14,198 of those in the file are rounding errors. The spread of the refined
    bricks about the centre was chosen among many variants to match these numbers; other seeds give similar ones.

    >>> lapla3_like()[0].shape
    (5795, 5795)
    """
    generator = np.random.default_rng(0)
    mesh = bricks((4, 4, 4))
    for square in (3.0, 2.0):
        mesh = mesh.bisected(mesh.longest(square))
    edges = mesh.longest(1.0)
    on_a_face = _boundaries(mesh, edges) == 1
    # an uncut edge in a face of the cube removes three interior unknowns
    cut = _central(mesh, edges[on_a_face], generator)[:-20]
    mesh = mesh.bisected(np.vstack([edges[~on_a_face], cut]))
    return _quadratic(mesh.bisected(_central(mesh, mesh.longest(0.75), generator)[:310]))


def lapla4_like() -> tuple[sp.csr_array, sp.csr_array]:
    """A pair that resembles the paper's Lapla4: the same n = 10,891, one more bisection step than `lapla3_like`.

    The diagonals of all 8 × 8 × 8 bricks are bisected, and those of 570 of their 1,344 interior faces. The files of
    Lapla4 were not available, so its actual mesh is unknown. B has 268,025 nonzeros (paper: 269,639) and A 239,557
    (paper: 259,425), or about 256,000 with entries that are rounding errors.

    >>> lapla4_like()[0].shape
    (10891, 10891)
    """
    mesh = bricks((8, 8, 8))
    mesh = mesh.bisected(mesh.longest(3.0))
    faces = mesh.longest(2.0)
    inner = faces[_boundaries(mesh, faces) == 0]
    return _quadratic(mesh.bisected(_central(mesh, inner, np.random.default_rng(0))[:570]))


def _central(mesh: Tetrahedra, edges: Array, generator: np.random.Generator) -> Array:
    """The edges ordered by distance from the centre of the cube, with random perturbations."""
    away = ((mesh.middles(edges) / mesh.points.max(axis=0) - 0.5) ** 2).sum(axis=1)
    return np.asarray(edges[np.argsort(away + 0.1 * generator.standard_normal(len(edges)))])


def _boundaries(mesh: Tetrahedra, edges: Array) -> Array:
    """The number of faces of the cube that contain each edge."""
    middles = mesh.middles(edges)
    return np.asarray(((middles == 0) | (middles == mesh.points.max(axis=0))).sum(axis=1))


def _quadratic(mesh: Tetrahedra) -> tuple[sp.csr_array, sp.csr_array]:
    skfem = _skfem()
    points = (mesh.points / mesh.points.max(axis=0)).T
    tetrahedra = skfem.MeshTet(np.ascontiguousarray(points), np.ascontiguousarray(mesh.corners.T))
    K, M = _assembled(skfem.Basis(tetrahedra, skfem.ElementTetP2()))
    return _rounded(K), _rounded(M)


def _assembled(basis: Any) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and mass matrices of the interior degrees of freedom."""
    from skfem.models.poisson import laplace, mass

    inner = basis.complement_dofs(basis.get_dofs())
    K, M = (sp.csr_array(form.assemble(basis))[inner][:, inner] for form in (laplace, mass))
    return sp.csr_array(K), sp.csr_array(M)


def _rounded(X: sp.csr_array) -> sp.csr_array:
    """The matrix made exactly symmetric, with entries of the size of rounding errors removed."""
    X.data[abs(X.data) < 1e-12 * abs(X.data).max()] = 0.0
    X.eliminate_zeros()
    return sp.csr_array((X + X.T) / 2)


def _skfem() -> Any:
    try:
        import skfem
    except ImportError:
        raise ImportError(missing("this pair", "skfem")) from None
    return skfem
