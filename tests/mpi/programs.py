"""Programs for several processes: `mpiexec -n P python programs.py NAME OPTIONS`; process 0 prints one JSON object.

OPTIONS is a Python expression for a dictionary. A program is a function of the same name.
"""

import json
import os
import signal
import sys
import time

import numpy as np
import scipy.sparse as sp
from petsc4py import PETSc

import splitmerge as sm
from pairs_of_rows import BRICK, CUBE, body, line, spread, tridiagonal

COMM = PETSc.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size


def matrix(rows_of, n):
    """The PETSc matrix of which `rows_of(first, last)` makes the rows."""
    layout = PETSc.Vec().createMPI(n, comm=COMM)
    first, last = layout.getOwnershipRange()
    part = sp.csr_array(rows_of(first, last))
    part.sort_indices()
    csr = part.indptr.astype(PETSc.IntType), part.indices.astype(PETSc.IntType), part.data
    return PETSc.Mat().createAIJ(((last - first, n), (last - first, n)), csr=csr, comm=COMM)


def cube(N, copies=1, sides=CUBE):
    """Trilinear elements on a cube or brick, or on several of them: every process makes its own rows."""
    (K1, M1), (K2, M2), (K3, M3) = (line(N, side) for side in sides)
    n = N**3

    def rows(*terms):
        def made(first, last):
            parts = []
            for copy in range(copies):
                low, high = max(first - copy * n, 0), min(last - copy * n, n)
                if low < high:
                    part = sum(spread(*term, low, high, N) for term in terms)
                    parts.append(
                        sp.csr_array((part.data, part.indices + copy * n, part.indptr), (high - low, copies * n))
                    )
            return sp.vstack(parts, format="csr") if parts else sp.csr_array((0, copies * n))

        return made

    K, M = rows((K1, M2, M3), (M1, K2, M3), (M1, M2, K3)), rows((M1, M2, M3))
    return matrix(K, copies * n), matrix(M, copies * n)


def given(A, B=None):
    """PETSc matrices from SciPy's, which every process has."""
    return tuple(M if M is None else matrix(_rows_of(M), M.shape[0]) for M in (A, B))


def _rows_of(M):
    M = sp.csr_array(M)
    return lambda first, last: M[first:last]


def from_file(name):
    """The pair of a file, in PETSc's matrices."""
    return given(*sm.read_pair(*name))


PAIRS = {
    "cube": cube,
    "brick": lambda N: cube(N, sides=BRICK),
    "body": lambda N: given(*body(N)),
    "file": from_file,
    "line": lambda n, low=0.0: given(*tridiagonal(n, low)),
    "square": lambda N: given(*sm.gallery.element_laplacian((N, N))),
}


def report(sol, K, M, **more):
    """What the tests look at: the same on all processes, and residuals from PETSc's own products."""
    vectors = sol.to_petsc()
    residuals, lengths = [], []
    r, Mu = vectors[0].duplicate(), vectors[0].duplicate()
    for value, u in zip(sol.eigenvalues, vectors, strict=True):
        u.copy(Mu) if M is None else M.mult(u, Mu)
        K.mult(u, r)
        lengths.append(float(np.real(u.dot(Mu))))
        r.axpy(-value, Mu)
        residuals.append(r.norm() / max(abs(value) * Mu.norm(), 1e-300))
    everywhere = COMM.tompi4py().allgather((sol.eigenvalues.tolist(), sol.steps, str(sol.verdict), sol.reason.name))
    told = {
        "values": sol.eigenvalues,
        "bounds": sol.error_bounds,
        "residuals": sol.residuals,
        "recomputed": residuals,
        "lengths": lengths,
        "verdict": str(sol.verdict),
        "why": sol.verdict.why,
        "converged": sol.converged,
        "reason": sol.reason.name,
        "steps": sol.steps,
        "products": sol.counts.A_products,
        "solves": sol.counts.B_solves,
        "choices": [f"{decision.choice.name} {decision.figures}" for decision in sol.decisions],
        "agree": all(others == everywhere[0] for others in everywhere),
        "rows": sol.eigenvectors.shape[0] == K.getLocalSize()[0],
        "history": len(sol.history),
        **more,
    }
    say(told)


