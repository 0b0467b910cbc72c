"""Failures that adversarial solves have found, each by its smallest example."""

import itertools

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from checking import choices
from pairs import pair_of
from plain_matrices import chain, rotated, star
from splitmerge.planning.limit import MaxProducts
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.run.reason import Reason


class TestOutlier:
    """One eigenvalue of −1e9 beside others in [−2, 2]: a tolerance relative to |λ + η| accepted anything."""

    values = np.r_[-1e9, np.linspace(-2, 2, 299)]

    @pytest.mark.parametrize("certify", [False, True])
    @pytest.mark.parametrize("make", [np.diag, rotated], ids=["diagonal", "rotated"])
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_both_ends(self, which, make, certify):
        sol = sm.solve(make(self.values), k=5, which=which, certify=certify, rng=0)
        exact = np.sort(self.values)[:5] if which == "smallest" else np.sort(self.values)[::-1][:5]
        np.testing.assert_allclose(sol.eigenvalues, exact, rtol=0, atol=1e-5)
        assert (np.abs(sol.eigenvalues - exact) <= sol.error_bounds).all()
        assert sol.verdict == "certified" or not certify

    @pytest.mark.parametrize("k", [1, 5])
    def test_with_a_shift(self, k):
        sol = sm.solve(rotated(self.values), k=k, sigma=3.0, rng=0)
        np.testing.assert_allclose(sol.eigenvalues, np.sort(self.values)[::-1][:k], rtol=0, atol=1e-5)


@pytest.mark.parametrize("k", [5, 6, 8])
@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("kinds", [(np.asarray, aslinearoperator), (aslinearoperator, aslinearoperator)])
def test_an_operator_that_is_formed_is_equilibrated(kinds, which, k):
    """diag(B) spans sixteen decades, and the largest eigenvalue is sixfold."""
    rng, n = np.random.default_rng(0), 120
    d, values = 10 ** rng.uniform(-4, 4, n), np.r_[np.full(6, 5.0), np.linspace(0.1, 4, n - 6)]
    A, B = (make(M) for make, M in zip(kinds, (d[:, None] * rotated(values) * d, np.diag(d**2)), strict=True))
    sol = sm.solve(A, B, k, which=which, rng=0)
    exact = np.sort(values)[:k] if which == "smallest" else np.sort(values)[::-1][:k]
    np.testing.assert_allclose(sol.eigenvalues, exact, rtol=1e-7)


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


class TestZero:
    @pytest.mark.parametrize("question", [{}, {"which": "smallest"}, {"sigma": 0.0}, {"which": "ends"}], ids=str)
    @pytest.mark.parametrize("method", [None, sm.LocallyOptimal()], ids=["chosen", "LOBPCG"])
    def test_a_zero_A(self, method, question):
        if method is not None and ("sigma" in question or question.get("which") == "ends"):
            pytest.skip("LOBPCG finds the largest or the smallest")
        for A in (np.zeros((40, 40)), sp.csr_array((200, 200))):
            sol = sm.solve(A, k=3, method=method, rng=0, **question)
            assert (sol.eigenvalues == 0).all()
            assert (sol.residuals == 0).all()
            np.testing.assert_allclose(sol.eigenvectors.T @ sol.eigenvectors, np.eye(3), atol=1e-12)

    def test_no_negative_zero(self):
        sol = sm.solve(np.diag([0.0, 0.0, 1.0]), k=2, which="smallest")
        assert not np.signbit(sol.eigenvalues).any()


def test_an_A_with_one_negative_eigenvalue_far_below():
    """No multiple of B up to 256 times the first guess made A + ηB definite."""
    A = sm.gallery.stencil_cube(16)
    A, B = A if isinstance(A, tuple) else (A, sp.eye_array(A.shape[0], format="csr"))
    sol = sm.solve(A - 40 * B, B, k=2, which="smallest", rng=0)
    plain = sm.solve(A, B, k=2, which="smallest", rng=0)
    np.testing.assert_allclose(sol.eigenvalues, plain.eigenvalues - 40, rtol=1e-7)


