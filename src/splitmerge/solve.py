"""The front door: `solve(A, B, k)`, and the pipeline behind it.

Problem → Pencil → Plan → Setup → Run → Verified → Solution; nothing flows back, except that verification may ask the
run to go on, and that a candidate of the plan whose result does not stand is followed by the next.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from .arguments import check_hint_size, checked
from .checks import whole
from .errors import NotConverged, NotPositiveDefinite
from .express import express
from .methods import Method
from .methods.setup import Setup
from .objective.state import State
from .planning.choose import FALLBACK_N, choose, end_towards
from .planning.decision import Choice, decided
from .planning.plan import Candidate, Plan
from .preparation.definiteness import massless
from .preparation.prepare import bind, setups
from .preparation.workspace import Workspace
from .problem.adapt import as_pair
from .problem.b_policy import Mended, mend
from .problem.pencil import Pencil
from .problem.problem import Problem, Which
from .problem.products import Counts, Products
from .problem.start import Warm, generator, given_block, is_poor, random_vector
from .run.checkpoint import Checkpoint, Saving
from .run.loop import Monitor, Run
from .run.progress import progress_bar
from .run.reason import Reason
from .run.rules import Rule
from .solution.back_transform import present
from .solution.solution import Solution
from .system.budget import Budget
from .typing import Array
from .verification.completeness import verify

# What makes a generator, besides whole numbers.
SEEDS = np.random.Generator, np.random.BitGenerator, np.random.SeedSequence


def solve(
    A: Any,
    B: Any = None,
    k: int = 1,
    *,
    which: Which = "largest",
    sigma: float | None = None,
    method: Method | None = None,
    tol: float = 1e-8,
    stop: Rule | None = None,
    max_steps: int | None = None,
    x0: Any = None,
    rng: Any = None,
    b_policy: str = "error",
    certify: bool = False,
    callback: Callable[[State], Any] | None = None,
    progress: bool = False,
    preconditioner: Any = None,
    diagonal: Any = None,
    interval: tuple[float, float] | None = None,
    comm: Any = None,
    checkpoint: str | PathLike[str] | Checkpoint | None = None,
) -> Solution:
    """The k largest (or smallest, or nearest) eigenpairs of A u = λ B u, A Hermitian and B Hermitian positive definite.

    Or all eigenpairs in an interval.

    A, B
        Array, scipy.sparse matrix, LinearOperator, or any object with `shape` and `@`; B = None is the identity, and a
        one-dimensional B the diagonal of a matrix (lumped mass). PETSc matrices (`petsc4py.PETSc.Mat`) are solved on
        all processes of their communicator, and each gets its rows of the vectors. Rows and columns of pandas tables
        are matched by their labels, in the order of A's rows. They are never written to.
    which, sigma
        "largest", "smallest", "magnitude" (or "largest_magnitude": the largest |λ|), "ends" (or "both_ends": the
        largest and the smallest by turns); `sigma` asks for the values nearest to it instead, and needs the entries of
        A and B.
    interval
        (a, b) asks for all eigenvalues λ with a ≤ λ ≤ b, in ascending order, in place of `k`, `which`, `sigma` and
        `x0`; an end may be infinite. They are counted by the inertia of A − τB and computed by spectrum slicing, so the
        result is certified, unless rounding of A − τB leaves it uncertain which of them are inside; there may be none.
        Those within rounding of an end are included. Needs the entries of A and B.
    method
        None chooses: LAPACK for small problems, otherwise `Accelerated()`; or any method of `splitmerge.methods`.
    tol, stop
        `tol` is the residual to reach, ‖Au − λBu‖ ≤ tol |λ|‖Bu‖ for each pair, unless rounding of A and B does not
        allow it (see `Solution.residuals`); `stop` replaces it by any rule.
    max_steps
        Steps for one pair, 100,000 by default; they hold beside `stop`, too.
    x0
        A start (n,), or a block of them (n, m): approximate eigenvectors, best first. What they lead to is checked from
        a random vector (counted as monitoring), as a start in an invariant subspace leads to the wrong pair; a single
        start far from every eigenvector is replaced by a random vector, and one close to the wanted eigenvector
        of a dense pair is refined with a factorisation that certifies it. Otherwise random, from `rng` (a seed or
        Generator).
    b_policy
        A B that is singular to working precision has infinite eigenvalues. The smallest, those next to `sigma` and
        those in an `interval` are found all the same. For the largest, "error" refuses, "restrict" leaves the infinite
        ones out by static condensation, and "ridge" solves with B + εI; `Solution.b_report` says what was done. An
        indefinite B is always refused.
    certify
        Prove by counting eigenvalues that none was passed over; needs the entries of A and B.
    callback, progress
        `callback(state)` is called at every step, and stops the run by returning a true value (which counts as not
        converged). `progress=True` shows a bar on a terminal and in a notebook.
    preconditioner, diagonal
        What is known of a matrix that is not to be factorised: A when the smallest are wanted, otherwise B. An object
        such as `MultiGrid()`, or an operator or function that applies an approximate inverse (Hermitian positive
        definite); or just the diagonal of an operator. `explain` says so where it was not needed.
    comm
        An MPI communicator over whose processes the matrices of process 0 are distributed (others may give None).
    checkpoint
        A file for what a later run needs to go on, replaced as a whole every 60 s and when the iteration ends;
        `Checkpoint(path, seconds=10)` for another interval. `splitmerge.load(path).resume(A, B)` goes on from it. The
        file remains after the solve. Not with `interval`.

    Raises `NotConverged`, whose `.solution` holds everything computed so far, when the rule is not met. Ctrl-C
    during the iteration returns what is there, with `converged` False.

    >>> import numpy as np, splitmerge as sm
    >>> sol = sm.solve(np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 1.0, 2.0]), k=2)
    >>> sol.eigenvalues.round(8)
    array([2. , 1.5])
    >>> sol.converged, sol.verdict
    (True, 'certified')
    >>> sm.solve(np.diag([1.0, 2.0, 3.0, 4.0]), interval=(2, 3.5)).eigenvalues.round(8)
    array([2., 3.])
    """
    began = time.perf_counter()
    usual = _unasked(method, stop, max_steps, callback, preconditioner, diagonal, interval, comm, checkpoint)
    if usual and b_policy == "error" and not progress and _is_seed(rng):
        quick = express(A, B, k, which, tol, certify, began, sigma, rng, x0)
        if quick is not None:
            return quick
    asked = A, B, k, which, sigma, method, tol, stop, max_steps, b_policy, certify, preconditioner
    problem = Problem(*asked, None, x0, rng, callback, progress, interval, checkpoint)
    if comm is not None or _is_distributed(A):
        return _on_processes(problem, diagonal, comm, began)
    return _on_this_process(problem, diagonal, began)


def _on_this_process(problem: Problem, diagonal: Any, began: float) -> Solution:
    """The solution for matrices of this process."""
    A, B = as_pair(problem.A, problem.B)
    problem = checked(replace(problem, A=A, B=B), diagonal)
    mended = mend(A, B, problem.b_policy)
    pencil = _pencil(mended, problem)
    check_hint_size(problem.preconditioner, pencil.n)
    if problem.interval is not None:
        # most solves have no interval
        from .slicing.interval import all_within

        return accepted(all_within(problem, pencil, mended, began))
    count = whole(problem.k, "k", 1, pencil.n)
    problem = problem if count is problem.k else replace(problem, k=count)
    end = None if problem.sigma is None else end_towards(problem.sigma, pencil)
    found = None if end is None else _at_end(end, problem, pencil, mended, began)
    if found is not None:
        return found
    try:
        return carried_out(problem, pencil, mended, began)
    except NotConverged:
        if not _is_condensable(problem, pencil):
            raise
    # without the massless unknowns LAPACK can follow
    mended = mend(A, B, "restrict")
    return carried_out(problem, _pencil(mended, problem), mended, began)


def _pencil(mended: Mended, problem: Problem) -> Pencil:
    """The pair, as its policy has left it."""
    pencil = Pencil(mended.A, mended.B, negate=problem.negated, equilibrate=True)
    if mended.times is None:
        return pencil
    return pencil.condensed_from(mended.Q, mended.images, mended.times, mended.norms)


def _is_condensable(problem: Problem, pencil: Pencil) -> bool:
    """May rows without mass be condensed after a failed search that the user neither limits nor watches?"""
    if problem.method is not None or problem.iterates or problem.checkpoint is not None or problem.b_policy != "error":
        return False
    if pencil.B is None or not pencil.has_entries or pencil.n > FALLBACK_N:
        return False
    return (problem.sigma is not None or problem.which == "smallest") and massless(pencil.B).size > 0


def _at_end(end: str, problem: Problem, pencil: Pencil, mended: Mended, began: float) -> Solution | None:
    """The pairs nearest to a far σ as those at this end of the spectrum; None if that extends beyond σ."""
    sigma = problem.sigma
    try:
        found = carried_out(replace(problem, sigma=None, which=end), pencil, mended, began)
    except NotPositiveDefinite:
        # the largest of a singular B are infinite
        return None
    first = found.eigenvalues[0]
    if first < sigma if end == "smallest" else first > sigma:
        return None
    wanted, *rest = found.decisions
    wanted = decided(Choice.WANTED, **wanted.figures | {"which": problem.which, "sigma": sigma})
    decisions = wanted, decided(Choice.FAR_SHIFT, sigma=sigma, end=end), *rest
    return replace(found, problem=problem.kept(), decisions=decisions)


def _on_processes(problem: Problem, diagonal: Any, comm: Any, began: float) -> Solution:
    """The solution for matrices that are distributed over processes, or are to be."""
    # most solves are made on one process
    from .distributed.solve import Serial
    from .distributed.solve import solve as solve_distributed

    serial = Serial(solve, carried_out, lambda problem: checked(problem, diagonal))
    return solve_distributed(problem, comm, began, serial)


def _unasked(*options: Any) -> bool:
    """Are all these options left out?"""
    return not [option for option in options if option is not None]


def _is_distributed(A: Any) -> bool:
    """Is it a PETSc matrix?"""
    petsc = sys.modules.get("petsc4py.PETSc")
    return petsc is not None and isinstance(A, petsc.Mat)


def _is_seed(rng: Any) -> bool:
    """Is it what `generator` surely accepts?"""
    return rng is None or (type(rng) is int and rng >= 0) or isinstance(rng, SEEDS)


def carried_out(
    problem: Problem,
    pencil: Pencil,
    mended: Mended,
    began: float,
    prepared: Callable[[Workspace], Iterable[tuple[Candidate, Setup]]] = setups,
) -> Solution:
    """The solution of a problem whose solve began at `began`, or `NotConverged`.

    `prepared` makes the set-ups of the candidates, those of the plan by default.
    """
    if problem.certify and not pencil.known:
        raise ValueError("certify=True needs the entries of A and B, as A − τB is factorised; give matrices")
    with progress_bar(problem.progress, problem.k) as show:
        given = given_block(problem.x0, problem.k, pencil, mended.dual)
        rng = generator(problem.rng, given)
        X = _start(given, pencil, rng)
        counts = Counts()
        if _is_replaced(problem, pencil, X, counts):
            problem, X = replace(problem, x0=None), _start(None, pencil, rng)
        plan = choose(problem, pencil) if prepared is setups else Plan(())
        workspace = Workspace(problem, pencil, plan, rng, X, counts, budget=Budget(problem.rule.time_limit))
        saving = None if problem.checkpoint is None else Saving(problem.checkpoint, began)
        for _, setup in prepared(workspace):
            monitor = Monitor(problem.callback, show)
            _aim(saving, workspace, setup, monitor, mended)
            run = Run(bind(setup), problem.rule, monitor, saving)
            workspace.budget.begin()
            verified = verify(run, setup, _moved(X, problem, pencil, workspace.pencil), certify=problem.certify)
            if not verified.reason.failed:
                break
            X = _start(given_block(problem.x0, problem.k, pencil, mended.dual), pencil, rng)
        if saving is not None:
            workspace.decide(Choice.CHECKPOINT, **saving.figures())
        solution = present(
            workspace, setup, run.monitor, verified, mended, began, None, run.iteration.shift, run.seconds
        )
    return accepted(solution)


def _aim(saving: Saving | None, workspace: Workspace, setup: Setup, monitor: Monitor, mended: Mended) -> None:
    """Let checkpoints be those of this set-up."""
    if saving is not None:
        # most solves write none
        from .solution.checkpoint import taker

        saving.begin(taker(saving.checkpoint.path, workspace, setup, monitor, mended, saving.began))


def _start(given: Array | None, pencil: Pencil, rng: np.random.Generator) -> Array:
    """The given columns, or a random vector."""
    return random_vector(pencil, rng)[:, None] if given is None else given


def _is_replaced(problem: Problem, pencil: Pencil, X: Array, counts: Counts) -> bool:
    """Does a random vector replace the start? A poor one is no better, and a search from it would need a probe."""
    single = problem.k == 1 and problem.given and not isinstance(problem.x0, Warm)
    if not single or problem.method is not None or problem.sigma is not None or problem.limited or problem.callback:
        return False
    return problem.which == "largest" and is_poor(X[:, 0], Products(pencil, counts).setup)


def _moved(X: Array, problem: Problem, pencil: Pencil, formed: Pencil) -> Array:
    """The start in the coordinates of a pencil that was equilibrated when it was formed; a random one stays random."""
    return formed.from_vectors(pencil.vectors_of(X)) if problem.given and formed.scaling is not pencil.scaling else X


def accepted(solution: Solution) -> Solution:
    """The solution, if it converged or was interrupted by the user; otherwise it is raised in a `NotConverged`."""
    if not solution.converged and solution.reason is not Reason.INTERRUPTED:
        raise NotConverged(solution)
    return solution
