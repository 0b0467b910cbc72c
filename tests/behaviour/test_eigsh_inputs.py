"""What SciPy's `eigsh` takes beside matrices: a placeholder for A, a float for `maxiter`, odd starts."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, splu
from scipy.sparse.linalg import eigsh as scipy_eigsh

import splitmerge as sm

N, K, SIGMA = 120, 4, 1.7
A = sp.diags_array([-np.ones(N - 1), 2 + np.linspace(0, 1, N), -np.ones(N - 1)], offsets=[-1, 0, 1]).tocsc()
M = sp.diags_array([np.full(N - 1, 0.2), np.ones(N), np.full(N - 1, 0.2)], offsets=[-1, 0, 1]).tocsc()

PLACEHOLDERS = {
    "operator": LinearOperator((N, N), matvec=lambda x: 0 * x, dtype=float),
    "csr": sp.csr_array((N, N)),
    "csr with stored zeros": sp.csr_array(sp.diags_array(np.zeros(N))),
    "coo_matrix": sp.coo_matrix((N, N)),
    "dense": np.zeros((N, N)),
}


def _inverse(mass):
    K = A - SIGMA * (sp.eye_array(N) if mass is None else mass)
    return LinearOperator((N, N), matvec=splu(sp.csc_matrix(K)).solve, dtype=float)


@pytest.mark.parametrize("which", ["LM", "LA", "SA", "BE", "SM"])
@pytest.mark.parametrize("mass", [None, M], ids=["standard", "general"])
@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_OPinv_beside_a_placeholder_for_A(name, mass, which):
    w, v = sm.eigsh(PLACEHOLDERS[name], K, mass, SIGMA, which, OPinv=_inverse(mass), rng=0)
    true = sm.eigsh(A, K, mass, SIGMA, which, rng=0, return_eigenvectors=False)
    np.testing.assert_allclose(w, true, rtol=1e-10)
    Mv = v if mass is None else mass @ v
    assert np.abs(A @ v - Mv * w).max() <= 1e-11
    np.testing.assert_allclose(v.T @ Mv, np.eye(K), atol=1e-10)


@pytest.mark.parametrize("mass", [None, M], ids=["standard", "general"])
def test_OPinv_beside_a_placeholder_gives_what_SciPy_gives(mass):
    zero, inverse = PLACEHOLDERS["csr"], _inverse(mass)
    ours, theirs = (f(zero, K, mass, SIGMA, OPinv=inverse, rng=0) for f in (sm.eigsh, scipy_eigsh))
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)


def test_OPinv_of_a_zero_matrix_itself():
    w = sm.eigsh(np.zeros((N, N)), K, M, SIGMA, OPinv=splu(-SIGMA * M).solve(np.eye(N)), rng=0)[0]
    np.testing.assert_allclose(w, 0, atol=1e-13)


@pytest.mark.parametrize("mode", ["buckling", "cayley"])
def test_other_modes_multiply_by_A(mode):
    with pytest.raises(ValueError, match=f"A is zero, and mode='{mode}' multiplies by it"):
        sm.eigsh(PLACEHOLDERS["csr"], K, M, SIGMA, OPinv=_inverse(M), mode=mode)


def test_OPinv_that_is_not_symmetric_is_named():
    with pytest.raises(ValueError, match=r"^OPinv is not symmetric"):
        sm.eigsh(PLACEHOLDERS["csr"], K, sigma=SIGMA, OPinv=np.triu(np.ones((N, N))))


@pytest.mark.parametrize("maxiter", [1e4, np.float32(500), np.int64(500), np.inf])
@pytest.mark.parametrize("options", [{}, {"sigma": SIGMA}, {"which": "SA"}])
def test_maxiter_may_be_a_float(maxiter, options):
    w = sm.eigsh(A, 1, M, maxiter=maxiter, rng=0, return_eigenvectors=False, **options)
    every = eigh(A.toarray(), M.toarray(), eigvals_only=True)
    assert np.abs(every - w).min() <= 1e-12


def test_complex_start_of_a_real_matrix():
    w = sm.eigsh(A, 1, v0=np.ones(N) + 0j, which="LA", return_eigenvectors=False)
    np.testing.assert_allclose(w, eigh(A.toarray(), eigvals_only=True)[-1:])
    with pytest.raises(ValueError, match="complex but A and B are real"):
        sm.eigsh(A, 1, v0=np.ones(N) + 1j)


@pytest.mark.parametrize("a", [1e-140, 1.0, 1e140])
@pytest.mark.parametrize("m", [None, 1e-120, 1.0, 1e120])
def test_nested_lists_of_any_size(a, m):
    """Lists have no dtype, and eigenvalues are in the units of their numbers."""
    d, mass = np.arange(1.0, 14), np.linspace(2, 1, 13)
    w, v = sm.eigsh(np.diag(a * d).tolist(), 2, None if m is None else np.diag(m * mass).tolist(), rng=0)
    expected = a * d if m is None else (a / m) * (d / mass)
    np.testing.assert_allclose(w, expected[-2:], rtol=1e-12)
    np.testing.assert_allclose(np.sort(np.abs(v), axis=0)[:-1], 0, atol=1e-7 * np.abs(v).max())
