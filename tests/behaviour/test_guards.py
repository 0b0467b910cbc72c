"""Memory and time that are not there are not spent, and what is done instead is said."""

import math
import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import splitmerge as sm
from checking import figures_of
from pairs import grid
from splitmerge.methods.setup import Setup
from splitmerge.planning import costs
from splitmerge.preparation import swap
from splitmerge.problem.products import Products
from splitmerge.problem.target import Target
from splitmerge.run.iteration import RitzBlock
from splitmerge.system import memory
from splitmerge.system.budget import Budget
from splitmerge.verification.residuals import measured

CUBE = grid(25, 3)
MASS = sp.csr_array(CUBE + sp.diags_array(np.linspace(6, 9, CUBE.shape[0])))


def line(m):
    return 4 * np.sin(np.arange(1, m + 1) * np.pi / (2 * (m + 1))) ** 2


def cube_values(count):
    d = line(25)
    return np.sort((d[:, None, None] + d[:, None] + d).ravel())[:count]


@pytest.fixture
def no_memory(monkeypatch):
    """As good as none is free."""
    monkeypatch.setattr(costs, "free_memory", lambda: 2.0**20)


class TestMemory:
    def test_what_is_free(self):
        assert 2**20 < memory.free_memory() < 2**60

    def test_a_limit_of_the_process_counts(self, monkeypatch):
        resource = pytest.importorskip("resource")
        monkeypatch.setattr(resource, "getrlimit", lambda which: (2**33, 2**33))
        assert 0 < memory.free_memory() < 2**33

    def test_the_smallest_do_without_a_factorisation(self, no_memory, monkeypatch):
        # nor do they without a preconditioner
        monkeypatch.setattr(costs, "MIN_SEARCH_PRODUCTS", np.inf)
        sol = sm.solve(CUBE, k=4, which="smallest", rng=0)
        np.testing.assert_allclose(sol.eigenvalues, cube_values(4), rtol=1e-9)
        assert isinstance(sol.method, sm.LocallyOptimal)
        assert sol.counts.K_solves == sol.counts.B_solves == 0
        # those of the trial
        assert sol.counts.setup.P_solves > 0
        assert not figures_of(sol, "TRIAL")["fits"]

    def test_an_indefinite_A_does_without(self, no_memory):
        K = sp.csr_array(CUBE - sp.eye_array(CUBE.shape[0]))
        sol = sm.solve(K, k=3, which="smallest", rng=0)
        np.testing.assert_allclose(sol.eigenvalues, cube_values(3) - 1, rtol=1e-9)

    @pytest.mark.slow
    def test_the_largest_solve_by_conjugate_gradients(self, no_memory):
        sol = sm.solve(CUBE, MASS, 2, rng=0)
        # each solve takes several, of the preconditioner of its conjugate gradients
        assert sol.counts.P_solves > 5 * sol.counts.B_solves > 0
        assert sol.residuals.max() <= 1e-8

    def test_what_cannot_be_counted_is_probed(self, no_memory):
        sol = sm.solve(CUBE, k=3, which="smallest", certify=True, rng=0)
        assert sol.verdict == "probed"
        assert "was predicted to take" in sol.verdict.why

    def test_sigma_is_refused(self, no_memory):
        with pytest.raises(MemoryError, match=r"A − σB was predicted to take .* GiB"):
            sm.solve(CUBE, k=3, sigma=3.0, rng=0)

    def test_a_prediction_that_was_too_low(self, monkeypatch):
        def fail(K, known=None):
            raise MemoryError

        monkeypatch.setattr(swap, "factorise", fail)
        sol = sm.solve(grid(112), k=3, which="smallest", rng=0)
        np.testing.assert_allclose(sol.eigenvalues, np.sort(np.add.outer(line(112), line(112)).ravel())[:3], rtol=1e-9)
        assert isinstance(sol.method, sm.LocallyOptimal)
        assert sol.counts.K_solves == 0

    def test_enough_memory_factorises(self):
        assert sm.solve(grid(110), k=2, which="smallest", rng=0).counts.K_solves > 0


