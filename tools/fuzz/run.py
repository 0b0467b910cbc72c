"""Run a case: call the library, and collect everything that is wrong."""

from __future__ import annotations

import contextlib
import itertools
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence

import splitmerge as sm

from .case import FORBIDDEN, Case, build
from .disguises import LiarError
from .judge import Finding, judge
from .oracle import Reference, peer, ridged
from .precise import TINY, Array, extended, norm
from .scipy_like import check_eigsh, like_scipy

WATCHED = (RuntimeWarning, np.exceptions.ComplexWarning, DeprecationWarning, UserWarning)
# A residual of a lying operator is gross beyond this share of ‖A‖ + |λ|‖B‖.
GROSS = 1e-2
REPEATED, RESUMED = 20, 25
# Findings that are counted but do not fail a campaign.
SOFT = ("leak", "uncertified", "eigsh order", "eigsh type")


@dataclass
class Outcome:
    """What came of a case. `status`: answer, sentence, gave up, interrupted, crash or hang."""

    number: int
    family: str
    status: str
    text: str = ""
    findings: list[Finding] = field(default_factory=list)
    counted: bool = False
    seconds: float = 0.0
    answer: Any = None

    @property
    def gave_up(self) -> bool:
        """Did a default solve of a good pair end without an answer?"""
        return self.counted and self.status != "answer"


def _call(case: Case) -> Any:
    options = dict(case.request.options)
    A, B = case.A.fresh(), None if case.B is None else case.B.fresh()
    if case.request.call == "eigsh":
        return sm.eigsh(A, M=B, **options)
    if case.request.call == "iterates":
        return list(itertools.islice(sm.iterates(A, B, **options), 12))
    return sm.solve(A, B, **options)


