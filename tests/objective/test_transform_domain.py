"""The domain y = P x of any factor P, beside dense algebra; equations that hold in it are in tests/paper."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from pairs import pair_of
from splitmerge.preconditioners import Factored
from strategies import normal

N = 6
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


class Dense(Factored):
    """P as a given matrix, which need be neither Hermitian nor triangular nor near to a factor of B."""

    def __init__(self, matrix):
        self.matrix = matrix

    def apply(self, x):
        return self.matrix @ x

    def solve(self, y):
        return np.linalg.solve(self.matrix, y)

    def solve_adjoint(self, x):
        return np.linalg.solve(self.matrix.conj().T, x)


@pytest.fixture(params=DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def given(request):
    """A pair, and a well-conditioned P without any structure."""
    dtype = request.param
    A, B = (M.astype(dtype) for M in pair_of(np.linspace(-1, 3, N), dtype=dtype))
    return A, B, (normal(np.random.default_rng(1), (N, N), dtype) + 4 * np.eye(N)).astype(dtype)


def close(found, expected, dtype):
    np.testing.assert_allclose(found, expected, atol=100 * np.finfo(dtype).eps * np.abs(expected).max())


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, lambda B: None], ids=["dense", "sparse", "identity"])
def test_factor_error(given, kind):
    """‖B − PᴴP‖_F², entry by entry."""
    A, B, P = given
    B = kind(B)
    dense = np.eye(N) if B is None else B.toarray() if sp.issparse(B) else B
    wrong = sum(abs(dense[i, j] - np.vdot(P[:, i], P[:, j])) ** 2 for i in range(N) for j in range(N))
    close(sm.TransformDomain(sm.Pencil(A, B), Dense(P)).factor_error(), wrong, A.dtype)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_exact_factors_have_no_error(given, kind):
    A, B, _ = given
    pencil = sm.Pencil(kind(A), kind(B))
    for exact in (sm.Exact(), sm.SquareRoot()):
        error = sm.TransformDomain(pencil, exact.prepare(pencil)).factor_error()
        assert error <= (100 * np.finfo(A.dtype).eps * np.linalg.norm(B)) ** 2


def test_pair_and_vectors(given):
    A, B, P = given
    domain, inverse = sm.TransformDomain(sm.Pencil(A, B), Dense(P)), np.linalg.inv(P)
    close(domain.A @ np.eye(N, dtype=A.dtype), inverse.conj().T @ A @ inverse, A.dtype)
    close(domain.B @ np.eye(N, dtype=A.dtype), inverse.conj().T @ B @ inverse, A.dtype)
    x, z = (normal(np.random.default_rng(seed), (N,), A.dtype).astype(A.dtype) for seed in (2, 3))
    close(domain.to_domain(x), P @ x, A.dtype)
    close(domain.from_domain(P @ x), x, A.dtype)
    close(domain.divergence(x, z), np.linalg.norm(P @ (x - z)) ** 2 / 2, A.dtype)
