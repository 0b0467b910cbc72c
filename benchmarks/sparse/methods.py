"""The paper's five methods on Lapla3, with a Cholesky factor of B and with conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh

import splitmerge as sm

from .fem import Matrices
from .race import LONG_RUN_SECONDS
from .solvers import by_degree

SINE_TOLERANCE = 1e-6
CG = sm.ConjugateGradient(max_steps=30)
METHODS: dict[str, dict[str, sm.Method]] = {
    "GD": {"Cholesky": sm.GradientDescent(inner=sm.Cholesky()), "PCG": sm.GradientDescent(inner=CG)},
    "Power": {"Cholesky": sm.Power(sm.Cholesky()), "PCG": sm.Power(CG)},
    "PMD": {
        "P exact": sm.MirrorDescent(sm.Exact(), inner=sm.Cholesky()),
        "P incomplete": sm.MirrorDescent(sm.IncompleteCholesky(), inner=CG),
        "P diagonal": sm.MirrorDescent(sm.Diagonal(), inner=CG),
    },
    "Lanczos": {"Cholesky": sm.Lanczos(sm.Cholesky()), "PCG": sm.Lanczos(CG)},
    "Split-Merge": {"Cholesky": sm.SplitMerge(sm.Cholesky()), "PCG": sm.SplitMerge(CG)},
}


@dataclass
class Run:
    """The fastest solution of one method with one inner solver."""

    method: sm.Method
    solution: sm.Solution | None = None
    failure: str = ""

    def again(self, A: Any, B: Any, rule: Any) -> None:
        if self.failure or (self.solution is not None and self.solution.seconds.total > LONG_RUN_SECONDS):
            return
        try:
            solution = sm.solve(A, B, method=self.method, stop=rule, max_steps=10**7, rng=0)
        except sm.NotConverged as failure:
            solution, self.failure = failure.solution, failure.solution.reason.name
        if self.solution is None or solution.seconds.total < self.solution.seconds.total:
            self.solution = solution


def sine(B: Any, u: np.ndarray, x: np.ndarray) -> float:
    """The sine of the B-angle between x and u, computed from the difference to avoid cancellation in the cosine."""
    x, u = x / np.sqrt(x @ (B @ x)), u / np.sqrt(u @ (B @ u))
    rest = x - u * (u @ (B @ x))
    return float(np.sqrt(max(rest @ (B @ rest), 0.0)))


def measure(pair: Matrices, rounds: int, cap: float) -> list[dict[str, Any]]:
    """Steps, products, solves and seconds to sin θ ≤ 1e-6, from interleaved runs of all methods."""
    A, B = pair
    u = eigsh(A, 1, M=B, Minv=by_degree(B), which="LA", tol=0)[1][:, 0]
    rule = sm.SineAngle(u, SINE_TOLERANCE) | sm.MaxSeconds(cap)
    runs = {(name, kind): Run(method) for name, kinds in METHODS.items() for kind, method in kinds.items()}
    for _ in range(rounds):
        for run in runs.values():
            run.again(A, B, rule)
    print(f"  to sin θ ≤ {SINE_TOLERANCE:.0e}, at most {cap:.0f} s each. Products and solves exclude the set-up;")
    print("  GD and PMD solve with B only in the set-up. Last column: the time with Cholesky / this time, and (for the")
    print("  iteration alone); above 1 Cholesky is slower.")
    heads = {"A": 8, "B": 8, "B solves": 9, "P solves": 9, "setup/s": 9, "iter/s": 9, "sin θ": 9, "Cholesky/PCG": 16}
    print(f"    {'method':<12}{'inner':<13}{'steps':>7}" + "".join(f"{text:>{wide}}" for text, wide in heads.items()))
    rows = []
    for (name, kind), run in runs.items():
        rows.append(row(name, kind, run, B, u))
        first = next(iter(METHODS[name]))
        print(line(rows[-1], None if kind == first else runs[name, first]), flush=True)
    return rows


def row(name: str, kind: str, run: Run, B: Any, u: np.ndarray) -> dict[str, Any]:
    solution = run.solution
    assert solution is not None
    counts = solution.counts
    return {
        "method": name,
        "inner": kind,
        "state": run.failure or "good",
        "steps": solution.steps,
        "A_products": counts.A_products,
        "B_products": counts.B_products,
        "B_solves": counts.B_solves,
        "P_solves": counts.P_solves,
        "setup": solution.seconds.setup,
        "iteration": solution.seconds.iteration,
        "sine": sine(B, u, solution.eigenvectors[:, 0]),
    }


def line(r: dict[str, Any], factorised: Run | None) -> str:
    text = f"    {r['method']:<12}{r['inner']:<13}{r['steps']:>7}"
    text += f"{r['A_products']:>8}{r['B_products']:>8}{r['B_solves']:>9}{r['P_solves']:>9}"
    text += f"{r['setup']:>9.3f}{r['iteration']:>9.3f}{r['sine']:>9.1e}"
    if r["state"] != "good":
        return f"{text}  NOT CONVERGED: {r['state']}"
    if factorised is None or factorised.failure or factorised.solution is None:
        return text
    seconds = factorised.solution.seconds
    whole, part = seconds.total / (r["setup"] + r["iteration"]), seconds.iteration / r["iteration"]
    return f"{text}{f'{whole:.2f} ({part:.2f})':>16}"
