"""`sm.solve` on sparse pairs against other solvers at equal residuals, including set-up, as time ratios in one run.

Environment: SPARSE names the parts to run, separated by commas (lapla3, methods, smallest, growth, operator, million),
or "quick" for small versions of all; by default all parts run. THREADS=1 skips the runs with all threads.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from . import fem
from . import methods as paper_methods
from .processes import child, write_pair
from .race import (
    EIGENVALUE_TOLERANCE,
    LONG_RUN_SECONDS,
    MAX_TIGHTENINGS,
    RESIDUAL_SLACK_FACTOR,
    RESIDUAL_TOLERANCE,
    Task,
    inertia,
    race,
    report,
    truth,
)
from .solvers import largest_sides, lobpcg_sides, ours, smallest_sides

OUT, OUT_QUICK = Path("out/sparse.json"), Path("out/sparse-quick.json")
# Eigenpairs computed in most parts.
PAIR_COUNT = 10
# Time limits per run, and the address space of a run with a million unknowns.
MAX_SECONDS, MAX_SECONDS_MILLION = 300.0, 3600.0
ADDRESS_SPACE_GIB = 8

OPERATOR = ("ours", "eigsh", "lobpcg", "primme")

Answer = dict[str, Any]
Rows = list[dict[str, Any]]


def lapla3(quick: bool) -> Rows:
    print("\nLapla3, the largest eigenvalues to residuals of 1e-8")
    pair = fem.lapla3()
    rows: Rows = []
    for k in (1, PAIR_COUNT) if pair is not None else ():
        task = Task(*pair, k, "largest")
        sides = largest_sides(task)
        race(sides, task, rounds=2 if quick else 5)
        found = truth(sides, task)
        rows += report(sides, f"Lapla3, n = {task.n}, k = {k}", inertia(task, found))
    return rows


def methods(quick: bool) -> Rows:
    print("\nThe paper's methods on Lapla3, k = 1")
    pair = fem.lapla3()
    if pair is None:
        return []
    return paper_methods.measure(pair, rounds=1 if quick else 3, cap=2 if quick else 60)


def smallest(quick: bool) -> Rows:
    print(f"\nFinite element Laplacians with Dirichlet boundary, the {PAIR_COUNT} smallest to residuals of 1e-8")
    if not fem.SCIKIT_FEM:
        print("  scikit-fem is not installed, skipped.")
        return []
    # dimension, order, cells: n = 100,489, 50,653 and 50,653
    cases = ((2, 2, 20), (3, 2, 6), (3, 1, 12)) if quick else ((2, 2, 159), (3, 2, 19), (3, 1, 38))
    rows: Rows = []
    for dimension, order, cells in cases:
        task = Task(*fem.laplacian(dimension, order, cells), PAIR_COUNT, "smallest")
        sides = smallest_sides(task)
        race(sides, task, rounds=1 if quick else 3)
        found = truth(sides, task)
        rows += report(sides, f"P{order} in {dimension}D, n = {task.n}, k = {PAIR_COUNT}", inertia(task, found))
        print("".join(f"      {text}\n" for text in sides[0].explained.splitlines()), end="")
    return rows


def growth(quick: bool) -> Rows:
    print(f"\nGrowth with n: P1 elements in the cube, the {PAIR_COUNT} smallest to residuals of 1e-8")
    # n = 8,000, 29,791, 97,336 and 300,763
    sizes = (8, 10, 12, 15) if quick else (21, 32, 47, 68)
    rows: Rows = []
    for cells in sizes:
        task = Task(*fem.cube(cells), PAIR_COUNT, "smallest")
        sides = [ours(task), lobpcg_sides(task)[0]]
        race(sides, task, rounds=1 if quick else 3)
        rows += [{"n": task.n, **r} for r in report(sides, f"P1 in 3D, n = {task.n}, k = {PAIR_COUNT}")]
    for name, variant in dict.fromkeys((r["side"], r["variant"]) for r in rows):
        own = [r for r in rows if (r["side"], r["variant"], r["state"]) == (name, variant, "good")]
        if len(own) < 2:
            print(f"  {name}, {variant}: no exponent, only {len(own)} sizes solved")
            continue
        slope = np.polyfit(np.log([r["n"] for r in own]), np.log([r["seconds"] for r in own]), 1)[0]
        print(f"  {name}, {variant}: time ~ n^{slope:.2f} (least squares, {len(own)} of {len(sizes)} sizes)")
    return rows


def operator(quick: bool) -> Rows:
    """Every run in a separate process, which is stopped at the time limit."""
    n, patience = (200, 20.0) if quick else (2000, MAX_SECONDS)
    print(f"\nMatrix-free B, single vectors, n = {n}, the largest eigenpair to 1e-8, at most {patience:.0f} s each")
    rows: Rows = []
    for kappa in (10.0, 1e3, 1e5):
        answers = contest([{"side": side, "n": n, "kappa": kappa} for side in OPERATOR], patience, 1 if quick else 3)
        for side, answer in zip(OPERATOR, answers, strict=True):
            products = f", {answer['products']} products with B" if answer.get("products") else ""
            print(f"  κ = {kappa:<8.0e}{side:<8}{measured(answer, answers[0])}{products}", flush=True)
            rows.append({"n": n, "kappa_B": kappa, "side": side, **answer})
    return rows


def contest(jobs: list[dict[str, Any]], patience: float, rounds: int) -> list[Answer]:
    """The fastest answer to every job over interleaved rounds; long jobs run only once."""
    threads = max(info["num_threads"] for info in threadpool_info())
    jobs = [{**job, "threads": threads} for job in jobs]
    answers = [settled(job, patience) for job in jobs]
    for _ in range(rounds - 1):
        for i, (job, best) in enumerate(zip(jobs, answers, strict=True)):
            if best.get("failed") or best["seconds"] > LONG_RUN_SECONDS:
                continue
            answer = child({**job, "tol": best["tol"]}, patience)
            if not answer.get("failed") and answer["seconds"] < best["seconds"]:
                answers[i] = {**best, **answer}
    return answers


def settled(job: dict[str, Any], patience: float) -> Answer:
    """The answer of a child process, with the tolerance tightened until the residual is reached."""
    tol, missed = RESIDUAL_TOLERANCE, []
    while True:
        answer = {**child({**job, "tol": tol}, patience), "tol": tol, "missed": missed}
        if answer.get("failed") or answer["residual"] <= RESIDUAL_SLACK_FACTOR * RESIDUAL_TOLERANCE:
            return answer
        missed.append(f"tol {tol:.1e} left {answer['residual']:.1e}")
        if len(missed) > MAX_TIGHTENINGS or job["side"] == "ours":
            return {**answer, "failed": f"MISSED: {'; '.join(missed)}"}
        tol /= 1.5 * answer["residual"] / RESIDUAL_TOLERANCE


def measured(answer: Answer, mine: Answer) -> str:
    """A child's answer compared with ours, as text."""
    if answer.get("failed"):
        return str(answer["failed"])
    text = f"{answer['seconds']:9.3f} s"
    if not mine.get("failed"):
        text += f", {answer['seconds'] / mine['seconds']:8.2f} × ours"
        apart = np.abs(np.divide(answer["values"], mine["values"]) - 1).max()
        text += f", VALUES DIFFER BY {apart:.1e}" if apart > EIGENVALUE_TOLERANCE else ""
    text += f", residual {answer['residual']:.1e}, tol {answer['tol']:.1e}"
    return text + (f" ({'; '.join(answer['missed'])})" if answer["missed"] else "")


