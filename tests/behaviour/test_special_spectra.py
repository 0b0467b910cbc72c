"""Small pairs, and spectra that are zero, multiple, negative or balanced about zero."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from checking import METHODS, check, each_method, each_solver, short
from covering import parametrise
from pairs import pair_of

SIZES = {f"{n}-{k}": (n, k) for n in range(1, 6) for k in range(1, n + 1)}
RELIABLE = [sm.Accelerated(), sm.SplitMerge(), sm.MirrorDescent(), sm.Lanczos(), sm.Lanczos(reorthogonalise=False)]


class TestSmall:
    @parametrise(size=SIZES, method={short(m): m for m in METHODS}, which=["largest", "smallest"])
    def test_separated(self, size, method, which):
        n, k = size
        A, B = pair_of(np.array([4.0, 2.0, 1.0, -0.5, -2.0])[:n], n)
        check(sm.solve(A, B, k, method=method, which=which, rng=0), A, B, k, which)

    @parametrise(size=SIZES, method={short(m): m for m in RELIABLE}, seed=range(3))
    def test_random(self, size, method, seed):
        n, k = size
        rng = np.random.default_rng(100 * n + seed)
        A, X = rng.standard_normal((2, n, n))
        A, B = (A + A.T) / 2, X @ X.T + 0.5 * np.eye(n)
        check(sm.solve(A, B, k, method=method, rng=seed), A, B, k)
        check(sm.solve(sp.csr_array(A), sp.csr_array(B), k, method=method, rng=seed), A, B, k)

    @pytest.mark.parametrize("dtype", [np.float64, np.complex128])
    @pytest.mark.parametrize("value", [3.0, -3.0, 0.0])
    @each_method
    def test_one_by_one(self, dtype, value, method):
        A, B = np.array([[value]], dtype), np.array([[2]], dtype)
        sol = sm.solve(A, B, method=method, rng=0)
        np.testing.assert_allclose(sol.eigenvalues, [value / 2], rtol=1e-14)
        np.testing.assert_allclose(sol.eigenvectors, [[0.5**0.5]], rtol=1e-14)
        check(sm.solve(A, method=method, rng=0), A, None, 1)


class TestSpecialSpectra:
    @each_method
    @pytest.mark.parametrize("n", [1, 2, 5, 40])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator])
    def test_zero(self, method, n, kind):
        B = pair_of(np.ones(n))[1]
        k = min(n, 3)
        check(sm.solve(kind(np.zeros((n, n))), B, k, method=method, rng=0), np.zeros((n, n)), B, k)

    @each_method
    @pytest.mark.parametrize("n", [1, 2, 5, 40])
    @pytest.mark.parametrize("sign", [1, -1])
    def test_multiple_of_B(self, method, n, sign):
        B = pair_of(np.ones(n))[1]
        k = min(n, 4)
        check(sm.solve(sign * B, B, k, method=method, rng=0, max_steps=5000), sign * B, B, k)

    @each_method
    @pytest.mark.parametrize("n", [1, 2, 5, 40])
    def test_identity(self, method, n):
        k = min(n, 4)
        check(sm.solve(np.eye(n), None, k, method=method, rng=0), np.eye(n), None, k)
        check(sm.solve(np.eye(n), np.eye(n), k, method=method, rng=0), np.eye(n), np.eye(n), k)

    @each_method
    def test_identity_against_B(self, method):
        B = np.diag([1.0, 2.0, 4.0, 8.0])
        check(sm.solve(np.eye(4), B, 2, method=method, rng=0), np.eye(4), B, 2)

    @each_method
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_diagonal(self, method, which):
        A, B = np.diag([8.0, -4.0, 2.0, 1.0, -0.5]), np.diag([1.0, 2.0, 1.0, 3.0, 1.0])
        check(sm.solve(A, B, 4, method=method, which=which, rng=0), A, B, 4, which)
        sparse = sp.dia_array(A), sp.dia_array(B)
        check(sm.solve(*sparse, 4, method=method, which=which, rng=0), A, B, 4, which)

    @each_method
    @pytest.mark.parametrize("sign", [1, -1])
    def test_all_equal(self, method, sign):
        A, B = pair_of(np.full(6, 3.0 * sign))
        check(sm.solve(A, B, 6, method=method, rng=0), A, B, 6)

    @each_method
    @pytest.mark.parametrize("sign", [1, -1])
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    @pytest.mark.parametrize("n", [3, 6, 50])
    def test_rank_one(self, method, sign, which, n):
        a = np.random.default_rng(0).standard_normal(n)
        A, B = sign * np.outer(a, a), pair_of(np.ones(n))[1]
        check(sm.solve(A, B, 3, method=method, which=which, rng=0), A, B, 3, which)

    @each_method
    def test_rank_two_on_a_large_null_space(self, method):
        X = np.random.default_rng(0).standard_normal((60, 2))
        A, B = X @ np.diag([2.0, 1.0]) @ X.T, pair_of(np.ones(60))[1]
        A = (A + A.T) / 2
        check(sm.solve(A, B, 4, method=method, rng=0), A, B, 4)

    @each_method
    @pytest.mark.parametrize("multiplicity", [2, 3])
    def test_multiple_eigenvalue(self, method, multiplicity):
        A, B = pair_of(np.r_[np.full(multiplicity, 4.0), 2.0, 1.0, 0.5])
        check(sm.solve(A, B, multiplicity + 1, method=method, rng=0), A, B, multiplicity + 1)
        A, B = pair_of(np.r_[8.0, np.full(multiplicity, 4.0), 2.0, 1.0])
        check(sm.solve(A, B, multiplicity + 2, method=method, rng=0), A, B, multiplicity + 2)

    @each_method
    def test_multiple_eigenvalue_in_a_larger_pair(self, method):
        A, B = pair_of(np.r_[4.0, 4.0, 2.0, np.linspace(1, 0.01, 57)], condition=2.0)
        check(sm.solve(A, B, 3, method=method, rng=0), A, B, 3)

    @each_method
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_negative_definite(self, method, which):
        A, B = pair_of([-1.0, -2.0, -4.0, -8.0, -16.0])
        check(sm.solve(A, B, 2, method=method, which=which, rng=0), A, B, 2, which)

    @each_method
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_plus_and_minus(self, method, which):
        A, B = pair_of([2.0, 1.0, 0.5, -0.5, -1.0, -2.0])
        check(sm.solve(A, B, 4, method=method, which=which, rng=0), A, B, 4, which)

    @each_method
    def test_equal_modulus(self, method):
        """±1 only: the power of T alone would not settle."""
        A = np.diag([1.0, -1.0, 1.0, -1.0, -1.0])
        check(sm.solve(A, None, 4, method=method, rng=0), A, None, 4)

    @each_method
    def test_dominated_by_a_negative_value(self, method):
        A, B = pair_of(np.r_[1.0, 0.5, -20.0, np.linspace(-1, 0, 37)], condition=2.0)
        check(sm.solve(A, B, 2, method=method, rng=0, tol=1e-8), A, B, 2)

    @each_solver
    def test_negative_value_that_the_survey_may_miss(self, method):
        """Positive but for one small negative value deep in a cluster."""
        A, B = pair_of(np.r_[4.0, 2.0, np.full(96, 1.0), 1e-3, -1e-3], condition=2.0)
        check(sm.solve(A, B, 2, method=method, rng=0), A, B, 2)

    @each_solver
    def test_all_pairs_of_forty(self, method):
        A, B = pair_of(np.linspace(-3, 5, 40) ** 3)
        check(sm.solve(A, B, 40, method=method, rng=0), A, B, 40)
