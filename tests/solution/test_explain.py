"""What a solution knows of the choices behind it, and what it says about them in words."""

import ast
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from asking import tridiagonal
from checking import choices, each_method, each_route, each_solver, figures_of, operator_of, partial
from pairs import EASY, HARD, shifted_pair
from physics import heisenberg, square
from splitmerge import Reason
from splitmerge.methods.refinement.mixed_precision import MixedPrecision
from splitmerge.planning import costs
from splitmerge.planning.costs import expected_products
from splitmerge.planning.decision import Choice
from splitmerge.planning.plan import Candidate, Engine, Map, Plan
from splitmerge.problem.products import Counts
from splitmerge.solution import back_transform
from splitmerge.solution.explain import CONDITIONS, WORDS, worded, worded_plan


class TestExplain:
    @each_method
    def test_method_and_solver(self, method):
        text = sm.solve(*EASY, method=method, rng=0).explain()
        assert type(method).__name__ in text
        assert "Cholesky" in text
        assert "Residual" in text
        assert ("probed" if isinstance(method, sm.Accelerated) else "unchecked") in text

    def test_default(self):
        small, large = sm.solve(*EASY, rng=0), sm.solve(*sm.gallery.synthetic_pair(380, 10, rng=0), rng=0)
        assert "LAPACK" in small.explain()
        assert small.method is None
        assert small.verdict == "certified"
        assert "Accelerated" in large.explain()
        assert large.method == sm.Accelerated()

    def test_conjugate_gradients(self):
        A, B = EASY
        method = sm.Power(inner=sm.ConjugateGradient(max_steps=17))
        text = sm.solve(A, sp.csr_array(B), method=method, rng=0).explain()
        assert "conjugate gradients" in text
        assert "17" in text

    @each_solver
    def test_operator_B(self, method):
        A, B = EASY
        sol = sm.solve(A, operator_of(B), method=method, rng=0)
        # the entries of a small operator are computed
        assert "FORMED_B" in choices(sol)
        assert figures_of(sol, "SOLVER")["solver"] == "a Cholesky factorisation of B"

    @pytest.mark.parametrize("method", [sm.Accelerated, sm.Power])
    def test_user_solve(self, method):
        A, B = EASY
        method = method(inner=sm.UserSolve(lambda b: np.linalg.solve(B, b)))
        assert "supplied" in sm.solve(A, B, method=method, rng=0).explain()

    def test_preconditioner(self):
        used, unused = (
            sm.solve(*EASY[:count], method=sm.Accelerated(), preconditioner=sm.Diagonal()) for count in (2, 1)
        )
        assert "preconditioned by Diagonal()" in used.explain()
        assert "The preconditioner Diagonal() was not used" in unused.explain()

    @each_route
    def test_no_B(self, method):
        assert "identity" in sm.solve(EASY[0], method=method, rng=0).explain()

    def test_shift(self):
        A, B = shifted_pair()
        sol = sm.solve(A, B, method=sm.SplitMerge(), rng=0)
        assert sol.shift > 0
        lowest = scipy.linalg.eigh(A, B, eigvals_only=True)[0]
        assert sol.shift >= -lowest * (1 - 1e-8)
        assert figures_of(sol, "SHIFTED")["shift"] == sol.shift
        assert "η" in sol.explain()

    @each_route
    def test_no_shift(self, method):
        sol = sm.solve(*EASY, method=method, rng=0)
        assert sol.shift == 0
        assert "η" not in sol.explain()

    def test_lanczos_is_shifted_too(self):
        """It needs no definite A, but deflated vectors must not come back as the largest of a negative rest."""
        sol = sm.solve(*shifted_pair(), rng=0, method=sm.Lanczos())
        assert sol.shift > 0

    @each_route
    def test_smallest(self, method):
        assert "smallest" in sm.solve(*EASY, which="smallest", method=method, rng=0).explain()

    @each_route
    def test_extreme_scale(self, method):
        A, B = EASY
        assert "scaled" in sm.solve(A * 1e100, B, method=method, rng=0).explain()

    @each_route
    def test_not_converged(self, method):
        sol = partial(Reason.MAX_STEPS, *HARD, method=method, max_steps=3, tol=1e-14)
        assert "3 steps" in sol.explain()
        assert Reason.MAX_STEPS.advice in sol.explain(), "the reason belongs to the story"

    @each_route
    def test_verdict(self, method):
        sol = sm.solve(*EASY, method=method, rng=0)
        assert sol.verdict in ("certified", "probed", "unchecked")
        assert isinstance(sol.verdict, str)
        assert sol.verdict.why
        assert sol.verdict.why in sol.explain()

    @each_route
    def test_summary_and_repr(self, method):
        sol = sm.solve(*EASY, 2, method=method, rng=0)
        assert sol.summary().startswith("2 pairs after ")
        assert sm.solve(*EASY, method=method, rng=0).summary().startswith("1 pair after ")
        assert "Solution" in repr(sol)


