"""Ritz vectors on a block: orthonormal, and with products that are those of a fresh multiplication."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from pairs import pair_of
from splitmerge.problem.operator import dense_operator, sparse_operator
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.verification.graded import _user_matrix, _UserPair
from splitmerge.verification.projection import images_of, rayleigh_ritz, swapped_ritz

N, K = 30, 4


def pair(dtype):
    rng = np.random.default_rng(3)
    A, B = (rng.standard_normal((N, N)) + 1j * rng.standard_normal((N, N)) for _ in range(2))
    A, B = (M if dtype is complex else M.real for M in (A, B))
    return A @ A.conj().T + np.eye(N), B @ B.conj().T + np.eye(N)


def block(dtype, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, K)) + 1j * rng.standard_normal((N, K))
    return X if dtype is complex else X.real


def ritz(products, X, swapped):
    return swapped_ritz(products, X, 0.0, 1) if swapped else rayleigh_ritz(products, X, lambda v: np.arange(v.size))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("dtype", [float, complex])
class TestRitzVectors:
    def test_are_orthonormal_and_diagonalise(self, dtype, swapped):
        A, B = pair(dtype)
        X = ritz(Products(Pencil(A, B)), block(dtype), swapped).X
        np.testing.assert_allclose(X.conj().T @ B @ X, np.eye(K), atol=1e-12)
        H = X.conj().T @ A @ X
        np.testing.assert_allclose(H, np.diag(H.diagonal().real), atol=1e-10 * np.abs(H).max())

    @pytest.mark.parametrize("dependence", [1.0, 1e-6])
    def test_have_the_products_of_a_fresh_multiplication(self, dtype, swapped, dependence):
        """Columns that are nearly dependent would leave products of cancelling terms."""
        products, X = Products(Pencil(*pair(dtype))), block(dtype)
        X[:, 1] = X[:, 0] + dependence * X[:, 1]
        found = ritz(products, X, swapped)
        fresh = images_of(products, found.X)
        for made, expected in zip(found[1:], fresh[1:], strict=True):
            np.testing.assert_allclose(made, expected, atol=1e-13 * np.abs(expected).max())

    def test_known_products_are_not_made_again(self, dtype, swapped):
        products = Products(Pencil(*pair(dtype)))
        ritz(products, np.linalg.qr(block(dtype))[0], swapped)
        assert products.counts.monitoring.A_products == K


def test_inverse_iteration_stays_orthogonal_to_complex_vectors():
    """Towards a vector that is known: only the projection keeps the iteration away from it."""
    A, B = pair(complex)
    X = scipy.linalg.eigh(A, B)[1][:, :3]
    X[:, 2] = X[:, 0] + 0.1 * X[:, 2]
    found = _UserPair.of(A, B).iterated(X, np.array([2]))
    np.testing.assert_allclose(found[:, :2].conj().T @ B @ found[:, 2], 0, atol=1e-12)


def test_the_best_come_first():
    A, B = pair_of(np.arange(1.0, N + 1))
    X = rayleigh_ritz(Products(Pencil(A, B)), block(float), lambda v: np.arange(v.size)[::-1]).X
    quotients = np.einsum("ij,ij->j", X, A @ X)
    assert (np.diff(quotients) <= 0).all()


def test_swapped_vectors_beside_a_tiny_eigenvalue_are_orthonormal():
    """Next to 1/λ = 1e8 the others are orthogonal to its rounding only."""
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.standard_normal((N, K)) + 1j * rng.standard_normal((N, K)))[0]
    rest = np.linalg.qr(np.column_stack([X, rng.standard_normal((N, N - K)) + 0j]))[0]
    A = (rest * np.r_[1e-8, np.linspace(1, 2, N - 1)]) @ rest.conj().T
    mixed = X @ (rng.standard_normal((K, K)) + 1j * rng.standard_normal((K, K)))
    found = swapped_ritz(Products(Pencil((A + A.conj().T) / 2, None)), mixed, 0.0, 1).X
    np.testing.assert_allclose(found.conj().T @ found, np.eye(K), atol=1e-13)


def test_the_users_matrix_before_it_was_equilibrated():
    d = 2.0 ** np.arange(-3, 3)
    M = np.arange(36.0).reshape(6, 6) + np.arange(36.0).reshape(6, 6).T
    scaled = d[:, None] * M * d
    for operator in (
        dense_operator(np.asfortranarray(scaled), 1.0, 1.0),
        sparse_operator(sp.csr_array(scaled), 1.0, 1.0),
    ):
        found = _user_matrix(operator, d)
        np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, M)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("cancelled", [1.0, 1e-4, 1e-10])
def test_products_of_combinations_that_cancel(dtype, cancelled):
    """They are those of the combined columns, to the rounding of a product with these."""
    A, B = pair(dtype)
    products = Products(Pencil(A, B))
    x, y, *_ = block(dtype).T
    images = images_of(products, np.column_stack([x, x + cancelled * y]))
    found = images.combined(products, np.array([[1.0], [-1.0]]) / cancelled)
    for M, MX in ((A, found.AX), (B, found.BX)):
        rounding = N * np.finfo(float).eps * np.abs(M) @ np.abs(found.X)
        assert (np.abs(MX - M @ found.X) <= 4 * rounding).all()
