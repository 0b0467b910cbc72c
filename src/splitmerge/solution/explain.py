"""Decisions in words: the only place that says what was chosen and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..planning.costs import predicted_seconds, prefers_inverse_search, prefers_short_search
from ..planning.decision import Choice, Decision
from ..planning.plan import Engine, Map, Plan
from ..problem.pencil import Pencil
from ..sparse_direct import Prediction
from .display.words import WANTED

Words = Callable[[Decision], str]

# Shifts of spectrum slicing that are listed.
MAX_SHIFTS_TOLD = 12

# What a candidate of a plan requires.
CONDITIONS = {
    Map.SAME: "",
    Map.NEGATED: "",
    Map.SWAPPED: ", if A − σB is positive definite and σ clear of the eigenvalues",
    Map.SWAPPED_BELOW: ", for an η that makes A + ηB positive definite",
}


def worded(decisions: Iterable[Decision]) -> tuple[str, ...]:
    """One sentence or two for each decision."""
    return tuple(WORDS[decision.choice](decision) for decision in decisions)


def worded_plan(plan: Plan, pencil: Pencil, k: int) -> Iterator[str]:
    """One line for each candidate of a plan: what would be tried, on which condition, at which predicted cost."""
    if not pencil.has_entries and (plan.forms_A or plan.forms_B):
        yield f"compute the entries of the operator by {pencil.n} products"
    if _searches_first(pencil, k):
        yield "Lanczos in one basis, for as long as it is expected to take less time than LAPACK, which follows"
    if _inverts_first(plan, pencil, k):
        yield "shift-invert Lanczos in one basis, for as long as its factors are sparse and counts certify its pairs"
    plan = plan.complete()
    for candidate in plan.candidates:
        seconds = predicted_seconds(candidate, plan, pencil, k)
        price = f"; predicted {seconds:.2g} s" if math.isfinite(seconds) else ""
        condition = ", if a trial of preconditioners promises to be faster" if candidate.trial else ""
        if candidate.engine is Engine.REFINEMENT:
            condition = ", if its residual is small enough"
        if candidate.provisional:
            condition = f", while fewer than {candidate.max_products:.0f} products are expected"
        yield f"{candidate.engine.value} on {candidate.map.value}{CONDITIONS[candidate.map]}{condition}{price}"


def _searches_first(pencil: Pencil, k: int) -> bool:
    """Does a short search come before the candidates of the plan?"""
    plain = pencil.dense and pencil.scaling is None and pencil.dtype.char in "dD"
    return plain and prefers_short_search(pencil.n, k)


def _inverts_first(plan: Plan, pencil: Pencil, k: int) -> bool:
    """Does a short search with A − σB factorised come before the candidates of the plan?"""
    operators = [pencil.A] if pencil.B is None else [pencil.A, pencil.B]
    if (
        pencil.dtype.char != "d"
        or not all(op.kind == "sparse" for op in operators)
        or not (pencil.A.diagonal() > 0).all()
    ):
        return False
    engines = {candidate.engine for candidate in plan.candidates}
    inverted = Engine.SHIFT_INVERT in engines or any(candidate.map is Map.SWAPPED for candidate in plan.candidates)
    return inverted and prefers_inverse_search(pencil.n, k, near=Engine.SHIFT_INVERT in engines)


def _by(decision: Decision) -> str:
    return f" by {decision['backend']}" if decision["backend"] else ""


def _wanted(decision: Decision) -> str:
    wanted = WANTED.get(decision["which"], decision["which"])
    if decision["sigma"] is not None:
        wanted = f"nearest to {decision['sigma']:g}"
    wanted = f"the {decision['k']} {wanted}"
    if decision["interval"] is not None:
        low, high = decision["interval"]
        wanted = f"all eigenvalues from {low:g} to {high:g}"
    kinds = ", ".join(decision["kinds"])
    return f"Wanted: {wanted} of a pair of size {decision['n']} ({kinds}, {decision['dtype']})."


def _far_shift(decision: Decision) -> str:
    sigma, end = decision["sigma"], decision["end"]
    side = "above" if end == "smallest" else "below"
    return f"All eigenvalues are {side} σ = {sigma:g} and far from it, so the nearest are the {end}."


def _swapped(decision: Decision) -> str:
    eta = decision["shift"]
    if eta == 0:
        return (
            f"A is positive definite: its smallest were computed as the largest of (B, A), with A factorised"
            f"{_by(decision)}."
        )
    shown = f"A {'+' if eta >= 0 else '−'} {abs(eta):.6g} B"
    if decision["sign"] < 0:
        shown = f"−({shown})"
    return (
        f"{shown} is positive definite: the eigenvalues next to {-eta:.6g} were computed with its Cholesky factor"
        f"{_by(decision)}."
    )


def _unfactorised(decision: Decision) -> str:
    return (
        f"A was not factorised: {decision['factorised']:.2g} s were predicted for that by {decision['backend']}, with "
        f"solves and checks, and a search was expected to need fewer than the {decision['limit']:.0f} products, "
        f"{decision['seconds']:.2g} s, that it was allowed."
    )


def _given_up(decision: Decision) -> str:
    return (
        f"A search without a factorisation was given up after {decision['products']} products: it was expected to take "
        f"more than {decision['limit']:.0f}, {decision['seconds']:.2g} s, of the {decision['factorised']:.2g} s "
        f"roughly predicted for a factorisation by {decision['backend']} with its solves and checks."
    )


def _shift_invert(decision: Decision) -> str:
    return (
        f"Shift-invert: the eigenvalues nearest to σ were computed as the largest of (A − σB)⁻¹B by magnitude, "
        f"with A − σB (σ = {decision['sigma']:.10g}) factorised as L D Lᴴ{_by(decision)}."
    )


def _counted(decision: Decision) -> str:
    low, high = decision["low"], decision["high"]
    count = decision["above"] - decision["below"]
    return (
        f"Inertia counts: {decision['below']} eigenvalues are below {low:.10g} and {decision['above']} below "
        f"{high:.10g}, so {count} between them."
    )


def _sliced(decision: Decision) -> str:
    parts = decision["slices"]
    if not parts:
        return "Nothing was left to compute."
    least, most = min(count for count, _ in parts), max(count for count, _ in parts)
    sizes = f"{least} to {most}" if least < most else f"{most}"
    shifts = ", ".join(f"{sigma:.6g}" for _, sigma in parts[:MAX_SHIFTS_TOLD])
    more = ", …" if len(parts) > MAX_SHIFTS_TOLD else ""
    return (
        f"Spectrum slicing: {len(parts)} slice{'s' * (len(parts) != 1)} of {sizes} eigenvalues, "
        f"each computed as the largest of (A − σB)⁻¹B by magnitude, at σ = {shifts}{more}; "
        f"{decision['factorisations']} factorisations of A − τB as L D Lᴴ{_by(decision)}."
    )


def _predicted(prediction: Prediction, seconds: float) -> str:
    return (
        f"A factorisation by {prediction.backend} was predicted to take {prediction.bytes / 2**30:.2g} GiB and, "
        f"with its solves, {seconds:.3g} s"
    )


def _conjugate_gradients(decision: Decision) -> str:
    told = _predicted(decision["prediction"], decision["factorised"])
    return f"{told}; conjugate gradients {decision['seconds']:.3g} s."


def _tried(trial: dict[str, Any]) -> str:
    return (
        f"{trial['preconditioner']} took {trial['setup']:.2g} s to set up and {trial['step']:.2g} s a step, "
        f"each of which left {trial['rate']:.2f} of the error"
    )


def _trial(decision: Decision) -> str:
    told = f"Trial of preconditioners: {'; '.join(map(_tried, decision['trials']))}."
    if decision["prediction"] is not None:
        told += f" {_predicted(decision['prediction'], decision['factorised'])}; LOBPCG {decision['seconds']:.3g} s."
        if not decision["fits"]:
            told += " That much memory is not free."
    return told


def _matrix_free(decision: Decision) -> str:
    preconditioner = decision["preconditioner"]
    how = "no preconditioner" if preconditioner is None else f"preconditioned by {preconditioner!r}"
    return f"Matrix-free LOBPCG, {how}: nothing was factorised."


def _shifted(decision: Decision) -> str:
    name = "−A" if decision["which"] == "smallest" else "A"
    return (
        f"{name} is not positive semidefinite, as the objective requires: "
        f"η = {decision['shift']:.6g} times B was added, and subtracted from the eigenvalues again."
    )


def _resumed(decision: Decision) -> str:
    counts, solves = decision["counts"], ""
    for name, what in (("B_solves", "solves with B"), ("K_solves", "with A − σB")):
        solves += f", {getattr(counts, name)} {what}" * (getattr(counts, name) > 0)
    return (
        f"Resumed from a checkpoint: {decision['columns']} vectors, which had cost {decision['steps']} steps, "
        f"{counts.A_products} products with A{solves} and {decision['seconds']:.3g} s. The figures below are those of "
        f"this run alone."
    )


def _checkpoint(decision: Decision) -> str:
    path, written, failure = decision["path"], decision["written"], decision["failure"]
    times = f"{written} time{'s' * (written != 1)}"
    told = f"The checkpoint {path} was written {times}, the last time after {decision['last']:.3g} s."
    if not written:
        told = f"No checkpoint was written to {path}."
    return told if failure is None else f"{told} Writing it then failed: {failure.rstrip('.')}."


WORDS: dict[Choice, Words] = {
    Choice.WANTED: _wanted,
    Choice.FAR_SHIFT: _far_shift,
    Choice.WARM_START: lambda _: "The start was the vectors of an earlier solution.",
    Choice.RESUMED: _resumed,
    Choice.B_POLICY: lambda decision: str(decision["report"]),
    Choice.EQUILIBRATED: lambda _: "The diagonal of B spans more than two decades, so the pair was equilibrated.",
    Choice.SCALED: lambda _: "The entries are of extreme size: the pair was scaled by powers of two.",
    Choice.LAPACK: lambda decision: (
        f"LAPACK computed the pairs directly: for k = {decision['k']} of n = {decision['n']} that is faster than to "
        f"iterate."
    ),
    Choice.NEGATED: lambda _: "The smallest of (A, B) were computed as the largest of (−A, B).",
    Choice.UNFACTORISED: _unfactorised,
    Choice.GIVEN_UP: _given_up,
    Choice.PREDICTED: lambda decision: f"{_predicted(decision['prediction'], decision['factorised'])}.",
    Choice.SWAPPED: _swapped,
    Choice.SHIFT_INVERT: _shift_invert,
    Choice.COUNTED: _counted,
    Choice.SLICED: _sliced,
    Choice.FORMED_A: lambda decision: (
        f"The entries of the operator A were computed by {decision['n']} products: an iteration would take more."
    ),
    Choice.FORMED_B: lambda decision: (
        f"Solves with the operator B were expected to take more than {decision['n']} products: its entries were "
        f"computed."
    ),
    Choice.IDENTITY: lambda _: "B is the identity, so no work was done for it.",
    Choice.SOLVER: lambda decision: f"Systems with B were solved by {decision['solver']}{_by(decision)}.",
    Choice.CONJUGATE_GRADIENTS: _conjugate_gradients,
    Choice.TRIAL: _trial,
    Choice.MATRIX_FREE: _matrix_free,
    Choice.UNUSED_PRECONDITIONER: lambda decision: (
        f"The preconditioner {decision['preconditioner']} was not used, as nothing was solved by iteration."
    ),
    Choice.MIXED_PRECISION: lambda _: (
        "Mixed precision: B was factorised and the search made in single precision; the result was polished in double."
    ),
    Choice.REFINEMENT: lambda _: (
        "The start is close to an eigenvector: it was refined with the Cholesky factor of τB − A, deflated by the "
        "start, for a τ just below its Rayleigh quotient. That the factor exists shows that no other eigenvalue is "
        "beyond τ."
    ),
    Choice.EXPLICIT: lambda decision: (
        f"Some {decision['products']:.0f} products were expected, so the transformed matrix U⁻ᴴAU⁻¹ was formed."
    ),
    Choice.DEFLATION: lambda decision: f"The {decision['which']} pairs were sought with {decision['method']!r}.",
    Choice.SHIFTED: _shifted,
    Choice.ITERATION: lambda decision: (
        f"The iteration was {decision['method']!r}; its stopping rule was {decision['rule']!r}."
    ),
    Choice.STOP: lambda decision: f"The stopping rule was {decision['rule']!r}.",
    Choice.BACKEND_ADVICE: lambda decision: str(decision["advice"]),
    Choice.CHECKPOINT: _checkpoint,
}