def pair_with_a_leader(n):
    """A sparse pair with an eigenvalue far from all others, and a B that conjugate gradients solve quickly."""
    A = sp.diags_array(np.r_[10.0, np.linspace(0.0, 1.0, n - 1)]).tocsr()
    return sp.csr_array(A), tridiagonal(n, 4.0, 1.0)


def singular_pair():
    A, B = EASY
    sizes, Q = np.linalg.eigh(B)
    B = (Q * np.r_[0.0, sizes[1:]]) @ Q.T
    return A, (B + B.T) / 2


DENSE, LARGE = sm.gallery.synthetic_pair(380, 10.0, rng=0), sm.gallery.synthetic_pair(560, 10.0, rng=0)
SPARSE = tridiagonal(450), tridiagonal(450, 4.0, 1.0)
STRETCH = np.diag(np.logspace(0, 3, 40))
ITERATION = ("ITERATION", {"method": sm.Accelerated()})
CHOLESKY = ("SOLVER", {"backend": None})

# what is solved, and the decisions in their order with some of their figures; the first, WANTED, is left out
SOLVES = {
    "LAPACK": (EASY, {"k": 2}, [CHOLESKY, ("LAPACK", {"k": 2, "n": 40})]),
    "LAPACK, identity": (EASY[:1], {}, [("IDENTITY", {}), ("LAPACK", {"k": 1, "n": 40})]),
    "LAPACK, smallest": (
        *(EASY, {"which": "smallest"}),
        [("SWAPPED", {"shift": 0.0, "sign": 1, "backend": None}), ("LAPACK", {"k": 1, "n": 40})],
    ),
    "iteration": (DENSE, {}, [CHOLESKY, ITERATION]),
    "iteration, identity": (DENSE[:1], {}, [("IDENTITY", {}), ITERATION]),
    "iteration, many pairs": (
        *(DENSE, {"k": 60, "method": sm.Accelerated()}),
        [CHOLESKY, ("EXPLICIT", {"products": expected_products(380, 60)}), ITERATION],
    ),
    "mixed precision": (LARGE, {}, [("MIXED_PRECISION", {}), ITERATION]),
    "refinement": (LARGE, {"x0": scipy.linalg.eigh(*LARGE)[1][:, -1]}, [("REFINEMENT", {}), ITERATION]),
    "smallest": (SPARSE, {"which": "smallest", "k": 2}, [("SWAPPED", {"shift": 0.0, "sign": 1}), ITERATION]),
    "smallest, unfactorised": (
        *((heisenberg(10),), {"which": "smallest"}),
        [("NEGATED", {}), ("UNFACTORISED", {}), ("IDENTITY", {}), ITERATION],
    ),
    "smallest, given up": (
        *((square(112),), {"which": "smallest", "k": 2}),
        [("GIVEN_UP", {}), ("SWAPPED", {"shift": 0.0, "sign": 1}), ITERATION],
    ),
    "smallest, predicted": (
        *((tridiagonal(15_000), tridiagonal(15_000, 4.0, 1.0)), {"which": "smallest"}),
        [("SWAPPED", {"shift": 0.0, "sign": 1}), ("PREDICTED", {}), ITERATION],
    ),
    "sigma below": (SPARSE, {"sigma": -0.1, "k": 2}, [("SWAPPED", {"shift": 0.1, "sign": 1}), ITERATION]),
    "sigma above": (SPARSE, {"sigma": 3.0, "k": 2}, [("SWAPPED", {"shift": -3.0, "sign": -1}), ITERATION]),
    "sigma": (SPARSE, {"sigma": 0.3, "k": 2}, [("SHIFT_INVERT", {"sigma": 0.3}), ITERATION]),
    "sigma far below": (
        *(SPARSE, {"sigma": -1e12, "k": 2}),
        [("FAR_SHIFT", {"sigma": -1e12, "end": "smallest"}), ("SWAPPED", {"shift": 0.0, "sign": 1}), ITERATION],
    ),
    "interval": (
        *(SPARSE, {"interval": (0.1, 0.2)}),
        [("COUNTED", {"low": 0.1, "high": 0.2}), ("SLICED", {}), ITERATION],
    ),
    "interval, empty": (SPARSE, {"interval": (-2.0, -1.0)}, [("COUNTED", {"below": 0}), ("SLICED", {"slices": ()})]),
    "interval, LAPACK": (EASY, {"interval": (-1.0, 100.0)}, [("LAPACK", {"n": 40})]),
    "operator A": (
        *((operator_of(SPARSE[0].toarray()), SPARSE[1]), {"which": "smallest"}),
        [("SWAPPED", {"shift": 0.0}), ("FORMED_A", {"n": 450}), ITERATION],
    ),
    "operator B": (
        *((EASY[0], operator_of(EASY[1])), {"method": sm.Accelerated()}),
        [("FORMED_B", {"n": 40}), CHOLESKY, ITERATION],
    ),
    "operator B, smallest": (
        *((EASY[0], operator_of(EASY[1])), {"which": "smallest", "method": sm.Accelerated()}),
        [("NEGATED", {}), ("FORMED_B", {"n": 40}), CHOLESKY, ITERATION],
    ),
    "LOBPCG": (EASY, {"method": sm.LocallyOptimal()}, [("MATRIX_FREE", {"preconditioner": None}), ("ITERATION", {})]),
    "LOBPCG, smallest": (
        *(SPARSE, {"which": "smallest", "method": sm.LocallyOptimal()}),
        [("TRIAL", {"prediction": None}), ("MATRIX_FREE", {"preconditioner": sm.MultiGrid()}), ("ITERATION", {})],
    ),
    "LOBPCG, preconditioned": (
        *(SPARSE, {"which": "smallest", "preconditioner": sm.MultiGrid()}),
        [("MATRIX_FREE", {"preconditioner": sm.MultiGrid()}), ("ITERATION", {})],
    ),
    "unused preconditioner": (
        *(EASY, {"preconditioner": sm.Diagonal()}),
        [CHOLESKY, ("LAPACK", {}), ("UNUSED_PRECONDITIONER", {"preconditioner": "Diagonal()"})],
    ),
    "deflation": (
        *(EASY, {"method": sm.SplitMerge(), "k": 2}),
        [("DEFLATION", {"which": "largest", "method": sm.SplitMerge()}), CHOLESKY, ("STOP", {})],
    ),
    "deflation, identity": (
        *(EASY[:1], {"method": sm.Power()}),
        [("DEFLATION", {"method": sm.Power()}), ("IDENTITY", {}), ("STOP", {})],
    ),
    "deflation, smallest": (
        *(EASY, {"method": sm.SplitMerge(), "which": "smallest"}),
        [
            ("DEFLATION", {"which": "smallest"}),
            CHOLESKY,
            ("NEGATED", {}),
            ("SHIFTED", {"which": "smallest"}),
            ("STOP", {}),
        ],
    ),
    "restricted": (
        *(singular_pair(), {"b_policy": "restrict"}),
        [("B_POLICY", {}), ("IDENTITY", {}), ("LAPACK", {"n": 39})],
    ),
    "equilibrated": (
        *((STRETCH @ EASY[0] @ STRETCH, STRETCH @ EASY[1] @ STRETCH), {}),
        [("EQUILIBRATED", {}), CHOLESKY, ("LAPACK", {})],
    ),
    "scaled": ((EASY[0] * 1e100, EASY[1]), {}, [("SCALED", {}), CHOLESKY, ("LAPACK", {})]),
}