def test_lapack_does_not_forget_a_B_that_it_is_to_solve_with_iteratively():
    """With a diagonal for an operator A, B was left out of the decomposition."""
    A, B = sm.gallery.synthetic_pair(14, kappa_B=10, rng=0)
    sol = sm.solve(aslinearoperator(A), B, k=13, diagonal=np.diag(B))
    exact = scipy.linalg.eigh(A, B, eigvals_only=True)
    np.testing.assert_allclose(sol.eigenvalues, exact[::-1][:13], rtol=1e-9)
    np.testing.assert_allclose(sol.eigenvectors.T @ B @ sol.eigenvectors, np.eye(13), atol=1e-9)


class TestSingularPencils:
    """A and B share a null vector: every number is an eigenvalue, and A − σB is singular for every σ."""

    rng = np.random.default_rng(4)
    G = rng.standard_normal((20, 12))
    A, B = G @ np.diag(np.arange(1.0, 13)) @ G.T, G @ G.T

    @pytest.mark.parametrize(
        "question", [{"sigma": 0.0}, {"sigma": 1.87}, {"interval": (-1.0, 0.0)}, {"interval": (0.5, 3.5)}], ids=str
    )
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_are_refused(self, kind, question):
        with pytest.raises(ValueError, match="singular"):
            sm.solve(kind(self.A), kind(self.B), rng=0, **question)

    def test_more_pairs_than_the_rank(self):
        A = np.diag(np.arange(1.0, 21))
        for question in ({"which": "smallest"}, {"sigma": 3.3}):
            with pytest.raises(ValueError, match="finite"):
                sm.solve(A, self.G @ self.G.T, k=14, **question)

    def test_restricted_for_an_operator_with_nothing_but_a_product(self):
        A = np.diag(np.arange(1.0, 13))

        class Bare:
            shape = (12, 12)

            def __matmul__(self, x):
                return A @ x

        B = np.diag(np.r_[np.ones(10), 0.0, 0.0])
        sol = sm.solve(Bare(), B, k=2, b_policy="restrict", rng=0)
        np.testing.assert_allclose(sol.eigenvalues, [10, 9], rtol=1e-10)


class TestSizes:
    def test_lapack_returned_fewer_pairs_than_asked_for(self):
        """Of 32 eigenvalues 1/1171.5 that are equal up to rounding, a subset driver found none."""
        v = np.random.default_rng(802).standard_normal(33)
        A, B = 5.0 * np.outer(v, v), np.diag(np.linspace(1.0, 10.0, 33))
        for sigma in (-1171.5, -3e5, -2.0):
            sol = sm.solve(A, B, k=1, sigma=sigma, rng=0)
            assert sol.eigenvalues.shape == (1,)
            np.testing.assert_allclose(sol.eigenvalues, 0, atol=1e-9)

    @pytest.mark.parametrize("B", [None, np.eye(40)], ids=["I", "B"])
    def test_a_preconditioner_of_a_wrong_size_is_refused_even_if_unused(self, B):
        A = np.diag(np.arange(1.0, 41))
        with pytest.raises(ValueError, match="preconditioner has shape"):
            sm.solve(A, B, preconditioner=np.eye(41))
        with pytest.raises(ValueError, match="diagonal has 41 entries"):
            sm.solve(A, B, diagonal=np.ones(41))


def test_an_operator_is_not_given_what_is_not_finite():
    """A method that diverges, here with steps beyond all bounds, is the method's fault."""
    A, B = sm.gallery.synthetic_pair(30, kappa_B=10, rng=0)
    seen = []

    class Bare:
        shape, dtype = B.shape, B.dtype

        def __matmul__(self, x):
            seen.append(bool(np.isfinite(x).all()))
            return B @ x

    with pytest.raises(sm.NotConverged):
        sm.solve(A, Bare(), method=sm.GradientDescent(sm.Fixed(1e200)), max_steps=50, rng=0)
    assert all(seen)


def test_eigenvalues_that_underflow_have_no_neighbour():
    A, B = 1e-180 * np.diag(np.arange(1.0, 7)), 1e190 * np.eye(6)
    with pytest.raises(ValueError, match="scale A or B"):
        sm.solve(A, B, sigma=1.0)


