"""Which candidates a plan has, in which order, and where the one way takes over from the other."""

import math
from dataclasses import replace

import numpy as np
import pytest

import splitmerge as sm
from asking import Counted, asked, tridiagonal
from splitmerge.planning import choose as choosing
from splitmerge.planning import costs
from splitmerge.planning.choose import LOBPCG_OPERATOR_N, choose, end_towards
from splitmerge.planning.costs import MIN_FALLBACK_PRODUCTS, prefers_lapack
from splitmerge.planning.plan import Candidate, Engine, Map, Plan
from splitmerge.problem.start import Warm
from splitmerge.problem.target import Target
from splitmerge.sparse_direct import Prediction

DEFLATION, KRYLOV, LAPACK, LOBPCG, MIXED, SHIFT_INVERT = (
    *(Engine.DEFLATION, Engine.KRYLOV, Engine.LAPACK, Engine.LOBPCG),
    *(Engine.MIXED_PRECISION, Engine.SHIFT_INVERT),
)
SMALL, LARGE = 60, 450


def matrices(kind, n, *, identity=False, dtype=float):
    A, B = tridiagonal(n).astype(dtype), None if identity else tridiagonal(n, 4.0, 1.0).astype(dtype)
    make = {"sparse": lambda M: M, "dense": lambda M: M.toarray(), "operator": Counted}[kind]
    return make(A), None if B is None else make(B)


def whole_plan(kind, n, k=1, which="largest", *, identity=False, dtype=float, **options):
    return choose(*asked(*matrices(kind, n, identity=identity, dtype=dtype), k, which, **options))


def chosen(*arguments, **options):
    return without_fallback(choose(*asked(*arguments, **options)))


def plan_of(*arguments, **options):
    return without_fallback(whole_plan(*arguments, **options))


def without_fallback(plan):
    """The plan without LAPACK behind the searches, which are not limited then; `TestFallback` is about that."""
    candidates = tuple(candidate._replace(max_products=math.inf) for candidate in plan.candidates)
    searched = candidates[0].engine is not LAPACK and candidates[-1].engine is LAPACK
    return plan._replace(candidates=candidates[: -1 if searched else None])


def ways(plan):
    return [(candidate.engine, candidate.map) for candidate in plan.candidates]


