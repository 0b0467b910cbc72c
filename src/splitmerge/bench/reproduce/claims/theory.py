"""The paper's theorems as claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..results import Results
from .judgement import Claim, Judgement


def _theorem(name: str, least: float, text: str, reason: str = "") -> Callable[[Results], Judgement]:
    def judge(results: Results) -> Judgement:
        worst = results.theory["worst"][name]
        figures = text.format(worst=worst, pairs=results.theory["pairs"], n=results.theory["n"])
        return Judgement("reproduced" if worst <= least else "not reproduced", figures, reason)

    return judge


def _published_descent(results: Results) -> Judgement:
    worst = results.theory["worst"]
    raised = results.theory["raised"]
    return Judgement(
        "partly" if raised else "reproduced",
        f"f rose at the published iterates in {raised} of {results.theory['pairs']} runs with ρ = max(1, 1.01 t), by "
        f"up to {worst['published']:.0e} times its size; at their best multiples the largest rise was "
        f"{worst['merge']:.0e}",
        "the surrogate bounds the Hessian only at the iterate, and with the ρ that gives the paper's speed a step "
        "leaves the region where the bound holds: the direction is a descent direction, but the step is too long",
    )


STATEMENTS = (
    Claim(
        "Stationary points of f are eigenvectors, with λ = 2√(xᵀAx).",
        "section 2, optimality (i)",
        "theory",
        _theorem(
            "stationary",
            1e-12,
            "‖∇f‖ relative to ‖Bx‖ at most {worst:.0e} at all eigenvectors of {pairs} pairs, n = {n}",
        ),
    ),
    Claim(
        "The minimum of f is −λ₁/4.",
        "section 2, optimality (ii)",
        "theory",
        _theorem("minimum", 1e-12, "off by at most {worst:.0e} of λ₁ on {pairs} pairs"),
    ),
    Claim(
        "All other eigenvectors are strict saddles.",
        "section 2, optimality (iii)",
        "theory",
        _theorem(
            "saddle", -1e-6, "the curvature along u₁ is {worst:.2g} or less at every one of them, on {pairs} pairs"
        ),
    ),
    Claim(
        "∇²f ≼ H(u, v) ≼ 2B.",
        "section 4.1",
        "theory",
        _theorem("surrogate", 1e-12, "violated by at most {worst:.0e} on {pairs} pairs"),
    ),
    Claim(
        "Descent methods need no line search: f falls with every step below 1/λ₁(B̃).",
        "section 3.1, descent lemma",
        "theory",
        _theorem("rise", 1e-13, "the largest rise of f in a step of GD or mirror descent was {worst:.0e} of its size"),
    ),
    Claim(
        "Mirror descent with PᵀP = B and step ½ is the power method.",
        "section 3.2",
        "theory",
        _theorem("half", 1e-10, "iterates differ by at most {worst:.0e} after ten steps, on {pairs} pairs"),
    ),
    Claim(
        "Split-Merge for (A, B) is Split-Merge for the transformed standard problem.",
        "section 4.2",
        "theory",
        _theorem("transform", 1e-8, "their Rayleigh quotients differ by at most {worst:.0e} over sixty steps"),
    ),
    Claim("A Split-Merge step minimises a surrogate of f, so that f falls.", "4.1", "theory", _published_descent),
)
# theorems hold from every start
CLAIMS = tuple(replace(claim, starts=0) for claim in STATEMENTS)
