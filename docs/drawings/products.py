"""How many products with A the methods need on one pair."""

from __future__ import annotations

from matplotlib.figure import Figure

import splitmerge as sm

METHODS = {
    "power": sm.Power(),
    "mirror descent": sm.MirrorDescent(),
    "Split-Merge": sm.SplitMerge(),
    "default": sm.Accelerated(),
}


def draw(ink: dict[str, str]) -> dict[str, Figure]:
    """Residual against products with A, for the largest eigenvalue of a synthetic pair."""
    figure = Figure(figsize=(6.4, 3.4), layout="constrained")
    axes = figure.subplots()
    A, B = sm.gallery.synthetic_pair(512, kappa_B=10, rng=0)
    for name, method in METHODS.items():
        history = sm.solve(A, B, method=method, tol=1e-8, rng=0).history
        axes.semilogy(history.products, history.residual, color=ink[name], label=name)
    axes.set(xlabel="products with A", ylabel="relative residual", ylim=(5e-9, 3))
    axes.legend(fontsize=9)
    return {"": figure}
