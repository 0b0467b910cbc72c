"""A solve on the processes of an MPI program."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from petsc4py import PETSc

from ..checks import whole
from ..errors import NotConverged
from ..linalg.reductions import column_sizes
from ..preconditioners import UserDiagonal
from ..problem.b_policy import Mended
from ..problem.operator import Operator
from ..problem.pencil import Pencil
from ..problem.problem import Problem
from ..problem.start import Warm
from ..solution.checkpoint.stored import StoredVectors
from ..solution.solution import Solution
from ..solvers import Cholesky
from ..system.processes import agreed, everywhere
from ..system.processes import distributed as whole_vectors
from .communicator import Communicator
from .layout import gathered, scattered
from .matrix import adapt, free_garbage
from .setups import setups
from .solution import distributed

# Up to this n the matrices are gathered, and each process solves the whole problem.
GATHERED_N = 200


class Serial(NamedTuple):
    """What solves on one process: `solve` itself, the pipeline behind it, and the check of its arguments."""

    solve: Callable[..., Solution]
    carried_out: Callable[..., Solution]
    checked: Callable[[Problem], Problem]


def solve(problem: Problem, comm: Any, began: float, serial: Serial) -> Solution:
    """The solution of a problem with PETSc matrices, or with those of process 0 and a communicator."""
    A, B = problem.A, problem.B
    if not isinstance(A, PETSc.Mat):
        A, B = scattered(A, B, comm)
    elif B is not None and not isinstance(B, PETSc.Mat):
        raise ValueError(f"A is a PETSc matrix, but B is a {type(B).__name__}; give both as PETSc matrices")
    try:
        with _collected():
            return _on_communicator(problem, A, B, began, serial)
    finally:
        free_garbage(A.getComm())


@contextmanager
def _collected() -> Iterator[None]:
    """Collect what is left in cycles, as a shell matrix must not outlive PETSc; older objects are not looked at."""
    fresh = gc.get_freeze_count() == 0
    if fresh:
        gc.freeze()
    try:
        yield
    finally:
        gc.collect()
        if fresh:
            gc.unfreeze()


def _on_communicator(problem: Problem, A: Any, B: Any, began: float, serial: Serial) -> Solution:
    first, last = A.getOwnershipRange()
    communicator = Communicator(A.getComm().tompi4py(), A.getSize()[0], first, last - first)
    with communicator.solving():
        asked = problem
        problem = communicator.together(lambda: serial.checked(asked))
        _check_options(problem)
        if isinstance(problem.x0, Warm):
            problem = replace(problem, x0=_own_rows(problem.x0, communicator))
        try:
            solution = _solved(problem, A, B, began, serial)
        except NotConverged as failure:
            raise NotConverged(distributed(failure.solution, A)) from None
        return distributed(solution, A)


def _solved(problem: Problem, A: Any, B: Any, began: float, serial: Serial) -> Solution:
    op_A = adapt(A, "A")
    op_B = None if B is None else adapt(B, "B")
    if op_B is not None and not everywhere(op_A.n == op_B.n and A.getOwnershipRange() == B.getOwnershipRange()):
        raise ValueError("A and B differ in size, or in how their rows are distributed; use one layout for both")
    count = whole(problem.k, "k", 1, op_A.n)
    problem = replace(problem, k=count, progress=problem.progress and A.getComm().rank == 0)
    if op_A.n <= GATHERED_N and op_A.known and (op_B is None or op_B.known):
        return _gathered(problem, A, B, serial)
    _check_sizes(problem, op_A)
    pencil = Pencil(op_A, op_B, negate=problem.negated, equilibrate=True)
    return serial.carried_out(problem, pencil, Mended(A, B), began, setups)


def _gathered(problem: Problem, A: Any, B: Any, serial: Serial) -> Solution:
    """Every process solves the whole problem, and keeps its rows of the vectors that process 0 has found."""
    first, last = A.getOwnershipRange()
    asked = {name: getattr(problem, name) for name in ("k", "which", "sigma", "method", "tol", "stop", "max_steps")}
    asked |= {"certify": problem.certify, "callback": problem.callback, "progress": problem.progress}
    asked["checkpoint"] = problem.checkpoint if A.getComm().rank == 0 else None
    rng = agreed(int(np.random.default_rng(problem.rng).integers(2**63)))
    whole_A, whole_B = gathered(A), None if B is None else gathered(B)
    with whole_vectors(None):
        solution = serial.solve(whole_A, whole_B, **asked, rng=rng)
    values, vectors = agreed((solution.eigenvalues, solution.eigenvectors))
    rows = vectors[first:last]
    return replace(solution, eigenvalues=values, eigenvectors=rows, spare=None)


def _own_rows(start: Warm, communicator: Communicator) -> Warm | None:
    """The start with the rows of this process only, and without columns that can be none."""
    X = start.vectors
    if isinstance(X, StoredVectors):
        first, last = communicator.first, communicator.first + communicator.count
        X = communicator.passed_on(lambda crc: X.rows(first, last, crc), X.crc)
    sizes = column_sizes(X)
    X = X[:, np.isfinite(sizes) & (sizes > 0)]
    return replace(start, vectors=X) if X.shape[1] else None


def _check_options(problem: Problem) -> None:
    """Refuse what has no distributed meaning."""
    if problem.interval is not None:
        raise ValueError("interval is for one process with SciPy matrices; ask for the k nearest to sigma")
    if problem.b_policy != "error":
        raise ValueError(
            f"b_policy={problem.b_policy!r} is for one process; on several of them B must be positive definite"
        )
    if isinstance(getattr(problem.method, "inner", None), Cholesky):
        raise ValueError(
            "inner=Cholesky() factorises B on one process; leave it out, or give ConjugateGradient or UserSolve"
        )


def _check_sizes(problem: Problem, A: Operator) -> None:
    """Refuse a diagonal of another length than the rows of this process."""
    hint = problem.preconditioner
    if isinstance(hint, UserDiagonal) and not everywhere(len(hint.diagonal) == A.rows):
        raise ValueError(f"diagonal has {len(hint.diagonal)} entries; give those of the {A.rows} rows of each process")
