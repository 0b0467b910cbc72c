"""Found by adversaries: ill-conditioned B, graded A, wide clusters, and single precision beside badly scaled masses."""

import time
import warnings

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator
from tools.fuzz.oracle import reference

import splitmerge as sm


def ill_conditioned(n, kappa, seed):
    """A = L M Lᵀ and B = L Lᵀ with κ(B) = `kappa`, where M has the eigenvalues −1 … 1."""
    rng = np.random.default_rng(seed)
    P, R = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    L = P * kappa ** (-0.5 * np.linspace(0, 1, n))
    A, B = L @ (R * np.linspace(-1, 1, n)) @ R.T @ L.T, L @ L.T
    return (A + A.T) / 2, (B + B.T) / 2


@pytest.mark.parametrize("which", ["largest", "smallest", "magnitude"])
@pytest.mark.parametrize("kappa", [1e10, 1e12])
@pytest.mark.parametrize("n", [6, 30, 120])
def test_an_ill_conditioned_B_is_no_reason_to_give_up(n, kappa, which):
    """Rounding of xᴴAx moved the values by more than their residuals allow: 7 to 10 of 10 solves gave up."""
    for seed in range(4):
        A, B = ill_conditioned(n, kappa, seed)
        solution = sm.solve(A, B, 2, which=which, rng=seed)
        assert (solution.residuals <= (1e-8 if solution.reason.name == "RESIDUAL" else 1e-6)).all()
        every = scipy.linalg.eigh(A, B, eigvals_only=True)
        errors = np.abs(every[:, None] - solution.eigenvalues).min(axis=0)
        assert (errors <= solution.error_bounds).all()


def test_a_quotient_is_not_moved_where_its_residual_is_rounding():
    """Tiny eigenvalues of a graded matrix have more digits than rounding of the largest entry leaves of a residual."""
    d = 10.0 ** np.linspace(-12, 0, 120)
    A = d[:, None] ** 0.5 * (np.eye(120) + 0.1 * np.ones((120, 120)) / 120) * d**0.5
    solution = sm.solve(A, k=3, which="smallest", tol=1e-12)
    expected = 1 / np.sort(scipy.linalg.eigvalsh(np.linalg.inv(A)))[::-1][:3]
    np.testing.assert_allclose(solution.eigenvalues, expected, rtol=1e-9)


@pytest.mark.parametrize("n", [60, 200, 400])
@pytest.mark.parametrize(("low", "high"), [(-7, 5.4), (-13, 0)])
def test_vectors_of_tiny_eigenvalues_are_orthonormal(n, low, high):
    """Inner products up to 3e-8 were left between vectors of (B, A)."""
    Q = scipy.fft.dct(np.eye(n), norm="ortho", axis=0)
    A = (Q * 10.0 ** np.linspace(low, high, n)) @ Q.T
    V = sm.solve((A + A.T) / 2, k=3, which="smallest").eigenvectors
    np.testing.assert_allclose(V.T @ V, np.eye(3), atol=1e-13)


def test_a_certificate_exempts_clusters_of_six_digits_only():
    """At a tolerance of 1e-6 a chain of values 8e-6 wide counted as one cluster."""
    n = 400
    for seed in range(4):
        rng = np.random.default_rng(seed)
        values = np.r_[1 + 1e-4, 1 - 8e-6 * rng.random(120), rng.uniform(-1, 0.9, n - 121)]
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        A = (Q * values) @ Q.T
        x0 = Q[:, 0] + 1e-3 * rng.standard_normal(n)
        solution = sm.solve((A + A.T) / 2, k=10, tol=1e-6, x0=x0, rng=seed)
        wrong = np.abs(solution.eigenvalues - np.sort(values)[::-1][:10]).max()
        assert wrong <= solution.error_bounds.max() + (1.1e-6 if "cluster" in solution.verdict.why else 1e-12)


@pytest.mark.parametrize("k", [1, 3])
def test_single_precision_is_no_reason_to_leave_a_result_unchecked(k):
    """Its eps alone passed for values that rounding of the largest one hides."""
    for seed in range(3):
        rng, n = np.random.default_rng(seed), 200
        X = rng.standard_normal((n, 2 * n))
        L, Q = np.linalg.cholesky(X @ X.T / n), np.linalg.qr(rng.standard_normal((n, n)))[0]
        A = L @ (Q * np.r_[2.0 ** np.arange(6), 0.5 * rng.random(n - 6)]) @ Q.T @ L.T
        pair = [((M + M.T) / 2).astype(np.float32) for M in (A, L @ L.T)]
        A, B = (LinearOperator(M.shape, M.__matmul__, matmat=M.__matmul__, dtype=M.dtype) for M in pair)
        assert sm.solve(A, B, k, rng=seed).verdict != "unchecked"