@pytest.mark.parametrize("k", [1, 3])
def test_a_zero_matrix_is_certified(k):
    sol = sm.solve(np.zeros((56, 56)), np.eye(56), k, method=sm.Accelerated(), certify=True, rng=0)
    assert (sol.eigenvalues == 0).all()
    assert sol.verdict == "certified"


@pytest.mark.parametrize("gap", [1e-7, 1e-6])
def test_a_gap_that_single_precision_does_not_resolve(gap):
    n = 420
    sol = sm.solve(np.eye(n) + gap * np.ones((n, n)) / n, rng=0)
    assert abs(sol.eigenvalues[0] - 1 - gap) <= 1e-12


def test_pairs_that_only_the_given_matrices_determine():
    """The equilibrated A has entries of 1e14, beside which eigenvalues of 1 are lost; A itself has not."""
    k, b = np.array([0, 1e8, 1, 1e8, 0]), np.array([1e-6, 1, 100, 1e-6])
    A = np.diag(k[:-1] + k[1:]) - np.diag(k[1:-1], 1) - np.diag(k[1:-1], -1)
    for kind in (np.asarray, sp.csr_array):
        sol = sm.solve(kind(A), b, k=4)
        U, values = sol.eigenvectors, sol.eigenvalues
        rounding = np.finfo(float).eps * (2e8 + values * 100) * np.linalg.norm(U, axis=0)
        assert (np.linalg.norm(A @ U - values * b[:, None] * U, axis=0) <= 320 * rounding).all()
        np.testing.assert_allclose(U.T @ (b[:, None] * U), np.eye(4), atol=1e-10)


@pytest.mark.parametrize("sigma", [1e3, 1e5, 1e6, 1e8])
def test_bounds_of_close_pairs_far_from_sigma(sigma):
    """Rounding of λ − σ hides the differences of Wilkinson's pairs."""
    W = np.diag(np.abs(np.arange(-10.0, 11))) + np.diag(np.ones(20), 1) + np.diag(np.ones(20), -1)
    sol = sm.solve(W, k=10, sigma=sigma)
    exact = np.linalg.eigvalsh(W)
    assert (np.abs(exact[:, None] - sol.eigenvalues).min(axis=0) <= sol.error_bounds + 1e-14).all()
    assert (np.abs(np.sort(sol.eigenvalues) - exact[-10:]) <= sol.error_bounds.max()).all()


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


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("method", [None, sm.LocallyOptimal()], ids=["default", "LOBPCG"])
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_an_operator_B_at_a_loose_tolerance(tol, method, k):
    """LOBPCG stopped next to an eigenvector that it passes, far from the largest eigenvalue."""
    n = 220
    for seed in (0, 3, 5):
        rng = np.random.default_rng(seed)
        d, b = np.r_[1.5, rng.uniform(-1, 1, n - 1)], 4.0 ** rng.integers(-1, 2, n)
        B = aslinearoperator(sp.diags_array(b, format="csr"))
        sol = sm.solve(np.diag(d * b), B, k, tol=tol, rng=seed, method=method)
        exact = np.sort(d)[::-1][:k]
        assert (np.abs(sol.eigenvalues - exact) <= sol.error_bounds + 2 * tol).all()


@pytest.mark.parametrize("A", [450 * np.eye(450) - 1, 2 * np.eye(450), np.zeros((450, 450))], ids=["K450", "2I", "0"])
def test_all_eigenvalues_alike_in_mixed_precision(A):
    """Their mean is the largest, and the correction divided by the difference."""
    sol = sm.solve(A, tol=1e-7, rng=783)
    assert sol.eigenvalues[0] == pytest.approx(np.linalg.eigvalsh(A)[-1], rel=1e-9, abs=1e-12)


