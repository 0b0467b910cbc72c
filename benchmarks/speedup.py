"""The paper's synthetic cells: products and time of each method, as multiples of the power method's."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

import splitmerge as sm

METHODS = {
    "GD": sm.GradientDescent(),
    "PMD sampled": sm.MirrorDescent(stepsize=sm.Sampled()),
    "PMD adaptive": sm.MirrorDescent(),
    "Split-Merge": sm.SplitMerge(),
    "Lanczos": sm.Lanczos(),
}
STARTS = 5


def measure(A: np.ndarray, B: np.ndarray, u: np.ndarray, method: sm.Method) -> tuple[float, float, float]:
    """Mean products, mean seconds of iteration and the share of starts that converged to sin θ ≤ 1e-5."""
    runs = []
    for seed in range(STARTS):
        try:
            runs.append(sm.solve(A, B, method=method, stop=sm.SineAngle(u, 1e-5), rng=seed))
        except sm.NotConverged as failure:
            runs.append(failure.solution)
    return (
        float(np.mean([run.counts.A_products for run in runs])),
        float(np.mean([run.seconds.iteration for run in runs])),
        float(np.mean([run.converged for run in runs])),
    )


def main() -> None:
    print(f"\nThe paper's 30 cells, sin θ ≤ 1e-5, mean of {STARTS} starts, one thread: power's products (and time)")
    print(
        "divided by the method's; above 1 the method is the cheaper one. A share below 1 of converged starts is shown."
    )
    print(f"{'n':>5}{'κ_B':>5}{'power':>8}" + "".join(f"{name:>22}" for name in METHODS))
    with threadpool_limits(1):
        for n in sm.gallery.SIZES:
            for kappa in sm.gallery.KAPPA_B:
                A, B = sm.gallery.synthetic_pair(n, kappa, rng=n + kappa)
                u = scipy.linalg.eigh(A, B, subset_by_index=[n - 1, n - 1])[1][:, 0]
                products, seconds, _ = measure(A, B, u, sm.Power())
                row = f"{n:>5}{kappa:>5}{products:>8.0f}"
                for method in METHODS.values():
                    own, own_seconds, share = measure(A, B, u, method)
                    failed = "" if share == 1 else f" {share:.0%}"
                    row += f"{f'{products / own:.2f} ({seconds / own_seconds:.2f}){failed}':>22}"
                print(row, flush=True)
