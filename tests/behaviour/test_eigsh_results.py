"""What `sm.eigsh` returns: order, types, partial results, and the same ones for the same seed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import (
    ArpackNoConvergence,
    LinearOperator,
    aslinearoperator,
)
from scipy.sparse.linalg import eigsh as scipy_eigsh

import splitmerge as sm
from banded import WHICH, K, N, banded_pair, check_pairs, is_refused, wanted_values


def test_operators_may_call_eigsh_themselves():
    # SciPy's test_reentering does it with a function that is no linear map, which we refuse
    inner = sp.diags_array(0.5 ** np.arange(N))
    calls = []

    def product(x):
        calls.append(sm.eigsh(inner, k=1, rng=0, return_eigenvectors=False)[0])
        return inner @ x / calls[-1]

    A = LinearOperator((N, N), matvec=product, dtype=float)
    values = sm.eigsh(A, k=2, rng=1, return_eigenvectors=False)
    np.testing.assert_allclose(values, [0.5, 1.0], rtol=1e-12)
    assert len(calls) > 2


SMALL_N = 30


def shortened(matrix):
    """A block from the middle, with eigenvalues of both signs."""
    return matrix[50 : 50 + SMALL_N, 50 : 50 + SMALL_N]


def test_exact_eigenvectors_of_a_diagonal_matrix():
    # the search begins anew with vectors whose residuals are zero
    A = np.diag(np.diag(banded_pair("d")[0])[::5])
    w, v = sm.eigsh(A, K, sigma=1.5, which="SA", maxiter=1000, rng=0)
    check_pairs(A, None, w, v, wanted_values(A, None, "SA", 1.5))


def agrees_with_scipy(A, M, options, maxiter):
    """The same values in the same order; the matrix is so small that ARPACK's basis spans nearly everything."""
    options = {"k": K, "M": M, **options}
    theirs = scipy_eigsh(A, **options, maxiter=20000, ncv=SMALL_N - 1, rng=0)
    ours = sm.eigsh(A, **options, maxiter=maxiter, rng=0)
    if options["return_eigenvectors"]:
        theirs, ours = theirs[0], ours[0]
        if A.dtype.kind == "c":
            # here SciPy leaves the values as its iteration had them
            theirs, ours = np.sort(theirs), np.sort(ours)
    np.testing.assert_allclose(ours, theirs, rtol=1e-8)


@pytest.mark.parametrize("maxiter", [None, 1000], ids=["lapack", "search"])
@pytest.mark.parametrize("dtype", ["d", "D"])
@pytest.mark.parametrize("mass", [False, True], ids=["standard", "general"])
@pytest.mark.parametrize("sigma", [None, 1.5])
@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("vectors", [True, False])
def test_order_is_scipys(which, sigma, mass, dtype, vectors, maxiter):
    A, M = (matrix if matrix is None else shortened(matrix) for matrix in banded_pair(dtype, mass=mass))
    if is_refused(A, which):
        return
    agrees_with_scipy(A, M, {"sigma": sigma, "which": which, "return_eigenvectors": vectors}, maxiter)


@pytest.mark.parametrize("maxiter", [None, 1000], ids=["lapack", "search"])
@pytest.mark.parametrize("mode", ["cayley", "buckling"])
@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("vectors", [True, False])
def test_order_is_scipys_in_other_modes(which, mode, vectors, maxiter):
    A, M = (shortened(matrix) for matrix in banded_pair("d"))
    if mode == "buckling":
        A, M = M, A / 10
    options = {"sigma": 2.0, "which": which, "mode": mode, "return_eigenvectors": vectors}
    agrees_with_scipy(A, M, options, maxiter)


@pytest.mark.parametrize("maxiter", [1, 3, 10])
@pytest.mark.parametrize("options", [{}, {"sigma": 1.5}, {"which": "SA"}, {"sigma": 1.5, "which": "SM"}])
def test_partial_results(maxiter, options):
    A, M = banded_pair("d")
    A[0, 0] = 500
    with pytest.raises(ArpackNoConvergence, match="No convergence") as caught:
        sm.eigsh(A, 40, M, maxiter=maxiter, ncv=41, rng=0, **options)
    w, v = caught.value.eigenvalues, caught.value.eigenvectors
    assert v.shape == (N, w.size)
    assert w.size < 40
    assert (np.diff(w) >= 0).all()
    assert (np.linalg.norm(A @ v - (M @ v) * w, axis=0) <= 1e-10 * np.abs(A).max() * np.linalg.norm(v, axis=0)).all()
    assert isinstance(caught.value.__cause__, sm.NotConverged)