@cache
def solved(name):
    pair, options, _ = SOLVES[name]
    return sm.solve(*pair, rng=0, **options)


def same(figures, expected):
    """Do the figures contain the expected ones?"""
    for name, value in expected.items():
        assert figures[name] == (pytest.approx(value, rel=1e-9) if isinstance(value, float) else value), name


@pytest.mark.parametrize("name", SOLVES)
class TestDecisions:
    def test_which_and_in_which_order(self, name):
        sol, expected = solved(name), SOLVES[name][2]
        assert [decision.choice.name for decision in sol.decisions] == ["WANTED", *(choice for choice, _ in expected)]
        for decision, (_, figures) in zip(sol.decisions[1:], expected, strict=True):
            same(decision.figures, figures)

    def test_what_was_asked_for(self, name):
        pair, options, _ = SOLVES[name]
        figures = figures_of(solved(name), "WANTED")
        k = solved(name).eigenvalues.size if "interval" in options else options.get("k", 1)
        same(figures, {"k": k, "which": options.get("which", "largest")})
        assert figures["interval"] == options.get("interval")
        assert figures["sigma"] == options.get("sigma")
        assert figures["dtype"] == np.float64
        assert figures["n"] == pair[0].shape[0] - (name == "restricted")

    def test_the_rule_is_that_of_the_problem(self, name):
        for decision in solved(name).decisions:
            if decision.choice in (Choice.ITERATION, Choice.STOP):
                assert decision["rule"].residual_tol == 1e-8

    def test_words(self, name):
        """A sentence for each decision, which `explain` repeats."""
        sol = solved(name)
        told = worded(sol.decisions)
        assert len(told) == len(sol.decisions)
        assert all(sentence.endswith(".") for sentence in told)
        assert sol.explain().startswith("\n".join(told))
        assert sol.story == told


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("smallest, unfactorised", ("A was not factorised", "s were predicted", "(−A, B)")),
        ("smallest, given up", ("was given up after", "roughly predicted for a factorisation")),
        ("smallest, predicted", ("was predicted to take", "A is positive definite")),
    ],
)
def test_why_and_at_which_price(name, words):
    text = solved(name).explain()
    for word in words:
        assert word in text


