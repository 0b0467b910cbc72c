"""The solvers of the sparse comparison: `sm.solve` and others, each called as its documentation recommends.

Every function takes a tolerance relative to λ and converts it to the criterion of its solver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg, splu

import splitmerge as sm

from ..rivals import primme
from .processes import Elsewhere
from .race import RESIDUAL_TOLERANCE, Absent, Pairs, Side, Task, pymetis, symmetric_lu

try:
    import pyamg
except ImportError:
    pyamg = None
try:
    from sksparse import cholmod
except ImportError:
    cholmod = None

LOBPCG_MAX_STEPS = 500
# Additional vectors of a LOBPCG block.
GUARD_VECTORS = 5

Solve = Callable[[np.ndarray], np.ndarray]


def inverse(n: int, solve: Solve) -> LinearOperator:
    return LinearOperator((n, n), matvec=solve, dtype=np.float64)


def by_degree(K: Any, pivot: float = 0.0) -> LinearOperator:
    """SuperLU with minimum degree ordering, the best symmetric factorisation in SciPy; `pivot` for an indefinite K."""
    options = {"SymmetricMode": True}
    lu = splu(sp.csc_array(K), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=pivot, options=options)
    return inverse(K.shape[0], lu.solve)


def by_metis(K: Any) -> LinearOperator:
    """SuperLU with nested dissection ordering by METIS."""
    if pymetis is None:
        raise Absent("pymetis is not installed")
    lu, order = symmetric_lu(K)

    def solve(b: np.ndarray) -> np.ndarray:
        w = np.empty_like(b)
        w[order] = lu.solve(b[order])
        return w

    return inverse(K.shape[0], solve)


def by_cholmod(K: Any) -> LinearOperator:
    if cholmod is None:
        raise Absent("scikit-sparse is not installed")
    return inverse(K.shape[0], cholmod.cholesky(sp.csc_matrix(K)))


FACTORS = {
    "SuperLU, minimum degree": by_degree,
    "SuperLU, METIS": by_metis,
    "CHOLMOD": by_cholmod,
}


def multigrid(K: Any) -> LinearOperator:
    """One smoothed aggregation V-cycle of PyAMG with its default near-nullspace."""
    if pyamg is None:
        raise Absent("pyamg is not installed")
    # some releases of PyAMG do not accept sparse arrays
    return pyamg.smoothed_aggregation_solver(sp.csr_matrix(K)).aspreconditioner()


def scale(task: Task, M: LinearOperator) -> tuple[float, float]:
    """Estimates of λ and ‖Bu‖ (uᵀBu = 1) of the first pair, because lobpcg and PRIMME use absolute residuals."""
    u = M @ (task.B @ np.ones(task.n))
    Bu = task.B @ u
    square = u @ Bu
    return float(u @ (task.A @ u) / square), float(np.linalg.norm(Bu) / np.sqrt(square))


def largest_sides(task: Task) -> list[Side]:
    """Solvers of the k largest, which need a factorisation of B."""
    A, B, k = task.A, task.B, task.k
    v0 = np.random.default_rng(1).standard_normal(task.n)

    def with_factor(factor: Callable[[Any], LinearOperator]) -> Callable[[float], Pairs]:
        return lambda tol: eigsh(A, k, M=B, Minv=factor(B), which="LA", v0=v0, tol=tol)

    return [
        Side("ours", "tol=1e-8", lambda _: sm.solve(A, B, k, tol=RESIDUAL_TOLERANCE, rng=0), by_tol=False),
        Side("eigsh", "M=B", lambda tol: eigsh(A, k, M=B, which="LA", v0=v0, tol=tol)),
        *(Side("eigsh Minv", name, with_factor(factor)) for name, factor in FACTORS.items()),
    ]


def ours(task: Task) -> Side:
    def run(_: float) -> sm.Solution:
        return sm.solve(task.A, task.B, task.k, which="smallest", tol=RESIDUAL_TOLERANCE, rng=0)

    return Side("ours", "tol=1e-8", run, by_tol=False)


def lobpcg_sides(task: Task) -> list[Side]:
    """lobpcg with PyAMG, with k vectors and with guard vectors, whose convergence lobpcg also awaits."""
    rng = np.random.default_rng(1)

    def blocked(guards: int) -> Callable[[float], Pairs]:
        X = rng.standard_normal((task.n, task.k + guards))

        def run(tol: float) -> Pairs:
            M = multigrid(task.A)
            allowed = tol * np.prod(scale(task, M))
            values, vectors = lobpcg(task.A, X.copy(), task.B, M, tol=allowed, maxiter=LOBPCG_MAX_STEPS, largest=False)
            order = np.argsort(values)[: task.k]
            return values[order], vectors[:, order]

        return run

    return [Side("lobpcg", f"pyamg, {task.k + guards} vectors", blocked(guards)) for guards in (0, GUARD_VECTORS)]


def primme_sides(task: Task) -> list[Side]:
    """PRIMME with PyAMG, by two methods; our convergence test replaces its own, which is relative to max |λ|."""

    def by(method: str) -> Callable[[float], Pairs]:
        def run(tol: float) -> Pairs:
            if primme is None:
                raise Absent("PRIMME is not installed")
            M = multigrid(task.A)
            allowed = tol * scale(task, M)[1]

            def arrived(value: float | None, vector: Any, norm: float | None) -> bool:
                return value is not None and norm is not None and norm <= allowed * abs(value)

            return primme.eigsh(task.A, task.k, M=task.B, which="SA", OPinv=M, convtest=arrived, method=method)

        return run

    return [Side("primme", f"pyamg, {name}", by(name)) for name in ("PRIMME_DYNAMIC", "PRIMME_DEFAULT_MIN_MATVECS")]


SLEPC = {
    "cholesky": "shift-invert, Cholesky",
    "lu": "shift-invert, LU",
    "mumps": "shift-invert, MUMPS",
    "gamg": "LOBPCG, GAMG",
}


def slepc_sides(task: Task) -> list[Side]:
    elsewhere = Elsewhere(task)

    def by(way: str) -> Callable[[float], Any]:
        return lambda tol: elsewhere.slepc(way, tol)

    return [Side("slepc", text, by(way)) for way, text in SLEPC.items()]


def shift_invert(task: Task) -> list[Side]:
    """Shift-invert eigsh at σ = 0, with its default and with better factorisations."""
    A, B, k = task.A, task.B, task.k
    v0 = np.random.default_rng(1).standard_normal(task.n)

    def with_factor(factor: Callable[[Any], LinearOperator]) -> Callable[[float], Pairs]:
        return lambda tol: eigsh(A, k, M=B, sigma=0, OPinv=factor(A), v0=v0, tol=tol)

    return [
        Side("eigsh", "sigma=0", lambda tol: eigsh(sp.csc_array(A), k, M=B, sigma=0, v0=v0, tol=tol)),
        *(Side("eigsh OPinv", name, with_factor(factor)) for name, factor in FACTORS.items()),
    ]


def smallest_sides(task: Task) -> list[Side]:
    default = Side("eigsh", "sigma=0", Elsewhere(task).eigsh)
    return [ours(task), default, *shift_invert(task)[1:], *lobpcg_sides(task), *primme_sides(task), *slepc_sides(task)]
