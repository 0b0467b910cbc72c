"""Banded matrices of every kind and dtype for `eigsh`, the eigenvalues to be expected, and checks of results."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import aslinearoperator
from scipy.sparse.linalg import eigsh as scipy_eigsh

import splitmerge as sm

N, K = 160, 5

WHICH = ("LM", "SM", "LA", "SA", "BE")
KINDS = {"dense": np.asarray, "sparse": sp.csr_array, "operator": aslinearoperator}


def banded(values, rng, dtype):
    """A banded matrix of the dtype, with the diagonal `values` in the main."""
    n = len(values)
    side = rng.standard_normal((2, n))
    if np.dtype(dtype).kind == "c":
        side = side + 1j * rng.standard_normal((2, n))
    upper = sp.diags_array([0.3 * side[0, 1:], 0.2 * side[1, 3:]], offsets=[1, 3], shape=(n, n))
    return np.asarray((sp.diags_array(values) + upper + upper.conj().T).todense()).astype(dtype)


def banded_pair(dtype, *, mass=True):
    rng = np.random.default_rng(5)
    A = banded(np.linspace(-20, 30, N) + rng.random(N), rng, dtype)
    M = banded(np.linspace(2, 4, N), rng, dtype) if mass else None
    return A, M


def transformed(values, sigma, mode):
    if sigma is None:
        return values
    with np.errstate(divide="ignore"):
        above = {"normal": 1.0, "cayley": values + sigma, "buckling": values}[mode]
        return above / (values - sigma)


def wanted_values(A, M, which, sigma=None, mode="normal", k=K):
    """The wanted eigenvalues, ascending, from all of them."""
    double = "D" if A.dtype.kind == "c" else "d"
    A, M = A.astype(double), None if M is None else M.astype(double)
    values = 1 / eigh(M, A, eigvals_only=True) if mode == "buckling" else eigh(A, M, eigvals_only=True)
    nu = transformed(values, sigma, mode)
    order = np.argsort(np.abs(nu) if which in ("LM", "SM") else nu)
    chosen = {"L": order[-k:], "S": order[:k], "B": np.r_[order[: k // 2], order[k // 2 - k :]]}[which[0]]
    return np.sort(values[chosen])


def is_refused(A, which):
    """As by SciPy: both ends of a complex matrix are not to be had."""
    if which != "BE" or A.dtype.kind != "c":
        return False
    for function in (scipy_eigsh, sm.eigsh):
        with pytest.raises(ValueError, match="which='BE'"):
            function(A, K, which=which)
    return True


def check_pairs(A, M, w, v, expected, *, norm="M"):
    """Values, residuals and orthonormality, to what the precision allows."""
    single = A.dtype.char in "fF"
    eps = np.finfo(A.dtype).eps
    assert w.dtype == (np.float32 if single else np.float64)
    assert v.dtype == A.dtype
    size = np.abs(expected).max() + np.abs(A).max()
    np.testing.assert_allclose(np.sort(w), expected, rtol=1e3 * eps, atol=1e3 * eps * size)
    M = np.eye(len(A)) if M is None else M
    scale = np.abs(A).max() + np.abs(w) * np.abs(M).max()
    assert (np.linalg.norm(A @ v - (M @ v) * w, axis=0) <= 1e4 * eps * scale * np.linalg.norm(v, axis=0)).all()
    gram = v.conj().T @ (A if norm == "A" else M) @ v
    np.testing.assert_allclose(gram, np.eye(v.shape[1]), atol=2e4 * eps)
