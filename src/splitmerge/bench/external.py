"""A common interface to external solvers, each called as its documentation recommends, if it is installed.

A timed run is given the plain matrices, so that its time includes the set-up. Products are counted in a separate run
with counting operators. The meaning of `tol` differs between solvers and is given in `External.meaning`; a comparison
is fair only at equal accuracy, see `at_accuracy`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg

from ..checks import whole
from ..typing import Array
from .counted import Task
from .slepc import slepc_pairs

End: TypeAlias = Literal["largest", "smallest"]
BOTH: tuple[End, ...] = ("largest", "smallest")
# Tolerances from 1e-1 to 1e-14 in half decades.
TOLERANCE_LADDER = tuple(float(f"{tol:.3g}") for tol in 10.0 ** -np.arange(1, 14.25, 0.5))
LOBPCG_MAX_STEPS = 2000


class Failed(RuntimeError):
    """A solver failed or is not installed; the message is the solver's own."""


@dataclass(frozen=True, eq=False)
class Answer:
    """k eigenpairs, best first. `products` is empty unless counted; `warnings` holds the solver's warnings."""

    values: Array
    vectors: Array
    seconds: float
    products: dict[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


Run: TypeAlias = Callable[[Task], tuple[Array, Array]]


@dataclass(frozen=True)
class External:
    """An external solver: the ends of the spectrum it supports, the meaning of its `tol`, and its availability.

    >>> [external.name for external in EXTERNALS if not external.absent][:2]
    ['eigsh', 'eigsh sigma=0']
    """

    name: str
    run: Run = field(repr=False)
    meaning: str
    modules: tuple[str, ...] = ()
    ends: tuple[End, ...] = BOTH
    by_tol: bool = True

    @property
    def absent(self) -> str:
        """The reason why the solver is unavailable; empty if it is available."""
        missing = [name for name in self.modules if find_spec(name) is None]
        return f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not installed" if missing else ""

    def solve(
        self, A: Any, B: Any = None, k: int = 1, which: End = "largest", tol: float = 1e-8, x0: Array | None = None
    ) -> Answer:
        """Compute and time k eigenpairs at one end; raises `Failed` with the solver's message on failure.

        >>> from splitmerge.gallery import mikota_chain
        >>> EXTERNALS[0].solve(*mikota_chain(30), k=2).values.round(6)
        array([900., 841.])
        """
        return self._answer(A, B, k, which, tol, x0, None)

    def counted(
        self, A: Any, B: Any = None, k: int = 1, which: End = "largest", tol: float = 1e-8, x0: Array | None = None
    ) -> Answer:
        """Like `solve`, but with all products and solves counted per column; the time is not meaningful."""
        return self._answer(A, B, k, which, tol, x0, {})

    def _answer(
        self, A: Any, B: Any, k: int, which: End, tol: float, x0: Array | None, tally: dict[str, int] | None
    ) -> Answer:
        if which not in self.ends:
            raise ValueError(f"which is {which!r}, but {self.name} is for {' or '.join(map(repr, self.ends))} only")
        if self.absent:
            raise Failed(f"{self.name}: {self.absent}")
        task = Task(A, B, whole(k, "k", 1, A.shape[0]), which == "largest", tol, x0, tally)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            begin = time.perf_counter()
            try:
                values, vectors = self.run(task)
            except Exception as error:
                raise Failed(f"{self.name}: {type(error).__name__}: {error}") from error
            seconds = time.perf_counter() - begin
        if len(values) < k or not np.isfinite(values).all() or not np.isfinite(vectors).all():
            raise Failed(f"{self.name}: {len(values)} of {k} pairs were returned, or some are not finite")
        order = np.argsort(-values if task.largest else values)[:k]
        return Answer(values[order], vectors[:, order], seconds, tally or {}, tuple(str(w.message) for w in caught))


@dataclass(frozen=True, eq=False)
class Reached:
    """The loosest tolerance that meets the goal, the error there (at most 1) and the answer."""

    tol: float
    error: float
    answer: Answer


def at_accuracy(
    external: External,
    A: Any,
    B: Any,
    k: int,
    which: End,
    goal: Callable[[Array, Array], float],
    x0: Array | None = None,
    ladder: Sequence[float] = TOLERANCE_LADDER,
) -> Reached:
    """The answer for the loosest tolerance of `ladder` with goal(values, vectors) ≤ 1.

    Raises `Failed` if the solver fails at any tolerance on the way, because it would also fail at a tighter one, or if
    no tolerance meets the goal.
    """
    best = np.inf
    for tol in ladder if external.by_tol else ladder[-1:]:
        answer = external.solve(A, B, k, which, tol, x0)
        error = goal(answer.values, answer.vectors)
        if error <= 1:
            return Reached(tol, error, answer)
        best = min(best, error)
    raise Failed(f"{external.name}: {best:.2g} times the allowed error at best")


def _eigsh(task: Task) -> tuple[Array, Array]:
    options: dict[str, Any] = {"which": "LA" if task.largest else "SA", "v0": task.start()[:, 0], "tol": task.tol}
    if task.tally is not None:
        options["Minv"] = task.inverse("B")  # eigsh builds the same from a matrix
    values, vectors = eigsh(task.given("A"), task.k, M=task.given("B"), **options)
    return values, vectors


def _eigsh_about_zero(task: Task) -> tuple[Array, Array]:
    options: dict[str, Any] = {"sigma": 0.0, "v0": task.start()[:, 0], "tol": task.tol}
    if task.tally is not None:
        options["OPinv"] = task.inverse("A")
    # eigsh factorises in CSC format
    A = task.A.tocsc() if hasattr(task.A, "tocsc") else task.A
    values, vectors = eigsh(A, task.k, M=task.given("B"), **options)
    return values, vectors


def _eigh(task: Task) -> tuple[Array, Array]:
    A, B = (X.toarray() if hasattr(X, "toarray") else X for X in (task.A, task.B))
    n = len(A)
    ends = [n - task.k, n - 1] if task.largest else [0, task.k - 1]
    values, vectors = scipy.linalg.eigh(A, B, subset_by_index=ends)
    return values, vectors


def _lobpcg(task: Task, M: LinearOperator | None = None) -> tuple[Array, Array]:
    X = task.start()
    # lobpcg's tolerance is absolute: ‖Au − λBu‖ with uᴴBu = 1
    x, Bx = X[:, 0], X[:, 0] if task.B is None else task.B @ X[:, 0]
    unit = np.linalg.norm(task.A @ x) / np.sqrt(np.vdot(x, Bx).real)
    options = {"tol": task.tol * unit, "maxiter": LOBPCG_MAX_STEPS, "largest": task.largest}
    values, vectors = lobpcg(task.given("A"), X, B=task.given("B"), M=M, **options)
    return values, vectors


def _lobpcg_preconditioned(task: Task) -> tuple[Array, Array]:
    return _lobpcg(task, task.inverse("B" if task.largest else "A"))


def _primme(task: Task) -> tuple[Array, Array]:
    import primme

    which = "LA" if task.largest else "SA"
    # PRIMME's default start is deterministic and works better than a random one
    v0 = None if task.x0 is None else task.start()
    values, vectors = primme.eigsh(task.given("A"), task.k, M=task.given("B"), which=which, v0=v0, tol=task.tol)
    return values, vectors


def _slepc(task: Task, invert: bool = False) -> tuple[Array, Array]:
    x = task.start()[:, 0]
    return slepc_pairs(task.A, task.B, task.k, task.largest, task.tol, x, invert=invert, tally=task.tally)


def _slepc_about_zero(task: Task) -> tuple[Array, Array]:
    return _slepc(task, invert=True)


_RITZ = "ARPACK's error estimate |λ − λ̂| ≤ tol |λ̂| in the transformed problem"
_SLEPC = ("petsc4py", "slepc4py")
_SMALL: tuple[End, ...] = ("smallest",)
EXTERNALS = (
    External("eigsh", _eigsh, _RITZ),
    External("eigsh sigma=0", _eigsh_about_zero, f"{_RITZ}; A must be positive definite", ends=_SMALL),
    External("eigh", _eigh, "none: full accuracy", by_tol=False),
    External("lobpcg", _lobpcg, "‖Au − λBu‖ ≤ tol ‖Ax₀‖ with uᴴBu = x₀ᴴBx₀ = 1"),
    External(
        "lobpcg preconditioned", _lobpcg_preconditioned, "as for lobpcg; preconditioned by B⁻¹, for the smallest by A⁻¹"
    ),
    External("PRIMME", _primme, "‖Au − λBu‖ ≤ tol max |λ|", ("primme",)),
    External("SLEPc", _slepc, "‖Au − λBu‖ ≤ tol |λ| ‖u‖", _SLEPC),
    External("SLEPc about 0", _slepc_about_zero, "as for SLEPc; A must be positive definite", _SLEPC, _SMALL),
)
