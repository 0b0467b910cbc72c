"""The sparse pairs: finite element Laplacians, the paper's Lapla3, and a dense pair for the matrix-free benchmark."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

from splitmerge.gallery import fem_laplacian as laplacian
from splitmerge.gallery import stencil_cube as cube

__all__ = ["SCIKIT_FEM", "Matrices", "conditioned", "cube", "lapla3", "laplacian"]

SCIKIT_FEM = find_spec("skfem") is not None
Matrices = tuple[sp.csr_array, sp.csr_array]


def lapla3() -> Matrices | None:
    """The paper's Lapla3, n = 5795, from `$SPLITMERGE_DATA` or `shared/data` next to the repository; None if absent."""
    given = os.environ.get("SPLITMERGE_DATA")
    root = Path(given) if given else Path(__file__).resolve().parents[3] / "shared" / "data"
    paths = [root / "lapla" / f"Lapla3_{letter}.mtx" for letter in "AB"]
    if not all(path.is_file() for path in paths):
        print(f"  Lapla3 is skipped: no file {paths[0]} (set SPLITMERGE_DATA to the data folder)")
        return None
    A, B = (sp.csr_array(scipy.io.mmread(path)).astype(np.float64) for path in paths)
    return A, B


def conditioned(n: int, kappa: float) -> tuple[np.ndarray, np.ndarray]:
    """A = GGᵀ/n with a Gaussian G, and B with geometrically spaced eigenvalues from 1 to κ and random eigenvectors."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    B = (Q * np.geomspace(1, kappa, n)) @ Q.T
    G = rng.standard_normal((n, n))
    return G @ G.T / n, (B + B.T) / 2
