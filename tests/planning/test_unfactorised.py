"""The smallest eigenvalues without a factorisation: where that is tried, and when it is given up."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from asking import asked, tridiagonal
from checking import choices, figures_of
from physics import anderson, cube, heisenberg, random_laplacian, square
from splitmerge.planning import costs
from splitmerge.planning.choose import choose
from splitmerge.planning.costs import allowance, predicted_seconds, step_seconds, verified_seconds
from splitmerge.planning.plan import Engine, Map
from splitmerge.preparation import swap
from splitmerge.problem.start import Warm
from splitmerge.solution.explain import worded_plan

SPINS = heisenberg(10)
FACTORISED = [(Engine.KRYLOV, Map.SWAPPED), (Engine.KRYLOV, Map.SWAPPED_BELOW)]


def ways(plan):
    return [(candidate.engine, candidate.map) for candidate in plan.candidates]


def plan_of(A, B=None, k=1, which="smallest", **options):
    return choose(*asked(A, B, k, which, **options))


class TestPlan:
    def test_a_search_first(self):
        plan = plan_of(SPINS)
        (search,) = plan.candidates
        assert (search.engine, search.map, search.provisional) == (Engine.KRYLOV, Map.NEGATED, True)
        assert costs.MIN_SEARCH_PRODUCTS <= search.max_products < 1000

    def test_the_factorisation_follows(self):
        """Its prediction, which takes longer than the search, is made only then."""
        plan = plan_of(SPINS)
        rest = plan.otherwise()
        assert ways(rest)[:2] == FACTORISED
        assert not any(candidate.provisional for candidate in rest.candidates)
        assert ways(plan.complete()) == [(Engine.KRYLOV, Map.NEGATED), *ways(rest)]
        assert rest.complete() is rest

    @pytest.mark.parametrize("A", [tridiagonal(2000), square(40), heisenberg(9)], ids=["chain", "square", "small"])
    def test_not_where_factors_cost_next_to_nothing(self, A):
        plan = plan_of(A)
        assert plan.otherwise is None
        assert ways(plan)[:2] == FACTORISED

    def test_not_where_a_product_takes_a_solve(self):
        A, B = sm.gallery.fem_laplacian(3, 1, 12)
        assert ways(plan_of(A, B))[:2] == FACTORISED
        assert plan_of(A).otherwise is not None

    @pytest.mark.parametrize(
        "options",
        [
            {"certify": True},
            {"max_steps": 50},
            {"callback": print},
            {"x0": np.ones(1024)},
            {"method": sm.Accelerated()},
            {"preconditioner": sm.Diagonal()},
            {"which": "largest", "sigma": 0.1},
            {"which": "largest"},
        ],
        ids=lambda options: next(iter(options)),
    )
    def test_not_where_something_else_is_asked_for(self, options):
        assert plan_of(SPINS, **options).otherwise is None

    def test_a_resumed_solve(self):
        assert plan_of(SPINS, x0=Warm(np.ones((1024, 1)))).otherwise is not None

    def test_dense(self):
        assert plan_of(SPINS.toarray()).otherwise is None

    @pytest.mark.parametrize("k", [1, 5])
    def test_the_price_pays_the_products(self, k):
        for A, share in ((cube(12), costs.SEARCH_FRACTION), (square(70), costs.SEARCH_FRACTION_FLAT)):
            _, pencil = asked(A)
            products, prediction = allowance(pencil, k)
            spent = products * step_seconds(pencil, k)
            np.testing.assert_allclose(spent, share * verified_seconds(prediction, pencil.n, k))

    def test_a_count_is_part_of_the_price_of_several_pairs(self):
        _, pencil = asked(cube(12))
        prediction = allowance(pencil, 1).prediction
        one, two = (verified_seconds(prediction, pencil.n, k) for k in (1, 2))
        assert two > one + costs.SOLVES_PER_PAIR * prediction.solve_seconds

    def test_in_words(self):
        problem, pencil = asked(SPINS, which="smallest")
        first, second, *_ = worded_plan(choose(problem, pencil), pencil, 1)
        assert "(−A, B), while fewer than" in first
        assert "predicted" in first
        assert "A − σB" in second

    def test_its_price(self):
        problem, pencil = asked(SPINS, which="smallest")
        plan = choose(problem, pencil)
        seconds = predicted_seconds(plan.candidates[0], plan, pencil, 1)
        assert 0 < seconds < verified_seconds(plan.prediction, pencil.n, 1)


@pytest.fixture
def no_factorisation(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("A was factorised")

    monkeypatch.setattr(swap, "factorise", refuse)


class TestSolve:
    @pytest.mark.parametrize(
        "A",
        [
            SPINS,
            pytest.param(heisenberg(12), marks=pytest.mark.slow),
            *(anderson(12, 2.0), anderson(12, 16.0), random_laplacian(1500)),
        ],
        ids=["2^10", "2^12", "little disorder", "much disorder", "random graph"],
    )
    @pytest.mark.parametrize("k", [1, 5])
    def test_without_any_factorisation(self, no_factorisation, A, k):
        sol = sm.solve(A, k=k, which="smallest", rng=0)
        assert {"NEGATED", "UNFACTORISED"} <= choices(sol)
        # Ritz values are as accurate as the squared residuals
        exact = scipy.linalg.eigvalsh(A.toarray(), subset_by_index=[0, k - 1])
        np.testing.assert_allclose(sol.eigenvalues, exact, atol=1e-10)

    def test_given_up(self):
        """The smallest of a Laplacian in two dimensions would take hundreds of products."""
        A = square(112)
        sol = sm.solve(A, k=3, which="smallest", rng=0)
        assert {"GIVEN_UP", "SWAPPED"} <= choices(sol)
        assert "UNFACTORISED" not in choices(sol)
        figures = figures_of(sol, "GIVEN_UP")
        assert figures["products"] < 0.3 * figures["limit"]
        assert figures["seconds"] < figures["factorised"]
        angles = np.pi * np.arange(1, 113) / 113
        values = 2 - 2 * np.cos(angles)
        np.testing.assert_allclose(sol.eigenvalues, np.sort(np.add.outer(values, values).ravel())[:3], rtol=1e-8)

    def test_a_shift_of_the_spectrum_is_no_progress(self):
        A = sp.csr_array(square(70) + 1000 * sp.eye_array(4900))
        sol = sm.solve(A, which="smallest", rng=0)
        figures = figures_of(sol, "GIVEN_UP") if "GIVEN_UP" in choices(sol) else {"products": 0, "limit": 1}
        assert figures["products"] <= 0.6 * figures["limit"]
        np.testing.assert_allclose(sol.eigenvalues, 1000 + 4 - 4 * np.cos(np.pi / 71), rtol=1e-8)

    def test_a_pair_of_finite_elements_is_factorised(self):
        A, B = sm.gallery.fem_laplacian(2, 1, 35)
        sol = sm.solve(A, B, which="smallest", rng=0)
        assert "SWAPPED" in choices(sol)
        assert not {"UNFACTORISED", "GIVEN_UP"} & choices(sol)

    def test_the_prediction_is_told(self):
        A, B = sm.gallery.fem_laplacian(2, 1, 125)
        assert A.shape[0] > costs.PREDICTED_N
        sol = sm.solve(A, B, which="smallest", rng=0)
        assert figures_of(sol, "PREDICTED")["factorised"] > 0

    def test_copies_of_an_eigenvalue(self, no_factorisation):
        """Probes find them, and the products that this takes are not the reason to begin again."""
        A = sp.csr_array(sp.block_diag([heisenberg(10)] * 3))
        sol = sm.solve(A, k=5, which="smallest", rng=0)
        exact = np.repeat(np.linalg.eigvalsh(SPINS.toarray())[:2], 3)[:5]
        np.testing.assert_allclose(sol.eigenvalues, exact, rtol=1e-8)

    def test_resumed(self, no_factorisation):
        sol = sm.solve(SPINS, k=2, which="smallest", tol=1e-4, rng=0)
        np.testing.assert_allclose(sol.resume(tol=1e-9).eigenvalues, np.linalg.eigvalsh(SPINS.toarray())[:2])
