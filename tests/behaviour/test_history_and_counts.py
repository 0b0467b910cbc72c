"""The history of a run, its counts and its seconds."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import splitmerge as sm
from checking import METHODS, each_method, each_route, each_solver, partial, short
from pairs import EASY, HARD, shifted_pair
from splitmerge import Reason
from splitmerge.planning.decision import Choice

MEMBRANE = sm.gallery.element_laplacian((31, 26))


class TestHistory:
    COLUMNS = ("pair", "step", "value", "residual", "f", "products", "seconds")

    @each_method
    def test_columns(self, method):
        sol = sm.solve(*EASY, 2, method=method, rng=0)
        history = sol.history
        table = history.to_dict()
        assert tuple(table) == history.columns == self.COLUMNS
        assert {len(column) for column in table.values()} == {len(history)}
        for name, column in table.items():
            assert np.array_equal(column, getattr(history, name))
            assert np.isfinite(column).all()
        assert (np.diff(history.seconds) >= 0).all()
        assert history.seconds[0] >= 0
        assert history.seconds[-1] <= sol.seconds.iteration
        assert (np.diff(history.products) >= 0).all()
        assert history.products[-1] == sol.counts.products >= sol.counts.A_products
        assert set(history.pair) == {0, 1}
        assert (np.diff(history.pair) >= 0).all()
        assert history.step[0] == 0

    @each_method
    def test_last_rows_are_the_answer(self, method):
        sol = sm.solve(*shifted_pair(), 2, method=method, rng=0)
        for j in (0, 1):
            last = np.flatnonzero(sol.history.pair == j)[-1]
            assert abs(sol.history.value[last] - sol.eigenvalues[j]) <= 1e-8
            assert sol.history.residual[last] <= 1e-8

    @each_method
    def test_descent(self, method):
        """f falls and the Rayleigh quotient of the first pair rises."""
        sol = sm.solve(*EASY, method=method, rng=0)
        assert (np.diff(sol.history.f) <= 1e-13).all()
        if not isinstance(method, sm.GradientDescent):
            assert (np.diff(sol.history.value) >= -1e-13).all()

    @each_method
    def test_length_is_steps_plus_one(self, method):
        sol = sm.solve(*EASY, method=method, rng=0)
        assert len(sol.history) == sol.steps + 1
        assert sol.history.step.tolist() == list(range(sol.steps + 1))

    def test_lapack_has_none(self):
        sol = sm.solve(*EASY, rng=0)
        assert len(sol.history) == sol.steps == 0
        assert tuple(sol.history.to_dict()) == self.COLUMNS

    @pytest.mark.parametrize(
        "asked",
        [
            {"which": "smallest"},
            {"which": "smallest", "k": 4},
            {"which": "largest", "k": 4},
            {"which": "magnitude", "k": 4},
            {"sigma": 100.0, "k": 4},
            {"which": "smallest", "method": sm.LocallyOptimal(), "k": 2},
            {"which": "smallest", "method": sm.SplitMerge(), "tol": 1e-3},
        ],
        ids=str,
    )
    def test_the_last_products_are_those_of_the_counts(self, asked):
        """In terms of the A that was given, also where the iteration was with the pair (B, A − σB)."""
        for A, B in (MEMBRANE, (MEMBRANE[0], None), (MEMBRANE[0], sp.diags_array(MEMBRANE[1].sum(axis=1)))):
            sol = sm.solve(A, B, **asked, rng=0)
            assert sol.history.products[-1] == sol.counts.products == sol.counts.A_products + sol.counts.K_solves
            assert sol.history.products[0] > 0
            assert (np.diff(sol.history.products) >= 0).all()

    def test_products_of_a_search_that_was_given_up(self):
        """They are in the counts, and the rows of the search that follows come after them."""
        sol = sm.solve(sm.gallery.grid_laplacian((112, 112))[0], k=3, which="smallest", rng=0)
        (given_up,) = (decision["products"] for decision in sol.decisions if decision.choice is Choice.GIVEN_UP)
        assert sol.history.products[0] > given_up > 0
        assert sol.history.products[-1] == sol.counts.products

    @pytest.mark.parametrize(
        "asked", [{"which": "smallest", "k": 4}, {"sigma": 1.0, "k": 4}, {"interval": (0, 0.2)}], ids=str
    )
    def test_a_pair_keeps_its_number_when_a_copy_turns_up(self, asked):
        """The eigenvalues of a square are double, and a Krylov space from one vector shows one copy first."""
        sol = sm.solve(sm.gallery.grid_laplacian((30, 30))[0], **asked, rng=0)
        history = sol.history
        moved = history.pair >= sol.eigenvalues.size
        near = np.abs(history.value[~moved] - sol.eigenvalues[history.pair[~moved]])
        assert (near <= 10 * history.residual[~moved]).all()
        # the others are of eigenvalues that did not remain among the wanted ones
        assert all(np.abs(sol.eigenvalues - value).min() > 1e-3 for value in history.value[moved])

    @each_route
    def test_no_residual_is_zero(self, method):
        """Estimates of a recurrence fall below every rounding error, down to zero."""
        A, B = np.diag([4.0, 3.0, 2.0, 1.0] * 20), np.eye(80)
        for sol in (sm.solve(A, B, 2, method=method, rng=0), sm.solve(A, B, x0=np.eye(80)[0], method=method, rng=0)):
            assert (sol.history.residual >= np.finfo(float).eps).all()
        sol = sm.solve(sm.gallery.grid_laplacian((30, 30))[0], k=4, which="smallest", rng=0)
        assert sol.history.residual.min() == np.finfo(float).eps

    @each_solver
    def test_smallest_has_the_users_sign(self, method):
        A, B = EASY
        sol = sm.solve(A, B, which="smallest", method=method, rng=0)
        assert abs(sol.history.value[-1] - sol.eigenvalues[0]) <= 1e-8
        assert sol.history.value[0] > sol.history.value[-1]

    @each_method
    def test_scaled_pairs_have_the_users_units(self, method):
        A, B = EASY
        sol = sm.solve(A * 1e150, B, method=method, rng=0)
        np.testing.assert_allclose(sol.history.value[-1], sol.eigenvalues[0], rtol=1e-8)

    @each_route
    def test_unknown_column(self, method):
        history = sm.solve(*EASY, method=method, rng=0).history
        with pytest.raises(AttributeError, match="columns"):
            history.angle  # noqa: B018
        assert "History" in repr(history)

    @each_route
    def test_copies_and_pickles(self, method):
        import copy
        import pickle

        sol = sm.solve(*EASY, method=method, rng=0)
        for again in (copy.deepcopy(sol.history), pickle.loads(pickle.dumps(sol.history))):
            assert np.array_equal(again.value, sol.history.value)

    @each_route
    def test_solution_pickles(self, method):
        import pickle

        sol = sm.solve(*EASY, method=method, rng=0)
        again = pickle.loads(pickle.dumps(sol))
        assert np.array_equal(again.eigenvectors, sol.eigenvectors)
        assert again.verdict == sol.verdict
        assert again.verdict.why == sol.verdict.why

    @each_route
    def test_not_converged_pickles(self, method):
        """As it must to come back from a worker process."""
        import pickle

        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(*HARD, method=method, max_steps=2, rng=0)
        again = pickle.loads(pickle.dumps(caught.value))
        assert again.solution.steps == 2
        assert str(again) == str(caught.value)


class TestCounts:
    @staticmethod
    def counted(M):
        calls = [0]

        def product(x):
            calls[0] += 1
            return M @ x

        return LinearOperator(M.shape, matvec=product, dtype=M.dtype), calls

    @each_method
    @pytest.mark.parametrize("k", [1, 3])
    def test_products_with_A(self, method, k):
        A, B = EASY
        operator, calls = self.counted(A)
        counts = sm.solve(operator, B, k, method=method, rng=0).counts
        # two products are made to see that the operator is symmetric, before there is anything to count in
        total = counts.A_products + counts.setup.A_products + counts.monitoring.A_products
        # two more to check the operator; one that was formed in the set-up is not called again
        assert calls[0] in (total, total + 2, counts.setup.B_products + 2)

    @pytest.mark.parametrize("method", [m for m in METHODS if not isinstance(m, sm.MirrorDescent)], ids=short)
    def test_products_with_B(self, method):
        A, B = EASY
        operator, calls = self.counted(B)
        counts = sm.solve(A, operator, 2, method=method, rng=0).counts
        total = counts.B_products + counts.setup.B_products + counts.monitoring.B_products
        # two more to check the operator; the one that was formed is not called again after its first trials
        assert calls[0] in (total, total + 2, len(B) + 2, len(B) + 3)

    @pytest.mark.parametrize(
        ("method", "A_products", "B_products", "B_solves"),
        [
            (sm.SplitMerge(), 2, 0, 2),
            (sm.Power(), 1, 0, 1),
            (sm.MirrorDescent(), 1, 0, 0),
            (sm.GradientDescent(), 1, 1, 0),
            (sm.Lanczos(), 1, 0, 1),
        ],
        ids=lambda m: short(m) if isinstance(m, sm.Method) else str(m),
    )
    def test_cost_of_a_step(self, method, A_products, B_products, B_solves):
        """The table of the paper: products of a step, whatever the start costs."""
        ten, twenty = (partial(Reason.MAX_STEPS, *HARD, method=method, max_steps=m, tol=1e-14).counts for m in (10, 20))
        assert twenty.A_products - ten.A_products == 10 * A_products
        assert twenty.B_products - ten.B_products == 10 * B_products
        assert twenty.B_solves - ten.B_solves == 10 * B_solves

    @pytest.mark.parametrize("which", ["largest", "smallest"])
    @pytest.mark.parametrize("name", ["A", "B"])
    def test_products_of_the_default(self, which, name):
        """Also where the pair was swapped or probed, counts are of the user's A and B."""
        A, B = HARD
        operator, calls = self.counted(A if name == "A" else B)
        counts = sm.solve(*((operator, B) if name == "A" else (A, operator)), 2, which=which, rng=0).counts
        parts = (counts, counts.setup, counts.monitoring)
        total = sum(getattr(part, f"{name}_products") for part in parts)
        # two more to check the operator; one that was formed in the set-up is not called again
        assert calls[0] in (total, total + 2, getattr(counts.setup, f"{name}_products") + 2)

    @each_route
    def test_no_B_no_work_for_it(self, method):
        counts = sm.solve(EASY[0], method=method, rng=0).counts
        assert counts.B_products == counts.B_solves == counts.setup.B_solves == counts.monitoring.B_products == 0

    @each_method
    def test_seconds(self, method):
        begin = time.perf_counter()
        sol = sm.solve(*EASY, method=method, rng=0)
        elapsed = time.perf_counter() - begin
        assert sol.seconds.setup > 0
        assert sol.seconds.iteration > 0
        assert sol.seconds.total == sol.seconds.setup + sol.seconds.iteration <= elapsed


