"""`sm.eigsh` beside SciPy's, on larger pairs of every kind."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import (
    ArpackNoConvergence,
    LinearOperator,
    aslinearoperator,
    splu,
)
from scipy.sparse.linalg import eigsh as scipy_eigsh

import splitmerge as sm
from banded import KINDS, WHICH, K, N, banded_pair, check_pairs, is_refused, wanted_values
from covering import parametrise


@parametrise(
    which=WHICH,
    sigma=[None, 1.5, -3.0],
    kind=KINDS,
    mass={"standard": False, "general": True},
    dtype=["f", "d", "F", "D"],
)
def test_every_which_of_every_kind(which, sigma, kind, mass, dtype):
    A, M = banded_pair(dtype, mass=mass)
    if is_refused(A, which):
        return
    w, v = sm.eigsh(kind(A), K, kind(M) if mass else None, sigma, which, rng=3)
    check_pairs(A, M, w, v, wanted_values(A, M, which, sigma))


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("mass", [False, True], ids=["standard", "general"])
@pytest.mark.parametrize("sigma", [1.5, -3.0, 30.0, 0.4])
@pytest.mark.parametrize("which", WHICH)
def test_cayley(which, sigma, mass, dtype):
    A, M = banded_pair(dtype, mass=mass)
    w, v = sm.eigsh(A, K, M, sigma, which, mode="cayley", rng=3)
    check_pairs(A, M, w, v, wanted_values(A, M, which, sigma, "cayley"))


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sigma", [2.0, -3.0, 0.1])
@pytest.mark.parametrize("which", WHICH)
def test_buckling(which, sigma, kind, dtype):
    G, A = banded_pair(dtype)
    G /= 10
    w, v = sm.eigsh(KINDS[kind](A), K, KINDS[kind](G), sigma, which, mode="buckling", rng=3)
    check_pairs(A, G, w, v, wanted_values(A, G, which, sigma, "buckling"), norm="A")


@pytest.mark.parametrize("mode", ["normal", "cayley", "buckling"])
def test_buckling_and_cayley_without_M(mode):
    A = banded_pair("d")[0] + 40 * np.eye(N)
    w, v = sm.eigsh(A, K, None, 30.0, mode=mode)
    check_pairs(A, None, w, v, wanted_values(A, np.eye(N), "LM", 30.0, mode), norm="A" if mode == "buckling" else "M")


class Counted:
    """A function as a LinearOperator that knows how often it was called."""

    def __init__(self, function, n, dtype):
        self.calls, self.function = 0, function
        self.operator = LinearOperator((n, n), matvec=self.product, dtype=dtype)

    def product(self, x):
        self.calls += 1
        return self.function(x)


@pytest.mark.parametrize("which", ["LM", "LA", "SA", "BE"])
@pytest.mark.parametrize("dtype", ["d", "D"])
def test_Minv_is_used(which, dtype):
    A, M = banded_pair(dtype)
    if is_refused(A, which):
        return
    inverse = Counted(lambda x: np.linalg.solve(M, x), N, dtype)
    w, v = sm.eigsh(aslinearoperator(A), K, aslinearoperator(M), which=which, Minv=inverse.operator, rng=0)
    check_pairs(A, M, w, v, wanted_values(A, M, which))
    assert inverse.calls > K


@pytest.mark.parametrize("mode", ["normal", "cayley", "buckling"])
@pytest.mark.parametrize("which", ["LM", "LA", "SA", "BE"])
@pytest.mark.parametrize("kind", ["sparse", "operator"])
def test_OPinv_is_used(which, mode, kind):
    A, M = banded_pair("d")
    if mode == "buckling":
        A, M = M, A / 10
    sigma = 2.0
    inverse = Counted(splu(sp.csc_matrix(A - sigma * M)).solve, N, "d")
    given = KINDS[kind](A), KINDS[kind](M)
    w, v = sm.eigsh(given[0], K, given[1], sigma, which, OPinv=inverse.operator, mode=mode, rng=0)
    check_pairs(A, M, w, v, wanted_values(A, M, which, sigma, mode), norm="A" if mode == "buckling" else "M")
    assert inverse.calls > K


@pytest.mark.parametrize("scales", [(1e150, 1e-150), (1e-200, 1.0), (1.0, 1e60)])
def test_OPinv_of_extreme_and_uneven_pairs(scales):
    A, M = banded_pair("d")
    uneven = np.logspace(-3, 3, N)
    A, M = (scale * uneven[:, None] * matrix * uneven for scale, matrix in zip(scales, (A, M), strict=True))
    sigma = 1.5 * scales[0] / scales[1]

    def solve(b):
        with np.errstate(all="ignore"):
            K_inverse = np.linalg.inv(banded_pair("d")[0] - 1.5 * banded_pair("d")[1])
            return (K_inverse @ (b / uneven)) / uneven / scales[0]

    inverse = Counted(solve, N, "d")
    w = sm.eigsh(A, K, M, sigma, OPinv=inverse.operator, rng=0, return_eigenvectors=False)
    np.testing.assert_allclose(
        np.sort(w) * scales[1] / scales[0], wanted_values(*banded_pair("d"), "LM", 1.5), rtol=1e-10
    )
    assert inverse.calls > K


def test_wrong_OPinv_does_not_pass():
    """Another matrix: its vectors are no eigenvectors of (A, M). One at another shift leads to pairs of (A, M)."""
    A, M = banded_pair("d")
    other, _ = np.linalg.qr(np.random.default_rng(5).standard_normal(A.shape))
    with pytest.raises(ArpackNoConvergence):
        sm.eigsh(A, K, M, 1.5, OPinv=np.linalg.inv(other @ A @ other.T - 1.5 * M), maxiter=50, rng=0)
    w, v = sm.eigsh(A, K, M, 1.5, OPinv=np.linalg.inv(A - 1.7 * M), maxiter=50, rng=0)
    assert np.abs(A @ v - M @ v * w).max() <= 1e-10


@pytest.mark.parametrize("n", [40, N])
@pytest.mark.parametrize("sigma", [-30.0, 1.5])
@pytest.mark.parametrize("kind", KINDS)
def test_semidefinite_M_with_sigma(sigma, kind, n):
    A, M = (matrix[:n, :n].copy() for matrix in banded_pair("d"))
    massless = np.arange(0, n, 4)
    M[massless], M[:, massless] = 0, 0
    w, v = sm.eigsh(KINDS[kind](A), K, KINDS[kind](M), sigma, rng=0)
    rest = np.setdiff1d(np.arange(n), massless)
    inner = A[np.ix_(massless, massless)]
    schur = A[np.ix_(rest, rest)] - A[np.ix_(rest, massless)] @ np.linalg.solve(inner, A[np.ix_(massless, rest)])
    check_pairs(A, M, w, v, wanted_values((schur + schur.T) / 2, M[np.ix_(rest, rest)], "LM", sigma))


@pytest.mark.parametrize("mode", ["normal", "cayley"])
@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("sigma", [-12.0, 15.0])
def test_sigma_outside_the_spectrum(sigma, which, mode):
    # here one side of the inverse is empty, and what is wanted there is at the other end of the spectrum
    A, M = banded_pair("d")
    w, v = sm.eigsh(sp.csr_array(A), K, sp.csr_array(M), sigma, which, mode=mode, rng=0)
    check_pairs(A, M, w, v, wanted_values(A, M, which, sigma, mode))


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_operators_too_large_for_a_matrix(monkeypatch, dtype):
    A, M = banded_pair(dtype)
    for module in ("eigsh_request", "preparation.modes", "preparation.solver", "planning.costs"):
        monkeypatch.setattr(sys.modules[f"splitmerge.{module}"], "MAX_DENSE_N", 10)
    w, v = sm.eigsh(aslinearoperator(A), K, aslinearoperator(M), which="SM", rng=0)
    check_pairs(A, M, w, v, wanted_values(A, M, "SM"))
    w, v = sm.eigsh(aslinearoperator(A), K, aslinearoperator(M), sigma=1.5, rng=0)
    check_pairs(A, M, w, v, wanted_values(A, M, "LM", 1.5))


def test_singular_A_has_its_null_space_among_the_smallest():
    n = 300
    A = sp.diags_array([-np.ones(n - 1), np.r_[1, 2 * np.ones(n - 2), 1], -np.ones(n - 1)], offsets=[-1, 0, 1]).tocsr()
    exact = 4 * np.sin(np.pi * np.arange(4) / (2 * n)) ** 2
    for given in (A, A.toarray(), aslinearoperator(A)):
        w = sm.eigsh(given, 4, which="SM", return_eigenvectors=False, rng=0)
        np.testing.assert_allclose(w, exact[::-1], atol=1e-13)


@pytest.mark.parametrize("tol", [0, 1e-8])
@pytest.mark.parametrize("sigma", [0.0, 3.7])
def test_next_to_a_shift_of_an_everyday_pair_residuals_are_as_small_as_scipys(sigma, tol):
    """The short way of `solve` makes them, and a step of inverse iteration removes what rounding leaves."""
    A, B = sm.gallery.fem_laplacian(2, 1, 24)
    w, V = sm.eigsh(A, 6, B, sigma=sigma * 10, tol=tol)
    expected, U = scipy_eigsh(A.tocsc(), 6, B.tocsc(), sigma=sigma * 10, tol=tol)
    np.testing.assert_allclose(w, expected, rtol=1e-9)
    ours, theirs = (np.linalg.norm(A @ X - B @ X * w, axis=0).max() / np.linalg.norm(B @ X) for X in (V, U))
    assert ours <= (10 * theirs if tol == 0 else 1e-8 * np.abs(w).max())
    np.testing.assert_allclose(V.T @ (B @ V), np.eye(6), atol=1e-11)


@pytest.mark.parametrize("n", [2, 6, 300])
def test_every_end_next_to_a_shift_where_the_inverse_is_a_reflection(n):
    """A random vector and its solve are added for a start; of one norm they would leave out half of the space."""
    half = n // 2
    A = np.kron([[0.0, 1.0], [1.0, 0.0]], np.eye(half))
    B = np.kron([[4.0, 1.0], [1.0, 4.0]], np.eye(half)) / 6
    for seed in range(8):
        for which, expected in (("SA", -2.0), ("LA", 1.2)):
            w, _ = sm.eigsh(A, 1, B, sigma=0.0, which=which, OPinv=aslinearoperator(A), tol=1e-7, rng=seed)
            assert w[0] == pytest.approx(expected)
