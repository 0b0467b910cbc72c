"""Every dtype, and A and B of different dtypes."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from checking import METHODS, check, each_method, each_route, each_solver, unchanged_solve
from kinds import KINDS, Custom
from pairs import indefinite, well_separated


class TestDtypes:
    @pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_matrix, aslinearoperator, Custom])
    @each_route
    def test_whole_numbers(self, dtype, kind, method):
        A = np.zeros((7, 7), dtype)
        A[0, 1] = A[1, 0] = A[3, 3] = A[5, 6] = A[6, 5] = A[0, 0] = 1
        B = np.eye(7, dtype=dtype)
        sol = unchanged_solve(kind(A), kind(B), 2, method=method, rng=0)
        check(sol, A.astype(float), B.astype(float), 2)
        assert sol.eigenvectors.dtype == sol.eigenvalues.dtype == np.float64

    @each_route
    def test_uint8_products_do_not_wrap(self, method):
        A, B = np.full((6, 6), 200, np.uint8), np.eye(6, dtype=np.uint8) * 3
        for kind in (np.asarray, sp.csr_array, aslinearoperator):
            sol = unchanged_solve(kind(A), kind(B), method=method, rng=0)
            np.testing.assert_allclose(sol.eigenvalues, [400.0], rtol=1e-12)

    @pytest.mark.parametrize(
        "kind", ["C", "F", "strided", "csr_array", "coo_matrix", "LinearOperator", "object with dtype"]
    )
    @each_method
    def test_single(self, kind, method):
        A, B = (M.astype(np.float32) for M in well_separated(6))
        if isinstance(method, sm.MirrorDescent) and ("perator" in kind or "object" in kind):
            pytest.skip("mirror descent needs the entries of B")
        sol = unchanged_solve(KINDS[kind](A), KINDS[kind](B), 2, method=method, rng=0)
        assert sol.eigenvectors.dtype == sol.eigenvalues.dtype == np.float32
        check(sol, A, B, 2, values=1e-5, orthonormal=1e-5)

    @pytest.mark.parametrize("kind", ["C", "F", "csr_array", "LinearOperator"])
    @each_solver
    def test_single_complex(self, kind, method):
        A, B = (M.astype(np.complex64) for M in indefinite(6, dtype=complex))
        sol = unchanged_solve(KINDS[kind](A), KINDS[kind](B), 2, method=method, rng=0)
        assert sol.eigenvectors.dtype == np.complex64
        assert sol.eigenvalues.dtype == np.float32
        check(sol, A, B, 2, values=1e-5, orthonormal=1e-5)

    @pytest.mark.parametrize("kind", [np.asarray, Custom])
    @each_route
    def test_half(self, kind, method):
        A = np.diag(np.array([4, 2, 1, 0.5, 0.25], np.float16))
        A[0, 1] = A[1, 0] = 0.5
        B = np.diag(np.array([1, 2, 1, 2, 1], np.float16))
        sol = unchanged_solve(kind(A), kind(B), 2, method=method, rng=0)
        check(sol, A, B, 2, values=1e-5, orthonormal=1e-5)
        assert kind is Custom or sol.eigenvectors.dtype == np.float32

    @pytest.mark.parametrize("kind", ["C", "csr_array"])
    @each_route
    def test_single_with_double(self, kind, method):
        A, B = well_separated()
        A = A.astype(np.float32)
        sol = unchanged_solve(KINDS[kind](A), KINDS[kind](B), 2, method=method, rng=0)
        check(sol, A, B, 2)
        assert sol.eigenvectors.dtype == np.float64
        A, B = indefinite()
        B = B.astype(np.float32)
        sol = unchanged_solve(KINDS[kind](A), KINDS[kind](B), 2, method=method, rng=0)
        check(sol, A, B, 2)
        assert sol.eigenvectors.dtype == np.float64

    @pytest.mark.parametrize("single", ["A", "B"])
    @pytest.mark.parametrize("kind", ["LinearOperator", "object with dtype"])
    @each_route
    def test_single_operator_with_double(self, single, kind, method):
        A, B = well_separated()
        if single == "A":
            A = A.astype(np.float32)
            sol = sm.solve(KINDS[kind](A), B, 2, method=method, rng=0, max_steps=2000)
        else:
            B = B.astype(np.float32)
            sol = sm.solve(A, KINDS[kind](B), 2, method=method, rng=0, max_steps=2000)
        assert sol.converged
        np.testing.assert_allclose(sol.eigenvalues, [1.0, 0.5], rtol=1e-5)

    @pytest.mark.parametrize("kind", KINDS)
    @each_route
    def test_real_A_with_complex_B(self, kind, method):
        A, B = well_separated()[0], indefinite(dtype=complex)[1]
        check(unchanged_solve(KINDS[kind](A), B, 2, method=method, rng=0), A, B, 2)
        check(unchanged_solve(KINDS[kind](A), KINDS[kind](B), 2, method=method, rng=0), A, B, 2)

    @pytest.mark.parametrize("kind", KINDS)
    @each_route
    def test_complex_A_with_real_B(self, kind, method):
        A, B = indefinite(dtype=complex)[0], well_separated()[1]
        check(unchanged_solve(A, KINDS[kind](B), 2, method=method, rng=0), A, B, 2)

    def test_strictly_complex_hermitian(self):
        """i on the off-diagonal: a conjugate in the wrong place changes the vectors, not the values."""
        A = np.array([[2, 1j, 0], [-1j, 2, 0.5], [0, 0.5, 1]])
        B = np.array([[2, 0, 0.5j], [0, 1, 0], [-0.5j, 0, 1]])
        for order in "CF":
            for method in (None, *METHODS):
                sol = sm.solve(A.copy(order), B.copy(order), 3, method=method, rng=0)
                check(sol, A, B, 3)
