"""LAPACK for a plain pair, from the arguments to the solution."""

from __future__ import annotations

import math
import time
from operator import le
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..linalg.rounding import by_distance
from ..planning.decision import Choice, Decision
from ..problem.problem import Problem
from ..problem.products import Counts, Tally
from ..run.history import History
from ..run.reason import Reason
from ..solution.back_transform import with_signs
from ..solution.solution import Seconds, Solution
from ..verification.bounds import bounds_from
from ..verification.residuals import Levels, levels_of
from ..verification.verdict import BY_LAPACK
from .found import Found, nearest, standard, swapped
from .plain import EPS, Plain, plain_pair

# What is not asked for.
USUAL = {"sigma": None, "method": None, "stop": None, "max_steps": None, "b_policy": "error"}
# Decisions whose figures are always the same.
IDENTITY, NEGATED, EQUILIBRATED = map(Decision, (Choice.IDENTITY, Choice.NEGATED, Choice.EQUILIBRATED))
SOLVER = Decision(Choice.SOLVER, {"solver": "a Cholesky factorisation of B", "backend": None})
SWAPPED = Decision(Choice.SWAPPED, {"shift": -0.0, "sign": 1, "backend": None})

T = TypeVar("T")


class Clock(NamedTuple):
    """When the solve began, when LAPACK did, and when it had the pairs."""

    began: float
    ready: float
    found: float

    def seconds(self) -> Seconds:
        """The time until now."""
        now = time.perf_counter()
        return _made(Seconds, setup=self.ready - self.began, iteration=now - self.ready, verification=now - self.found)


def express(
    A: Any, B: Any, k: Any, which: Any, tol: Any, certify: Any, began: float, sigma: Any = None
) -> Solution | None:
    """The solution for k pairs at an end of the spectrum, or next to σ, by LAPACK; None if the pipeline has to take
    over."""
    if not _is_understood(k, which, tol):
        return None
    if sigma is not None:
        return _near(A, B, k, which, tol, certify, began, sigma)
    plain = plain_pair(A, B, k, smallest=which == "smallest")
    if plain is None:
        return None
    ready = time.perf_counter()
    # (B, A) has the small eigenvalues of a definite A to high relative accuracy
    K = plain.definite() if which == "smallest" else None
    if K is None and plain.semidefinite:
        return None
    found = standard(plain, k, largest=which == "largest") if K is None else swapped(plain, K, k)
    if found is None:
        return None
    if k > 1 and found.values != sorted(found.values, reverse=which == "largest"):
        # rounding has exchanged some
        found = found.taken(sorted(range(k), key=found.values.__getitem__, reverse=which == "largest"))
    asked = {"A": A, "B": B, "k": k, "which": which, "tol": tol, "certify": bool(certify)}
    problem = _made(Problem, **USUAL, **asked)
    return _solution(plain, found, problem, Clock(began, ready, time.perf_counter()), swapped=K is not None)


def _near(A: Any, B: Any, k: int, which: str, tol: float, certify: Any, began: float, sigma: Any) -> Solution | None:
    """The same next to σ; None also where a factorisation of A − σB makes better pairs than rounding of A allows."""
    if type(sigma) not in (int, float) or not math.isfinite(sigma) or which != "largest":
        return None
    plain = plain_pair(A, B, k, smallest=True, near=True)
    if plain is None:
        return None
    ready = time.perf_counter()
    # a singular B serves as the matrix of (B, A)
    K = plain.definite() if plain.semidefinite else None
    if K is None and plain.semidefinite:
        return None
    found = nearest(plain, k, float(sigma)) if K is None else swapped(plain, K, k, float(sigma))
    if found is None:
        return None
    asked = {"A": A, "B": B, "k": k, "which": which, "tol": tol, "certify": bool(certify)}
    problem = _made(Problem, **USUAL | asked | {"sigma": float(sigma)})
    clock = Clock(began, ready, time.perf_counter())
    solution = _solution(plain, _by_distance(found, sigma), problem, clock, swapped=K is not None)
    return None if solution is None or solution.reason is not Reason.RESIDUAL else solution