def test_a_diagonal_is_given_for_an_ill_conditioned_B():
    """Conjugate gradients took 137 products for each solve with a B whose entries are known."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((326, 326)))[0]
    B = (Q * np.geomspace(1e-6, 1, 326)) @ Q.T
    B = sp.csr_array((B + B.T) / 2)
    sol = sm.solve(aslinearoperator(sp.diags_array(np.arange(326.0))), B, 4, which="ends", diagonal=B.diagonal(), rng=0)
    assert sol.counts.P_solves == 0
    assert "UNUSED_PRECONDITIONER" in choices(sol)


@pytest.mark.parametrize("which", ["ends", "magnitude", "largest", "smallest"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("n", "k"), [(15, 14), (60, 7), (450, 3)], ids=str)
def test_a_preconditioner_for_a_small_B(which, kind, n, k):
    """It is used or not, and the wanted end of the spectrum stays the wanted one."""
    A, B = pair_of(np.linspace(-1.1, 3.0, n))
    sol = sm.solve(kind(A), kind(B), k, which=which, preconditioner=sm.Diagonal(), max_steps=10**5, rng=0)
    assert sol.converged
    every = scipy.linalg.eigh(A, B, eigvals_only=True)
    ends = np.ravel([every[::-1], every], order="F")
    order = {"largest": every[::-1], "smallest": every, "ends": ends, "magnitude": every[np.argsort(-np.abs(every))]}
    np.testing.assert_allclose(np.sort(sol.eigenvalues), np.sort(order[which][:k]), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", range(8))
def test_rounding_of_a_ridge_does_not_widen_a_cluster(seed):
    """Massless unknowns beside a ridge: equilibration makes their rows huge, and with them the noise of every value.

    A start on the fifth eigenvector was certified as the nearest to 0.
    """
    rng, n, mass = np.random.default_rng(seed), 23, 16
    E, R = rng.standard_normal((n, n)), rng.standard_normal((mass, mass))
    A = np.diag(np.linspace(2, 15, n)) + 0.3 * (E + E.T)
    M = R @ R.T / mass + 0.1 * np.eye(mass)
    condensed = A[:mass, :mass] - A[:mass, mass:] @ np.linalg.solve(A[mass:, mass:], A[mass:, :mass])
    values, vectors = scipy.linalg.eigh(condensed, M)
    x0 = np.r_[vectors[:, 4], -np.linalg.solve(A[mass:, mass:], A[mass:, :mass] @ vectors[:, 4])]
    sol = sm.solve(A, scipy.linalg.block_diag(M, np.zeros((7, 7))), sigma=0.0, x0=x0, certify=True, b_policy="ridge")
    assert sol.eigenvalues == pytest.approx(values[np.argmin(np.abs(values))], rel=1e-6)


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


@pytest.mark.parametrize("n", [500, 5000])
def test_bounds_hold_for_long_rows(n):
    """Rounding of the sum over the row of a hub grows with its length."""
    L = sp.lil_array((n, n))
    L.setdiag(1.0)
    L[0, 1:] = L[1:, 0] = -1
    L[0, 0] = n - 1
    sol = sm.solve(sp.csr_array(L), k=2)
    assert abs(sol.eigenvalues[0] - n) <= sol.error_bounds[0] <= 1e-9 * n


def test_bounds_hold_for_a_large_dense_matrix():
    sol = sm.solve(np.ones((1500, 1500)), k=2)
    assert abs(sol.eigenvalues[0] - 1500) <= sol.error_bounds[0]


@pytest.mark.parametrize("pair", [(np.diag([1.0, 1e308]), np.diag([1.0, 1e-5])), (np.full((3, 3), 1e308), None)])
def test_an_eigenvalue_that_overflows_is_refused(pair):
    with pytest.raises(ValueError, match="beyond the largest number of float64"):
        sm.solve(*pair)


def test_residuals_in_single_precision_are_those_of_the_values_that_are_returned():
    A = np.array([[7, 3 + 2j], [3 - 2j, 7]], np.complex64)
    sol = sm.solve(A)
    u, value = sol.eigenvectors[:, 0].astype(complex), float(sol.eigenvalues[0])
    residual = np.linalg.norm(A.astype(complex) @ u - value * u) / (value * np.linalg.norm(u))
    assert sol.residuals[0] == pytest.approx(residual, rel=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_in_single_precision_are_those_of_the_vectors_that_are_returned(dtype, weighted):
    rng = np.random.default_rng(2)
    A = rng.standard_normal((300, 300)) + 1j * rng.standard_normal((300, 300))
    A = ((A + A.conj().T) / 2).astype(dtype) if dtype is np.complex64 else np.asarray((A + A.T).real, dtype)
    B = np.diag(10 ** rng.uniform(-2, 2, 300)).astype(dtype) if weighted else None
    sol = sm.solve(A, B, k=3, rng=0)
    A, U, values = A.astype(complex), sol.eigenvectors.astype(complex), sol.eigenvalues.astype(float)
    BU = U if B is None else B @ U
    level = np.linalg.norm(A, 1) + np.abs(values) * (1 if B is None else np.linalg.norm(B, 1))
    least = np.finfo(np.float32).eps ** 0.5 * level * np.linalg.norm(U, axis=0)
    sizes = np.maximum(np.abs(values) * np.linalg.norm(BU, axis=0), least)
    assert sol.residuals == pytest.approx(np.linalg.norm(A @ U - BU * values, axis=0) / sizes, rel=1e-2)


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


def test_a_count_beside_an_eigenvalue_of_zero():
    """Its vector was moved to the other side by no more than its own size: nothing."""
    n = 100
    sol = sm.solve(n * np.eye(n) - np.ones((n, n)), k=3, which="smallest", method=sm.Accelerated(), rng=0)
    np.testing.assert_allclose(sol.eigenvalues, [0, n, n], atol=1e-5)


@pytest.mark.parametrize("n", [6, 8, 16])
@pytest.mark.parametrize("sigma", [1.0, 2.0, 4.0, 3.3])
def test_counts_of_factors_whose_pivots_have_grown(n, sigma):
    """Without pivoting, small pivots next to a double eigenvalue falsified the inertia."""
    A = 2 * np.eye(n) - np.roll(np.eye(n), 1, axis=0) - np.roll(np.eye(n), -1, axis=0)
    distances = np.sort(np.abs(np.linalg.eigvalsh(A) - sigma))
    for k, seed in itertools.product((1, 2, 3), range(3)):
        sol = sm.solve(sp.csr_array(A), k=k, sigma=sigma, method=sm.Accelerated(), rng=seed)
        np.testing.assert_allclose(np.abs(sol.eigenvalues - sigma), distances[:k], atol=1e-7)


def test_a_shift_on_an_eigenvalue_of_an_ill_conditioned_pair():
    n = 200
    A, B = scipy.linalg.toeplitz(0.5 ** np.arange(n)), scipy.linalg.toeplitz(0.9999 ** np.arange(n))
    values = scipy.linalg.eigh(A, B, eigvals_only=True)
    sol = sm.solve(A, B, sigma=values[n // 2], method=sm.Accelerated())
    assert sol.eigenvalues == pytest.approx(values[n // 2], rel=1e-6)


class TestRestrict:
    @pytest.mark.parametrize("n", [2, 5, 12, 30, 129])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
    def test_rounding_of_a_singular_B_is_no_finite_eigenvalue(self, kind, n):
        """B has rank 1; eigenvalues of 1e-15 ‖B‖ counted as positive."""
        for A in (np.eye(n), np.diag(np.arange(1.0, n + 1)), chain(n).toarray()):
            sol = sm.solve(kind(A), kind(np.ones((n, n))), b_policy="restrict")
            assert sol.eigenvalues[0] == pytest.approx(1 / np.linalg.solve(A, np.ones(n)).sum(), rel=1e-8)
            assert sol.b_report.rank == 1

    @pytest.mark.parametrize("seed", range(20))
    def test_bounds_include_the_rounding_of_the_condensation(self, seed):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([4, 8, 16]))
        H, a, d = scipy.linalg.hadamard(n).astype(float), rng.integers(1, 9, n), 2.0 ** -rng.integers(0, 24, n)
        d[: n // 2] = 0
        sol = sm.solve((H * a) @ H.T, (H * d) @ H.T, k=2, b_policy="restrict")
        exact = np.sort(a[n // 2 :] / d[n // 2 :])[::-1][:2]
        assert (np.abs(sol.eigenvalues - exact) <= sol.error_bounds).all()


@pytest.mark.parametrize("n", [3, 4, 6])
def test_a_B_that_is_singular_to_rounding_has_no_largest(n):
    """LAPACK's Cholesky factorisation accepts about half of them, and the largest eigenvalue was infinite."""
    rng = np.random.default_rng(n)
    for _ in range(100):
        F = rng.standard_normal((n, n - 1))
        B = F @ F.T
        with pytest.raises((ValueError, sm.NotConverged)):
            sm.solve(np.diag(np.arange(1.0, n + 1)), (B + B.T) / 2)


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


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_rows_that_span_hundreds_of_decades(storage):
    """Rayleigh quotient iteration in the user's coordinates ended at the other end of the spectrum."""
    e = np.array([-70.5, 135.7, -79.7, -138.6, 39.8, -126.2, 130.1, 137.4, -36.7, 137.6])
    w = np.array([1.98733, 1.82991, 1.14100, 1.12431, 1.70226, 1.19299, 1.23591, 1.58204, 1.67715, 1.39780])
    d, S = 10.0 ** (e / 2), np.diag(w)
    for i, j in ((0, 1), (0, 2), (0, 9), (2, 3)):
        S[i, j] = S[j, i] = 1e-15
    A = np.triu(S * d * d[:, None])
    sol = sm.solve(storage(A + np.triu(A, 1).T), d * d, k=1, rng=0)
    np.testing.assert_allclose(sol.eigenvalues, 1.98733)


