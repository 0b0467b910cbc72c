"""Failures that adversarial solves have found, each by its smallest example."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from plain_matrices import chain, rotated, star
from splitmerge.planning.limit import MaxProducts
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.run.reason import Reason


class TestLaplacians:
    def test_disconnected_pairs_by_lobpcg(self):
        """Four edges and an isolated vertex: the zero eigenvalue is fivefold, and 3k > n."""
        edge = [[1.0, -1.0], [-1.0, 1.0]]
        L = scipy.linalg.block_diag(edge, edge, edge, edge, [[0.0]])
        sol = sm.solve(L, k=6, which="smallest", method=sm.LocallyOptimal(), rng=0)
        np.testing.assert_allclose(sol.eigenvalues, [0, 0, 0, 0, 0, 2], atol=1e-12)

    @pytest.mark.parametrize("seed", [100, 107, 131])
    def test_bipartite_graphs_with_unequal_parts(self, seed):
        """A is singular by its structure alone; SuperLU ended the process."""
        rng = np.random.default_rng(seed)
        m = int(rng.integers(60, 260))
        C = sp.random_array((m, m + 20), density=4 / m, rng=rng)
        A = sp.csr_array(sp.block_array([[None, C], [C.T, None]]))
        np.testing.assert_allclose(sm.solve(A, k=3, sigma=0.0, rng=0).eigenvalues, 0, atol=1e-10)
        top = np.linalg.norm(C.toarray(), 2)
        np.testing.assert_allclose(sm.solve(A, k=1, which="smallest", rng=0).eigenvalues, -top, rtol=1e-8)

    @pytest.mark.parametrize("question", [{"sigma": 0.0}, {"which": "smallest"}], ids=str)
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_many_components(self, kind, question):
        triangle = 3 * np.eye(3) - np.ones((3, 3))
        L = kind(scipy.linalg.block_diag(*[triangle] * 64, np.zeros((2, 2))))
        sol = sm.solve(L, k=6, rng=0, **question)
        np.testing.assert_allclose(sol.eigenvalues, np.zeros(6), atol=1e-12)
        assert np.isfinite(sol.residuals).all()
        assert sol.verdict == "certified"

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    @pytest.mark.parametrize("n", [10, 150])
    def test_a_star_graph(self, n, kind):
        """All but two eigenvalues are zero, and the diagonal of A is."""
        sol = sm.solve(kind(star(n)), k=3, sigma=0.0, rng=0)
        np.testing.assert_allclose(sol.eigenvalues, np.zeros(3), atol=1e-12)
        assert np.isfinite(sol.residuals).all()
        sol = sm.solve(kind(star(n)), k=3, which="smallest", rng=0)
        np.testing.assert_allclose(sol.eigenvalues, [-np.sqrt(n - 1), 0, 0], atol=1e-12)

    def test_a_shift_on_an_eigenvalue_of_high_multiplicity(self):
        A = rotated(np.r_[np.zeros(110), np.linspace(0.1, 0.9, 20)])
        for kind in (np.asarray, sp.csr_array):
            sol = sm.solve(kind(A), k=4, sigma=0.0, rng=0)
            np.testing.assert_allclose(sol.eigenvalues, np.zeros(4), atol=1e-12)


class TestLooseTolerances:
    @pytest.mark.parametrize("tol", [1e-1, 1e-3])
    def test_the_nearest_to_a_far_shift(self, tol):
        """Relative to |λ − σ| the eigenvalues next to zero looked converged at once."""
        A = rotated(np.r_[np.linspace(0.5, 1.15, 200), 1248.6])
        for seed in range(10):
            for method in (None, sm.Accelerated()):
                sol = sm.solve(A, k=1, sigma=1679.0, tol=tol, method=method, rng=seed)
                np.testing.assert_allclose(sol.eigenvalues, 1248.6, rtol=0.1)

    @pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-3, 1e-5])
    def test_bounds_next_to_a_shift(self, tol):
        """The bound e²/gap of the inverse was given to a value that is the quotient of the pair itself."""
        every = np.linspace(-1, 2, 120)
        for seed in range(40):
            sol = sm.solve(np.diag(every), k=4, sigma=0.33, tol=tol, method=sm.Accelerated(), rng=seed)
            errors = np.abs(sol.eigenvalues[:, None] - every).min(axis=1)
            assert (errors <= sol.error_bounds).all()

    @pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
    def test_bounds_with_inexact_solves(self, tol):
        A, B = sm.gallery.synthetic_pair(100, kappa_B=1e4, rng=0)
        every = scipy.linalg.eigh(A, B, eigvals_only=True)
        method = sm.Accelerated(inner=sm.ConjugateGradient(30, sm.Diagonal()))
        for seed in range(5):
            try:
                sol = sm.solve(A, B, k=3, tol=tol, method=method, rng=seed)
            except sm.NotConverged as error:
                sol = error.solution
            errors = np.abs(sol.eigenvalues[:, None] - every).min(axis=1)
            assert (errors <= sol.error_bounds + 1e-12 * every[-1]).all()


class TestEnds:
    """These searches did not end."""

    def test_a_rule_joined_by_and(self):
        A = np.diag(np.geomspace(1e-6, 1, 61))
        sol = sm.solve(A, k=4, stop=sm.Residual(1e-6) & sm.MaxSteps(3), rng=0)
        np.testing.assert_allclose(sol.eigenvalues, np.geomspace(1e-6, 1, 61)[::-1][:4], rtol=1e-5)

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_both_ends_of_a_graded_spectrum(self, kind):
        sol = sm.solve(kind(np.diag(1.5 ** -np.arange(300.0))), k=3, which="ends", rng=0)
        np.testing.assert_allclose(sol.eigenvalues, [1, 0, 2 / 3], atol=1e-12)

    def test_a_shift_outside_of_a_graded_spectrum(self):
        values = -np.geomspace(1e-7, 1, 224)
        sol = sm.solve(np.diag(values), k=6, sigma=7.76, x0=np.ones(224), rng=0)
        np.testing.assert_allclose(sol.eigenvalues, np.sort(values)[::-1][:6], atol=1e-12)

    def test_an_angle_that_is_never_met(self):
        """A reference that is no eigenvector."""
        A = np.diag(np.arange(1.0, 245))
        with pytest.raises(sm.NotConverged):
            sm.solve(A, k=3, which="ends", stop=sm.SineAngle(np.ones(244), 1e-5), max_steps=1000, rng=0)


def test_an_A_with_one_negative_eigenvalue_far_below():
    """No multiple of B up to 256 times the first guess made A + ηB definite."""
    A = sm.gallery.stencil_cube(16)
    A, B = A if isinstance(A, tuple) else (A, sp.eye_array(A.shape[0], format="csr"))
    sol = sm.solve(A - 40 * B, B, k=2, which="smallest", rng=0)
    plain = sm.solve(A, B, k=2, which="smallest", rng=0)
    np.testing.assert_allclose(sol.eigenvalues, plain.eigenvalues - 40, rtol=1e-7)


def test_counts_that_contradict_each_other_in_single_precision():
    d = -(10.0 ** (-8 * np.arange(300) / 299)).astype(np.float32)
    w = np.sort(d.astype(float))
    sol = sm.solve(np.diag(d), interval=(w[100], w[150]))
    np.testing.assert_allclose(sol.eigenvalues, w[100:151], atol=1e-6)


def test_a_search_without_end_is_left_to_lapack():
    """The largest eigenvalue is 1e-8 of the spectrum away from a hundred others."""
    n, rng = 501, np.random.default_rng(0)
    A = rotated(-(10.0 ** (-8 * np.arange(n) / (n - 1))), 0)
    sol = sm.solve(A, rng.uniform(0.5, 1.5, n), rng=0)
    assert sol.counts.A_products <= 2000


def test_pairs_that_purification_moves_are_ranked_again():
    """A pair that a loose tolerance left far from its eigenvalue was ranked, and bounded, as if it had stayed there."""
    rng = np.random.default_rng([5, 3801578470])
    n = 300
    M = sp.random_array((n, n), density=4 / n, rng=rng, format="csr")
    d = rng.standard_normal(n)
    d[:3] += 10.0 ** rng.uniform(4, 14)
    A = sp.csr_array(M + M.T + sp.diags_array(d))
    values = np.linalg.eigvalsh(A.toarray())
    for seed in (107, *range(20)):
        sol = sm.solve(A, k=12, sigma=0.0, tol=1e-2, rng=seed)
        assert (np.diff(np.abs(sol.eigenvalues)) >= 0).all()
        errors = np.abs(values - sol.eigenvalues[:, None]).min(axis=1)
        assert (errors <= sol.error_bounds).all()


@pytest.mark.parametrize("fallback", [False, True])
def test_products_of_probes_count_before_lapack_follows(fallback):
    """Where one eigenvalue is most of the spectrum, one probe after another finds a further copy of it."""
    products = Products(Pencil(rotated(np.arange(50.0)), None))
    check = MaxProducts(10_000, 10, fallback).begin(products)
    assert check(None) is None
    products.counts.monitoring.A_products = 9_000
    assert check(None) is (Reason.MAX_STEPS if fallback else None)
    products.counts.K_solves = 10_000
    assert check(None) is Reason.MAX_STEPS


class TestGivenStart:
    """An eigenvector of λ₂ as the start: a loose tolerance or a limit of steps ended the run that was to leave it."""

    @pytest.mark.parametrize("options", [{"tol": 1e-8, "max_steps": 50}, {"tol": 1e-4}, {"tol": 1e-6}])
    @pytest.mark.parametrize("method", [sm.Power(), sm.SplitMerge(), sm.Lanczos(), sm.MirrorDescent()])
    def test_the_largest_is_found_or_known_to_be_missing(self, method, options):
        path = sp.diags_array([np.ones(399)] * 2, offsets=[1, -1])
        A = sp.csr_array(sp.block_diag([path, [[0, 2.002], [2.002, 0]]]))
        x0 = np.r_[np.sin(np.pi * np.arange(1, 401) / 401), 0, 0]
        for seed in range(4):
            try:
                sol = sm.solve(A, method=method, x0=x0, rng=seed, **options)
            except sm.NotConverged:
                continue
            assert sol.eigenvalues[0] == pytest.approx(2.002, rel=10 * options["tol"])

    @pytest.mark.parametrize("method", [sm.Power(), sm.SplitMerge(), sm.Lanczos()])
    def test_a_good_start_is_believed(self, method):
        A, B = sm.gallery.synthetic_pair(100, 10, rng=0)
        u = scipy.linalg.eigh(A, B)[1][:, -1]
        assert sm.solve(A, B, method=method, x0=u, max_steps=50).converged


def test_each_end_is_probed_by_its_own_errors():
    """Three equal chains from a symmetric start: errors at the large end hid copies at the small one."""
    m = 267
    lowest = 2 - 2 * np.cos(np.pi / (m + 1))
    for seed in range(4):
        A = sp.csr_array(sp.block_diag([chain(m)] * 3))
        sol = sm.solve(A, k=5, which="ends", tol=1e-2, x0=np.ones(3 * m), rng=seed)
        np.testing.assert_allclose(np.sort(sol.eigenvalues)[:2], lowest, rtol=1e-2)


class TestSharedSeeds:
    """A start, or an earlier solution, and the probe from the same seed: the probe saw only what the start had seen."""

    @staticmethod
    def fourfold(seed, n=150):
        w = np.sort(np.random.default_rng([seed, 1]).uniform(-1, 1, n))
        w[-4:] = w[-1]
        return sp.csr_array(sp.diags_array(w)), w[-1]

    @pytest.mark.parametrize("method", [None, sm.Accelerated()], ids=repr)
    @pytest.mark.parametrize("generator", [int, np.random.default_rng])
    @pytest.mark.parametrize("seed", range(7, 13))
    def test_of_a_start(self, seed, generator, method):
        A, top = self.fourfold(seed)
        x0 = np.random.default_rng(seed).standard_normal(150)
        sol = sm.solve(A, k=4, x0=x0, rng=generator(seed), method=method)
        np.testing.assert_allclose(sol.eigenvalues, top)

    @pytest.mark.parametrize("seed", range(6))
    def test_of_a_solution_that_is_resumed(self, seed):
        A, top = self.fourfold(seed)
        sol = sm.solve(A, k=1, tol=1e-3, rng=seed, method=sm.Accelerated()).resume(k=3, tol=1e-10, rng=seed)
        np.testing.assert_allclose(sol.eigenvalues, top)

    @pytest.mark.parametrize("seed", range(6))
    def test_of_eigsh(self, seed):
        A, top = self.fourfold(seed)
        x0 = np.random.default_rng(seed).standard_normal(150)
        np.testing.assert_allclose(sm.eigsh(A, 4, which="LA", v0=x0, rng=seed)[0], top)

    def test_of_the_matrix(self):
        """A random start that is an eigenvector leads nowhere else."""
        x = np.random.default_rng(0).standard_normal(300)
        A = np.eye(300) - 0.5 * np.outer(x, x) / (x @ x)
        sol = sm.solve(sp.csr_array(A), k=1, method=sm.Accelerated(), rng=0)
        np.testing.assert_allclose(sol.eigenvalues, 1)


@pytest.mark.parametrize("gap", [1e-9, 1e-11, 1e-13])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_close_values_in_several_blocks(gap, k):
    """LAPACK selected by approximations: the farther of two values was certified as the nearest."""
    w = np.array([1.0, 1 - gap, 0.5, 0.1])
    sol = sm.solve(np.diag(w), k=k, sigma=2.0, tol=1e-13, certify=True)
    np.testing.assert_allclose(sol.eigenvalues, w[:k], rtol=0, atol=1e-15)


@pytest.mark.parametrize("sparse", [False, True], ids=["operator", "sparse"])
@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_lobpcg_from_another_eigenvector_without_room_for_a_probe(n, sparse):
    """A probe needs room beside the pairs; without it the verdict spoke of a random start that there was not."""
    dense = chain(n).toarray()
    values, X = np.linalg.eigh(dense)
    A = sp.csr_array(dense) if sparse else aslinearoperator(dense)
    for k in range(max(1, n - 3), n):
        x0 = X[:, ::-1][:, :k]
        sol = sm.solve(A, k=k, which="smallest", x0=x0, preconditioner=lambda x: x, rng=0)
        np.testing.assert_allclose(sol.eigenvalues, values[:k], atol=1e-7)
        assert "random vector" not in sol.verdict.why


def test_a_certificate_of_a_cut_cluster_says_so():
    """Nothing is missing beyond the cluster; which of its values are the largest is below the tolerance."""
    w = np.r_[1 + 1e-14 * np.linspace(-1, 1, 12), np.linspace(0, 0.9, 88)]
    sol = sm.solve(rotated(w), k=5, certify=True, method=sm.Accelerated(), rng=0)
    assert sol.verdict == "certified"
    assert "cluster" in sol.verdict.why
    whole = sm.solve(rotated(w), k=12, certify=True, method=sm.Accelerated(), rng=0)
    assert "beyond the last pair" in whole.verdict.why


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("gap", [1e-3, 1e-4, 1e-5])
def test_a_cluster_that_a_certificate_may_cut_is_narrow(gap, storage):
    """A start on the second eigenvector: the first is farther away than the tolerance by far."""
    A = np.diag(np.r_[1.0, 1.0 - gap, np.linspace(0, 0.5, 118)])
    sol = sm.solve(storage(A), k=1, x0=np.eye(120)[1], certify=True, method=sm.Accelerated(), rng=0)
    np.testing.assert_allclose(sol.eigenvalues, 1, rtol=1e-9)
    assert sol.verdict == "certified"


@pytest.mark.parametrize("tol", [1e-1, 1e-2])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_loose_tolerance_widens_no_cluster(k, tol):
    """Four values 3e-4 apart and error intervals wider than that: a certificate does not mistake them for one."""
    gap = 3e-4
    w = np.r_[1.0 - gap * np.arange(4), np.linspace(0, 0.9, 116)]
    for seed in range(8):
        sol = sm.solve(np.diag(w), k=k, tol=tol, certify=True, method=sm.Accelerated(), rng=seed)
        assert sol.verdict == "certified"
        np.testing.assert_allclose(sol.eigenvalues, w[:k], rtol=0, atol=gap / 2)


class TestStartOnTheSecondEigenvector:
    """A probe of few steps took the edge of the other eigenvalues for the largest one that is left."""

    crowded = np.r_[1.001, 1.0, 0.999 - np.logspace(-8, 0, 148)]
    even = np.r_[1.001, 1.0, np.linspace(0, 0.999, 38)]

    @pytest.mark.parametrize("method", [None, sm.LocallyOptimal()], ids=["default", "LOBPCG"])
    @pytest.mark.parametrize("spectrum", ["crowded", "even"])
    def test_the_largest_is_found(self, spectrum, method):
        d = getattr(self, spectrum)
        A = aslinearoperator(sp.diags_array(d))
        for seed in range(8):
            sol = sm.solve(A, x0=np.eye(d.size)[1], rng=seed, method=method)
            np.testing.assert_allclose(sol.eigenvalues, 1.001, rtol=1e-7)

    def test_a_good_start_costs_less_than_none(self):
        A = rotated(self.even)
        u = np.linalg.eigh(A)[1][:, -1]
        blind, given = (sm.solve(A, x0=x0, rng=0, method=sm.Accelerated()) for x0 in (None, u))
        assert given.counts.A_products + given.counts.monitoring.A_products < 40 + blind.counts.A_products


def test_runs_that_do_not_help_are_not_repeated():
    """Half of all pairs with solves to one digit: five further runs were made, each as long as the first."""
    n = 60
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    B = (Q * np.geomspace(1, 1e4, n)) @ Q.T
    X = rng.standard_normal((n, n // 2))
    method = sm.Accelerated(inner=sm.ConjugateGradient(tol=0.1))
    solution = sm.solve(X @ X.T, (B + B.T) / 2, n // 2, which="ends", method=method, rng=0, max_steps=300)
    assert solution.counts.A_products <= 3 * n


def test_a_search_that_rounding_hinders_ends_in_the_whole_space():
    """Both ends of a clamped beam: 58,000 products in vain, as the small end is lost in rounding of the large one."""
    count = 95
    L = 1 / count
    K, M = np.zeros((2, 2 * count + 2, 2 * count + 2))
    k = [[12, 6 * L, -12, 6 * L], [6 * L, 4 * L**2, -6 * L, 2 * L**2]]
    m = [[156, 22 * L, 54, -13 * L], [22 * L, 4 * L**2, 13 * L, -3 * L**2]]
    k += [[-12, -6 * L, 12, -6 * L], [6 * L, 2 * L**2, -6 * L, 4 * L**2]]
    m += [[54, 13 * L, 156, -22 * L], [-13 * L, -3 * L**2, -22 * L, 4 * L**2]]
    for i in range(0, 2 * count, 2):
        K[i : i + 4, i : i + 4] += np.array(k) / L**3
        M[i : i + 4, i : i + 4] += np.array(m) * L / 420
    K, M = K[2:, 2:], M[2:, 2:]
    expected = sm.solve(K, M, 5, which="ends")
    for seed in range(3):
        sol = sm.solve(K, M, 5, which="ends", method=sm.Accelerated(), rng=seed)
        assert (np.abs(sol.eigenvalues - expected.eigenvalues) <= sol.error_bounds + expected.error_bounds).all()
        assert sol.counts.A_products < 15_000


def test_pairs_of_a_complete_basis_go_on_from_what_inverse_iteration_has_improved():
    """All but one of the eigenvalues next to σ = 0: those far from it were never found, however often it began anew."""
    values = np.r_[np.geomspace(1e-17, 0.4, 58), 1.14, 2.38]
    sol = sm.solve(rotated(values), k=59, sigma=0.0, method=sm.Accelerated(), tol=1e-7, rng=0)
    np.testing.assert_allclose(np.sort(sol.eigenvalues)[-2:], [0.4, 1.14], rtol=1e-7)