@pytest.mark.parametrize("kind", [sp.csr_array, aslinearoperator])
def test_entries_that_are_known_take_no_products(kind):
    """LAPACK needs them in dense arrays."""
    counts = sm.solve(kind(np.diag(np.arange(1.0, 81))), 2 * sp.eye_array(80), k=2, which="magnitude").counts.setup
    assert (counts.A_products, counts.B_products) == (0 if kind is sp.csr_array else 80, 0)


def test_products_with_a_lumped_mass_are_counted():
    A = sp.diags_array([np.full(3000, 2.01), -np.ones(2999), -np.ones(2999)], offsets=[0, 1, -1], format="csr")
    B = sp.diags_array(np.linspace(1, 2, 3000), format="csr")
    counts = sm.solve(A, B, which="smallest", rng=0, max_steps=1000).counts
    assert counts.B_products >= counts.K_solves - 1 > 10


def test_trials_count_products_with_A_as_such():
    A = sp.diags_array([np.full(3000, 2.01), -np.ones(2999), -np.ones(2999)], offsets=[0, 1, -1], format="csr")
    counts = sm.solve(A, which="smallest", method=sm.LocallyOptimal(), tol=1e-4, rng=0).counts
    assert counts.setup.A_products > 0
    assert counts.setup.B_products == 0


@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_the_short_way_counts_as_the_pipeline_does(which):
    A, B = np.diag(np.arange(1.0, 41)), np.diag(np.ones(40)) + 0.3 * (np.eye(40, k=1) + np.eye(40, k=-1))
    short, whole = (sm.solve(A, B, k=3, which=which, b_policy=policy) for policy in ("error", "ridge"))
    assert short.counts.monitoring.A_products == 3
    assert short.counts.monitoring.B_products == whole.counts.monitoring.B_products
