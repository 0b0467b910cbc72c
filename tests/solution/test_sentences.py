"""Each figure of a decision stands in its own place of the sentence."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import splitmerge as sm
from asking import asked, tridiagonal
from checking import figures_of, operator_of
from pairs import EASY
from splitmerge.planning.choose import choose
from splitmerge.planning.decision import Choice, decided
from splitmerge.planning.plan import Candidate, Engine, Map, Plan
from splitmerge.problem.products import Counts, Tally
from splitmerge.solution.explain import worded, worded_plan

PREDICTION = SimpleNamespace(backend="MUMPS", bytes=3 * 2**30)
COUNTS = Counts(11, 13, 17, 19, 23, setup=Tally(29), monitoring=Tally(31))
TRIALS = (
    {"preconditioner": "Diagonal()", "setup": 0.25, "step": 0.5, "rate": 0.75},
    {"preconditioner": "MultiGrid()", "setup": 1.5, "step": 2.5, "rate": 0.125},
)
TRIED = (
    "Trial of preconditioners: Diagonal() took 0.25 s to set up and 0.5 s a step, each of which left 0.75 of the error"
    "; MultiGrid() took 1.5 s to set up and 2.5 s a step, each of which left 0.12 of the error."
)
FACTORISED = "A factorisation by MUMPS was predicted to take 3 GiB and, with its solves, 7.25 s"
WANTED = {"which": "largest", "sigma": None, "interval": None, "k": 3, "n": 70, "kinds": ("dense", "sparse")}
WANTED |= {"dtype": np.dtype("f")}
OF = "of a pair of size 70 (dense, sparse, float32)."
SHIFTED = "is positive definite: the eigenvalues next to"
BY_QDLDL = "were computed with its Cholesky factor by QDLDL."
GIVEN_UP = {"products": 41, "limit": 90.4, "seconds": 0.5, "factorised": 7.0, "backend": "MUMPS"}
SLICES = {"slices": ((4, 0.5),), "factorisations": 9, "backend": "QDLDL"}
CHECKPOINT = {"path": "run.ckpt", "written": 3, "last": 71.25, "failure": None}
RESUMED = {"columns": 5, "steps": 7, "counts": COUNTS, "seconds": 2.5}

# choice, figures, and what is said
SENTENCES = [
    (Choice.WANTED, WANTED, f"Wanted: the 3 largest {OF}"),
    (Choice.WANTED, WANTED | {"which": "smallest"}, f"Wanted: the 3 smallest {OF}"),
    (Choice.WANTED, WANTED | {"which": "magnitude"}, f"Wanted: the 3 largest by magnitude {OF}"),
    (Choice.WANTED, WANTED | {"which": "ends"}, f"Wanted: the 3 largest and smallest {OF}"),
    (Choice.WANTED, WANTED | {"sigma": -2.5}, f"Wanted: the 3 nearest to -2.5 {OF}"),
    (Choice.WANTED, WANTED | {"interval": (-1.0, 2.5)}, f"Wanted: all eigenvalues from -1 to 2.5 {OF}"),
    (Choice.FAR_SHIFT, {"sigma": -5.0, "end": "smallest"}, r"above σ = -5 and far from it, so the nearest are the sm"),
    (
        Choice.FAR_SHIFT,
        {"sigma": 5.0, "end": "largest"},
        r"below σ = 5 and far from it, so the nearest are the largest",
    ),
    (Choice.SWAPPED, {"shift": 0.0, "sign": 1, "backend": "QDLDL"}, "(B, A), with A factorised by QDLDL."),
    (Choice.SWAPPED, {"shift": 0.0, "sign": 1, "backend": None}, "(B, A), with A factorised."),
    (Choice.SWAPPED, {"shift": 0.25, "sign": 1, "backend": "QDLDL"}, f"A + 0.25 B {SHIFTED} -0.25 {BY_QDLDL}"),
    (Choice.SWAPPED, {"shift": -0.25, "sign": 1, "backend": "QDLDL"}, f"A − 0.25 B {SHIFTED} 0.25 {BY_QDLDL}"),
    (Choice.SWAPPED, {"shift": -3.0, "sign": -1, "backend": "QDLDL"}, f"−(A − 3 B) {SHIFTED} 3 {BY_QDLDL}"),
    (Choice.SWAPPED, {"shift": 3.0, "sign": -1, "backend": "QDLDL"}, f"−(A + 3 B) {SHIFTED} -3 {BY_QDLDL}"),
    (
        *(Choice.UNFACTORISED, {"factorised": 7.0, "backend": "MUMPS", "limit": 90.4, "seconds": 0.5}),
        "A was not factorised: 7 s were predicted for that by MUMPS, with solves and checks, and a search was expected "
        "to need fewer than the 90 products, 0.5 s, that it was allowed.",
    ),
    (
        *(Choice.GIVEN_UP, GIVEN_UP),
        "given up after 41 products: it was expected to take more than 90, 0.5 s, of the 7 s roughly predicted for a "
        "factorisation by MUMPS",
    ),
    (Choice.SHIFT_INVERT, {"sigma": -0.5, "backend": "QDLDL"}, "A − σB (σ = -0.5) factorised as L D Lᴴ by QDLDL."),
    (
        *(Choice.COUNTED, {"low": -0.5, "high": 2.5, "below": 4, "above": 11}),
        "Inertia counts: 4 eigenvalues are below -0.5 and 11 below 2.5, so 7 between them.",
    ),
    (Choice.SLICED, SLICES | {"slices": ()}, "Nothing was left to compute."),
    (Choice.SLICED, SLICES, "1 slice of 4 eigenvalues"),
    (Choice.SLICED, SLICES, "at σ = 0.5; 9 factorisations of A − τB as L D Lᴴ by QDLDL."),
    (Choice.SLICED, SLICES | {"slices": ((4, 0.5), (4, 1.5))}, "2 slices of 4 eigenvalues"),
    (Choice.SLICED, SLICES | {"slices": ((4, 0.5), (2, 1.5), (3, 2.5))}, "3 slices of 2 to 4 eigenvalues"),
    (Choice.SLICED, SLICES | {"slices": ((4, 0.5), (2, 1.5), (3, 2.5))}, "at σ = 0.5, 1.5, 2.5; 9"),
    (Choice.SLICED, SLICES | {"slices": tuple((1, float(i)) for i in range(12))}, "9, 10, 11; 9"),
    (Choice.SLICED, SLICES | {"slices": tuple((1, float(i)) for i in range(13))}, "9, 10, 11, …; 9"),
    (Choice.PREDICTED, {"prediction": PREDICTION, "factorised": 7.25}, f"{FACTORISED}."),
    (
        *(Choice.CONJUGATE_GRADIENTS, {"prediction": PREDICTION, "factorised": 7.25, "seconds": 0.5}),
        f"{FACTORISED}; conjugate gradients 0.5 s.",
    ),
    (Choice.TRIAL, {"trials": TRIALS, "prediction": None}, TRIED),
    (
        *(Choice.TRIAL, {"trials": TRIALS, "prediction": PREDICTION, "factorised": 7.25, "seconds": 0.5, "fits": True}),
        f"{TRIED} {FACTORISED}; LOBPCG 0.5 s.",
    ),
    (
        *(
            Choice.TRIAL,
            {"trials": TRIALS, "prediction": PREDICTION, "factorised": 7.25, "seconds": 0.5, "fits": False},
        ),
        f"{TRIED} {FACTORISED}; LOBPCG 0.5 s. That much memory is not free.",
    ),
    (Choice.MATRIX_FREE, {"preconditioner": None}, "Matrix-free LOBPCG, no preconditioner: nothing was factorised."),
    (Choice.MATRIX_FREE, {"preconditioner": sm.Diagonal()}, "LOBPCG, preconditioned by Diagonal(): nothing"),
    (Choice.SHIFTED, {"which": "smallest", "shift": 2.5}, "−A is not positive semidefinite"),
    (Choice.SHIFTED, {"which": "largest", "shift": 2.5}, "A is not positive semidefinite, as the objective requires: "),
    (Choice.SHIFTED, {"which": "largest", "shift": 2.5}, "η = 2.5 times B was added, and subtracted"),
    (
        *(Choice.RESUMED, RESUMED),
        "5 vectors, which had cost 7 steps, 11 products with A, 17 solves with B, 19 with A − σB and 2.5 s.",
    ),
    (Choice.RESUMED, RESUMED | {"counts": Counts(11, 13)}, "7 steps, 11 products with A and 2.5 s."),
    (Choice.CHECKPOINT, CHECKPOINT, "The checkpoint run.ckpt was written 3 times, the last time after 71.2 s."),
    (Choice.CHECKPOINT, CHECKPOINT | {"written": 1}, "run.ckpt was written 1 time, the last"),
    (Choice.CHECKPOINT, CHECKPOINT | {"failure": "No space."}, "71.2 s. Writing it then failed: No space."),
    (Choice.CHECKPOINT, CHECKPOINT | {"written": 0}, "No checkpoint was written to run.ckpt."),
    (
        *(Choice.CHECKPOINT, CHECKPOINT | {"written": 0, "failure": "No space"}),
        "No checkpoint was written to run.ckpt. Writing it then failed: No space.",
    ),
    (Choice.LAPACK, {"k": 3, "n": 70}, "for k = 3 of n = 70 that is faster"),
    (Choice.FORMED_A, {"n": 70}, "The entries of the operator A were computed by 70 products"),
    (Choice.FORMED_B, {"n": 70}, "Solves with the operator B were expected to take more than 70 products"),
    (Choice.SOLVER, {"solver": "a Cholesky factorisation of B", "backend": "QDLDL"}, "factorisation of B by QDLDL."),
    (Choice.SOLVER, {"solver": "a Cholesky factorisation of B", "backend": None}, "a Cholesky factorisation of B."),
    (Choice.EXPLICIT, {"products": 41.7}, "Some 42 products were expected"),
    (Choice.DEFLATION, {"which": "smallest", "method": sm.Power()}, "The smallest pairs were sought with Power("),
    (Choice.STOP, {"rule": sm.MaxSteps(5)}, "The stopping rule was MaxSteps(steps=5)."),
    (Choice.ITERATION, {"method": sm.Power(), "rule": sm.MaxSteps(5)}, "; its stopping rule was MaxSteps(steps=5)."),
]


@pytest.mark.parametrize(
    ("choice", "figures", "told"), SENTENCES, ids=[f"{row[0].name} {row[2][:30]}" for row in SENTENCES]
)
def test_figures_in_their_places(choice, figures, told):
    (sentence,) = worded([decided(choice, **figures)])
    assert told in sentence


def test_a_positive_A_is_not_called_negative():
    (sentence,) = worded([decided(Choice.SHIFTED, which="largest", shift=2.5)])
    assert "−A" not in sentence


SPARSE = tridiagonal(90), tridiagonal(90, 4.0, 1.0)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize(
    ("move", "wanted"),
    [(0.0, {"sigma": -0.1}), (0.0, {"sigma": 3.0}), (1.0, {"which": "smallest"}), (1.0, {"sigma": -1.25})],
    ids=str,
)
def test_the_definite_matrix_that_is_named_is_definite(move, wanted, unit):
    """And the eigenvalues are next to the number that is told, in the units of the user."""
    A, B = ((SPARSE[0] - move * SPARSE[1]) * unit).tocsr(), SPARSE[1]
    options = wanted | ({"sigma": wanted["sigma"] * unit} if "sigma" in wanted else {})
    sol = sm.solve(A, B, 2, rng=0, method=sm.Accelerated(), **options)
    told = re.search(r"(−\()?A ([+−]) (\S+) B\)? is positive definite: the eigenvalues next to (\S+) ", sol.explain())
    assert told is not None
    eta = float(told[3]) * (1 if told[2] == "+" else -1)
    definite = (A + eta * B).toarray() * (-1 if told[1] else 1)
    assert np.linalg.eigvalsh(definite)[0] > 0
    assert float(told[4]) == -eta == pytest.approx(-sol.shift, rel=1e-5)
    if "sigma" in options:
        assert float(told[4]) == pytest.approx(options["sigma"])
    near = np.abs(sol.eigenvalues - float(told[4]))
    assert near.max() <= np.abs(np.linalg.eigvals(np.linalg.solve(B.toarray(), A.toarray())) - float(told[4])).max()
    assert figures_of(sol, "SWAPPED")["sign"] == (-1 if told[1] else 1)


@pytest.mark.parametrize(("unit", "mass"), [(1.0, 1.0), (1e6, 1.0), (1.0, 1e-6), (1e-6, 1e3)])
class TestUnitsOfFigures:
    """Shifts, ends and counts are told in the units of the eigenvalues."""

    def pair(self, unit, mass):
        n = 700
        A, B = tridiagonal(n), tridiagonal(n, 4.0, 1.0)
        waves = 2 * np.cos(np.arange(1, n + 1) * np.pi / (n + 1))
        return (A * unit).tocsr(), (B * mass).tocsr(), np.sort((2 - waves) / (4 + waves)) * (unit / mass)

    def test_next_to_a_shift(self, unit, mass):
        A, B, values = self.pair(unit, mass)
        sigma = 0.3 * unit / mass
        sol = sm.solve(A, B, 2, sigma=sigma, method=sm.Accelerated(), rng=0)
        told = re.search(r"with A − σB \(σ = (\S+)\) factorised", sol.explain())
        assert told is not None
        assert float(told[1]) == pytest.approx(figures_of(sol, "SHIFT_INVERT")["sigma"], rel=1e-8)
        assert float(told[1]) == pytest.approx(sigma, rel=1e-2)
        nearest = values[np.argsort(np.abs(values - sigma))[:2]]
        np.testing.assert_allclose(np.sort(sol.eigenvalues), np.sort(nearest), rtol=1e-9)

    def test_in_an_interval(self, unit, mass):
        A, B, values = self.pair(unit, mass)
        ends = tuple((values[[20, 60]] + values[[21, 61]]) / 2)
        sol = sm.solve(A, B, interval=ends, rng=0)
        np.testing.assert_allclose(sol.eigenvalues, values[21:61], rtol=1e-9)
        figures = figures_of(sol, "COUNTED")
        assert (figures["below"], figures["above"]) == (21, 61)
        np.testing.assert_allclose([figures["low"], figures["high"]], ends, rtol=1e-6)
        slices = figures_of(sol, "SLICED")["slices"]
        assert sum(count for count, _ in slices) >= 40
        assert all(ends[0] * 0.9 <= sigma <= ends[1] * 1.1 for _, sigma in slices)
        assert figures_of(sol, "WANTED")["interval"] == ends


class TestPlans:
    def lines(self, *candidates, k=1, pair=EASY, **more):
        return list(worded_plan(Plan(candidates, **more), sm.Pencil(*pair), k))

    @pytest.mark.parametrize(
        ("candidate", "told"),
        [
            (Candidate(Engine.KRYLOV), "thick-restart Lanczos on (A, B)"),
            (Candidate(Engine.KRYLOV, Map.NEGATED), "thick-restart Lanczos on (−A, B)"),
            (
                Candidate(Engine.KRYLOV, Map.SWAPPED),
                "thick-restart Lanczos on (B, A − σB), if A − σB is positive definite and σ clear of the eigenvalues",
            ),
            (
                Candidate(Engine.KRYLOV, Map.SWAPPED_BELOW),
                "thick-restart Lanczos on (B, A + ηB), for an η that makes A + ηB positive definite",
            ),
            (
                Candidate(Engine.LOBPCG, trial=True),
                "LOBPCG on (A, B), if a trial of preconditioners promises to be faster",
            ),
            (Candidate(Engine.REFINEMENT), "refinement of the start on (A, B), if its residual is small enough"),
            (
                Candidate(Engine.KRYLOV, Map.NEGATED, max_products=41.7, provisional=True),
                "thick-restart Lanczos on (−A, B), while fewer than 42 products are expected",
            ),
            (Candidate(Engine.KRYLOV, max_products=41.7), "thick-restart Lanczos on (A, B)"),
        ],
        ids=lambda given: given if isinstance(given, str) else "",
    )
    def test_conditions(self, candidate, told):
        """Which follow what is done, and come before the price."""
        (line,) = self.lines(candidate)
        assert line.partition("; predicted")[0] == told

    @pytest.mark.parametrize("forms", ["forms_A", "forms_B"])
    def test_entries_of_an_operator_come_first(self, forms):
        A, B = EASY
        pair = (operator_of(A), B) if forms == "forms_A" else (A, operator_of(B))
        first, *_ = self.lines(Candidate(Engine.LAPACK), pair=pair, **{forms: True})
        assert first == "compute the entries of the operator by 40 products"
        for lines in (
            self.lines(Candidate(Engine.LAPACK), pair=pair),
            self.lines(Candidate(Engine.LAPACK), **{forms: True}),
        ):
            assert not any(line.startswith("compute") for line in lines)

    def test_those_that_follow_are_told_as_well(self):
        later = Plan((Candidate(Engine.LOBPCG),))
        lines = self.lines(Candidate(Engine.KRYLOV), otherwise=lambda: later)
        assert [line.split(" on ")[0] for line in lines] == ["thick-restart Lanczos", "LOBPCG"]

    @pytest.mark.parametrize("sign", [1, -1])
    def test_a_search_with_a_factor_comes_first_where_the_diagonal_is_positive(self, sign):
        candidate = Candidate(Engine.SHIFT_INVERT)
        lines = self.lines(candidate, pair=(sign * tridiagonal(450), tridiagonal(450, 4.0, 1.0)))
        assert lines[0].startswith("shift-invert Lanczos in one basis") == (sign > 0)


def test_a_plan_of_a_problem_that_is_solved():
    problem, pencil = asked(*SPARSE, k=2, which="smallest")
    lines = list(worded_plan(choose(problem, pencil), pencil, 2))
    assert any("(B, A − σB)" in line for line in lines)