def test_a_certificate_of_a_cut_cluster_says_so():
    """Nothing is missing beyond the cluster; which of its values are the largest is below the tolerance."""
    w = np.r_[1 + 1e-14 * np.linspace(-1, 1, 12), np.linspace(0, 0.9, 88)]
    sol = sm.solve(rotated(w), k=5, certify=True, method=sm.Accelerated(), rng=0)
    assert sol.verdict == "certified"
    assert "cluster" in sol.verdict.why
    whole = sm.solve(rotated(w), k=12, certify=True, method=sm.Accelerated(), rng=0)
    assert "beyond the last pair" in whole.verdict.why


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("policy", ["ridge", "restrict"])
@pytest.mark.parametrize("diagonal", [(0.0, 1.0, -0.5), (-0.5, 1.0, 0.0), (0.0, 1.0, -1e-5)])
def test_no_policy_is_for_an_indefinite_B(diagonal, policy, storage):
    """A zero pivot hid a negative one behind it, and a ridge of any size was added."""
    with pytest.raises(sm.NotPositiveDefinite, match="indefinite"):
        sm.solve(np.diag([1.0, 2.0, 3.0]), storage(np.diag(diagonal)), 1, b_policy=policy)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_a_small_mass_is_a_mass(storage):
    """The rank of B is that of B with a unit diagonal, whatever its storage."""
    B = storage(np.diag([1.0, 2.0, 0.0, 1e-20]))
    sol = sm.solve(np.diag([1.0, 2.0, 3.0, 4.0]), B, 3, b_policy="restrict")
    np.testing.assert_allclose(sol.eigenvalues, [4e20, 1, 1])


