"""A solution in a few lines."""

from dataclasses import replace

import numpy as np
import pytest

import splitmerge as sm
from splitmerge.problem.problem import Problem
from splitmerge.problem.products import Counts, Tally
from splitmerge.run.history import History
from splitmerge.run.reason import Reason
from splitmerge.solution.display.words import WIDTH, asked, cost
from splitmerge.solution.solution import Seconds, Solution
from splitmerge.verification.verdict import Verdict


def large(n=1_000_000, k=50, **changes):
    """A solution that nobody has computed; its vectors take no memory."""
    problem = Problem(None, None, k, "smallest", None, None, 1e-8, None, None, "error", False)
    parts = {
        "eigenvalues": -1.23456789e-200 * np.arange(1.0, k + 1),
        "eigenvectors": np.broadcast_to(0.0, (n, k)),
        "residuals": np.full(k, 1e-9),
        "error_bounds": np.full(k, np.inf),
        "angle_bounds": np.ones(k),
        "clusters": np.arange(k),
        "converged": False,
        "reason": max(Reason, key=lambda reason: len(reason.advice)),
        "steps": 123_456_789,
        "counts": Counts(*(123_456_789,) * 5),
        "seconds": Seconds(1.23456e-5, 1.23456e5),
        "history": History(),
        "verdict": Verdict("unchecked", "it could not be checked, and this is a long story of why " * 5),
        "shift": 0.0,
        "method": None,
        "problem": problem,
    }
    return Solution(**(parts | changes))


@pytest.mark.parametrize("k", [0, 1, 5, 6, 50, 1000])
@pytest.mark.parametrize("n", [1, 1_000_000])
def test_repr_fits_on_a_screen(n, k):
    sol = large(n, k)
    text = repr(sol)
    assert str(sol) == text
    assert len(text) <= 800
    assert len(text.splitlines()) <= 8
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize("reason", Reason)
def test_every_reason(reason):
    text = repr(large(reason=reason, converged=reason.converged))
    assert len(text) <= 800
    assert len(text.splitlines()) <= 8
    assert ("  not converged: " in text) != reason.converged


def test_repr_says_what_matters():
    sol = sm.solve(*sm.gallery.element_laplacian((31, 31)), k=6, which="smallest", method=sm.Accelerated(), rng=0)
    text = repr(sol)
    counts = sol.counts
    for part in (
        "Solution: 6 smallest, n = 900, float64",
        "19.756108  49.491806  49.491806  79.227503  …  99.",
        f"residuals ≤ {sol.residuals.max():.1e}, error bounds ≤ {sol.error_bounds.max():.1e}",
        "converged: The residual met the tolerance.",
        f"certified: {sol.verdict.why[:40]}",
        f"{sol.steps} steps, {counts.A_products} products with A, {counts.B_products} with B",
        f"{counts.K_solves} solves with A − σB, ",
    ):
        assert part in text


def test_a_solution_of_other_rows():
    """`n` is that of all processes, not the number of rows here."""

    class Elsewhere(Solution):
        n = 12_345_678

    parts = vars(large(10, 2))
    assert repr(Elsewhere(**parts)).startswith("Elsewhere: 2 smallest, n = 12,345,678, float64\n")


class TestAsked:
    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({}, "50 smallest"),
            ({"which": "magnitude"}, "50 largest by magnitude"),
            ({"which": "ends"}, "50 largest and smallest"),
            ({"sigma": 2.5}, "50 nearest to 2.5"),
            ({"interval": (0.0, np.inf)}, "all from 0 to inf, 50 found"),
            ({"k": 60}, "60 smallest, 50 found"),
        ],
    )
    def test_problems(self, changes, words):
        sol = large()
        assert asked(replace(sol, problem=replace(sol.problem, **changes))) == f"{words}, n = 1,000,000"

    def test_unknown(self):
        assert asked(large(problem=None)) == "50 pairs, n = 1,000,000"
        assert asked(large(9, 1, problem=None)) == "1 pair, n = 9"


def test_cost():
    assert cost(Tally(A_products=3)) == cost(Tally()) == "products with A"
    assert cost(Tally(K_solves=3)) == "solves with A − σB"
    assert cost(Tally(A_products=1, K_solves=3)) == "products with A and solves with A − σB"