@pytest.mark.parametrize("which", ["largest", "smallest", "magnitude", "ends"])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("masses", ["lumped", "sparse"])
def test_an_operator_in_single_precision_beside_masses_over_decades(masses, dtype, which):
    """It was scaled in double precision: a TypeError, NaN, or "B is not positive definite"."""
    n = 700
    for seed in range(3):
        rng = np.random.default_rng(seed)
        d = 10 ** rng.uniform(-3, 3, n)
        below = 0.4 * np.sqrt(d[1:] * d[:-1]) * (np.arange(n - 1) % 2 == 0)
        B = sp.csr_array(sp.diags_array([below, d, below], offsets=[-1, 0, 1])) if masses == "sparse" else d
        a = (d * np.r_[np.zeros(8), rng.uniform(0.01, 1, n - 8)]).astype(dtype)
        A = LinearOperator((n, n), lambda x, a=a: a * np.ravel(x), matmat=lambda X, a=a: a[:, None] * X, dtype=dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            solution = sm.solve(A, B.astype(dtype), 3, which=which, tol=1e-4, rng=seed)
        assert solution.eigenvectors.dtype == dtype


def test_a_cluster_as_wide_as_the_tolerance_does_not_hold_a_search_up():
    """It had converged but went on for 18,000 steps, as the next values might have been more wanted."""
    rng = np.random.default_rng(7)
    n, gap, tol = 800, 10 ** rng.uniform(-6, -4), 10 ** rng.uniform(-7, -4)
    values = np.r_[1 + gap * rng.random(30), rng.uniform(-1, 0.99, n - 30)]
    began = time.process_time()
    w, _ = sm.eigsh(sp.csr_array(sp.diags_array(values)), 2, which="LM", tol=tol, rng=7)
    assert time.process_time() - began < 5
    assert np.abs(w - np.sort(values)[-2:]).max() < tol


@pytest.mark.parametrize("small", [1e-12, 1e-15])
def test_a_shift_on_an_eigenvalue_beside_rows_with_nearly_no_mass(small):
    """σ moved by a fraction of the largest eigenvalue, far beyond those next to it, which were missing."""
    circles = []
    for n in (15, 20):
        L = sp.lil_array(sp.diags_array([-np.ones(n - 1), np.full(n, 2.0), -np.ones(n - 1)], offsets=[-1, 0, 1]))
        L[0, n - 1] = L[n - 1, 0] = -1
        circles.append(L.tocsr())
    A = sp.csr_array(sp.kronsum(*circles))
    for seed in range(3):
        masses = np.ones(300)
        masses[np.random.default_rng(seed).choice(300, 20, replace=False)] = small
        solution = sm.solve(A, masses, k=5, sigma=0.0, rng=0)
        expected = sm.solve(A, masses, k=5, sigma=-1e-3, rng=0)
        np.testing.assert_allclose(np.sort(solution.eigenvalues), np.sort(expected.eigenvalues), atol=1e-7)


def test_bounds_of_pairs_of_a_cluster_that_k_cuts():
    """Nothing is known of its other eigenvalues, so that no gap may be used: a bound was 40 times too small."""
    for seed in (145, 17, 33):
        rng = np.random.default_rng(seed)
        width, m = 10.0 ** -rng.uniform(9, 12), int(rng.choice([1, 2, 3]))
        values, blocks = [], []
        for _ in range(3):
            X = rng.standard_normal((m, m))
            for _ in range(100):
                block = (X + X.T) * (1 + width * rng.standard_normal())
                blocks.append(block)
                values += np.linalg.eigvalsh(block).tolist()
        A, values = sp.csr_array(sp.block_diag(blocks)), np.sort(values)
        for k, tol in ((7, 1e-1), (12, 1e-2), (20, 1e-3)):
            sigma = float(rng.choice(values)) * (1 + 10.0 ** -rng.uniform(6, 9))
            solution = sm.solve(A, k=k, tol=tol, sigma=sigma, rng=seed)
            errors = np.abs(values[:, None] - solution.eigenvalues).min(axis=0)
            assert (errors <= solution.error_bounds + 1e-14).all()


def test_bounds_are_finite_where_an_eigenvalue_is_as_small_as_rounding():
    values = np.r_[np.logspace(-12, -6, 7), np.linspace(1, 2, 142), 1e4]
    solution = sm.solve(np.diag(values), k=10, which="smallest")
    assert (np.abs(solution.eigenvalues - values[:10]) <= solution.error_bounds).all()
    assert np.isfinite(solution.error_bounds).all()


@pytest.mark.parametrize("question", [{"which": "smallest"}, {"sigma": -1.0}])
@pytest.mark.parametrize("zeros", [1, 60])
def test_rows_without_mass_beside_masses_over_many_decades(zeros, question):
    """Vectors beyond the pairs were taken for infinite eigenvalues, and k for too large."""
    n = 250
    L = sp.diags_array([-np.ones(n - 1), np.full(n, 2.0), -np.ones(n - 1)], offsets=[-1, 0, 1])
    for seed in range(2):
        rng = np.random.default_rng(seed)
        d = np.ones(n)
        d[rng.choice(n, zeros, replace=False)] = 0
        S = sp.diags_array(2.0 ** rng.integers(-15, 16, n))
        A, B = sp.csr_array(S @ L @ S), sp.csr_array(S @ sp.diags_array(d) @ S)
        B.eliminate_zeros()
        inverse = np.sqrt(d)[:, None] * np.linalg.inv(L.toarray()) * np.sqrt(d)
        expected = 1 / np.sort(np.linalg.eigvalsh(inverse))[::-1][:4]
        np.testing.assert_allclose(np.sort(sm.solve(A, B, 4, rng=0, **question).eigenvalues), expected, rtol=1e-8)


@pytest.mark.parametrize("start", [False, True])
def test_a_start_where_all_finite_eigenvalues_are_equal(start):
    """The search found nothing further but vectors in the null space of B, and called k too large."""
    rng, n, z = np.random.default_rng(1), 300, 20
    X, D = sp.random_array((n, z), density=2 / n, rng=rng) * 0.3, rng.uniform(1, 3, z)
    top = 1.1 * sp.eye_array(n) + X @ sp.diags_array(1 / D) @ X.T
    A = sp.csr_array(sp.block_array([[top, X], [X.T, sp.diags_array(D)]]))
    masses = np.r_[np.ones(n), np.zeros(z)]
    x0 = np.r_[rng.standard_normal(n), np.zeros(z)] if start else None
    np.testing.assert_allclose(sm.solve(A, masses, 5, which="smallest", x0=x0, rng=0).eigenvalues, 1.1, rtol=1e-9)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("decades", [10, 12, 16])
def test_small_eigenvalues_beside_rows_with_nearly_no_mass(decades, dense):
    """LAPACK has the rounding of the largest eigenvalue in all others: some of the smallest were missing, certified."""
    n = 200
    diagonal = np.r_[1.0, np.full(n - 2, 2.0), 1.0]
    A = sp.csr_array(sp.diags_array([-np.ones(n - 1), diagonal, -np.ones(n - 1)], offsets=[-1, 0, 1]))
    for seed in range(2):
        rng = np.random.default_rng(seed)
        masses = np.where(rng.random(n) < (0.02, 0.3)[seed], 10.0**-decades, 1.0)
        # the unknowns with mass alone, to rounding
        heavy = masses == 1
        F, C = A.toarray()[np.ix_(~heavy, ~heavy)], A.toarray()[np.ix_(~heavy, heavy)]
        every = np.linalg.eigvalsh(A.toarray()[np.ix_(heavy, heavy)] - C.T @ np.linalg.solve(F, C))
        for question, k in (({"which": "smallest"}, 6), ({"sigma": float(every[5]) * (1 + 1e-8)}, 3)):
            pair = (A.toarray(), np.diag(masses)) if dense else (A, masses)
            solution = sm.solve(*pair, k, rng=0, **question)
            centre = question.get("sigma", -1e-9)
            expected = np.sort(np.abs(every - centre))[:k]
            wrong = np.abs(np.sort(np.abs(solution.eigenvalues - centre)) - expected).max()
            assert solution.verdict == "unchecked" or wrong < 1e-6


def chain(stiffness, masses):
    """A free chain: masses, and springs between them."""
    A = np.zeros((len(masses), len(masses)))
    for i, s in enumerate(stiffness):
        A[i : i + 2, i : i + 2] += s * np.array([[1, -1], [-1, 1]])
    return A, np.asarray(masses)


def ill_conditioned_chain(n, kappa, seed):
    """A free chain, whose A is singular, and a full B with κ(B) = `kappa`."""
    rng = np.random.default_rng(seed)
    A, _ = chain(10.0 ** rng.uniform(-3, 3, n - 1), np.ones(n))
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    B = (Q * np.geomspace(1 / kappa, 1, n)) @ Q.T
    return A, (B + B.T) / 2


@pytest.mark.parametrize("which", ["ends", "both_ends", "magnitude", "smallest", "largest"])
@pytest.mark.parametrize(("n", "k"), [(3, 2), (12, 11), (30, 6), (30, 29), (60, 10)])
def test_the_small_end_beside_the_large_one(n, k, which):
    """What LAPACK leaves of the small ones has residuals of eps λmax, a million times what rounding of A and B allows.

    Those of both ends gave up for n = 30 and 60.
    """
    for kappa in (1e4, 1e6, 1e8):
        A, B = ill_conditioned_chain(n, kappa, n + k)
        solution = sm.solve(A, B, k, which=which, rng=0)
        U, values = solution.eigenvectors, solution.eigenvalues
        norms = np.linalg.norm(A @ U - B @ U * values, axis=0)
        rounding = 2 * n * 2.2e-16 * (np.linalg.norm(A, 1) + abs(values) * np.linalg.norm(B, 1))
        tolerated = 1e-8 * abs(values) * np.linalg.norm(B @ U, axis=0)
        assert (norms <= np.maximum(tolerated, rounding * np.linalg.norm(U, axis=0))).all()
        np.testing.assert_allclose(U.T @ B @ U, np.eye(k), atol=1e-6)


@pytest.mark.parametrize("seed", [0, 79, 218, 229])
@pytest.mark.parametrize(("k", "which"), [(11, "LM"), (10, "BE"), (9, "LM"), (6, "SA")])
def test_eigsh_of_masses_over_twelve_decades(k, which, seed):
    """LAPACK has the small ones to eps λmax, and the iteration that followed left out one of them."""
    n, rng = 12, np.random.default_rng(seed)
    stiffness, masses = 10.0 ** rng.uniform(-6, 6, n - 1), np.geomspace(1e-12, 1, n)
    values, _ = sm.eigsh(chain(stiffness, masses)[0], k, np.diag(masses), which=which)
    # singular values of a factor, as rounding of the product would hide the small ones
    F = np.sqrt(stiffness)[:, None] * np.diff(np.eye(n), axis=0) / np.sqrt(masses)
    every = np.r_[0.0, np.sort(scipy.linalg.svdvals(F)) ** 2]
    low = {"LM": 0, "BE": k // 2, "SA": k}[which]
    wanted = np.r_[every[:low], every[n - k + low :]]
    assert (np.abs(values - wanted) <= np.maximum(1e-3 * wanted, 1e-6)).all()


@pytest.mark.parametrize("which", ["smallest", "largest", "ends", "magnitude"])
def test_vectors_beside_a_few_tiny_masses_are_orthonormal(which):
    """Accurate vectors were not orthogonal to those that met the tolerance only: inner products up to 8e-8."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 60))
        G, masses = rng.normal(size=(n, n)), np.ones(n)
        masses[rng.choice(n, int(rng.integers(1, n // 4)), replace=False)] = 10.0 ** -rng.uniform(4, 8)
        V = sm.solve(-G @ G.T, masses, n // 2, which=which, rng=0).eigenvectors
        np.testing.assert_allclose(V.T @ (masses[:, None] * V), np.eye(n // 2), atol=1e-10)


@pytest.mark.parametrize("question", [{"which": "smallest"}, {"which": "smallest", "certify": True}, {"sigma": 0.0}])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_smallest_of_a_matrix_that_is_singular_to_rounding(kind, question):
    """It had a Cholesky factor, and rounding of 1/λ for λ = 1e-15 hid others: 11 of 100, "certified"."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 180))
        d, e = rng.normal(size=n), rng.normal(size=n - 1)
        d -= scipy.linalg.eigh_tridiagonal(d, e, eigvals_only=True)[0]
        A = kind(np.diag(d) + np.diag(e, 1) + np.diag(e, -1))
        solution = sm.solve(A, np.ones(n), 6, rng=0, **question)
        expected = scipy.linalg.eigh_tridiagonal(d, e, eigvals_only=True)[:6]
        np.testing.assert_allclose(np.sort(solution.eigenvalues), expected, atol=1e-9)


@pytest.mark.parametrize(("seed", "k", "which"), [(59, 29, "smallest"), (89, 30, "smallest")])
def test_values_that_rounding_hides_are_known_to_that_rounding(seed, k, which):
    """Small values were made exact, but were not those that are wanted; the verdicts and bounds said so."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 60))
    grades = 10.0 ** rng.uniform(-rng.uniform(2, 8), 0, n)
    A = rng.normal(size=(n, n))
    A = grades[:, None] * (A + A.T) * grades
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    log_kappa = rng.uniform(3, 8)
    B = (Q * 10.0 ** rng.uniform(-log_kappa, 0, n)) @ Q.T
    try:
        solution = sm.solve(A, (B + B.T) / 2, k, which=which, rng=0)
    except sm.NotConverged as error:  # rounding differs between machines; what is known must hold on all of them
        solution = error.solution
        assert solution.verdict == "unchecked"
    exact = reference(A, (B + B.T) / 2, 2.0**-52)
    low = k if which == "smallest" else k // 2
    wanted = np.r_[np.arange(low), np.arange(n - k + low, n)]
    order = np.argsort(solution.eigenvalues)
    errors = np.abs(solution.eigenvalues[order] - exact.values[wanted].astype(float))
    assert (errors <= solution.error_bounds[order] + 10 * exact.allowance[wanted].astype(float)).all()