def test_a_preconditioner_that_overflows():
    """Single precision, and a diagonal that spans more than it: directions that overflow are left out."""
    d = np.geomspace(1e-8, 1e8, 60).astype(np.float32)
    A = sp.csr_array(sp.diags_array(d * np.linspace(1, 2, 60, dtype=np.float32)))
    options = {"which": "smallest", "tol": 1e-3, "preconditioner": sm.IncompleteCholesky(), "rng": 0}
    np.testing.assert_allclose(sm.solve(A, d, **options).eigenvalues, 1, rtol=1e-3)


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


def test_rounding_of_an_equilibrated_operator():
    """B over 28 decades and A as an operator: what rounding allows was that of the A before equilibration."""
    rng = np.random.default_rng(2)
    d = 10.0 ** rng.uniform(-7, 7, 27)
    S = rng.standard_normal((27, 27))
    A, B = (S + S.T) * np.outer(d, d), np.diag(d**2)
    for method in (sm.SplitMerge(), sm.LocallyOptimal(), None):
        sol = sm.solve(aslinearoperator(A), B, 3, method=method, tol=1e-10, rng=0, max_steps=3000)
        U, w = sol.eigenvectors, sol.eigenvalues
        np.testing.assert_allclose(w, np.linalg.eigvalsh(S + S.T)[::-1][:3], rtol=1e-12)
        R = (A @ U - B @ U * w) / d[:, None]
        assert np.linalg.norm(R, axis=0).max() <= 1e-9 * w[0]