class TestTime:
    """B is so badly conditioned that a single solve takes for ever."""

    n = 5000
    d = np.geomspace(1, 1e14, n)
    A = sp.csr_array(sp.diags_array(np.arange(1.0, n + 1)))
    inner = sm.ConjugateGradient(None, tol=1e-15)

    def bad(self):
        v = np.ones(self.n) / math.sqrt(self.n)

        def multiply(x):
            time.sleep(1e-3)
            x = x - 2 * v * (v @ x)
            x = self.d * x
            return x - 2 * v * (v @ x)

        return LinearOperator((self.n, self.n), matvec=multiply, dtype=float)

    @pytest.mark.parametrize("method", [sm.Accelerated, sm.Power, sm.SplitMerge])
    def test_holds_inside_a_solve(self, method):
        # the survey of the spectrum that others make belongs to the set-up, which has no limit
        inner = self.inner if method is sm.Accelerated else sm.ConjugateGradient(40)
        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(self.A, self.bad(), method=method(inner=inner), stop=sm.Residual(1e-8) | sm.MaxSeconds(0.3), rng=0)
        sol = caught.value.solution
        assert sol.reason is sm.Reason.MAX_SECONDS
        assert sol.seconds.iteration < 3
        assert sol.eigenvectors.shape == (self.n, 1)
        # nobody can say how far it is off
        assert sol.error_bounds[0] > 0

    def test_runs_out_while_pairs_are_judged(self):
        """The bounds are then not known; the pairs are returned all the same."""
        sol = sm.solve(self.A, method=sm.Power(), tol=1e-2, rng=0)
        pencil, budget = sm.Pencil(self.A, self.bad()), Budget(0.05)
        products = Products(pencil, budget=budget, solver=self.inner.prepare(pencil))
        budget.begin()
        setup = Setup(products, Target.LARGEST, 1, np.random.default_rng(0))
        pairs = measured(setup, RitzBlock(np.ones(1), sol.eigenvectors, Target.LARGEST.order))
        assert pairs.deltas[0] == math.inf
        assert np.isfinite(pairs.residuals).all()

    def test_joined_by_and_it_does_not_end_a_step(self):
        sol = sm.solve(self.A, method=sm.Accelerated(), stop=sm.Residual(1e-8) & sm.MaxSeconds(1e-9), rng=0)
        assert sol.converged


class TestConjugateGradient:
    @pytest.mark.parametrize("dtype", [float, complex])
    def test_blocks_are_solved_as_vectors_are(self, dtype):
        rng = np.random.default_rng(0)
        B = sp.csr_array(grid(20) + sp.eye_array(400), dtype=dtype)
        pencil = sm.Pencil(sp.eye_array(400, format="csr", dtype=dtype), B)
        solver = sm.ConjugateGradient(None, tol=1e-12).prepare(pencil)
        R = rng.standard_normal((400, 4)).astype(dtype)
        # one that is solved at once, and one that is nothing
        R[:, 1], R[:, 2] = B.diagonal(), 0
        W, BW = solver.solve_block(R)
        np.testing.assert_allclose(B @ W, R, atol=1e-9)
        np.testing.assert_allclose(BW, R, atol=1e-9)
        w, _ = solver.solve(R[:, 0].copy(), None, None)
        np.testing.assert_allclose(W[:, 0], w, atol=1e-10)

    def test_indefinite_blocks_are_refused(self):
        B = LinearOperator((3, 3), matvec=lambda x: np.array([1.0, 1.0, -1.0]) * x, dtype=float)
        solver = sm.ConjugateGradient(None).prepare(sm.Pencil(np.eye(3), B))
        with pytest.raises(sm.NotPositiveDefinite, match="conjugate gradients met"):
            solver.solve_block(np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]))

    @pytest.mark.parametrize("method", [sm.Power, sm.SplitMerge])
    def test_without_a_cap_it_adapts(self, method):
        """Where the paper's 30 steps of a solve lead nowhere, as many as it takes do."""
        n = 200
        B = np.diag(np.geomspace(1, 1e6, n))
        Q = np.linalg.qr(np.random.default_rng(0).standard_normal((n, n)))[0]
        B = Q @ B @ Q.T
        A = Q @ np.diag(np.r_[4.0, np.geomspace(1, 1e5, n - 1)]) @ Q.T
        A, B = (A + A.T) / 2, (B + B.T) / 2
        sol = sm.solve(A, B, method=method(inner=sm.ConjugateGradient(None, tol=0.1)), rng=0)
        np.testing.assert_allclose(sol.eigenvalues, 4.0, rtol=1e-6)
