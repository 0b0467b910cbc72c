"""The one place that chooses the candidates for a solve. It makes no product and no factorisation."""

from __future__ import annotations

import math
from functools import partial

from ..methods import Method
from ..methods.krylov.accelerated import Accelerated
from ..methods.lobpcg.locally_optimal import LocallyOptimal
from ..problem.pencil import Pencil
from ..problem.problem import Problem
from ..problem.target import Target
from ..run.rules import is_of_residuals
from ..sparse_direct import Prediction
from .costs import (
    LAPACK_FRACTION,
    allowance,
    fallback_products,
    fits,
    is_quick,
    may_beat_factorisation,
    predicted,
    prefers_lapack,
)
from .plan import Candidate, Engine, Map, Plan

# The smallest of an operator up to this n are found by computing its entries.
FORMED_N = 1000
# Dense matrices from this n on are searched in single precision where that suffices.
MIXED_PRECISION_N = 400
# Where a search fails, LAPACK follows up to this n, for operators after n products that compute their entries.
FALLBACK_N = 4000
# LOBPCG runs where n is larger than this multiple of k, and for operators than this many rows: as many products show
# their entries, and with them whether A and B have a common null vector.
LOBPCG_ROOM, LOBPCG_OPERATOR_N = 5, 100
# The inverse of a shift of the scaled pair beyond this underflows when it is squared; one below its reciprocal counts
# as 0.
MAX_SIGMA = 1e150
# A start of a dense pair from this n on is refined, if it is close enough.
REFINED_N = 100
# The least residual and the least sine that polishing reaches in few enough steps to pay.
MIXED_PRECISION_TOL, MIXED_PRECISION_SINE = 1e-9, 1e-7


def choose(problem: Problem, pencil: Pencil) -> Plan:
    """The candidates for the k wanted pairs, in the order in which they are tried."""
    if problem.method is not None and not problem.method.subspace:
        return Plan((Candidate(Engine.DEFLATION),), forms_B=_forms_B_to_factorise(problem, pencil))
    lapack = _suits_lapack(problem, pencil)
    return (None if lapack else _unfactorised(problem, pencil)) or _chosen(problem, pencil, lapack=lapack)


def _unfactorised(problem: Problem, pencil: Pencil) -> Plan | None:
    """The largest of −A by products alone, as long as they cost less than a factorisation; None where they cannot.

    How many it takes depends on the spectrum, which only the search itself shows.
    """
    asked = problem.method is not None or problem.preconditioner is not None or problem.iterates or problem.certify
    if asked or problem.which != "smallest" or problem.interval is not None:
        return None
    allowed = allowance(pencil, problem.k)
    if allowed is None:
        return None
    search = Candidate(Engine.KRYLOV, Map.NEGATED, max_products=allowed.products, provisional=True)
    return Plan((search,), allowed.prediction, otherwise=partial(_chosen, problem, pencil, lapack=False))


def _chosen(problem: Problem, pencil: Pencil, *, lapack: bool) -> Plan:
    """The candidates that do without a search given up early."""
    forms_A = pencil.A.kind != "dense" if lapack else _forms_A(problem, pencil)
    forms_B = _forms_B(problem, pencil, lapack=lapack)
    if problem.interval is not None:
        plan = _in_interval(pencil, lapack=lapack)
    elif problem.sigma is not None:
        plan = _nearest(problem, pencil, lapack=lapack)
    elif _is_matrix_free(problem) and not lapack:
        plan = _matrix_free(problem, pencil)
    elif problem.which == "smallest":
        plan = _smallest(problem, pencil, lapack=lapack)
    else:
        plan = _largest(problem, pencil, lapack=lapack)
    plan = _with_fallback(plan, problem, pencil)
    return plan._replace(forms_A=forms_A, forms_B=forms_B) if forms_A or forms_B else plan


def _with_fallback(plan: Plan, problem: Problem, pencil: Pencil) -> Plan:
    """The plan with LAPACK as the last candidate where n is small enough, unless the user ends the search before.

    LAPACK can be held to a rule for residuals, not to others.
    """
    bound = problem.stop is None or is_of_residuals(problem.stop)
    if problem.method is not None or not bound or pencil.n > FALLBACK_N:
        return plan
    limit = fallback_products(pencil, problem.k)
    if problem.max_steps is not None and problem.max_steps <= limit:
        return plan
    candidates = [candidate._replace(max_products=limit) for candidate in plan.candidates]
    if any(candidate.engine is Engine.LAPACK for candidate in candidates):
        return plan._replace(candidates=tuple(candidates))
    if problem.sigma is not None:
        fallback = Candidate(Engine.LAPACK, target=Target.closest(problem.sigma / pencil.unit))
    elif problem.which == "smallest":
        fallback = Candidate(Engine.LAPACK, Map.NEGATED)
    else:
        fallback = Candidate(Engine.LAPACK, target=Target.of(problem.which))
    return plan._replace(candidates=(*candidates, fallback))


