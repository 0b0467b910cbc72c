"""The sparse pairs: Laplacians of finite elements, the paper's Lapla3, and a B that is only an operator."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

try:
    import skfem
    from skfem.models.poisson import laplace, mass
except ImportError:
    skfem = None

Matrices = tuple[sp.csr_array, sp.csr_array]


def laplacian(dimension: int, order: int, cells: int) -> Matrices:
    """Stiffness and mass of order 1 or 2 on the unit square or cube, zero on the boundary, by scikit-fem."""
    points = [np.linspace(0, 1, cells + 1)] * dimension
    mesh = (skfem.MeshTri if dimension == 2 else skfem.MeshTet).init_tensor(*points)
    element = getattr(skfem, f"Element{'Tri' if dimension == 2 else 'Tet'}P{order}")()
    basis = skfem.Basis(mesh, element)
    inner = basis.complement_dofs(basis.get_dofs())
    K, M = (sp.csr_array(form.assemble(basis))[inner][:, inner] for form in (laplace, mass))
    return sp.csr_array(K), sp.csr_array(M)


# of Freudenthal's six tetrahedra to a cube of side 1: diagonal, edges, diagonals of faces, diagonal of the cube
AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
FACES = ((1, 1, 0), (1, 0, 1), (0, 1, 1))
MASS = {AXES: 1 / 20, FACES: 1 / 30, ((1, 1, 1),): 1 / 20}


def cube(cells: int) -> Matrices:
    """What `laplacian(3, 1, cells)` assembles, from its stencil: in seconds and without its memory for a million."""
    m = cells - 1
    shift = {0: sp.eye_array(m), 1: sp.eye_array(m, k=1)}

    def moved(offset: tuple[int, ...]) -> sp.coo_array:
        upper = sp.kron(sp.kron(shift[offset[0]], shift[offset[1]]), shift[offset[2]], format="coo")
        return upper + upper.T

    h, eye = 1 / cells, sp.eye_array(m**3)
    K = h * (6 * eye - sum(moved(offset) for offset in AXES))
    M = h**3 * (0.4 * eye + sum(weight * moved(offset) for offsets, weight in MASS.items() for offset in offsets))
    return sp.csr_array(K), sp.csr_array(M)


def lapla3() -> Matrices | None:
    """The paper's Lapla3, n = 5795, from `$SPLITMERGE_DATA` or `shared/data` beside the repository; None elsewhere."""
    given = os.environ.get("SPLITMERGE_DATA")
    root = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    paths = [root / "lapla" / f"Lapla3_{letter}.mtx" for letter in "AB"]
    if not all(path.is_file() for path in paths):
        print(f"  Lapla3 is not here and so left out: no {paths[0]} (set SPLITMERGE_DATA to the folder of the data)")
        return None
    A, B = (sp.csr_array(scipy.io.mmread(path)).astype(np.float64) for path in paths)
    return A, B


def conditioned(n: int, kappa: float) -> tuple[np.ndarray, np.ndarray]:
    """A = GGᵀ/n of a Gaussian G, and B with n eigenvalues in geometric order from 1 to κ in a random basis."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    B = (Q * np.geomspace(1, kappa, n)) @ Q.T
    G = rng.standard_normal((n, n))
    return G @ G.T / n, (B + B.T) / 2