@contextlib.contextmanager
def _alarm(delay: float | None) -> Iterator[None]:
    """A SIGINT after so many seconds; the library is to leave the handler of SIGINT as it was."""
    if delay is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _place(error: BaseException) -> tuple[str, bool]:
    """The innermost frame, and whether it is the library's."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    name = frame.filename.split("site-packages/")[-1].split("/src/")[-1]
    return f"{name}:{frame.lineno} {frame.name}", "splitmerge/" in name


def _refusal(error: ValueError | TypeError) -> tuple[str, list[Finding]]:
    place, own = _place(error)
    ours = type(error).__module__.startswith("splitmerge")
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, np.linalg.LinAlgError) and not ours:
        return "crash", [Finding("crash", f"{text} at {place}")]
    message = str(error)
    if not message.strip() or "\n" in message.strip():
        return "sentence", [Finding("message", f"{text!r} is not a sentence")]
    return "sentence", [] if own or ours else [Finding("leak", f"{text:.150} at {place}")]


def _ended(case: Case, error: BaseException) -> tuple[str, str, list[Finding]]:
    """The status of a call that raised, its text, and what is wrong with that."""
    place, _ = _place(error)
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, sm.NotConverged):
        return "gave up", f"{text:.300}", []
    if isinstance(error, ArpackNoConvergence) and case.request.call == "eigsh":
        return "gave up", text, []
    if isinstance(error, KeyboardInterrupt) and (case.lie == "interrupt" or case.alarm):
        return "interrupted", text, []
    if isinstance(error, LiarError):
        return "sentence", text, []
    if isinstance(error, (ValueError, TypeError)):
        status, findings = _refusal(error)
        return status, f"{text:.300} at {place}", findings
    return "crash", text, [Finding("crash", f"{text:.200} at {place}")]


def attempt(case: Case) -> tuple[str, str, Any, list[Finding]]:
    """Call once: status, text, answer, findings (warnings, changed inputs and signal handlers)."""
    before = [each.bytes() for each in case.given]
    handler, errors = signal.getsignal(signal.SIGINT), np.geterr()
    status, text, answer = "answer", "", None
    findings: list[Finding] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with _alarm(case.alarm):
                answer = _call(case)
        except BaseException as error:
            status, text, findings = _ended(case, error)
    for each in caught:
        # eigsh warns as SciPy does
        scipys = str(each.message).startswith(("k >= N", "M does not have the same type precision"))
        if issubclass(each.category, WATCHED) and not scipys:
            place = f"{each.filename.split('/src/')[-1]}:{each.lineno}"
            findings.append(Finding("warning", f"{each.category.__name__}: {each.message!s:.120} at {place}"))
    if [each.bytes() for each in case.given] != before:
        findings.append(Finding("input changed", "A or B was written to"))
    if signal.getsignal(signal.SIGINT) is not handler or np.geterr() != errors:
        findings.append(Finding("global state", "the handler of SIGINT or the error state of NumPy was changed"))
        signal.signal(signal.SIGINT, handler)
    return status, text, answer, findings


def truthful(case: Case) -> tuple[Array, Array]:
    """The matrices that the operators stand for."""
    A = extended(case.problem.A)
    return A, np.eye(len(A), dtype=np.longdouble) if case.problem.B is None else extended(case.problem.B)


def _gross(case: Case, solution: Any) -> list[Finding]:
    """Is a residual of a lying or nonsymmetric operator grossly wrong?"""
    values, U = (solution.eigenvalues, solution.eigenvectors) if case.request.call == "solve" else solution[:2]
    A, B = truthful(case)
    if not np.isfinite(A).all() or not np.isfinite(B).all():
        return [Finding("accepted", f"an answer for {case.problem.note or case.problem.hostile}")]
    U, values = extended(U), extended(values)
    R = np.sqrt((abs(A @ U - (B @ U) * values) ** 2).sum(axis=0))
    unit = (norm(A) + abs(values) * norm(B)) * np.sqrt((abs(U) ** 2).sum(axis=0))
    share = float((R / np.maximum(unit, TINY)).max(initial=0))
    limit = max(GROSS, 100 * (case.request.tol or 0))
    if not share <= limit and norm(A) > 0:  # nothing is relative to a zero matrix
        return [
            Finding("lie believed", f"a residual of {share:.1e} (‖A‖ + |λ|‖B‖) for {case.lie or case.problem.note}")
        ]
    return []


def _candidates(case: Case, solution: Any) -> list[Reference]:
    """The references of which one has to agree: for a singular B also the pair that a ridge makes."""
    problem, report = case.problem, getattr(solution, "b_report", None)
    found = [] if case.reference is None else [case.reference]
    if problem.B is None or report is None:
        return found
    if getattr(report, "ridge", None):
        found.append(ridged(problem.A, problem.B, float(report.ridge), problem.eps))
    return found


def judged(case: Case, answer: Any) -> list[Finding]:
    """All that is wrong with an answer."""
    request, problem = case.request, case.problem
    if request.call == "iterates":
        return check_states(case, answer)
    if request.nonsense:
        return [Finding("nonsense", f"{request.nonsense} was accepted")]
    if request.call == "solve" and not answer.converged:
        interrupted = case.lie == "interrupt" or case.alarm
        return [] if interrupted else [Finding("unconverged", f"returned although not converged: {answer.reason}")]
    whole = all(each.entries for each in case.given)
    if problem.hostile in FORBIDDEN and whole and getattr(answer, "b_report", None) is None:
        return [Finding("accepted", f"an answer for {problem.note or problem.hostile}")]
    if case.lie or problem.hostile in FORBIDDEN:
        return _gross(case, answer) if request.options.get("return_eigenvectors", True) else []
    if request.call == "eigsh":
        return _judged_eigsh(case, answer)
    candidates = _candidates(case, answer)
    if answer.b_report is not None and request.tol is not None:  # what a policy makes of B is singular but for rounding
        request = replace(request, tol=10 * request.tol)
    verdicts = [judge(answer, each, request) for each in candidates]
    if not candidates and problem.hostile == "singular pencil" and problem.rank:
        refused = answer.b_report is None
        return [Finding("accepted", "an answer for a singular pencil")] if refused else _gross(case, answer)
    return min(verdicts, key=len, default=[])


def _judged_eigsh(case: Case, answer: Any) -> list[Finding]:
    if case.reference is None or case.problem.hostile:
        return []
    found = check_eigsh(answer, case.reference, case.request)
    if not found and case.number % 3 == 0:
        options = case.request.options | {"M": None if case.B is None else case.B.given}
        found = like_scipy(answer, case.A.given, options, case.reference)
    return found


def explained(finding: Finding, case: Case) -> Finding:
    """The finding, and how LAPACK does on the same pair."""
    if case.reference is None or case.problem.rank is not None:
        return finding
    return replace(finding, text=f"{finding.text} [{peer(case.reference)}]")


def check_states(case: Case, states: list[Any]) -> list[Finding]:
    """Do the values of the states lie in the spectrum, and are they the quotients of their vectors?"""
    reference = case.reference
    if reference is None:
        return []
    for state in states:
        u, value = extended(state.vector), np.longdouble(float(state.eigenvalue))
        weight = (u.conj() @ reference.B @ u).real
        quotient = (u.conj() @ reference.A @ u).real / weight
        room = 100 * reference.entitled(value, (abs(u) ** 2).sum() / weight) + 1e-9 * abs(value)
        inexact = case.B is not None and not case.B.entries  # B x is carried along by inexact solves
        room += (1e-3 if inexact else 1e-9) * abs(reference.values).max()
        if not abs(quotient - value) <= room:
            return [
                Finding("iterates", f"eigenvalue {float(value)} is not the quotient {float(quotient)} of its vector")
            ]
    return []


def _repeat(case: Case, answer: Any) -> list[Finding]:
    """Does the same call give the same bits?"""
    if case.request.timed or case.alarm or case.request.call == "iterates":
        return []
    _, text, again, _ = attempt(case)
    parts: Callable[[Any], list[Any]] = lambda x: (  # noqa: E731
        [x.eigenvalues, x.eigenvectors] if hasattr(x, "eigenvalues") else list(x) if isinstance(x, tuple) else [x]
    )
    if again is None:
        return [Finding("nondeterministic", f"the second call raised {text}")]
    same = all(
        np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(parts(answer), parts(again), strict=True)
    )
    return [] if same else [Finding("nondeterministic", "the same call gave other bits")]


def _resume(case: Case, answer: Any) -> list[Finding]:
    """Ask a solution for one pair more."""
    request = case.request
    k = min(request.k + 1, case.problem.n)
    after = replace(request, options=request.options | {"k": k})
    try:
        more = answer.resume(k=k, rng=0)
    except sm.NotConverged:
        return []
    except Exception as error:
        return [Finding("crash", f"resume(k={k}): {type(error).__name__}: {error!s:.150} at {_place(error)[0]}")]
    found = judge(more, case.reference, after) if case.reference is not None else []
    return [Finding(each.kind, f"after resume(k={k}): {each.text}") for each in found]


def _nothing() -> None:
    return None


def run(
    number: int, calling: Callable[[], None] = _nothing, judging: Callable[[], None] = _nothing, *, alarms: bool = True
) -> Outcome:
    """Run a case; `calling` and `judging` are told before the library is called and after it has returned."""
    case = build(number)
    if not alarms:
        case.alarm = None
    calling()
    begin = time.perf_counter()
    status, text, answer, findings = attempt(case)
    seconds = time.perf_counter() - begin
    judging()
    good = case.request.call == "solve" and case.reference is not None and not case.problem.hostile and not case.lie
    if status == "answer":
        findings += [explained(each, case) for each in judged(case, answer)]
        if number % REPEATED == 0:
            findings += _repeat(case, answer)
        if (
            number % RESUMED == 3
            and good
            and not findings
            and answer.converged
            and "interval" not in case.request.options
        ):
            findings += _resume(case, answer)
    return Outcome(
        number, case.problem.family, status, f"{case.describe()} {text}", findings, case.counts, seconds, answer
    )