def test_some_results_are_partial():
    A = np.diag(np.r_[np.linspace(0, 1, N - 1), 1e4])
    with pytest.raises(ArpackNoConvergence) as caught:
        sm.eigsh(A, 6, maxiter=3, ncv=8, rng=0)
    np.testing.assert_allclose(caught.value.eigenvalues, [1e4])
    np.testing.assert_allclose(np.abs(caught.value.eigenvectors[-1]), 1)


@pytest.mark.parametrize(("tol", "least"), [(1e-4, 2), (1e-2, 3)])
def test_partial_results_are_those_within_the_tolerance(tol, least):
    """Not only those whose residuals are near rounding."""
    A = sp.diags_array(np.r_[np.linspace(0, 1, 500), 2, 3, 4, 5.0], format="csr")
    with pytest.raises(ArpackNoConvergence) as caught:
        sm.eigsh(A, 5, tol=tol, maxiter=1, ncv=8, rng=0)
    w, v = caught.value.eigenvalues, caught.value.eigenvectors
    assert least <= w.size < 5
    np.testing.assert_allclose(w, np.arange(6.0 - w.size, 6), rtol=tol)
    assert (np.linalg.norm(A @ v - v * w, axis=0) <= tol * w).all()


@pytest.mark.parametrize("options", [{}, {"tol": 1e-4}, {"ncv": 30}, {"maxiter": 500}, {"v0": np.ones(N)}])
@pytest.mark.parametrize("small", [False, True])
def test_options_of_the_iteration(options, small):
    A, M = banded_pair("d")
    if small:
        A, M = A[:50, :50], M[:50, :50]
        options = {**options, "v0": np.ones(50)} if "v0" in options else options
    w = sm.eigsh(A, 3, M, **options, rng=0, return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(w), wanted_values(A, M, "LM", k=3), rtol=2 * options.get("tol", 1e-11))


@pytest.mark.parametrize("rng", [None, 0, np.random.default_rng(1)])
def test_rng(rng):
    w = sm.eigsh(sp.diags_array(np.arange(1.0, N + 1)), 2, rng=rng, return_eigenvectors=False)
    np.testing.assert_allclose(w, [N - 1, N], rtol=1e-12)


def test_the_same_seed_gives_the_same_bits():
    A, M = banded_pair("d")
    first, second = (sm.eigsh(A, K, M, 1.5, "LA", rng=7) for _ in range(2))
    assert all((one == two).all() for one, two in zip(first, second, strict=True))


@pytest.mark.parametrize("dtype", [int, bool, np.float16])
def test_other_numbers_become_doubles(dtype):
    A = np.diag(np.arange(N) % 2).astype(dtype)
    w, v = sm.eigsh(A, 2)
    assert w.dtype == v.dtype == np.float64
    np.testing.assert_allclose(w, 1)


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_k_of_the_size_of_the_matrix(dtype):
    A = banded_pair(dtype)[0][:6, :6]
    k = 6 if dtype == "d" else 5
    with pytest.warns(RuntimeWarning, match="k >= N"):
        w, v = sm.eigsh(A, k)
    with pytest.warns(RuntimeWarning, match="k >= N"):
        values = sm.eigsh(A, k, return_eigenvectors=False)
    with pytest.warns(RuntimeWarning, match="k >= N"):
        theirs = scipy_eigsh(A, k)[0]
    for found in (w, values, np.sort(theirs)):
        np.testing.assert_allclose(found, eigh(A, eigvals_only=True))
    assert v.shape == (6, 6)
    for given in (sp.csr_array(A), aslinearoperator(A)):
        for function in (scipy_eigsh, sm.eigsh):
            with (
                pytest.warns(RuntimeWarning, match="k >= N"),
                pytest.raises(TypeError, match=r"Cannot use scipy\.linalg"),
            ):
                function(given, k)


def test_ctrl_c_comes_through():
    A, left = banded_pair("d")[0], [20]

    def product(x):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return A @ x

    with pytest.raises(KeyboardInterrupt):
        sm.eigsh(LinearOperator((N, N), matvec=product, dtype=float), K, rng=0)


def test_one_pair_in_two_precisions():
    """The limit of products holds for a search in single precision and for what polishes its result, too."""
    A, B = sm.gallery.synthetic_pair(450, 10, rng=0)
    expected = eigh(A, B, subset_by_index=[449, 449], eigvals_only=True)
    w, v = sm.eigsh(A, 1, M=B, which="LA", tol=1e-6)
    np.testing.assert_allclose(w, expected, rtol=1e-11)
    assert np.linalg.norm(A @ v - B @ v * w) <= 1e-6 * w * np.linalg.norm(B @ v)
    with pytest.raises(ArpackNoConvergence):
        sm.eigsh(A, 1, M=B, which="LA", tol=1e-6, ncv=5, maxiter=1)
