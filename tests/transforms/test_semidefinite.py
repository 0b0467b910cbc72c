"""Every pair by LAPACK where A (buckling) or M is singular."""

import numpy as np
import pytest
import scipy.linalg

from pairs import pair_of
from splitmerge.transforms.semidefinite import all_pairs

N, RANK, SIGMA = 12, 8, 0.7


def singular(dtype):
    """A semidefinite matrix and a definite one."""
    S, M = pair_of(np.r_[np.zeros(N - RANK), np.linspace(1, 5, RANK)], dtype=dtype)
    return S, M


@pytest.mark.parametrize("dtype", [float, complex])
def test_a_singular_A_in_buckling_mode(dtype):
    """The eigenvalues of (A, M), those of the null space of A among them; the others are A-orthonormal."""
    A, M = singular(dtype)
    values, X = all_pairs(A, M, SIGMA, "buckling")
    np.testing.assert_allclose(np.sort(values), scipy.linalg.eigvalsh(A, M), atol=1e-9)
    np.testing.assert_allclose(A @ X, M @ X * values, atol=1e-9)
    kept = X[:, np.abs(values) > 0.1]
    np.testing.assert_allclose(kept.conj().T @ A @ kept, np.eye(RANK), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(X[:, np.abs(values) < 0.1], axis=0), 1)


@pytest.mark.parametrize("dtype", [float, complex])
def test_a_singular_M(dtype):
    """The finite eigenvalues, with M-orthonormal vectors."""
    M, A = singular(dtype)
    values, X = all_pairs(A, M, SIGMA, "normal")
    inverse = scipy.linalg.eigvalsh(M, A)[N - RANK :]
    np.testing.assert_allclose(np.sort(values), np.sort(1 / inverse), rtol=1e-9)
    np.testing.assert_allclose(A @ X, M @ X * values, atol=1e-8)
    np.testing.assert_allclose(X.conj().T @ M @ X, np.eye(RANK), atol=1e-9)