def _suits_lapack(problem: Problem, pencil: Pencil) -> bool:
    """Does nothing ask for an iteration, and is LAPACK expected to be faster? LOBPCG needs room for its block.

    Rounding of the largest eigenvalues is in all that LAPACK computes; of a graded pair it hides the smallest.
    """
    few = problem.k <= LAPACK_FRACTION * pencil.n
    if few and _hides_wanted(problem, pencil):
        return False
    if isinstance(problem.method, LocallyOptimal):
        room = LOBPCG_ROOM * problem.k
        return pencil.n <= (room if pencil.has_entries else max(room, LOBPCG_OPERATOR_N))
    # a search for most of the spectrum would fill the whole space, whatever the start and the limit of steps
    free = problem.method is None and not problem.followed and not (few and problem.iterates)
    end = problem.which in ("largest", "smallest") and problem.sigma is None and problem.interval is None
    return free and prefers_lapack(pencil.n, problem.k, dense=pencil.dense, subset=end and pencil.has_entries)


def _hides_wanted(problem: Problem, pencil: Pencil) -> bool:
    """Are eigenvalues wanted that are lost in rounding of the largest?"""
    return pencil.graded and (problem.which == "smallest" or problem.sigma is not None)


def _is_matrix_free(problem: Problem) -> bool:
    """Does the method, or a preconditioner of A for the smallest, ask for LOBPCG?"""
    hinted = problem.preconditioner is not None and problem.which == "smallest"
    return hinted or isinstance(problem.method, LocallyOptimal)


def _forms_A(problem: Problem, pencil: Pencil) -> bool:
    """Would the smallest of an operator take more products than its n columns? A count needs the entries anyway."""
    smallest = problem.which == "smallest" and problem.sigma is None
    return (
        (smallest or problem.interval is not None)
        and pencil.A.matrix is None
        and pencil.n <= FORMED_N
        and not _is_matrix_free(problem)
    )


def _forms_B(problem: Problem, pencil: Pencil, *, lapack: bool) -> bool:
    """Does LAPACK need B in a dense array, or a count the entries of an operator B?"""
    if pencil.B is None or lapack:
        return lapack and pencil.B is not None and pencil.B.kind != "dense"
    return problem.interval is not None and pencil.B.matrix is None and pencil.n <= FORMED_N


def _forms_B_to_factorise(problem: Problem, pencil: Pencil) -> bool:
    """Is B a small operator, whose entries cost fewer products than the solves by conjugate gradients would?"""
    operator = pencil.B is not None and pencil.B.matrix is None
    return operator and problem.method.inner is None and pencil.n <= FORMED_N


def _forms_all(problem: Problem, pencil: Pencil) -> bool:
    """Are the entries of both matrices known once those of A are computed?"""
    return _forms_A(problem, pencil) and (pencil.B is None or pencil.B.matrix is not None)


def _largest(problem: Problem, pencil: Pencil, *, lapack: bool) -> Plan:
    """The largest, the largest by magnitude, or both ends, of (A, B) itself."""
    target = Target.of(problem.which)
    krylov = Candidate(Engine.KRYLOV, target=target)
    if lapack:
        return Plan((Candidate(Engine.LAPACK, target=target), krylov))
    prediction = None if pencil.B is None else predicted(pencil.B)
    mixed = (Candidate(Engine.MIXED_PRECISION, target=target),) if _suits_single(problem, pencil) else ()
    return Plan((*_refined(problem, pencil), *mixed, krylov), prediction)


def _refined(problem: Problem, pencil: Pencil) -> tuple[Candidate, ...]:
    """The refinement of a start of the user's, where that may be as close as it takes."""
    ends = {"largest": Map.SAME, "smallest": Map.NEGATED}
    if not problem.started or problem.which not in ends or pencil.n < REFINED_N or not _is_polished(problem, pencil):
        return ()
    return (Candidate(Engine.REFINEMENT, ends[problem.which]),)


def _suits_single(problem: Problem, pencil: Pencil) -> bool:
    """Does a search in single precision pay, and is its result enough?"""
    resumed = problem.given and not problem.started
    return pencil.n >= MIXED_PRECISION_N and not problem.certify and not resumed and _is_polished(problem, pencil)


def _is_polished(problem: Problem, pencil: Pencil) -> bool:
    """Can polishing steps reach what is asked for?"""
    if not pencil.dense or pencil.dtype.char not in "dD" or problem.k > 1:
        return False
    # a method, a solver or a preconditioner of the user's is in double precision
    if problem.preconditioner is not None or not _is_plain(problem.method):
        return False
    return _reachable(problem.rule.residual_tol, problem.rule.angle_tol)


def _is_plain(method: Method | None) -> bool:
    """Is it the default method, without a solver of the user's?"""
    return method is None or (isinstance(method, Accelerated) and method.inner is None)