def _by_distance(found: Found, sigma: float) -> Found:
    """The pairs with the nearest to σ first; rounding may have exchanged some."""
    order = by_distance(np.array(found.values), sigma).tolist()
    return found if order == list(range(len(order))) else found.taken(order)


def _is_understood(k: Any, which: Any, tol: Any) -> bool:
    """Are these arguments right beyond doubt, for pairs at one end?"""
    usual = type(k) is int and type(tol) is float and type(which) is str
    return usual and 0 < tol < math.inf and which in ("largest", "smallest")


def _made(kind: type[T], **fields: Any) -> T:
    """A record with these fields and the defaults of its class, without the cost of a frozen record's constructor."""
    record = object.__new__(kind)
    record.__dict__.update(fields)
    return record


def _stands(systems: list[list[list[float]]], levels: list[Levels], tol: float) -> bool:
    """Are all residuals within the tolerance or at the level of rounding, in every system of coordinates?

    The pipeline improves those that are not, and excuses more of a decomposition of a large pair.
    """
    for (norms, *_), level in zip(systems, levels, strict=True):
        for norm, size, floor in zip(norms, level.sizes, level.floors, strict=True):
            if not norm <= max(tol * size, floor):
                return False
    return True


def _are_finite(found: Found, B_norm: float) -> bool:
    """Is no vector in the null space of a singular B?"""
    n = found.vectors.shape[1]
    return all(n * EPS * B_norm * length * length < 1 for length in found.norms[0][1])


def _solution(plain: Plain, found: Found, problem: Problem, clock: Clock, *, swapped: bool) -> Solution | None:
    """The solution, if all residuals are within the tolerance or at the level of rounding."""
    scales, values, errors, tol = plain.scales(), found.values, found.errors, problem.tol
    sigma = 0.0 if swapped else None
    pairs = zip(found.norms, scales, strict=True)
    levels = [levels_of(values, errors, norms, pair, EPS, sigma) for norms, pair in pairs]
    systems = zip(found.norms, levels, strict=True)
    met = all(all(map(le, norms[0], [tol * size for size in level.sizes])) for norms, level in systems)
    if not met and not _stands(found.norms, levels, tol):
        return None
    if plain.semidefinite and not _are_finite(found, scales[0][1]):
        return None
    k, n = found.vectors.shape
    bounds = bounds_from(values, errors, levels[-1].noise, found.offsets, found.gaps, sigma, n)
    B_products = 0 if plain.B is None else k * (1 + swapped)
    return _made(
        Solution,
        # + 0.0 turns −0.0 into 0.0
        eigenvalues=np.array([value + 0.0 for value in values]),
        eigenvectors=with_signs(found.vectors.T, [1 / root for root in found.roots]),
        residuals=np.array(levels[0].residuals),
        error_bounds=bounds.values,
        angle_bounds=bounds.angles,
        clusters=bounds.clusters,
        converged=True,
        reason=Reason.RESIDUAL if met else Reason.PRECISION,
        steps=0,
        counts=Counts(monitoring=Tally(k, B_products, 0 if swapped or plain.B is None else k, k * swapped)),
        seconds=clock.seconds(),
        history=History(),
        verdict=BY_LAPACK,
        shift=-0.0 if swapped else 0.0,
        method=None,
        problem=problem,
        decisions=_decisions(plain, problem, swapped=swapped),
    )


def _decisions(plain: Plain, problem: Problem, *, swapped: bool) -> tuple[Decision, ...]:
    """The decisions that the pipeline would have taken."""
    k, n, which, dtype = problem.k, plain.A.shape[0], problem.which, plain.A.dtype
    wanted = {
        "k": k,
        "which": which,
        "sigma": problem.sigma,
        "interval": None,
        "n": n,
        "kinds": plain.kinds,
        "dtype": dtype,
    }
    opening: tuple[Decision, ...] = (_made(Decision, choice=Choice.WANTED, figures=wanted),)
    if plain.scaling is not None:
        opening = (*opening, EQUILIBRATED)
    lapack = _made(Decision, choice=Choice.LAPACK, figures={"k": k, "n": n})
    if swapped:
        return *opening, SWAPPED, lapack
    solver = IDENTITY if plain.B is None else SOLVER
    return (*opening, solver, lapack) if which == "largest" else (*opening, NEGATED, solver, lapack)
