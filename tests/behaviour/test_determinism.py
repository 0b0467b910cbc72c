"""One seed, one answer: to the last bit, in threads, and owned by the caller."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from checking import METHODS, check, each_method, each_route
from pairs import indefinite, pair_of, well_separated


class TestDeterminism:
    @staticmethod
    def same(one, two):
        assert one.eigenvalues.tobytes() == two.eigenvalues.tobytes()
        assert one.eigenvectors.tobytes() == two.eigenvectors.tobytes()
        assert one.residuals.tobytes() == two.residuals.tobytes()
        assert one.error_bounds.tobytes() == two.error_bounds.tobytes()
        assert one.steps == two.steps
        assert one.counts == two.counts
        for column in ("pair", "step", "value", "residual", "f", "products"):
            assert getattr(one.history, column).tobytes() == getattr(two.history, column).tobytes()

    @each_method
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_same_seed(self, method, kind):
        A, B = map(kind, indefinite(10))
        self.same(*(sm.solve(A, B, 3, method=method, rng=7) for _ in range(2)))

    @pytest.mark.parametrize("n", [10, 150])
    @pytest.mark.parametrize("which", ["largest", "smallest", "magnitude", "ends"])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator])
    def test_default(self, n, which, kind):
        """LAPACK or a search, with its probes and counts."""
        A, B = map(kind, pair_of(np.linspace(2, -1, n) ** 3, condition=2.0))
        self.same(*(sm.solve(A, B, 3, which=which, rng=7) for _ in range(2)))

    @pytest.mark.parametrize("n", [10, 150])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_default_near_sigma(self, n, kind):
        A, B = map(kind, pair_of(np.linspace(2, -1, n) ** 3, condition=2.0))
        self.same(*(sm.solve(A, B, 3, sigma=0.3, certify=True, rng=7) for _ in range(2)))

    @each_route
    def test_seed_and_generator(self, method):
        A, B = indefinite(10)
        by_seed = sm.solve(A, B, 2, method=method, rng=5)
        self.same(by_seed, sm.solve(A, B, 2, method=method, rng=np.random.default_rng(5)))
        self.same(by_seed, sm.solve(A, B, 2, method=method, rng=np.random.PCG64(5)))
        self.same(by_seed, sm.solve(A, B, 2, method=method, rng=np.random.SeedSequence(5)))

    @pytest.mark.parametrize("bits", [np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64])
    @each_route
    def test_generators(self, method, bits):
        A, B = indefinite(10)
        one, two = (sm.solve(A, B, 2, method=method, rng=np.random.Generator(bits(3))) for _ in range(2))
        self.same(one, two)
        check(one, A, B, 2)

    @each_route
    def test_other_seeds_agree_on_the_answer(self, method):
        A, B = indefinite(10)
        first, *others = (sm.solve(A, B, 2, method=method, rng=seed, tol=1e-12) for seed in (0, 1, 2, None))
        for other in others:
            np.testing.assert_allclose(other.eigenvalues, first.eigenvalues, rtol=1e-10)
            np.testing.assert_allclose(other.eigenvectors, first.eigenvectors, atol=1e-9)

    @each_route
    def test_global_state_is_left_alone(self, method):
        A, B = indefinite(10)
        before = np.random.get_state()  # noqa: NPY002
        sm.solve(A, B, 2, method=method, rng=0)
        sm.solve(A, B, 2, method=method)
        after = np.random.get_state()  # noqa: NPY002
        assert before[0] == after[0]
        assert np.array_equal(before[1], after[1])
        assert before[2:] == after[2:]

    def test_method_objects_hold_no_state(self):
        A, B = indefinite(10)
        for method in METHODS:
            first = sm.solve(A, B, method=method, rng=0)
            sm.solve(*well_separated(5), method=method, rng=1)
            self.same(first, sm.solve(A, B, method=method, rng=0))

    @each_method
    def test_two_threads(self, method):
        pairs = [pair_of(np.r_[2.0, 1.0, np.linspace(0.5, -0.5, 58)], seed, condition=2.0) for seed in (1, 2)]
        serial = [sm.solve(*p, 2, method=method, rng=3) for p in pairs]
        results = [None, None]
        barrier = threading.Barrier(2)

        def work(i):
            barrier.wait()
            results[i] = sm.solve(*pairs[i], 2, method=method, rng=3)

        threads = [threading.Thread(target=work, args=(i,)) for i in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one, two in zip(serial, results, strict=True):
            self.same(one, two)

    @each_route
    def test_two_threads_share_the_matrices_and_the_rule(self, method):
        A, B = pair_of(np.r_[2.0, 1.0, np.linspace(0.5, -0.5, 58)], condition=2.0)
        rule = sm.Residual(1e-9) | sm.Stagnation(5000)
        serial = [sm.solve(A, B, 2, method=method, stop=rule, rng=seed) for seed in (0, 1)]
        results = {}

        def work(seed):
            results[seed] = sm.solve(A, B, 2, method=method, stop=rule, rng=seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for seed in (0, 1):
            self.same(serial[seed], results[seed])


@each_route
def test_results_are_owned_by_the_caller(method):
    A, B = np.diag([2.0, 1.0]), np.eye(2)
    sol = sm.solve(A, B, 2, method=method, rng=0)
    sol.eigenvectors[:] = 7
    sol.eigenvalues[:] = 7
    assert np.array_equal(A, np.diag([2.0, 1.0]))
    assert np.array_equal(B, np.eye(2))
    np.testing.assert_allclose(sm.solve(A, B, 2, method=method, rng=0).eigenvalues, [2, 1])