class TestPrefersLapack:
    @pytest.mark.parametrize("dense", [False, True])
    def test_small(self, dense):
        assert prefers_lapack(1, 1, dense=dense)
        assert prefers_lapack(100, 1, dense=dense)
        assert prefers_lapack(101, 1, dense=dense)
        assert prefers_lapack(101, 1, dense=dense, subset=False) == dense

    @pytest.mark.parametrize("k", [1, 2, 5, 10])
    @pytest.mark.parametrize("dense", [False, True])
    def test_subset(self, k, dense):
        """An iteration has to save more than the decomposition costs, the less so the more is wanted."""
        edge = math.floor(260 * k**0.27 if dense else 200 * k**0.15)
        assert prefers_lapack(edge, k, dense=dense)
        assert not prefers_lapack(edge + 1, k, dense=dense)

    @pytest.mark.parametrize("k", [1, 2, 5, 10])
    def test_all_vectors_of_a_dense_pair(self, k):
        edge = 200 + 20 * (k - 1)
        assert prefers_lapack(edge, k, dense=True, subset=False)
        assert not prefers_lapack(edge + 1, k, dense=True, subset=False)

    @pytest.mark.parametrize("dense", [False, True])
    @pytest.mark.parametrize("n", [3000, 3996])
    def test_fraction(self, n, dense):
        """More than a sixth of the spectrum."""
        assert n % 6 == 0
        small = dense and n <= 200 + 20 * (n // 6 - 1)
        assert prefers_lapack(n, n // 6, dense=dense, subset=False) == small
        assert prefers_lapack(n, n // 6 + 1, dense=dense)

    def test_fraction_of_a_sparse_pair(self):
        assert not prefers_lapack(600, 100, dense=False)
        assert prefers_lapack(600, 101, dense=False)

    @pytest.mark.parametrize("dense", [False, True])
    def test_memory(self, dense):
        assert prefers_lapack(4000, 4000, dense=dense)
        assert not prefers_lapack(4001, 4001, dense=dense)
        assert not prefers_lapack(4001, 1, dense=dense)


class TestLargest:
    @pytest.mark.parametrize("kind", ["dense", "sparse", "operator"])
    @pytest.mark.parametrize(
        ("which", "target"),
        [("largest", Target.LARGEST), ("magnitude", Target.MAGNITUDE), ("ends", Target.ENDS)],
    )
    def test_lapack_with_an_iteration_behind_it(self, kind, which, target):
        plan = plan_of(kind, SMALL, 2, which)
        assert plan.candidates == (Candidate(LAPACK, target=target), Candidate(KRYLOV, target=target))
        assert plan.forms_A == plan.forms_B == (kind != "dense")
        assert plan.prediction is None

    @pytest.mark.parametrize(
        ("which", "target"),
        [("largest", Target.LARGEST), ("magnitude", Target.MAGNITUDE), ("ends", Target.ENDS)],
    )
    @pytest.mark.parametrize("kind", ["sparse", "operator"])
    def test_an_iteration(self, kind, which, target):
        plan = plan_of(kind, LARGE, 2, which)
        assert plan == Plan((Candidate(KRYLOV, target=target),))

    @pytest.mark.parametrize(
        ("kind", "n"), [("dense", 260), ("sparse", 200), ("operator", 100)], ids=["dense", "sparse", "operator"]
    )
    def test_the_edge(self, kind, n):
        assert ways(plan_of(kind, n))[0] == (LAPACK, Map.SAME)
        assert ways(plan_of(kind, n + 1)) == [(KRYLOV, Map.SAME)]

    @pytest.mark.parametrize(
        "options",
        [
            {"max_steps": 5},
            {"stop": sm.Residual(1e-4)},
            {"callback": print},
            {"x0": np.ones(SMALL)},
            {"method": sm.Accelerated()},
        ],
        ids=lambda options: next(iter(options)),
    )
    def test_who_asks_for_an_iteration_gets_one(self, options):
        assert ways(plan_of("dense", SMALL, **options)) == [(KRYLOV, Map.SAME)]

    def test_a_resumed_solve_may_end_in_lapack(self):
        plan = plan_of("dense", SMALL, x0=Warm(np.ones((SMALL, 1))))
        assert ways(plan) == [(LAPACK, Map.SAME), (KRYLOV, Map.SAME)]

    @pytest.mark.parametrize("method", [sm.SplitMerge(), sm.Power(), sm.Lanczos(), sm.GradientDescent()], ids=repr)
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    @pytest.mark.parametrize("kind", ["dense", "operator"])
    def test_one_pair_after_the_other(self, kind, which, method):
        for n in (SMALL, LARGE):
            plan = plan_of(kind, n, 3, which, method=method)
            assert plan == Plan((Candidate(DEFLATION),), forms_B=kind == "operator")

    @pytest.mark.parametrize(
        ("n", "options", "forms"),
        [
            (1000, {"method": sm.Power()}, True),
            (1001, {"method": sm.Power()}, False),
            (1000, {"method": sm.Power(sm.ConjugateGradient(30))}, False),
            (1000, {"method": sm.Power(), "identity": True}, False),
        ],
        ids=str,
    )
    def test_entries_of_a_small_operator_B(self, n, options, forms):
        assert plan_of("operator", n, **options).forms_B is forms

    def test_prediction(self):
        """Of B, for a pair that is large enough to think about it."""
        assert plan_of("sparse", 9_999).prediction is None
        assert plan_of("sparse", 15_000).prediction == costs.predict(tridiagonal(15_000, 4.0, 1.0))
        assert plan_of("sparse", 15_000, identity=True).prediction is None
        assert plan_of("operator", 15_000).prediction is None


class TestMixedPrecision:
    MIXED = (Candidate(MIXED), Candidate(KRYLOV))
    DOUBLE = (Candidate(KRYLOV),)

    @pytest.mark.parametrize("which", ["largest", "magnitude", "ends"])
    @pytest.mark.parametrize("dtype", [float, complex])
    @pytest.mark.parametrize("identity", [False, True])
    def test_one_pair_of_dense_matrices(self, which, dtype, identity):
        plan = plan_of("dense", 400, which=which, dtype=dtype, identity=identity)
        target = Target.of(which)
        assert plan.candidates == (Candidate(MIXED, target=target), Candidate(KRYLOV, target=target))

    def test_size(self):
        assert plan_of("dense", 399).candidates == self.DOUBLE
        assert plan_of("dense", 400).candidates == self.MIXED

    @pytest.mark.parametrize(
        ("options", "mixed"),
        [
            ({}, True),
            ({"method": sm.Accelerated()}, True),
            ({"max_steps": 50}, True),
            ({"tol": 1e-9}, True),
            ({"tol": 0.99e-9}, False),
            ({"k": 2}, False),
            ({"x0": np.ones(400)}, True),
            ({"x0": Warm(np.ones((400, 1)))}, False),
            ({"certify": True}, False),
            ({"preconditioner": sm.Diagonal()}, False),
            ({"method": sm.Accelerated(inner=sm.Cholesky())}, False),
            ({"stop": sm.MaxSteps(5)}, False),
            ({"stop": sm.SineAngle(np.ones(400), 1e-7)}, True),
            ({"stop": sm.SineAngle(np.ones(400), 0.99e-7)}, False),
            ({"dtype": np.float32}, False),
            ({"dtype": np.complex64}, False),
            ({"which": "smallest"}, False),
        ],
        ids=str,
    )
    def test_only_where_it_suffices(self, options, mixed):
        plan = plan_of("dense", 400, **options)
        assert ((MIXED, Map.SAME) in ways(plan)) == mixed
        assert mixed or (KRYLOV in [engine for engine, _ in ways(plan)])

    @pytest.mark.parametrize("kind", ["sparse", "operator"])
    def test_not_for_sparse_matrices_and_operators(self, kind):
        assert plan_of(kind, 400).candidates == self.DOUBLE


class TestSmallest:
    SWAPPED = Candidate(KRYLOV, Map.SWAPPED, clear=True)
    BELOW = Candidate(KRYLOV, Map.SWAPPED_BELOW)
    NEGATED = Candidate(KRYLOV, Map.NEGATED)

    @pytest.mark.parametrize("kind", ["dense", "sparse", "operator"])
    def test_lapack_with_an_iteration_behind_it(self, kind):
        plan = plan_of(kind, SMALL, 2, "smallest")
        direct = (Candidate(LAPACK, Map.SWAPPED, clear=True), Candidate(LAPACK, Map.NEGATED))
        assert plan.candidates == (*direct, self.SWAPPED, self.BELOW)
        assert plan.forms_A == plan.forms_B == (kind != "dense")

    @pytest.mark.parametrize("kind", ["dense", "sparse"])
    @pytest.mark.parametrize("identity", [False, True])
    def test_with_entries(self, kind, identity):
        plan = plan_of(kind, LARGE, 2, "smallest", identity=identity)
        assert plan == Plan((self.SWAPPED, self.BELOW))

    def test_without_entries(self):
        """A small operator A is formed, as an iteration for its smallest takes more products than it has columns."""
        A, B = matrices("sparse", 1000)
        assert chosen(Counted(A), B, which="smallest") == Plan((self.SWAPPED, self.BELOW), forms_A=True)
        assert chosen(Counted(A), None, which="smallest") == Plan((self.SWAPPED, self.BELOW), forms_A=True)
        # nothing is factorised where B has no entries
        assert chosen(Counted(A), Counted(B), which="smallest") == Plan((self.NEGATED,), forms_A=True)
        assert chosen(A, Counted(B), which="smallest") == Plan((self.NEGATED,))
        A = tridiagonal(1001)
        assert chosen(Counted(A), None, which="smallest") == Plan((self.NEGATED,))

    def test_a_solver_for_B_leaves_A_alone(self):
        method = sm.Accelerated(inner=sm.ConjugateGradient(20))
        for n in (LARGE, 12_000):
            assert plan_of("sparse", n, 2, "smallest", method=method) == Plan((self.NEGATED,))


def prediction(seconds=0.1, size=1e6):
    return Prediction(1e6, 1e9, size, "SuperLU", seconds, 0.0)


class TestTrial:
    """Preconditioners are tried only where a factorisation is predicted to be slow, or not to fit."""

    TRIAL = Candidate(LOBPCG, Map.NEGATED, trial=True)
    FACTORISED = (TestSmallest.SWAPPED, TestSmallest.BELOW)

    @pytest.fixture
    def predicting(self, monkeypatch):
        """Set what is predicted, how much memory is free, and what an ideal iteration takes."""

        def set_up(found, free=1e9, ideal=1.0):
            monkeypatch.setattr(choosing, "predicted", lambda K: found)
            monkeypatch.setattr(costs, "free_memory", lambda: free)
            monkeypatch.setattr(costs, "lobpcg_seconds", lambda *_: ideal)
            return plan_of("sparse", LARGE, 2, "smallest")

        return set_up

    @pytest.mark.parametrize(
        ("found", "free", "ideal", "trial"),
        [
            (None, 1e9, 0.0, False),
            # quick: less than 2.5 seconds
            (prediction(2.49), 1e9, 0.0, False),
            (prediction(2.51), 1e9, 0.0, True),
            # slow, but not clearly slower than an ideal iteration: by half
            (prediction(15.0), 1e9, 10.0, False),
            (prediction(15.1), 1e9, 10.0, True),
            # it does not fit into four fifths of the memory that is free
            (prediction(0.1, 8e8), 1e9, 100.0, False),
            (prediction(0.1, 8.1e8), 1e9, 100.0, True),
        ],
    )
    def test_only_where_the_prediction_says_so(self, predicting, found, free, ideal, trial):
        plan = predicting(found, free, ideal)
        assert plan.candidates == ((self.TRIAL, *self.FACTORISED) if trial else self.FACTORISED)
        assert plan.prediction is found

    def test_solves_count(self, predicting):
        """A factorisation serves 30 solves and 6 more for each pair."""
        slow = replace(prediction(0.0), solve_seconds=2.5 / 42)
        assert self.TRIAL in predicting(replace(slow, solve_seconds=1.001 * slow.solve_seconds), ideal=0.0).candidates
        assert self.TRIAL not in predicting(replace(slow, solve_seconds=0.999 * slow.solve_seconds)).candidates

    def test_by_its_pattern(self):
        """A long chain is factorised in no time."""
        plan = plan_of("sparse", 15_000, 2, "smallest")
        assert plan.candidates == self.FACTORISED
        assert plan.prediction == costs.predict(tridiagonal(15_000))

    def test_no_memory(self, monkeypatch):
        monkeypatch.setattr(costs, "free_memory", lambda: 1e4)
        plan = plan_of("sparse", 15_000, 2, "smallest")
        assert plan.candidates == (self.TRIAL, *self.FACTORISED)

    @pytest.mark.parametrize("which", ["largest", "magnitude", "ends"])
    def test_not_for_the_other_end(self, monkeypatch, which):
        monkeypatch.setattr(choosing, "predicted", lambda K: prediction(100.0, 1e30))
        assert ways(plan_of("sparse", LARGE, 2, which)) == [(KRYLOV, Map.SAME)]


class TestMatrixFree:
    @pytest.mark.parametrize("kind", ["dense", "sparse", "operator"])
    @pytest.mark.parametrize("n", [LOBPCG_OPERATOR_N + 1, LARGE])
    def test_locally_optimal(self, kind, n):
        method = sm.LocallyOptimal()
        assert plan_of(kind, n, method=method) == Plan((Candidate(LOBPCG),))
        assert plan_of(kind, n, which="smallest", method=method) == Plan((Candidate(LOBPCG, Map.NEGATED),))

    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_small_operators_are_formed(self, which):
        plan = plan_of("operator", SMALL, which=which, method=sm.LocallyOptimal())
        assert (plan.candidates[0].engine, plan.forms_A, plan.forms_B) == (LAPACK, True, True)

    @pytest.mark.parametrize("options", [{"preconditioner": sm.Diagonal()}, {"diagonal": np.ones(LARGE)}], ids=list)
    def test_a_hint_for_the_smallest(self, options):
        for kind in ("sparse", "operator"):
            plan = plan_of(kind, LARGE, 2, "smallest", **options)
            assert plan == Plan((Candidate(LOBPCG, Map.NEGATED),))

    def test_a_hint_for_the_largest_is_for_solves_with_B(self):
        assert plan_of("operator", LARGE, preconditioner=sm.Diagonal()) == Plan((Candidate(KRYLOV),))

    def test_lapack_needs_no_hint(self):
        assert ways(plan_of("dense", SMALL, 2, "smallest", preconditioner=sm.Diagonal()))[0][0] is LAPACK

    def test_prediction(self):
        """Made for the comparison with a trial, and for nothing where the preconditioner is given."""
        asks = plan_of("sparse", 15_000, which="smallest", method=sm.LocallyOptimal())
        assert asks.prediction == costs.predict(tridiagonal(15_000))
        given = plan_of("sparse", 15_000, which="smallest", method=sm.LocallyOptimal(sm.Diagonal()))
        assert given.prediction is None


class TestNearest:
    @pytest.mark.parametrize("kind", ["dense", "sparse", "operator"])
    def test_lapack_with_an_iteration_behind_it(self, kind):
        plan = plan_of(kind, SMALL, 2, sigma=0.25)
        near = {"sigma": 0.25, "clear": True}
        assert plan.candidates == (
            Candidate(LAPACK, Map.SWAPPED, sign=1, **near),
            Candidate(LAPACK, Map.SWAPPED, sign=-1, **near),
            Candidate(LAPACK, target=Target.closest(0.25)),
            Candidate(KRYLOV, Map.SWAPPED, sign=1, **near),
            Candidate(KRYLOV, Map.SWAPPED, sign=-1, **near),
            Candidate(SHIFT_INVERT, sigma=0.25),
        )

    @pytest.mark.parametrize("kind", ["dense", "sparse"])
    def test_an_iteration(self, kind):
        plan = plan_of(kind, LARGE, 2, sigma=0.25)
        near = {"sigma": 0.25, "clear": True}
        assert plan.candidates == (
            Candidate(KRYLOV, Map.SWAPPED, sign=1, **near),
            Candidate(KRYLOV, Map.SWAPPED, sign=-1, **near),
            Candidate(SHIFT_INVERT, sigma=0.25),
        )

    def test_in_the_units_of_the_scaled_pair(self):
        A, B = matrices("sparse", LARGE)
        problem, pencil = asked(A * 2.0**200, B, sigma=2.0**199)
        assert pencil.unit > 1e50
        searched = without_fallback(choose(problem, pencil)).candidates
        assert {candidate.sigma for candidate in searched} == {2.0**199 / pencil.unit}

    def test_beyond_an_end_of_the_spectrum(self):
        """From eps^-½ times the size of A relative to that of B on, in the units of the user."""
        A, B = matrices("sparse", LARGE)
        _, pencil = asked(A * 2.0**200, B)
        far = pencil.unit * pencil.A.size / pencil.B.size * pencil.eps**-0.5
        assert [end_towards(sigma, pencil) for sigma in (-1.01 * far, -0.99 * far)] == ["smallest", None]
        assert [end_towards(sigma, pencil) for sigma in (1.01 * far, 0.99 * far, 0.0)] == ["largest", None, None]
        assert end_towards(1.01 * far, asked(Counted(A), B)[1]) is None

    @pytest.mark.parametrize("names", ["A", "B", "AB"])
    def test_needs_entries(self, names):
        A, B = matrices("sparse", LARGE)
        A, B = (Counted(M) if name in names else M for name, M in zip("AB", (A, B), strict=True))
        with pytest.raises(ValueError, match="sigma needs the entries of A and B"):
            choose(*asked(A, B, sigma=0.25))


class TestFallback:
    """LAPACK behind every search of a small problem, which is then given up after some products."""

    @pytest.mark.parametrize("kind", ["dense", "sparse", "operator"])
    @pytest.mark.parametrize(
        ("question", "last"),
        [
            ({}, Candidate(LAPACK)),
            ({"which": "ends"}, Candidate(LAPACK, target=Target.ENDS)),
            ({"which": "smallest"}, Candidate(LAPACK, Map.NEGATED)),
            ({"sigma": 0.5}, Candidate(LAPACK, target=Target.closest(0.5))),
        ],
    )
    def test_behind_a_search(self, kind, question, last):
        if kind == "operator" and "sigma" in question:
            pytest.skip("sigma needs entries")
        plan = whole_plan(kind, LARGE, 2, **question)
        assert plan.candidates[-1] == last
        (limit,) = {candidate.max_products for candidate in plan.candidates[:-1]}
        assert limit == 10 * LARGE + 1000 if kind == "operator" else limit >= MIN_FALLBACK_PRODUCTS

    @pytest.mark.parametrize(("kind", "n"), [("dense", 500), ("dense", 2000), ("sparse", 500), ("sparse", 2000)])
    def test_after_its_time(self, kind, n):
        """A product with a dense matrix of 2000 takes 2 ms, LAPACK at most 3 s; with a sparse one, it takes 60 µs."""
        limit = whole_plan(kind, n).candidates[0].max_products
        low, high = {("dense", 2000): (500, 2500), ("sparse", 2000): (20_000, 60_000)}.get((kind, n), (500, 3000))
        assert low <= limit <= high

    def test_not_twice(self):
        engines = [candidate.engine for candidate in whole_plan("dense", SMALL).candidates]
        assert engines == [LAPACK, KRYLOV]

    @pytest.mark.parametrize(
        "options",
        [{"method": sm.Accelerated()}, {"max_steps": 5}, {"stop": sm.Stagnation(5)}],
        ids=str,
    )
    def test_not_where_an_iteration_is_asked_for(self, options):
        (only,) = whole_plan("sparse", LARGE, **options).candidates
        assert only == Candidate(KRYLOV)

    @pytest.mark.parametrize("options", [{"max_steps": 10**6}, {"stop": sm.Residual(1e-4)}], ids=str)
    def test_behind_a_search_that_ends_before_its_limits(self, options):
        assert whole_plan("sparse", LARGE, **options).candidates == whole_plan("sparse", LARGE).candidates

    @pytest.mark.parametrize(("kind", "n"), [("sparse", 4000), ("operator", 4000)])
    def test_not_for_large_problems(self, kind, n):
        assert whole_plan(kind, n).candidates[-1].engine is LAPACK
        assert whole_plan(kind, n + 1).candidates == (Candidate(KRYLOV),)


@pytest.mark.parametrize(("k", "lapack"), [(100, True), (3, False)])
@pytest.mark.parametrize("options", [{"x0": np.ones(400)}, {"max_steps": 5}], ids=["start", "limit"])
def test_most_of_the_spectrum_is_found_by_lapack(k, lapack, options):
    """A search for it would fill the whole space, whatever it starts from."""
    plan = choose(*asked(tridiagonal(400), None, k, **options))
    assert (plan.candidates[0].engine is Engine.LAPACK) == lapack