@pytest.mark.parametrize("low", [-1.0, 0.0])
def test_an_exact_preconditioner_passes_its_trial(low):
    """It leaves a residual of exactly zero, which was taken for a failure of A + ηB to be definite."""
    for n, m, seed in ((60, 6, 0), (120, 2, 1)):
        d = np.full(n, low)
        d[np.random.default_rng(seed).permutation(n)[:m]] = 2.0
        sol = sm.solve(sp.diags_array(d).tocsr(), k=3, which="smallest", method=sm.LocallyOptimal(), rng=seed)
        np.testing.assert_allclose(sol.eigenvalues, low, atol=1e-8)


def test_runs_that_do_not_help_are_not_repeated():
    """Half of all pairs with solves to one digit: five further runs were made, each as long as the first."""
    n = 60
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    B = (Q * np.geomspace(1, 1e4, n)) @ Q.T
    X = rng.standard_normal((n, n // 2))
    method = sm.Accelerated(inner=sm.ConjugateGradient(tol=0.1))
    with pytest.raises(sm.NotConverged) as error:
        sm.solve(X @ X.T, (B + B.T) / 2, n // 2, which="ends", method=method, rng=0, max_steps=300)
    assert error.value.solution.counts.A_products <= 3 * n


@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_equal_operators_of_a_singular_pencil(which):
    """Every vector has the residual zero, and only the entries show the common null vector."""
    X = np.random.default_rng(3).integers(-3, 4, (23, 20)).astype(float)
    A = aslinearoperator(X @ X.T)
    with pytest.raises(ValueError, match=r"definite|singular|null"):
        sm.solve(A, A, method=sm.LocallyOptimal(), which=which, rng=0)


@pytest.mark.parametrize(("dtype", "least"), [(np.float32, 3e-45), (np.float32, 9e-41), (np.float64, 5e-324)])
@pytest.mark.parametrize("policy", ["ridge", "restrict"])
def test_a_singular_B_of_denormal_numbers_is_refused(dtype, least, policy):
    """No ridge makes it definite in float32, where the search for one did not end."""
    B = np.diag(np.r_[np.full(9, least), 0]).astype(dtype)
    with pytest.raises(ValueError, match="multiply B by a large number"):
        sm.solve(np.eye(10, dtype=dtype), B, b_policy=policy)


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


def test_an_indefinite_A_beside_an_operator_B_is_told_as_such():
    """The message spoke of a sigma that was not given."""
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((154, 154)))[0]
    A, B = (Q * np.linspace(-1, 1, 154)) @ Q.T, (Q * np.geomspace(1, 4.5e8, 154)) @ Q.T
    with pytest.raises(ValueError, match="A is not positive definite, and a preconditioner"):
        sm.solve((A + A.T) / 2, aslinearoperator((B + B.T) / 2), which="smallest", method=sm.LocallyOptimal(), rng=0)


def test_pairs_of_a_complete_basis_go_on_from_what_inverse_iteration_has_improved():
    """All but one of the eigenvalues next to σ = 0: those far from it were never found, however often it began anew."""
    values = np.r_[np.geomspace(1e-17, 0.4, 58), 1.14, 2.38]
    sol = sm.solve(rotated(values), k=59, sigma=0.0, method=sm.Accelerated(), tol=1e-7, rng=0)
    np.testing.assert_allclose(np.sort(sol.eigenvalues)[-2:], [0.4, 1.14], rtol=1e-7)