class TestOtherDecisions:
    """Those that need a large problem, an earlier solution or a machine of another kind."""

    def test_shift(self):
        sol = sm.solve(*shifted_pair(), method=sm.SplitMerge(), rng=0)
        assert figures_of(sol, "SHIFTED") == {"which": "largest", "shift": sol.shift}

    def test_smallest_of_an_indefinite_pair(self):
        A, B = SPARSE
        sol = sm.solve(A - B, B, 2, which="smallest", rng=0)
        figures = figures_of(sol, "SWAPPED")
        assert figures["shift"] == sol.shift > -float(sol.eigenvalues[0]), "A + ηB is positive definite"
        assert isinstance(figures["backend"], str)

    def test_b_policy(self):
        sol = solved("restricted")
        assert figures_of(sol, "B_POLICY") == {"report": sol.b_report}
        assert (sol.b_report.policy, sol.b_report.dropped) == ("restrict", 1)

    def test_trial(self):
        """The figures of the trial say what was tried."""
        figures = figures_of(solved("LOBPCG, smallest"), "TRIAL")
        tried = [trial["preconditioner"] for trial in figures["trials"]]
        assert tried[:2] == [repr(sm.Diagonal()), repr(sm.MultiGrid())]
        assert all(0 < trial["rate"] < 1 for trial in figures["trials"])
        assert figures["seconds"] > 0

    def test_a_candidate_that_fails_leaves_no_decision(self, monkeypatch):
        monkeypatch.setattr(MixedPrecision, "accept", lambda *_: Reason.UNCONFIRMED)
        sol = sm.solve(*LARGE, rng=0)
        assert [decision.choice.name for decision in sol.decisions] == ["WANTED", "SOLVER", "ITERATION"]
        assert sol.converged

    def test_warm_start(self):
        sol = sm.solve(*EASY, 2, method=sm.Accelerated(), rng=0).resume(tol=1e-12, rng=0)
        assert [decision.choice.name for decision in sol.decisions][:2] == ["WANTED", "WARM_START"]
        assert "WARM_START" not in choices(solved("iteration"))

    def test_conjugate_gradients(self, monkeypatch):
        """Where the factor of B does not fit into the memory."""
        A, B = pair_with_a_leader(costs.PREDICTED_N)
        assert "CONJUGATE_GRADIENTS" not in choices(sm.solve(A, B, rng=0))
        monkeypatch.setattr(costs, "free_memory", lambda: 1e4)
        sol = sm.solve(A, B, rng=0)
        figures = figures_of(sol, "CONJUGATE_GRADIENTS")
        assert figures["prediction"] == costs.predict(B)
        assert figures["factorised"] == costs.factorised_seconds(figures["prediction"], 1)
        assert figures["seconds"] > 0
        assert worded(sol.decisions)

    def test_advice(self, monkeypatch):
        """On a backend that is not installed, from some size on."""
        monkeypatch.setattr(back_transform, "advice", lambda factors: "Install another one.")
        asked = {"which": "smallest", "method": sm.Accelerated(), "rng": 0}
        assert "BACKEND_ADVICE" not in choices(sm.solve(*SPARSE, **asked))
        monkeypatch.setattr(back_transform, "WORTH_A_WORD", 450)
        sol = sm.solve(*SPARSE, **asked)
        assert figures_of(sol, "BACKEND_ADVICE") == {"advice": "Install another one."}
        assert sol.story[-1] == "Install another one."


