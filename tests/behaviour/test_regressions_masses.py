"""Regressions: singular, indefinite and ill-conditioned B, and preconditioners for it."""

import sys

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from checking import choices
from pairs import pair_of
from plain_matrices import chain


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


@pytest.mark.parametrize("low", [-1.0, 0.0])
def test_an_exact_preconditioner_passes_its_trial(low):
    """It leaves a residual of exactly zero, which was taken for a failure of A + ηB to be definite."""
    for n, m, seed in ((60, 6, 0), (120, 2, 1)):
        d = np.full(n, low)
        d[np.random.default_rng(seed).permutation(n)[:m]] = 2.0
        sol = sm.solve(sp.diags_array(d).tocsr(), k=3, which="smallest", method=sm.LocallyOptimal(), rng=seed)
        np.testing.assert_allclose(sol.eigenvalues, low, atol=1e-8)


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


def test_an_indefinite_A_beside_an_operator_B_is_told_as_such():
    """The message spoke of a sigma that was not given."""
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((154, 154)))[0]
    A, B = (Q * np.linspace(-1, 1, 154)) @ Q.T, (Q * np.geomspace(1, 4.5e8, 154)) @ Q.T
    with pytest.raises(ValueError, match="A is not positive definite, and a preconditioner"):
        sm.solve((A + A.T) / 2, aslinearoperator((B + B.T) / 2), which="smallest", method=sm.LocallyOptimal(), rng=0)


def test_lapack_follows_a_search_that_fails_beside_rows_without_mass(monkeypatch):
    """The massless unknowns are condensed then; one that the user limits ends as it is."""
    rng, n, massless = np.random.default_rng(0), 150, 20
    values = np.linspace(1, 2, n)
    C, D = 0.3 * sp.random_array((n, massless), density=2 / n, rng=rng), rng.uniform(1, 3, massless)
    top = sp.diags_array(values) + C @ sp.diags_array(1 / D) @ C.T
    A = sp.csr_array(sp.block_array([[top, C], [C.T, sp.diags_array(D)]]))
    masses, module = np.r_[np.ones(n), np.zeros(massless)], sys.modules["splitmerge.solve"]
    carried_out, failure = module.carried_out, sm.NotConverged(sm.solve(A, masses, 2, which="smallest"))

    def failing(problem, pencil, mended, *rest):
        if mended.report is None:
            raise failure
        return carried_out(problem, pencil, mended, *rest)

    monkeypatch.setattr(module, "carried_out", failing)
    solution = sm.solve(A, masses, 5, which="smallest", rng=0)
    np.testing.assert_allclose(solution.eigenvalues, values[:5], rtol=1e-9)
    assert solution.b_report.dropped == massless
    with pytest.raises(sm.NotConverged):
        sm.solve(A, masses, 5, which="smallest", max_steps=5, rng=0)


@pytest.mark.parametrize("d", [1e-14, 1e-12, 1e-10, 1e-6])
@pytest.mark.parametrize("stiffness", [(1e-3, 5.0), (1.0, 1.0), (1.0, 2.0)], ids=str)
@pytest.mark.parametrize("method", [None, sm.Accelerated()], ids=["default", "Accelerated"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_graded_masses_beside_massless_rows_are_not_compressed(d, stiffness, method, kind):
    """QᴴAQ with QᴴBQ = I lost the small eigenvalues: 1e-3 came as 7.7e-4, certified, with a bound of 4e-14."""
    c = 0.5 * np.sqrt(d)
    A, B = np.diag([*stiffness, 1.0]), np.array([[1.0, c, 0], [c, d, 0], [0, 0, 0]])
    # of the pair with a unit diagonal of B
    D = np.diag([1.0, d**-0.5])
    exact = 1 / scipy.linalg.eigvalsh(np.array([[1.0, 0.5], [0.5, 1.0]]), D @ A[:2, :2] @ D)
    solution = sm.solve(kind(A), kind(B), 2, b_policy="restrict", method=method, rng=0)
    np.testing.assert_allclose(solution.eigenvalues, exact, rtol=1e-9)
    assert (np.abs(solution.eigenvalues - exact) <= solution.error_bounds + 1e-9 * exact).all()
    assert (solution.residuals <= 1e-8).all()


@pytest.mark.parametrize("log_kappa", [3, 6, 9])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_residuals_of_a_compressed_pair_are_not_excused_by_its_own_rounding(log_kappa, kind):
    """The null space of B belongs to no rows, so another basis rounds; what it costs is told, or the solve gives up."""
    rng = np.random.default_rng(log_kappa)
    n, r = 12, 9
    X = rng.standard_normal((n, r)) * 10.0 ** rng.uniform(-log_kappa / 2, 0, r)
    A = np.diag(np.arange(1.0, n + 1))
    B = X @ X.T
    exact = np.sort(1 / scipy.linalg.eigvalsh(B, A)[n - r :])[::-1]
    try:
        solution = sm.solve(kind(A), kind(B), r, b_policy="restrict", rng=0)
    except sm.NotConverged as error:
        solution = error.solution
    allowed = 320 * np.finfo(float).eps * (np.abs(A).max() + exact * np.abs(B).sum(axis=0).max())
    U, values = solution.eigenvectors, solution.eigenvalues
    norms = np.linalg.norm(A @ U - B @ U * values, axis=0)
    sizes = 1e-8 * np.abs(values) * np.linalg.norm(B @ U, axis=0)
    met = norms <= 1.01 * np.maximum(sizes, allowed * np.linalg.norm(U, axis=0))
    assert met.all() or not solution.converged
    room = solution.error_bounds + 1e-6 * np.abs(exact)
    assert (np.abs(values - exact) <= room).all()
