"""The problems that are saved and taken up again, and what two solutions of one have in common."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from checking import operator_of

N = 600


def laplacian(n):
    off = np.full(n - 1, -1.0)
    return sp.csr_array(sp.diags_array([off, np.full(n, 2.0), off], offsets=[-1, 0, 1]))


def dense_pair(dtype=float):
    rng = np.random.default_rng(3)
    M, G = rng.standard_normal((2, N, N))
    A, B = M @ M.T / N, G @ G.T / N + 0.1 * np.eye(N)
    if np.dtype(dtype).kind == "c":
        A = A + 1j * (M - M.T) / N
    return A.astype(dtype), B.astype(dtype)


def sparse_pair():
    return sp.csr_array(sp.diags_array(np.linspace(0.0, 3.0, N) ** 2)) + laplacian(N), laplacian(N) + sp.eye_array(N)


PROBLEMS = {
    "dense": (*dense_pair(), {}),
    "standard": (dense_pair()[0], None, {}),
    "complex": (*dense_pair(complex), {}),
    "sparse": (*sparse_pair(), {}),
    "operator": (operator_of(dense_pair()[0]), dense_pair()[1], {}),
    "operators": (operator_of(dense_pair()[0]), operator_of(dense_pair()[1]), {}),
    "smallest": (*sparse_pair(), {"which": "smallest"}),
    "smallest dense": (*dense_pair(), {"which": "smallest"}),
    "smallest of an operator": (operator_of(dense_pair()[0]), None, {"which": "smallest"}),
    "magnitude": (dense_pair()[0] - np.eye(N), None, {"which": "magnitude"}),
    "ends": (dense_pair()[0] - np.eye(N), None, {"which": "ends"}),
    "sigma": (*sparse_pair(), {"sigma": 2.0}),
    "indefinite": (-laplacian(300), None, {}),
    "certified": (*dense_pair(), {"certify": True}),
}
each_problem = pytest.mark.parametrize("name", PROBLEMS)


def close(sol, reference, tol=1e-8):
    """The same values and the same invariant subspace."""
    assert sol.converged
    scale = np.abs(reference.eigenvalues).max()
    np.testing.assert_allclose(sol.eigenvalues, reference.eigenvalues, atol=10 * tol * scale)


def differences(one, two, where="solution"):
    """The places where two solutions differ; arrays bit for bit."""
    if sp.issparse(one):
        one, two = sp.csr_array(one), sp.csr_array(two)
        return [where] * ((one != two).nnz != 0 or one.dtype != two.dtype)
    if isinstance(one, np.ndarray):
        same = isinstance(two, np.ndarray) and one.dtype == two.dtype and one.shape == two.shape
        return [] if same and one.tobytes() == two.tobytes() else [where]
    if isinstance(one, sm.History):
        return differences(one.to_dict(), two.to_dict(), where)
    if isinstance(one, dict):
        return [place for name in one for place in differences(one[name], two[name], f"{where}.{name}")]
    if dataclasses.is_dataclass(one):
        if type(one) is not type(two):
            return [where]
        names = [field.name for field in dataclasses.fields(one)]
        return [p for name in names for p in differences(getattr(one, name), getattr(two, name), f"{where}.{name}")]
    same = type(one) is type(two) and (one == two or one != one)
    return [] if same and getattr(one, "why", None) == getattr(two, "why", None) else [where]
