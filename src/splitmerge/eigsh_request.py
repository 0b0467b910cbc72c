"""A request of `eigsh`, its arguments checked: solved by LAPACK, by `solve`, or in one of SciPy's modes."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import ArpackNoConvergence, aslinearoperator

from .errors import NotConverged, NotPositiveDefinite
from .express.shortcut import of_sparse
from .linalg.rounding import by_distance
from .methods.krylov.accelerated import Accelerated
from .methods.setup import Setup
from .planning.choose import FALLBACK_N, FORMED_N
from .planning.costs import MAX_DENSE_N, prefers_lapack
from .planning.limit import MaxProducts
from .planning.plan import Candidate, Engine
from .preparation.modes import mode_transform
from .preparation.workspace import Workspace
from .problem.adapt import adapt
from .problem.b_policy import Mended
from .problem.pencil import Pencil
from .problem.problem import Problem, Which
from .problem.products import Products
from .run.reason import Reason
from .run.rules import MaxSteps, Residual, Rule
from .solution.solution import Solution
from .solve import carried_out, solve
from .solvers import UserSolve
from .transforms.modes import Reduced, most_wanted, reduce, transformed
from .transforms.semidefinite import all_pairs, is_operator, with_entries
from .typing import Array
from .verification.decomposed import LAPACK_UNITS, standing

# Residuals up to this multiple of eps count as converged where all that rounding allows is asked for.
ROUNDING_UNITS = 1000
# A residual above this is left by given solves with M that are less exact than ours with its entries.
INEXACT_RESIDUAL = 1e-10

# The names of `solve` for those of SciPy.
WHICH: dict[str, Which] = {"LM": "magnitude", "LA": "largest", "SA": "smallest", "BE": "ends"}


@dataclass(frozen=True)
class Request:
    """The arguments, checked."""

    A: Any
    k: int
    M: Any
    sigma: float | None
    which: str
    v0: Any
    ncv: int | None
    maxiter: float | None
    tol: float
    Minv: Any
    OPinv: Any
    mode: str
    rng: np.random.Generator

    @property
    def n(self) -> int:
        """The size of A."""
        return int(self.A.shape[0])

    @property
    def complex(self) -> bool:
        """Would SciPy go to `eigs` with this?"""
        return bool(np.dtype(self.A.dtype).kind == "c")

    def pairs(self) -> tuple[Array, Array]:
        """The k pairs in any order, by LAPACK where nothing is said about how to iterate and it is the faster one."""
        if self.OPinv is not None and adapt(self.A, "A").size == 0:
            return self.by_OPinv()
        if self.unsaid and prefers_lapack(self.n, self.k, dense=False, subset=False):
            found = self.by_lapack()
            if self.stands(*found).all():
                return found
            if (improved := self.improved()) is not None:
                return improved
        try:
            return self.quickly() or self.searched()
        except ArpackNoConvergence:
            if not self.can_fall_back:
                raise
            return self.followed()

    @property
    def unsaid(self) -> bool:
        """Is nothing said about how to iterate and to solve?"""
        return not [asked for asked in (self.maxiter, self.Minv, self.OPinv) if asked is not None]

    def quickly(self) -> tuple[Array, Array] | None:
        """The pairs at an end of a sparse spectrum, or next to a shift, if the short way of `solve` takes them."""
        if not (self.unsaid and self.ncv is None and self.v0 is None and self.wanted and issparse(self.A)):
            return None
        which, sigma = self.wanted.get("which", "largest"), self.wanted.get("sigma")
        asked = {"A": self.A, "B": self.M, "k": self.k, "which": which, "tol": self.tolerance, "certify": False}
        found = of_sparse(asked, sigma, self.rng, time.perf_counter())
        return None if found is None else (found.eigenvalues, found.eigenvectors)

    def followed(self) -> tuple[Array, Array]:
        """The pairs where a search has failed: by `solve`, or by LAPACK as well as its reduction lets them be."""
        return self.improved() or self.proved_by_lapack(ROUNDING_UNITS)

    @property
    def wanted(self) -> dict[str, Any]:
        """What `solve` without a method is asked for, which may factorise A and M; nothing where it must not."""
        if self.Minv is not None or self.OPinv is not None or self.mode != "normal":
            return {}
        if self.sigma is None and self.which != "SM":
            return {"which": WHICH[self.which]}
        return {"sigma": self.sigma or 0.0} if self.known and (self.sigma is None or self.which == "LM") else {}

    def improved(self) -> tuple[Array, Array] | None:
        """The pairs by the default of `solve`, which improves those of LAPACK; None where it fails, or cannot."""
        with suppress(ArpackNoConvergence):
            if self.wanted:
                asked = {**self.wanted, "tol": self.tolerance, "rng": self.rng}
                return self.outcome(lambda: solve(self.A, self.M, self.k, **asked))
        return None

    def proved_by_lapack(self, units: float = LAPACK_UNITS) -> tuple[Array, Array]:
        """All pairs, and the wanted ones of them, if they stand."""
        values, vectors = self.by_lapack()
        done = self.stands(values, vectors, units)
        if not done.all():
            message = f"No convergence (LAPACK, {int(done.sum())}/{self.k} eigenvectors as good as rounding allows)"
            found = self.results(values[done], vectors[:, done], vectors_wanted=True)
            raise ArpackNoConvergence(message, *found)
        return values, vectors

    @property
    def known(self) -> bool:
        """Are the entries of A and M known? A shift needs them."""
        return not (is_operator(self.A) or is_operator(self.M))

    @property
    def can_fall_back(self) -> bool:
        """May LAPACK follow a search that fails? SciPy's limit of iterations would take longer."""
        return self.maxiter is None and self.n <= (FALLBACK_N if self.known else FORMED_N)

    def searched(self) -> tuple[Array, Array]:
        """The k pairs by an iteration."""
        try:
            if self.sigma is None and self.which != "SM":
                return self.solved(self.A, self.M, which=WHICH[self.which])
            return self.near()
        except NotPositiveDefinite as error:
            name = "A" if self.mode == "buckling" else "M"
            raise NotPositiveDefinite(re.sub(r"\bB\b", name, str(error))) from error

    def stands(self, values: Array, vectors: Array, units: float = LAPACK_UNITS) -> Array:
        """Which of these pairs are as good as the rounding of A and M allows, or as asked for?"""
        return standing(self.A, self.M, values, vectors, self.tolerance, units)

    def by_lapack(self) -> tuple[Array, Array]:
        """All pairs, and the wanted ones of them."""
        values, vectors = all_pairs(self.A, self.M, self.sigma, self.mode)
        if values.size < self.k:
            raise ValueError(
                f"M has rank {values.size}, and there are as many finite eigenvalues; k = {self.k} is more"
            )
        # far from σ, where transformed values are equal, the nearest first
        nearest = by_distance(values, self.sigma or 0.0)
        chosen = nearest[most_wanted(transformed(values[nearest], self.sigma, self.mode), self.which)[: self.k]]
        return values[chosen], vectors[:, chosen]

    def by_OPinv(self) -> tuple[Array, Array]:
        """The pairs of (M S M, M) for S = OPinv, which are ν = 1/(λ − σ), where A is zero and only a placeholder.

        SciPy never multiplies by A in normal mode. Residuals are those of ν, verified with OPinv and M.
        """
        if self.mode != "normal":
            raise ValueError(f"A is zero, and mode={self.mode!r} multiplies by it; give A itself, or use mode='normal'")
        S, M, sigma = aslinearoperator(self.OPinv), self.M, self.sigma
        assert sigma is not None
        # names OPinv in the error if it is not symmetric
        adapt(S, "OPinv")
        product = S if M is None else aslinearoperator(M) @ S @ aslinearoperator(M)

        def back(values: Array) -> Array:
            with np.errstate(divide="ignore"):
                return np.asarray(sigma + 1 / values)

        if self.which == "SM":
            if self.n > MAX_DENSE_N:
                raise ValueError("which='SM' next to sigma needs A itself, but A is zero; give A, or another which")
            values, vectors = all_pairs(product, M, None, "normal")
            chosen = most_wanted(values, "SM")[: self.k]
            return back(values[chosen]), vectors[:, chosen]
        return self.solved(product, M, back, which=WHICH[self.which])

    def near(self) -> tuple[Array, Array]:
        """What is picked by nearness to a shift; the smallest by magnitude are the nearest to zero."""
        sigma, which = (0.0, "LM") if self.sigma is None else (self.sigma, self.which)
        A, M = self.A, self.M
        if self.OPinv is None and self.n <= MAX_DENSE_N:
            # n products are fewer than an iterative solver would take
            A, M = (with_entries(matrix) for matrix in (A, M))
        known = self.OPinv is None and not (is_operator(A) or is_operator(M))
        if known and self.mode == "normal" and which == "LM":
            return self.solved(A, M, sigma=sigma)
        reduced = reduce(A, M, sigma, self.mode, which)
        return self.far(reduced) if reduced.far else self.transformed(reduced)

    def far(self, reduced: Reduced) -> tuple[Array, Array]:
        """The pairs farthest from the shift, by LAPACK where residuals relative to λ − σ are not good enough for λ."""

        def back(values: Array) -> Array:
            return reduced.values(values + reduced.shift)

        try:
            found = self.solved(reduced.moved(), reduced.B, back, which="magnitude")
            good = self.n > MAX_DENSE_N or reduced.reciprocal or self.stands(*found).all()
            return found if good else self.proved_by_lapack()
        except NotPositiveDefinite as error:
            if self.n > MAX_DENSE_N:
                raise NotPositiveDefinite(f"{reduced.weight} is not positive definite, as which='SM' needs") from error
            # LAPACK knows which eigenvalues a singular matrix has
            return self.proved_by_lapack()

    def transformed(self, reduced: Reduced) -> tuple[Array, Array]:
        """The pairs by shift-invert in one of the modes, or by LAPACK where that cannot converge."""
        began = time.perf_counter()
        pencil = Pencil(reduced.A, reduced.B, equilibrate=True)
        products = Products(pencil)
        given = None if self.OPinv is None else aslinearoperator(self.OPinv).matvec
        found = mode_transform(reduced, products, self.k, given)
        if found is None:
            return self.proved_by_lapack()
        target, transform = found
        asked = reduced.A, reduced.B, self.k, "largest", None, self.method, self.tolerance, None, None, "error", False
        problem = Problem(*asked, rule=self.rule | MaxSteps(), x0=self.v0, rng=self.rng)

        def prepared(workspace: Workspace) -> Iterator[tuple[Candidate, Setup]]:
            products.budget = workspace.budget
            workspace.counts = products.counts
            setup = workspace.setup(products, target, method=self.method, transform=transform)
            yield Candidate(Engine.SHIFT_INVERT), setup

        def search() -> Solution:
            return carried_out(problem, pencil, Mended(None, None), began, prepared)

        return self.outcome(search, reduced.values)

    def solved(self, A: Any, M: Any, back: Callable[[Array], Array] | None = None, **what: Any) -> tuple[Array, Array]:
        """The pairs that `solve` finds; `back` makes eigenvalues of (A, M) those asked for."""
        options = {"method": self.method, "stop": self.rule, "x0": self.v0, "rng": self.rng}
        return self.outcome(lambda: solve(A, M, self.k, **what, **options), back)

    def outcome(
        self, solver: Callable[[], Solution], back: Callable[[Array], Array] | None = None
    ) -> tuple[Array, Array]:
        """The pairs, or SciPy's exception with those that converged."""
        try:
            solution = solver()
        except NotConverged as error:
            looser = self.loosened(error.solution)
            if looser is None:
                raise self.no_convergence(error.solution, back) from error
            return looser.pairs()
        if solution.reason is Reason.INTERRUPTED:
            raise KeyboardInterrupt
        if self.Minv is not None and self.can_fall_back and solution.residuals.max() > max(self.tol, INEXACT_RESIDUAL):
            return replace(self, Minv=None).pairs()
        return (back or np.asarray)(solution.eigenvalues), solution.eigenvectors

    def loosened(self, solution: Solution) -> Request | None:
        """Go on, to a residual near rounding, from pairs that converged in the terms of their search.

        These are all that ARPACK looks at, but nothing was done yet to find out if a pair is missing.
        """
        bound = ROUNDING_UNITS * float(np.finfo(solution.eigenvectors.dtype).eps)
        near = solution.reason is Reason.UNCONFIRMED and bool((solution.residuals <= bound).all())
        return replace(self, v0=solution.eigenvectors, tol=bound) if near and self.tolerance < bound else None

    def no_convergence(self, solution: Solution, back: Callable[[Array], Array] | None) -> ArpackNoConvergence:
        """The exception, with the pairs whose residuals are small enough or as small as rounding lets them be."""
        floor = 4 * math.sqrt(self.n) * float(np.finfo(solution.eigenvectors.dtype).eps)
        done = solution.residuals <= max(self.tolerance, floor)
        values = (back or np.asarray)(solution.eigenvalues)
        values, vectors = self.results(values[done], solution.eigenvectors[:, done], vectors_wanted=True)
        message = f"No convergence ({solution.steps} iterations, {values.size}/{self.k} eigenvectors converged)"
        return ArpackNoConvergence(message, values, vectors)

    @property
    def tolerance(self) -> float:
        """The relative residual to reach: as small as rounding lets it be unless more is allowed."""
        return max(float(self.tol), float(np.finfo(np.float64).eps))

    @property
    def rule(self) -> Rule:
        """The tolerance, and as many products as SciPy would spend on `maxiter` restarts."""
        ncv = min(max(2 * self.k + 1, 20), self.n) if self.ncv is None else self.ncv
        restarts = 10 * self.n if self.maxiter is None else self.maxiter
        return Residual(self.tolerance) | MaxProducts(ncv + restarts * (ncv - self.k), self.k, self.can_fall_back)

    @property
    def method(self) -> Accelerated:
        """The search, with the caller's solve with M and size of basis."""
        inner = None if self.Minv is None else UserSolve(aslinearoperator(self.Minv).matvec)
        return Accelerated(inner=inner, max_basis=None if self.ncv is None else max(self.ncv, 4))

    def results(self, values: Array, vectors: Array, *, vectors_wanted: bool) -> Any:
        """In the order of SciPy and in the precision of A."""
        order = self.order(values, vectors_wanted=vectors_wanted)
        letter = "f" if np.dtype(self.A.dtype).char in "fF" else "d"
        values = values[order].astype(letter)
        if not vectors_wanted:
            return values
        letter = letter.upper() if vectors.dtype.kind == "c" else letter
        return values, np.ascontiguousarray(vectors[:, order].astype(letter))

    def order(self, values: Array, *, vectors_wanted: bool) -> Array:
        """Ascending for a real A, the most wanted first for a complex one; without vectors the least wanted first."""
        ascending = self.sigma is not None or self.which == "BE"
        if not self.complex and (vectors_wanted or ascending):
            return np.argsort(values, kind="stable")
        order = most_wanted(transformed(values, self.sigma, self.mode), self.which)
        return order if vectors_wanted else order[::-1]
