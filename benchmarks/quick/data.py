"""The pairs of the sparse section: from files, if they are there, and from the gallery."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

import splitmerge as sm

from ..sparse.race import Absent
from ..sparse.solvers import by_degree

# Values computed beside those asked for, to place a shift; and the size up to which LAPACK computes them.
KNOWN_COUNT, MAX_LAPACK_SIZE = 30, 1500
# Smallest relative gap that a shift may lie in.
SMALLEST_GAP = 1e-3


@dataclass(frozen=True)
class Pair:
    """A sparse pair; `definite` tells whether A is positive definite, `singular` whether B is singular."""

    A: sp.csr_array
    B: sp.csr_array | None
    definite: bool = True
    singular: bool = False


def path(*parts: str) -> Path:
    """A file of the data folder: `$SPLITMERGE_DATA`, or `shared/data` beside the repository."""
    given = os.environ.get("SPLITMERGE_DATA")
    root = Path(given) if given else Path(__file__).resolve().parents[3] / "shared" / "data"
    found = root.joinpath(*parts)
    if not found.is_file():
        raise Absent(f"no file {'/'.join(parts)} (set SPLITMERGE_DATA to the data folder)")
    return found


def market(*parts: str) -> sp.csr_array:
    found: Any = scipy.io.mmread(path(*parts))
    return sp.csr_array(found.astype(np.float64))


def bcsst(number: str) -> Pair:
    K, M = (market("hb", f"bcsst{letter}{number}.mtx") for letter in "km")
    return Pair(K, M, singular=number in ("01", "03", "04"))


def lund() -> Pair:
    return Pair(market("hb", "lund_a.mtx"), market("hb", "lund_b.mtx"))


def rail() -> Pair:
    """Heat in a steel profile: stiffness with the boundary term, and mass."""
    found = scipy.io.loadmat(path("rail", "ODE_unit_matrices_1357.mat"))
    return Pair(sp.csr_array(found["S"] + found["M_GAMMA"]), sp.csr_array(found["M"]))


def lapla3() -> Pair:
    return Pair(market("lapla", "Lapla3_A.mtx"), market("lapla", "Lapla3_B.mtx"))


def lapla4() -> Pair:
    A, B = (sp.csr_array(sp.load_npz(path("lapla", f"lapla4rec_{letter}.npz"))) for letter in "AB")
    return Pair(A, B)


def benzene() -> Pair:
    """Fock and overlap matrices without their entries below 1e-10."""
    with np.load(path("scf", "benzene_augccpvdz.npz")) as found:
        A, B = (sp.csr_array(np.where(np.abs(found[letter]) > 1e-10, found[letter], 0)) for letter in "AB")
    return Pair(A, B, definite=False)


def random_pair(n: int = 1000, per_row: int = 6) -> Pair:
    """Two random sparse diagonally dominant matrices."""
    rng = np.random.default_rng(0)

    def dominant() -> sp.csr_array:
        R = sp.random_array((n, n), density=per_row / (2 * n), rng=rng, data_sampler=rng.standard_normal)
        S = sp.csr_array(R + R.T)
        return sp.csr_array(S + sp.diags_array(abs(S).sum(axis=1) + rng.uniform(0.1, 1, n)))

    return Pair(dominant(), dominant())


def gallery(name: str, *args: Any) -> Pair:
    return Pair(*getattr(sm.gallery, name)(*args))


BUILDERS: dict[str, Callable[[], Pair]] = {
    **{f"bcsst{number}": partial(bcsst, number) for number in ("02", "03", "04", "05", "06", "07", "08")},
    "lund": lund,
    "rail1357": rail,
    "Lapla3": lapla3,
    "lapla4rec": lapla4,
    "benzene SCF": benzene,
    "P1 triangles": partial(gallery, "fem_laplacian", 2, 1, 50),
    "P2 triangles": partial(gallery, "fem_laplacian", 2, 2, 40),
    "P1 tetrahedra": partial(gallery, "fem_laplacian", 3, 1, 14),
    "P2 tetrahedra": partial(gallery, "fem_laplacian", 3, 2, 8),
    "grid 90×100": partial(gallery, "grid_laplacian", (90, 100)),
    "random sparse": random_pair,
}


@lru_cache(maxsize=2)
def pair(name: str) -> Pair:
    return BUILDERS[name]()


@cache
def smallest_values(name: str) -> np.ndarray:
    """The 30 smallest eigenvalues in ascending order, independently of us."""
    found = pair(name)
    n, count = found.A.shape[0], KNOWN_COUNT
    if n > MAX_LAPACK_SIZE:
        assert found.definite
        v0 = np.random.default_rng(2).standard_normal(n)
        ncv = 3 * count
        values = eigsh(found.A, count, M=found.B, sigma=0, OPinv=by_degree(found.A), v0=v0, ncv=ncv, tol=1e-10)[0]
        return np.sort(values)
    A, B = found.A.toarray(), np.eye(n) if found.B is None else found.B.toarray()
    if found.definite:
        # the inverse values are the accurate ones where λ spans many orders of magnitude
        return np.sort(1 / scipy.linalg.eigh(B, A, eigvals_only=True, subset_by_index=[n - count, n - 1]))
    return np.asarray(scipy.linalg.eigh(A, B, eigvals_only=True, subset_by_index=[0, count - 1]))


def largest_values(name: str, k: int) -> np.ndarray | None:
    """The k largest eigenvalues by LAPACK; None if n is large."""
    found = pair(name)
    n = found.A.shape[0]
    if n > MAX_LAPACK_SIZE or found.B is None:
        return None
    A, B = found.A.toarray(), found.B.toarray()
    return np.asarray(scipy.linalg.eigh(A, B, eigvals_only=True, subset_by_index=[n - k, n - 1]))


def shift(name: str) -> float:
    """The middle of the gap that is nearest to a third of the smallest 30 on a logarithmic scale."""
    values = smallest_values(name)
    scale = np.log(values) if values[0] > 0 else values
    middles = (scale[:-1] + scale[1:]) / 2
    distance = np.abs(middles - (scale[0] + (scale[-1] - scale[0]) / 3))
    distance[np.diff(values) < SMALLEST_GAP * np.abs(values[1:])] = np.inf
    i = int(np.argmin(distance))
    return float((values[i] + values[i + 1]) / 2)