class TestWords:
    def test_the_summary_gives_every_count(self):
        sol = solved("sigma")
        counts = Counts(A_products=211, B_products=223, B_solves=227, K_solves=229)
        said = replace(sol, counts=counts).summary()
        for words in ("211 products with A", "223 with B", "227 solves with B", "229 with A − σB"):
            assert words in said

    def test_every_choice_has_words(self):
        assert WORDS.keys() == set(Choice)

    def test_every_map_has_its_condition(self):
        assert CONDITIONS.keys() == set(Map)

    def test_every_choice_is_looked_at_here(self):
        """By the tests of decisions above, in a solve that makes it."""
        seen = {choice for _, _, expected in SOLVES.values() for choice, _ in expected}
        others = {"WANTED", "WARM_START", "RESUMED", "CONJUGATE_GRADIENTS", "BACKEND_ADVICE", "CHECKPOINT"}
        assert seen | others == {choice.name for choice in Choice}

    def test_words_have_no_numbers_of_their_own(self):
        """A sentence changes with the figures of its decision."""
        (decision,) = [found for found in solved("sigma").decisions if found.choice is Choice.SHIFT_INVERT]
        other = type(decision)(decision.choice, decision.figures | {"sigma": 0.125})
        assert "0.3" in worded([decision])[0]
        assert "0.125" in worded([other])[0]

    def test_a_shift_beyond_the_spectrum(self):
        assert (
            "All eigenvalues are above σ = -1e+12 and far from it, so the nearest are the smallest."
            in solved("sigma far below").explain()
        )


# Tests that look at the words themselves; all others look at decisions, counts and reasons.
READERS = {
    "solution": "what a solution says, also after it was stored and loaded",
    "cli": "what a reader of the command line sees",
    "express": "the short way must say what the pipeline says",
    "behaviour/test_default_b_policy.py": "the report on B is part of it",
    "behaviour/test_stopping_rules.py": "the advice of the reason is part of it",
}


def test_no_numerical_test_reads_prose():
    tests = Path(__file__).resolve().parents[1]
    readers = set()
    for path in sorted(tests.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        nodes = ast.walk(ast.parse(text)) if "explain" in text or "story" in text else ()
        if any(isinstance(node, ast.Attribute) and node.attr in ("explain", "story") for node in nodes):
            readers.add(path.relative_to(tests).as_posix())
    unexpected = {name for name in readers if name not in READERS and name.split("/")[0] not in READERS}
    assert not unexpected


@pytest.mark.parametrize(("n", "dtype", "told"), [(100, float, False), (300, float, True), (300, np.float32, False)])
def test_a_plan_names_the_short_search_that_comes_first(n, dtype, told):
    A, B = (M.astype(dtype) for M in sm.gallery.synthetic_pair(n, 10.0, rng=0))
    pencil = sm.Pencil(A, B)
    lines = list(worded_plan(Plan((Candidate(Engine.LAPACK),)), pencil, 1))
    assert ("Lanczos in one basis" in lines[0]) == told
