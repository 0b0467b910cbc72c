"""The default solver on real pairs, against LAPACK or the shift-invert Lanczos of SciPy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import scipy.io
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

import splitmerge as sm
from data import harwell_boeing, lapla3, lund, path_of, scf

COUNTS = [1, 6, 20]
each_count = pytest.mark.parametrize("k", COUNTS)
each_which = pytest.mark.parametrize("which", ["largest", "smallest"])


def rail(size):
    """Oberwolfach steel profile: stiffness with the boundary, and mass."""
    parts = scipy.io.loadmat(path_of("rail", f"ODE_unit_matrices_{size}.mat"))
    A, B = sp.csr_array(parts["S"] + parts["M_GAMMA"]), sp.csr_array(parts["M"])
    return (A + A.T) / 2, (B + B.T) / 2


SMALL = {
    **{f"bcsstk{number}": (harwell_boeing, number) for number in ("02", "05", "06", "07")},
    "lund": (lund,),
    "rail109": (rail, 109),
    "rail371": (rail, 371),
    "water": (scf, "h2o_ccpvdz"),
}
LARGE = {"bcsstk08": (harwell_boeing, "08"), "benzene": (scf, "benzene_augccpvdz"), "rail1357": (rail, 1357)}


@cache
def pair(name):
    make, *arguments = {**SMALL, **LARGE}[name]
    return make(*arguments)


@cache
def ends(name):
    """The largest descending and the smallest ascending; those next to zero from the swapped pair."""
    A, B = (M.toarray() if sp.issparse(M) else M for M in pair(name))
    values = scipy.linalg.eigh(A, B, eigvals_only=True)
    largest, smallest = values[::-1][: max(COUNTS)], values[: max(COUNTS)]
    if np.linalg.eigvalsh(A)[0] > 0:
        n = len(A)
        smallest = 1 / scipy.linalg.eigh(B, A, eigvals_only=True, subset_by_index=[n - max(COUNTS), n - 1])[::-1]
    return largest, smallest


def look(A, B, sol, expected, k):
    U, w = sol.eigenvectors, sol.eigenvalues
    scale = np.abs(expected[:k]).max()
    assert sol.converged
    assert np.abs(w - expected[:k]).max() <= 1e-9 * scale
    assert np.abs(U.T @ (B @ U) - np.eye(k)).max() <= 1e-9
    assert (np.abs(w - expected[:k]) <= sol.error_bounds + 1e-10 * scale).all()
    assert (sol.residuals <= 1e-6).all()


def stored(M, dense):
    return np.asarray(M.toarray() if sp.issparse(M) else M) if dense else sp.csr_array(M)


@each_count
@each_which
@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize("method", [None, sm.Accelerated()], ids=["chosen", "accelerated"])
@pytest.mark.parametrize("name", SMALL)
def test_small(name, method, dense, which, k):
    A, B = (stored(M, dense) for M in pair(name))
    if k > A.shape[0]:
        pytest.skip("fewer unknowns than pairs")
    expected = ends(name)[which == "smallest"]
    # the five largest of bcsstk06 agree to seven digits
    tol = 1e-10 if name == "bcsstk06" else 1e-8
    look(A, B, sm.solve(A, B, k, which=which, method=method, tol=tol, rng=0), expected, k)


@each_count
@each_which
@pytest.mark.parametrize("name", LARGE)
def test_large(name, which, k):
    A, B = pair(name)
    look(A, B, sm.solve(A, B, k, which=which, rng=0), ends(name)[which == "smallest"], k)


@pytest.mark.slow
@each_count
@each_which
@pytest.mark.parametrize("name", LARGE)
def test_large_otherwise_stored(name, which, k):
    A, B = pair(name)
    A, B = (stored(M, dense=sp.issparse(A)) for M in (A, B))
    look(A, B, sm.solve(A, B, k, which=which, rng=0), ends(name)[which == "smallest"], k)


@cache
def lapla_end(which):
    """24 values by shift and invert, next to zero or just above the largest, 26776.88."""
    A, B = lapla3()
    sigma = 26800.0 if which == "largest" else 0.0
    values = np.sort(eigsh(A, 24, M=B, sigma=sigma, which="LM", tol=1e-13, ncv=60, return_eigenvectors=False))
    return A, B, values[::-1] if which == "largest" else values


@each_count
@each_which
def test_lapla3(which, k):
    A, B, expected = lapla_end(which)
    look(A, B, sm.solve(A, B, k, which=which, rng=0), expected, k)


def test_lapla3_certified():
    A, B, smallest = lapla_end("smallest")
    sol = sm.solve(A, B, 6, which="smallest", certify=True, rng=0)
    assert sol.verdict == "certified"
    np.testing.assert_allclose(sol.eigenvalues, smallest[:6], rtol=1e-9)


@pytest.mark.parametrize("name", ["bcsstk06", "lund", "rail371"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_inside_the_spectrum(name, share):
    A, B = pair(name)
    every = scipy.linalg.eigh(A.toarray(), B.toarray(), eigvals_only=True)
    index = int(share * every.size)
    sigma = (every[index] + every[index + 1]) / 2
    expected = every[np.argsort(np.abs(every - sigma))][:6]
    for given in ((A, B), (A.toarray(), B.toarray())):
        sol = sm.solve(*given, k=6, sigma=sigma, certify=True, rng=0)
        assert sol.verdict == "certified"
        np.testing.assert_allclose(np.sort(sol.eigenvalues), np.sort(expected), rtol=1e-8)
