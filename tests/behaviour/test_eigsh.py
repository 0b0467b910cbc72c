"""`sm.eigsh` beside SciPy's, on larger pairs of every kind."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import (
    ArpackError,
    ArpackNoConvergence,
    LinearOperator,
    aslinearoperator,
    splu,
)
from scipy.sparse.linalg import eigsh as scipy_eigsh

import splitmerge as sm
from covering import parametrise


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


N, K = 160, 5
WHICH = ("LM", "SM", "LA", "SA", "BE")
KINDS = {"dense": np.asarray, "sparse": sp.csr_array, "operator": aslinearoperator}


def _hermitian(values, rng, dtype):
    """A banded matrix of the dtype, with the diagonal `values` in the main."""
    n = len(values)
    side = rng.standard_normal((2, n))
    if np.dtype(dtype).kind == "c":
        side = side + 1j * rng.standard_normal((2, n))
    upper = sp.diags_array([0.3 * side[0, 1:], 0.2 * side[1, 3:]], offsets=[1, 3], shape=(n, n))
    return np.asarray((sp.diags_array(values) + upper + upper.conj().T).todense()).astype(dtype)


def _pair(dtype, *, mass=True):
    rng = np.random.default_rng(5)
    A = _hermitian(np.linspace(-20, 30, N) + rng.random(N), rng, dtype)
    M = _hermitian(np.linspace(2, 4, N), rng, dtype) if mass else None
    return A, M


def _transformed(values, sigma, mode):
    if sigma is None:
        return values
    with np.errstate(divide="ignore"):
        above = {"normal": 1.0, "cayley": values + sigma, "buckling": values}[mode]
        return above / (values - sigma)


def _expected(A, M, which, sigma=None, mode="normal", k=K):
    """The wanted eigenvalues, ascending, from all of them."""
    double = "D" if A.dtype.kind == "c" else "d"
    A, M = A.astype(double), None if M is None else M.astype(double)
    values = 1 / eigh(M, A, eigvals_only=True) if mode == "buckling" else eigh(A, M, eigvals_only=True)
    nu = _transformed(values, sigma, mode)
    order = np.argsort(np.abs(nu) if which in ("LM", "SM") else nu)
    chosen = {"L": order[-k:], "S": order[:k], "B": np.r_[order[: k // 2], order[k // 2 - k :]]}[which[0]]
    return np.sort(values[chosen])


def _refused(A, which):
    """As by SciPy: both ends of a complex matrix are not to be had."""
    if which != "BE" or A.dtype.kind != "c":
        return False
    for function in (scipy_eigsh, sm.eigsh):
        with pytest.raises(ValueError, match="which='BE'"):
            function(A, K, which=which)
    return True


def _check(A, M, w, v, expected, *, norm="M"):
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


@parametrise(
    which=WHICH,
    sigma=[None, 1.5, -3.0],
    kind=KINDS,
    mass={"standard": False, "general": True},
    dtype=["f", "d", "F", "D"],
)
def test_every_which_of_every_kind(which, sigma, kind, mass, dtype):
    A, M = _pair(dtype, mass=mass)
    if _refused(A, which):
        return
    w, v = sm.eigsh(kind(A), K, kind(M) if mass else None, sigma, which, rng=3)
    _check(A, M, w, v, _expected(A, M, which, sigma))


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("mass", [False, True], ids=["standard", "general"])
@pytest.mark.parametrize("sigma", [1.5, -3.0, 30.0, 0.4])
@pytest.mark.parametrize("which", WHICH)
def test_cayley(which, sigma, mass, dtype):
    A, M = _pair(dtype, mass=mass)
    w, v = sm.eigsh(A, K, M, sigma, which, mode="cayley", rng=3)
    _check(A, M, w, v, _expected(A, M, which, sigma, "cayley"))


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sigma", [2.0, -3.0, 0.1])
@pytest.mark.parametrize("which", WHICH)
def test_buckling(which, sigma, kind, dtype):
    G, A = _pair(dtype)
    G /= 10
    w, v = sm.eigsh(KINDS[kind](A), K, KINDS[kind](G), sigma, which, mode="buckling", rng=3)
    _check(A, G, w, v, _expected(A, G, which, sigma, "buckling"), norm="A")


@pytest.mark.parametrize("mode", ["normal", "cayley", "buckling"])
def test_buckling_and_cayley_without_M(mode):
    A = _pair("d")[0] + 40 * np.eye(N)
    w, v = sm.eigsh(A, K, None, 30.0, mode=mode)
    _check(A, None, w, v, _expected(A, np.eye(N), "LM", 30.0, mode), norm="A" if mode == "buckling" else "M")


SMALL_N = 30


def _shortened(matrix):
    """A block from the middle, with eigenvalues of both signs."""
    return matrix[50 : 50 + SMALL_N, 50 : 50 + SMALL_N]


def test_exact_eigenvectors_of_a_diagonal_matrix():
    # the search begins anew with vectors whose residuals are zero
    A = np.diag(np.diag(_pair("d")[0])[::5])
    w, v = sm.eigsh(A, K, sigma=1.5, which="SA", maxiter=1000, rng=0)
    _check(A, None, w, v, _expected(A, None, "SA", 1.5))


def _agrees_with_scipy(A, M, options, maxiter):
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
    A, M = (matrix if matrix is None else _shortened(matrix) for matrix in _pair(dtype, mass=mass))
    if _refused(A, which):
        return
    _agrees_with_scipy(A, M, {"sigma": sigma, "which": which, "return_eigenvectors": vectors}, maxiter)


@pytest.mark.parametrize("maxiter", [None, 1000], ids=["lapack", "search"])
@pytest.mark.parametrize("mode", ["cayley", "buckling"])
@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("vectors", [True, False])
def test_order_is_scipys_in_other_modes(which, mode, vectors, maxiter):
    A, M = (_shortened(matrix) for matrix in _pair("d"))
    if mode == "buckling":
        A, M = M, A / 10
    options = {"sigma": 2.0, "which": which, "mode": mode, "return_eigenvectors": vectors}
    _agrees_with_scipy(A, M, options, maxiter)


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
    A, M = _pair(dtype)
    if _refused(A, which):
        return
    inverse = Counted(lambda x: np.linalg.solve(M, x), N, dtype)
    w, v = sm.eigsh(aslinearoperator(A), K, aslinearoperator(M), which=which, Minv=inverse.operator, rng=0)
    _check(A, M, w, v, _expected(A, M, which))
    assert inverse.calls > K


@pytest.mark.parametrize("mode", ["normal", "cayley", "buckling"])
@pytest.mark.parametrize("which", ["LM", "LA", "SA", "BE"])
@pytest.mark.parametrize("kind", ["sparse", "operator"])
def test_OPinv_is_used(which, mode, kind):
    A, M = _pair("d")
    if mode == "buckling":
        A, M = M, A / 10
    sigma = 2.0
    inverse = Counted(splu(sp.csc_matrix(A - sigma * M)).solve, N, "d")
    given = KINDS[kind](A), KINDS[kind](M)
    w, v = sm.eigsh(given[0], K, given[1], sigma, which, OPinv=inverse.operator, mode=mode, rng=0)
    _check(A, M, w, v, _expected(A, M, which, sigma, mode), norm="A" if mode == "buckling" else "M")
    assert inverse.calls > K


@pytest.mark.parametrize("scales", [(1e150, 1e-150), (1e-200, 1.0), (1.0, 1e60)])
def test_OPinv_of_extreme_and_uneven_pairs(scales):
    A, M = _pair("d")
    uneven = np.logspace(-3, 3, N)
    A, M = (scale * uneven[:, None] * matrix * uneven for scale, matrix in zip(scales, (A, M), strict=True))
    sigma = 1.5 * scales[0] / scales[1]

    def solve(b):
        with np.errstate(all="ignore"):
            K_inverse = np.linalg.inv(_pair("d")[0] - 1.5 * _pair("d")[1])
            return (K_inverse @ (b / uneven)) / uneven / scales[0]

    inverse = Counted(solve, N, "d")
    w = sm.eigsh(A, K, M, sigma, OPinv=inverse.operator, rng=0, return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(w) * scales[1] / scales[0], _expected(*_pair("d"), "LM", 1.5), rtol=1e-10)
    assert inverse.calls > K


def test_wrong_OPinv_does_not_pass():
    """Another matrix: its vectors are no eigenvectors of (A, M). One at another shift leads to pairs of (A, M)."""
    A, M = _pair("d")
    other, _ = np.linalg.qr(np.random.default_rng(5).standard_normal(A.shape))
    with pytest.raises(ArpackNoConvergence):
        sm.eigsh(A, K, M, 1.5, OPinv=np.linalg.inv(other @ A @ other.T - 1.5 * M), maxiter=50, rng=0)
    w, v = sm.eigsh(A, K, M, 1.5, OPinv=np.linalg.inv(A - 1.7 * M), maxiter=50, rng=0)
    assert np.abs(A @ v - M @ v * w).max() <= 1e-10


@pytest.mark.parametrize("n", [40, N])
@pytest.mark.parametrize("sigma", [-30.0, 1.5])
@pytest.mark.parametrize("kind", KINDS)
def test_semidefinite_M_with_sigma(sigma, kind, n):
    A, M = (matrix[:n, :n].copy() for matrix in _pair("d"))
    massless = np.arange(0, n, 4)
    M[massless], M[:, massless] = 0, 0
    w, v = sm.eigsh(KINDS[kind](A), K, KINDS[kind](M), sigma, rng=0)
    rest = np.setdiff1d(np.arange(n), massless)
    inner = A[np.ix_(massless, massless)]
    schur = A[np.ix_(rest, rest)] - A[np.ix_(rest, massless)] @ np.linalg.solve(inner, A[np.ix_(massless, rest)])
    _check(A, M, w, v, _expected((schur + schur.T) / 2, M[np.ix_(rest, rest)], "LM", sigma))


@pytest.mark.parametrize("mode", ["normal", "cayley"])
@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("sigma", [-12.0, 15.0])
def test_sigma_outside_the_spectrum(sigma, which, mode):
    # here one side of the inverse is empty, and what is wanted there is at the other end of the spectrum
    A, M = _pair("d")
    w, v = sm.eigsh(sp.csr_array(A), K, sp.csr_array(M), sigma, which, mode=mode, rng=0)
    _check(A, M, w, v, _expected(A, M, which, sigma, mode))


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_operators_too_large_for_a_matrix(monkeypatch, dtype):
    A, M = _pair(dtype)
    for module in ("eigsh_request", "preparation.modes", "preparation.solver", "planning.costs"):
        monkeypatch.setattr(sys.modules[f"splitmerge.{module}"], "MAX_DENSE_N", 10)
    w, v = sm.eigsh(aslinearoperator(A), K, aslinearoperator(M), which="SM", rng=0)
    _check(A, M, w, v, _expected(A, M, "SM"))
    w, v = sm.eigsh(aslinearoperator(A), K, aslinearoperator(M), sigma=1.5, rng=0)
    _check(A, M, w, v, _expected(A, M, "LM", 1.5))


def test_singular_A_has_its_null_space_among_the_smallest():
    n = 300
    A = sp.diags_array([-np.ones(n - 1), np.r_[1, 2 * np.ones(n - 2), 1], -np.ones(n - 1)], offsets=[-1, 0, 1]).tocsr()
    exact = 4 * np.sin(np.pi * np.arange(4) / (2 * n)) ** 2
    for given in (A, A.toarray(), aslinearoperator(A)):
        w = sm.eigsh(given, 4, which="SM", return_eigenvectors=False, rng=0)
        np.testing.assert_allclose(w, exact[::-1], atol=1e-13)


@pytest.mark.parametrize("maxiter", [1, 3, 10])
@pytest.mark.parametrize("options", [{}, {"sigma": 1.5}, {"which": "SA"}, {"sigma": 1.5, "which": "SM"}])
def test_partial_results(maxiter, options):
    A, M = _pair("d")
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
    A, M = _pair("d")
    if small:
        A, M = A[:50, :50], M[:50, :50]
        options = {**options, "v0": np.ones(50)} if "v0" in options else options
    w = sm.eigsh(A, 3, M, **options, rng=0, return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(w), _expected(A, M, "LM", k=3), rtol=2 * options.get("tol", 1e-11))


@pytest.mark.parametrize("rng", [None, 0, np.random.default_rng(1)])
def test_rng(rng):
    w = sm.eigsh(sp.diags_array(np.arange(1.0, N + 1)), 2, rng=rng, return_eigenvectors=False)
    np.testing.assert_allclose(w, [N - 1, N], rtol=1e-12)


def test_the_same_seed_gives_the_same_bits():
    A, M = _pair("d")
    first, second = (sm.eigsh(A, K, M, 1.5, "LA", rng=7) for _ in range(2))
    assert all((one == two).all() for one, two in zip(first, second, strict=True))


@pytest.mark.parametrize("dtype", [int, bool, np.float16])
def test_other_numbers_become_doubles(dtype):
    A = np.diag(np.arange(N) % 2).astype(dtype)
    w, v = sm.eigsh(A, 2)
    assert w.dtype == v.dtype == np.float64
    np.testing.assert_allclose(w, 1)


BAD = {
    "k zero": {"k": 0},
    "which": {"which": "XX"},
    "which in lower case": {"which": "la"},
    "which of eigs": {"which": "LR"},
    "mode": {"mode": "neither", "sigma": 1.0},
    "M of another size": {"M": np.eye(N + 1)},
    "ncv too small": {"ncv": K},
    "maxiter": {"maxiter": 0},
    "Minv without M": {"Minv": np.eye(N)},
    "Minv with sigma": {"Minv": np.eye(N), "M": np.eye(N), "sigma": 1.0},
    "OPinv without sigma": {"OPinv": np.eye(N)},
    "start of zeros": {"v0": np.zeros(N)},
    "rng": {"rng": "seed"},
    "sigma not finite": {"sigma": np.nan},
}


def test_start_of_another_size():
    # SciPy writes past its end
    with pytest.raises(ValueError, match="x0"):
        sm.eigsh(_pair("d")[0], K, v0=np.ones(N - 1))


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_raise_what_SciPy_raises(name):
    A = _pair("d")[0]
    arguments = {"k": K, **BAD[name]}
    with pytest.raises((ValueError, TypeError, ArpackError)) as theirs:
        scipy_eigsh(A, **arguments)
    with pytest.raises(theirs.type) as ours:
        sm.eigsh(A, **arguments)
    assert ours.type is theirs.type


@pytest.mark.parametrize(
    "options", [{"mode": "cayley", "sigma": 1.0}, {"which": "BE"}, {"which": "XX"}, {"ncv": K + 1}]
)
def test_bad_arguments_for_complex_matrices(options):
    A = _pair("D")[0]
    for function in (scipy_eigsh, sm.eigsh):
        with pytest.raises(ValueError, match=r"mode|which|ncv"):
            function(A, K, **options)


@pytest.mark.parametrize("A", [np.zeros((2, 3)), sp.csc_array((2, 3))], ids=["dense", "sparse"])
def test_not_square(A):
    for function in (scipy_eigsh, sm.eigsh):
        with pytest.raises(ValueError, match="expected square matrix"):
            function(A)


def test_other_types_and_precisions():
    A, M = _pair("f")
    for function in (scipy_eigsh, sm.eigsh):
        with pytest.raises(ValueError, match="matrix type must be"):
            function(A.astype(np.longdouble), K)
        with pytest.warns(UserWarning, match="same type precision"):
            w, v = function(A, K, M.astype("d"))
        assert (w.dtype, v.dtype) == (np.float32, np.float32)


def test_what_scipy_does_not_take():
    """Nested lists, data frames and objects without a dtype: as `solve` takes them, without a warning."""
    A, M = _pair("d")

    class Bare:
        shape = A.shape

        def __matmul__(self, x):
            return A @ x

    expected = _expected(A, M, "LA", None)
    for given in (A.tolist(), pd.DataFrame(A), Bare()):
        w, _ = sm.eigsh(given, K, M, which="LA", rng=0)
        np.testing.assert_allclose(np.sort(w), np.sort(expected), rtol=1e-9)


def test_asymmetric_matrices_are_refused():
    with pytest.raises(ValueError, match="not symmetric"):
        sm.eigsh(np.triu(np.ones((N, N))), K)


@pytest.mark.parametrize("n", [30, N])
def test_indefinite_M_and_A_are_refused(n):
    A, M = (matrix[:n, :n] for matrix in _pair("d"))
    with pytest.raises(sm.NotPositiveDefinite):
        sm.eigsh(M, K, A)
    with pytest.raises(sm.NotPositiveDefinite):
        sm.eigsh(A, K, M, sigma=1.0, mode="buckling")
    with pytest.raises(ValueError, match="buckling"):
        sm.eigsh(M, K, A, sigma=0.0, mode="buckling")


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_k_of_the_size_of_the_matrix(dtype):
    A = _pair(dtype)[0][:6, :6]
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
    A, left = _pair("d")[0], [20]

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