def say(told):
    if RANK == 0:
        print(json.dumps(told, default=np.ndarray.tolist), flush=True)


def solve(pair, options, sigma=None, shell=False):
    """A solve of one of PAIRS; `options` are those of `solve`."""
    K, M = PAIRS[pair[0]](*pair[1:])
    A = K
    if shell:

        class Shell:
            def mult(self, mat, x, y):
                K.mult(x, y)

        A = PETSc.Mat().createPython(K.getSizes(), Shell(), comm=COMM)
        A.setUp()
    try:
        sol = sm.solve(A, M, **options)
    except sm.NotConverged as failure:
        sol = failure.solution
    report(sol, K, M)


def refused(pair, options, spoil=None):
    """The message of an error that all processes raise."""
    K, M = PAIRS[pair[0]](*pair[1:])
    if spoil is not None:
        K, M = spoil(K, M)
    try:
        sm.solve(K, M, **options)
        text = None
    except (ValueError, MemoryError) as error:
        text = f"{type(error).__name__}: {error}"
    say({"texts": COMM.tompi4py().gather(text)})


def spoilt(spoil, options):
    """The message for matrices that are not what they must be, on the rows of the last process only."""
    K, M = (mat.copy() for mat in cube(9))
    last = K.getSize()[0] - 1
    A = M if spoil == "indefinite" else K
    if spoil == "layout":
        n = last + 1
        rows = n - 100 if RANK == 0 else 100
        M = PETSc.Mat().createAIJ(((rows, n), (rows, n)), nnz=1, comm=COMM)
        for i in range(*M.getOwnershipRange()):
            M[i, i] = 1.0
        M.assemble()
    else:
        if RANK == SIZE - 1:
            # the neighbour across the corner of an element
            column = last - 91 if spoil == "unsymmetric" else last
            A.setValue(last, column, {"unsymmetric": 7.0, "nan": np.nan, "indefinite": -9.0}[spoil], addv=True)
        A.assemble()
    try:
        sm.solve(K, M, **options)
        text = None
    except ValueError as error:
        text = str(error)
    say({"texts": COMM.tompi4py().gather(text)})


def complex_for_real():
    """A complex matrix of process 0 for a PETSc of real numbers."""
    A = tridiagonal(300)[0] * (1 + 0j) + sp.diags_array([1j * np.ones(299), -1j * np.ones(299)], offsets=[1, -1])
    try:
        sm.solve(A if RANK == 0 else None, comm=COMM.tompi4py(), k=2)
        text = "none"
    except ValueError as error:
        text = str(error)
    say({"texts": COMM.tompi4py().gather(text)})


def fault(kind):
    """One process fails, stops or is interrupted in the middle."""
    K, M = cube(12)

    def callback(state):
        if state.step == 2:
            if kind == "callback" and RANK == SIZE - 1:
                raise ZeroDivisionError(f"the callback of the last process at {time.time()}")
            if kind == "everywhere":
                raise ZeroDivisionError("the callback of every process")
            if kind == "interrupt" and RANK == 0:
                os.kill(os.getpid(), signal.SIGINT)
        return kind == "stop" and RANK == SIZE - 1 and state.step >= 3

    class Shell:
        made = 0

        def mult(self, mat, x, y):
            K.mult(x, y)
            Shell.made += 1
            if RANK == SIZE - 1 and Shell.made == 40:
                raise ZeroDivisionError(f"the operator of the last process at {time.time()}")

    A = K
    if kind == "operator":
        A = PETSc.Mat().createPython(K.getSizes(), Shell(), comm=COMM)
        A.setUp()
    try:
        sol = sm.solve(A, M, k=3, rng=0, callback=callback)
        told = sol.reason.name
    except sm.NotConverged as failure:
        told = failure.solution.reason.name
    except ZeroDivisionError as error:
        told = f"caught: {error}"
    say({"told": COMM.tompi4py().gather(told)})