def million(quick: bool) -> Rows:
    cells, sides = 16 if quick else 101, ("ours", "eigsh", "lobpcg")
    n = (cells - 1) ** 3
    print(f"\nP1 elements in the cube, n = {n}, the {PAIR_COUNT} smallest to residuals of 1e-8,")
    print(f"each in a process with {ADDRESS_SPACE_GIB} GiB of address space")
    rows: Rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pair.npz"
        write_pair(path, *fem.cube(cells))
        answers = contest(
            [{"side": side, "pair": str(path), "k": PAIR_COUNT, "gib": ADDRESS_SPACE_GIB} for side in sides],
            MAX_SECONDS_MILLION,
            1,
        )
    for side, answer in zip(sides, answers, strict=True):
        text = f"  {side:<8}{measured(answer, answers[0])}"
        if "peak_gib" in answer:
            text += f"; peak {answer['peak_gib']:.2f} GiB, {answer['pair_gib']:.2f} before the solve"
        print(text, flush=True)
        rows.append({"n": n, "side": side, "limit_gib": ADDRESS_SPACE_GIB, **answer})
    return rows


PARTS: dict[str, Callable[[bool], Rows]] = {
    "lapla3": lapla3,
    "methods": methods,
    "smallest": smallest,
    "growth": growth,
    "operator": operator,
    "million": million,
}


def main() -> None:
    asked = [name for name in os.environ.get("SPARSE", "").split(",") if name]
    unknown = [name for name in asked if name not in (*PARTS, "quick")]
    if unknown:
        raise SystemExit(f"SPARSE is {','.join(unknown)!r}; give some of {', '.join(PARTS)}, quick")
    quick = "quick" in asked
    names = [name for name in asked if name != "quick"] or list(PARTS)
    every = max(info["num_threads"] for info in threadpool_info())
    out = OUT_QUICK if quick else OUT
    # keep the results of parts from earlier runs
    results: dict[str, Rows] = json.loads(out.read_text()) if out.exists() else {}
    for threads in sorted({1, int(os.environ.get("THREADS", every))}):
        for name in names:
            print(f"\n{threads} thread{'s' * (threads > 1)}{', quick: a test, not a measurement' * quick}", end="")
            with threadpool_limits(threads):
                results[f"{name}, {threads} threads"] = PARTS[name](quick)
            out.parent.mkdir(exist_ok=True)
            out.write_text(json.dumps(results, indent=1))
    print(f"\nAll results, including those of earlier runs of other parts, are in {out}.")
