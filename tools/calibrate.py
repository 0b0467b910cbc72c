"""`python -m tools.calibrate`: the rates of this machine beside the constants of the cost model.

CPU time on one thread, the least of several runs. A ratio above 1 says that this machine is slower than the constant.
Constants that are off by more than a factor of two should be replaced; they decide which way is taken, not the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, get_blas_funcs, get_lapack_funcs
from threadpoolctl import threadpool_limits

import splitmerge as sm
from splitmerge.planning import costs
from splitmerge.sparse_direct import symmetric_lu
from splitmerge.sparse_direct.costs import COSTS

# Timed runs of each rate, and the factor beyond which a constant is marked.
RUNS, FAR_OFF = 5, 2.0
Row = tuple[str, float, float]


def seconds(run: Callable[[], Any], runs: int = RUNS) -> float:
    """The least CPU time of several runs, each repeated until it takes long enough for the clock."""
    run()
    repeats = 1
    while True:
        began = time.process_time()
        for _ in range(repeats):
            run()
        if time.process_time() - began > 0.02:
            break
        repeats *= 4
    times = []
    for _ in range(runs):
        began = time.process_time()
        for _ in range(repeats):
            run()
        times.append((time.process_time() - began) / repeats)
    return min(times)


def grid(side: int) -> sp.csr_array:
    """The seven-point Laplacian of a cube."""
    line = sp.diags_array([2.0, -1.0, -1.0], offsets=[0, 1, -1], shape=(side, side))
    one = sp.eye_array(side)
    flat = sp.kron(line, one) + sp.kron(one, line)
    return sp.csr_array(sp.kron(flat, one) + sp.kron(sp.eye_array(side**2), line))


def products() -> Iterator[Row]:
    """Sparse and dense products, and what a product of a Krylov search takes at least."""
    # beyond the caches, as in a search whose basis is larger than they are
    A, rng = grid(56), np.random.default_rng(0)
    x, X = rng.standard_normal(A.shape[0]), rng.standard_normal((A.shape[0], 8))
    yield "planning SPMV_SECONDS", costs.SPMV_SECONDS, seconds(lambda: A @ x) / A.nnz
    yield "planning SPMM_SECONDS", costs.SPMM_SECONDS, seconds(lambda: A @ X) / (A.nnz * X.shape[1])
    M = np.asfortranarray(rng.standard_normal((1000, 1000)))
    yield "planning GEMM_SECONDS", costs.GEMM_SECONDS, seconds(lambda: M @ M) / 1000**3
    V, gemv = np.asfortranarray(rng.standard_normal((150_000, 40))), get_blas_funcs("gemv", dtype=np.float64)
    w = rng.standard_normal(150_000)
    twice = seconds(lambda: gemv(-1.0, V, gemv(1.0, V, w, trans=1), 1.0, w))
    yield "planning GEMV_SECONDS", costs.GEMV_SECONDS, twice / (2 * V.size)
    small = sp.csr_array(sp.diags_array(np.linspace(1.0, 2.0, 200) ** 8))
    search = sm.Accelerated()
    made = sm.solve(small, method=search, rng=0).counts.A_products
    yield "planning STEP_SECONDS", costs.STEP_SECONDS, seconds(lambda: sm.solve(small, method=search, rng=0)) / made


def dense() -> Iterator[Row]:
    """LAPACK: a whole decomposition, a Cholesky factorisation and a triangular solve, per multiply–add."""
    n, rng = 600, np.random.default_rng(0)
    M = rng.standard_normal((n, n))
    K = np.asfortranarray(M @ M.T + n * np.eye(n))
    lapack = costs.LAPACK_OPERATIONS * costs.GEMM_SECONDS
    yield "planning LAPACK_OPERATIONS × GEMM", lapack, seconds(lambda: eigh(K, driver="evr")) / n**3
    potrf, trsv = get_lapack_funcs("potrf", dtype=K.dtype), get_blas_funcs("trsv", dtype=K.dtype)
    yield "planning GEMM_SECONDS, as potrf", costs.GEMM_SECONDS, seconds(lambda: potrf(K)) / (n**3 / 6)
    U, b = potrf(K)[0], np.ones(n)
    yield "planning GEMV_SECONDS, as trsv", costs.GEMV_SECONDS, seconds(lambda: trsv(U, b)) / (n * n / 2)


def sparse() -> Iterator[Row]:
    """SuperLU: seconds per flop and row of a factorisation, and per nonzero and row of a solve, by least squares."""
    matrices = [sm.gallery.fem_laplacian(*mesh)[0] for mesh in ((2, 2, 80), (2, 2, 150), (3, 1, 22), (3, 2, 14))]
    factor, solve, known = [], [], COSTS["SuperLU"]
    for A in matrices:
        lu = symmetric_lu(A)
        assert lu is not None
        heights, b = np.diff(lu.L.indptr).astype(float), np.ones(A.shape[0])
        factor.append(((heights**2).sum(), A.shape[0], seconds(lambda A=A: symmetric_lu(A), 3)))
        solve.append((heights.sum(), A.shape[0], seconds(lambda lu=lu, b=b: lu.solve(b))))
    (flop, row), (nonzero, row_solve) = fitted(factor), fitted(solve)
    yield "SuperLU flop", known.flop, flop
    yield "SuperLU row", known.row, row
    yield "SuperLU nonzero_solve", known.nonzero_solve, nonzero
    yield "SuperLU row_solve", known.row_solve, row_solve


def fitted(measured: list[tuple[float, float, float]]) -> tuple[float, float]:
    """Coefficients of the two counts that give the measured times with the least relative errors."""
    first, second, times = (np.array(column) for column in zip(*measured, strict=True))
    found = np.linalg.lstsq(np.column_stack([first / times, second / times]), np.ones(times.size), rcond=None)[0]
    return float(found[0]), float(found[1])


def main() -> None:
    """Print the table."""
    print(f"{'constant':36} {'in use':>9} {'measured':>9} {'ratio':>6}")
    with threadpool_limits(1):
        for part in (products, dense, sparse):
            for name, used, found in part():
                mark = "" if 1 / FAR_OFF <= found / used <= FAR_OFF else "  off"
                print(f"{name:36} {used:9.2g} {found:9.2g} {found / used:6.2f}{mark}", flush=True)


if __name__ == "__main__":
    main()
