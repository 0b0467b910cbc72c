"""Sections `operators-no-factorisation` and `matrix-free-B`: A with costly factors, B known by its products only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, cg, eigsh

import splitmerge as sm

from ..rivals import primme
from ..sparse.fem import conditioned
from ..sparse.race import Absent
from .contest import TOLERANCE, Contest, Row, Side, Wanted
from .guard import guarded
from .sparse_rows import at_end, ours, start

# The zero eigenvalue of a graph is judged as if it had this size.
GRAPH_FLOOR = 0.1
# Eigenvalues beside those asked for, and tolerance, of the reference.
EXTRA_COUNT, REFERENCE_TOLERANCE = 5, 1e-13
# Larger operators have a time limit for each run.
MAX_UNGUARDED_SIZE, SECONDS, SECONDS_LONG = 5_000, 15.0, 300.0
MATRIX_FREE_SIZE, MATRIX_FREE_SIZE_LONG, MATRIX_FREE_KAPPA = 1000, 2000, 1e3
# Tolerance of a run that is not repeated, so that its residual is sufficient; and that of inner solves / outer one.
ONCE_TOLERANCE, INNER_FACTOR = 3e-9, 0.1


def heisenberg_ring(spins: int) -> sp.csr_array:
    """H = Σ S_i · S_{i+1} of a periodic chain of spins 1/2 in the basis of all 2^L states of S^z."""
    states = np.arange(2**spins)
    diagonal = np.zeros(2**spins)
    rows, columns = [], []
    for i in range(spins):
        j = (i + 1) % spins
        differ = (states >> i & 1) != (states >> j & 1)
        diagonal += np.where(differ, -0.25, 0.25)
        rows.append(states[differ])
        columns.append(states[differ] ^ (1 << i | 1 << j))
    row, column = np.concatenate(rows), np.concatenate(columns)
    flips = sp.coo_array((np.full(len(row), 0.5), (row, column)), shape=(2**spins, 2**spins))
    return sp.csr_array(flips + sp.diags_array(diagonal))


def anderson_cube(side: int, disorder: float) -> sp.csr_array:
    """Hopping −1 on a periodic cube and random energies in [−W/2, W/2]."""
    here = np.arange(side)
    step = sp.coo_array((-np.ones(side), (here, (here + 1) % side)), shape=(side, side))
    ring = sp.csr_array(step + step.T)
    hopping = sp.kronsum(sp.kronsum(ring, ring), ring)
    energies = np.random.default_rng(0).uniform(-disorder / 2, disorder / 2, side**3)
    return sp.csr_array(hopping + sp.diags_array(energies))


def graph_laplacian(n: int, degree: float) -> sp.csr_array:
    """The Laplacian of the largest component of an Erdős–Rényi graph."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n, (2, round(n * degree / 2)))
    ends = ends[:, ends[0] != ends[1]]
    half = sp.coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(n, n))
    graph = sp.csr_array(half + half.T)
    graph.data[:] = 1.0
    labels = connected_components(graph, directed=False)[1]
    keep = np.flatnonzero(labels == np.bincount(labels).argmax())
    graph = graph[keep][:, keep]
    return sp.csr_array(sp.diags_array(graph.sum(axis=1)) - graph)


OPERATORS: dict[str, Callable[[], sp.csr_array]] = {
    **{f"Heisenberg ring L={spins}": partial(heisenberg_ring, spins) for spins in (12, 14, 16)},
    **{
        f"Anderson {side}³ W={disorder}": partial(anderson_cube, side, disorder)
        for side in (16, 20)
        for disorder in (16, 2)
    },
    "random graph": partial(graph_laplacian, 10_000, 8),
}
LARGER: dict[str, Callable[[], sp.csr_array]] = {
    "Heisenberg ring L=18": partial(heisenberg_ring, 18),
    "Heisenberg ring L=20": partial(heisenberg_ring, 20),
    "Anderson 32³ W=16": partial(anderson_cube, 32, 16),
}


@lru_cache(maxsize=1)
def operator(name: str) -> sp.csr_array:
    return {**OPERATORS, **LARGER}[name]()


def by_primme(A: Any, M: Any, k: int, which: str) -> Side:
    def run(tol: float) -> Any:
        if primme is None:
            raise Absent("PRIMME is not installed")
        return primme.eigsh(A, k, M=M, which=which, tol=tol)

    return Side("primme", run)


def reference(A: Any, k: int) -> np.ndarray | None:
    """The k smallest eigenvalues from a search for more of them, which finds the copies of multiple ones; untimed."""
    v0 = np.random.default_rng(2).standard_normal(A.shape[0])
    try:
        values = eigsh(A, k + EXTRA_COUNT, which="SA", v0=v0, tol=REFERENCE_TOLERANCE, return_eigenvectors=False)
    except ArpackNoConvergence:
        return None
    return np.sort(values)[:k]


def ground_states(name: str, k: int) -> Contest:
    A, wanted = operator(name), Wanted(k, "smallest")
    sides = [ours(A, None, wanted), at_end("eigsh", A, None, k, "SA"), by_primme(A, None, k, "SA")]
    if A.shape[0] > MAX_UNGUARDED_SIZE:
        sides = [guarded(side, SECONDS_LONG if A.shape[0] > 2**16 else SECONDS) for side in sides]
    floor = GRAPH_FLOOR if "graph" in name else 0.0
    return Contest(wanted, sides, A, known=reference(A, k), floor=floor)


def rows(long: bool) -> Iterator[Row]:
    for name in [*OPERATORS, *(LARGER if long else ())]:
        for k in (1, 5):
            yield Row("operators-no-factorisation", name, f"smallest {k}", partial(ground_states, name, k))


def matrix_free(n: int, k: int) -> Contest:
    """The default Minv of `eigsh` is an iteration inside the iteration, so it runs only once."""
    A, B = dense_pair(n)
    op = LinearOperator((n, n), matvec=lambda x: B @ x, matmat=lambda X: B @ X, dtype=np.float64)
    v0 = start(n)

    def with_cg(tol: float) -> Any:
        Minv = LinearOperator((n, n), matvec=lambda x: cg(op, x, rtol=INNER_FACTOR * tol)[0], dtype=np.float64)
        return eigsh(A, k, M=op, Minv=Minv, which="LA", v0=v0, tol=tol)

    sides = [
        Side("ours", lambda _: sm.solve(A, op, k, tol=TOLERANCE, rng=0), by_tol=False),
        Side("eigsh", lambda tol: eigsh(A, k, M=op, which="LA", v0=v0, tol=tol), once=True, tol=ONCE_TOLERANCE),
        Side("eigsh CG", with_cg),
        by_primme(A, op, k, "LA"),
    ]
    return Contest(Wanted(k, "largest"), sides, A, B)


@lru_cache(maxsize=1)
def dense_pair(n: int) -> tuple[np.ndarray, np.ndarray]:
    return conditioned(n, MATRIX_FREE_KAPPA)


def matrix_free_rows(long: bool) -> Iterator[Row]:
    n = MATRIX_FREE_SIZE_LONG if long else MATRIX_FREE_SIZE
    for k in (1, 5):
        yield Row("matrix-free-B", f"n={n} κ={MATRIX_FREE_KAPPA:.0e}", f"largest {k}", partial(matrix_free, n, k))