def _reachable(residual: float | None, angle: float | None) -> bool:
    """Is there a tolerance, and does polishing reach it?"""
    if residual is None and angle is None:
        return False
    return (residual is None or residual >= MIXED_PRECISION_TOL) and (angle is None or angle >= MIXED_PRECISION_SINE)


def _smallest(problem: Problem, pencil: Pencil, *, lapack: bool) -> Plan:
    """The largest of (B, A) when A is positive definite, of (B, A + ηB) when it is not, of (−A, B) without entries."""
    inner = None if problem.method is None else problem.method.inner
    entries = lapack or pencil.has_entries or _forms_all(problem, pencil)
    if inner is not None or not entries:
        prediction = None if pencil.B is None or inner is not None else predicted(pencil.B)
        return Plan((Candidate(Engine.KRYLOV, Map.NEGATED),), prediction)
    factorised = Candidate(Engine.KRYLOV, Map.SWAPPED, clear=True), Candidate(Engine.KRYLOV, Map.SWAPPED_BELOW)
    if lapack:
        direct = Candidate(Engine.LAPACK, Map.SWAPPED, clear=True), Candidate(Engine.LAPACK, Map.NEGATED)
        return Plan((*direct, *factorised))
    candidates = *_refined(problem, pencil), *factorised
    prediction = predicted(pencil.A)
    if _is_worth_a_trial(pencil, problem.k, prediction):
        return Plan((Candidate(Engine.LOBPCG, Map.NEGATED, trial=True), *candidates), prediction)
    return Plan(candidates, prediction)


def _is_worth_a_trial(pencil: Pencil, k: int, prediction: Prediction | None) -> bool:
    """May a factorisation of A take more time or memory than LOBPCG, so that the set-up should compare the two?"""
    if prediction is None or is_quick(prediction, k):
        return False
    return not fits(prediction) or may_beat_factorisation(pencil, k, prediction)


def _matrix_free(problem: Problem, pencil: Pencil) -> Plan:
    """LOBPCG, as it was asked for; the preconditioner is given or chosen by a trial."""
    if problem.which == "largest":
        return Plan((Candidate(Engine.LOBPCG),))
    given = getattr(problem.method, "preconditioner", None) or problem.preconditioner
    prediction = None if given is not None else predicted(pencil.A)
    return Plan((Candidate(Engine.LOBPCG, Map.NEGATED),), prediction)


def _in_interval(pencil: Pencil, *, lapack: bool) -> Plan:
    """All eigenvalues in an interval: by LAPACK if they are a large share, otherwise by spectrum slicing."""
    if not pencil.has_entries and not lapack and pencil.n > FORMED_N:
        raise ValueError(
            "interval needs the entries of A and B, as eigenvalues are counted by factorising A − τB; give matrices, "
            "or k and which"
        )
    slicing = Candidate(Engine.SLICING)
    return Plan((Candidate(Engine.LAPACK), slicing) if lapack else (slicing,))


def end_towards(sigma: float, pencil: Pencil) -> str | None:
    """The end of the spectrum that σ lies beyond, as far as the sizes of A and B tell; None unless it is far away.

    At this distance 1/(λ − σ) has less than half of the digits of λ.
    """
    A_size, B_size = abs(pencil.unit) * pencil.A.size, 1.0 if pencil.B is None else pencil.B.size
    if not pencil.has_entries or not (0 < A_size < math.inf and B_size > 0):
        return None
    if abs(sigma) * pencil.eps**0.5 <= A_size / B_size:
        return None
    return "smallest" if sigma < 0 else "largest"


def _nearest(problem: Problem, pencil: Pencil, *, lapack: bool) -> Plan:
    """The largest of (B, A − σB) or (B, σB − A) if one of them is definite, otherwise shift-invert at σ."""
    assert problem.sigma is not None
    if not pencil.has_entries and not lapack:
        raise ValueError("sigma needs the entries of A and B, as A − σB is factorised; give matrices")
    if not 0 < abs(pencil.unit) < math.inf:
        raise ValueError("the eigenvalues of A and B, whose entries are of extreme sizes, overflow; scale A or B")
    sigma = problem.sigma / pencil.unit
    if not abs(sigma) <= MAX_SIGMA:
        raise ValueError(
            f"sigma is {problem.sigma:g}, so far from the eigenvalues that 1/(λ − σ) underflows; use which"
        )
    sigma = 0.0 if abs(sigma) < 1 / MAX_SIGMA else sigma
    candidates = [
        Candidate(engine, Map.SWAPPED, sigma=sigma, sign=sign, clear=True)
        for engine in (Engine.LAPACK, Engine.KRYLOV)[not lapack :]
        for sign in (1, -1)
    ]
    if lapack:
        candidates.insert(2, Candidate(Engine.LAPACK, target=Target.closest(sigma)))
    return Plan((*candidates, Candidate(Engine.SHIFT_INVERT, sigma=sigma)))