def clocks():
    """A time limit, with clocks that differ by half a second."""
    real = time.perf_counter
    time.perf_counter = lambda: real() + 0.5 * RANK
    K, M = cube(12)
    stop = sm.Residual(1e-15) | sm.MaxSeconds(0.3)
    try:
        reason = sm.solve(K, M, k=3, rng=0, stop=stop, method=sm.Power()).reason.name
    except sm.NotConverged as failure:
        reason = failure.solution.reason.name
    say({"told": COMM.tompi4py().gather(reason)})


def random_rows(n, seeds):
    """Random vectors of all processes, put together."""
    from splitmerge.distributed.communicator import Communicator
    from splitmerge.linalg.reductions import random_vector

    first, last = PETSc.Vec().createMPI(n, comm=COMM).getOwnershipRange()
    made = []
    with Communicator(COMM.tompi4py(), n, first, last - first).solving():
        rng = np.random.default_rng(seeds)
        for _ in range(2):
            made.append(random_vector(n, np.dtype(float), rng))
    say({"vectors": [np.concatenate(COMM.tompi4py().allgather(x)).tolist() for x in made]})


def scattered(options):
    """Matrices of process 0 alone."""
    from mpi4py import MPI

    A, B = tridiagonal(700) if RANK == 0 else (None, None)
    sol = sm.solve(A, B, comm=MPI.COMM_WORLD, **options)
    say({"values": sol.eigenvalues, "rows": COMM.tompi4py().gather(sol.eigenvectors.shape[0])})


def kept(path):
    """One file from all processes, and a resumed solve."""
    K, M = cube(10)
    sol = sm.solve(K, M, k=4, which="smallest", rng=0, tol=1e-4)
    sol.save(path)
    again = sol.resume(tol=1e-10, rng=0)
    report(again, K, M, first=sol.eigenvalues)


def interrupted(path, method=None, kill=None):
    """A solve with checkpoints at every state; process `kill` ends itself in the middle."""
    K, M = cube(14)
    products = []

    def callback(state):
        products.append(state.products.counts.A_products)
        if kill is not None and kill == RANK and len(products) == 14:
            os.kill(os.getpid(), signal.SIGKILL)

    options = {"k": 4, "which": "smallest", "rng": 0, "callback": callback, "preconditioner": sm.MultiGrid()}
    sol = sm.solve(K, M, checkpoint=sm.Checkpoint(path, seconds=0), **options)
    report(sol, K, M)


def resumed(path):
    """Go on from a checkpoint."""
    K, M = cube(14)
    loaded = sm.load(path)
    report(loaded.resume(K, M), K, M, before=loaded.counts.A_products, kind=type(loaded.vectors).__name__)


def memory(N, watch=True):
    """The largest array that is made during a solve, and by how much the process has grown."""
    import resource
    import tracemalloc

    K, M = cube(N)
    sm.solve(*cube(7), k=2, which="smallest", rng=0)  # imports
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if watch:
        tracemalloc.start()
    sol = sm.solve(K, M, k=4, which="smallest", rng=0, preconditioner=sm.MultiGrid())
    peak = tracemalloc.get_traced_memory()[1] if watch else 0
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    say(
        {
            "peak": max(COMM.tompi4py().allgather(peak)),
            "grown": max(COMM.tompi4py().allgather(grown)),
            "steps": sol.steps,
        }
    )


def arrays(N):
    """The longest NumPy array that a process makes during a solve, of those that tracemalloc sees."""
    import tracemalloc

    K, M = cube(N)
    limit = int(0.75 * N**3 * 8)
    found = []
    tracemalloc.start(12)

    def callback(state):
        # columns of a block are rows times columns; a single whole vector would be n numbers in one allocation
        trace = tracemalloc.take_snapshot().traces
        rows = K.getLocalSize()[0]
        found.extend(t.size for t in trace if t.size >= limit and t.size % (8 * rows) > 1024)

    sm.solve(K, M, k=3, which="smallest", rng=0, preconditioner=sm.MultiGrid(), callback=callback)
    say({"found": COMM.tompi4py().gather(found)})


if __name__ == "__main__":
    globals()[sys.argv[1]](**eval(sys.argv[2], {"sm": sm, "np": np}))
