"""`sm.eigsh` on small pairs of every kind: every k, with and without vectors, beside all eigenvalues."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import splitmerge as sm
from pairs import pair_of

SIZE = 9
VALUES = np.array([-7.0, -3.5, -2.0, -0.5, 1.0, 2.5, 4.0, 5.5, 8.0])
KINDS = {"dense": np.asarray, "sparse": sp.csr_array, "operator": aslinearoperator}


def pair(dtype="d", *, mass=True, unit=1.0):
    A, M = pair_of(VALUES * unit, dtype=dtype, condition=4.0 if mass else 1.0)
    return A.astype(dtype), M.astype(dtype) if mass else None


def ours(*arguments, **options):
    """Without the warning that as many pairs as there are rows are wanted."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "k >= N")
        return sm.eigsh(*arguments, **options)


def wanted(which, k, sigma=None):
    """The wanted ones of VALUES, ascending."""
    nu = VALUES if sigma is None else 1 / (VALUES - sigma)
    order = np.argsort(np.abs(nu) if which in ("LM", "SM") else nu)
    ends = np.r_[order[: k // 2], order[order.size - (k - k // 2) :]]
    return np.sort(VALUES[{"L": order[-k:], "S": order[:k], "B": ends}[which[0]]])


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
@pytest.mark.parametrize("mass", [True, False], ids=["M", "identity"])
@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA"])
def test_every_k_with_and_without_vectors(dtype, mass, which):
    """The largest k are those for which SciPy goes to `eigh`, too, where all of them are returned."""
    A, M = pair(dtype, mass=mass)
    eps = float(np.finfo(dtype).eps)
    for k in range(1, SIZE + 1):
        every = k >= SIZE - (A.dtype.kind == "c")
        expected = VALUES if every else wanted(which, k)
        w, v = ours(A, k, M, which=which, rng=0)
        alone = ours(A, k, M, which=which, rng=0, return_eigenvectors=False)
        assert alone.shape == w.shape == (v.shape[1],)
        assert alone.dtype == w.dtype == np.zeros(0, dtype).real.dtype
        for found in (w, alone):
            np.testing.assert_allclose(np.sort(found), expected, atol=1e3 * eps)
        Mv = v if M is None else M @ v
        np.testing.assert_allclose(A @ v, Mv * w, atol=1e4 * eps)
        np.testing.assert_allclose(v.conj().T @ Mv, np.eye(w.size), atol=1e4 * eps)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mass", ["dense", "sparse", None])
@pytest.mark.parametrize("sigma", [None, 0.0, 1.7, -20.0])
@pytest.mark.parametrize("vectors", [True, False])
def test_every_kind_beside_a_shift(kind, mass, sigma, vectors):
    A, M = pair(mass=mass is not None)
    given = KINDS[kind](A), 4, None if mass is None else KINDS[mass](M)
    for which in ("LM", "LA", "SA"):
        found = sm.eigsh(*given, sigma=sigma, which=which, rng=0, return_eigenvectors=vectors)
        w = found[0] if vectors else found
        np.testing.assert_allclose(np.sort(w), wanted(which, 4, sigma), rtol=1e-8)


@pytest.mark.parametrize("unit", [1e-250, 1e-12, 1e-9, 1e9, 1e12, 1e250])
@pytest.mark.parametrize(
    ("form", "k"),
    # of a sparse matrix not all, as SciPy
    [(np.ndarray.tolist, 3), (np.ndarray.tolist, SIZE), (np.asarray, 3), (np.asarray, SIZE), (sp.csr_array, 3)],
)
def test_units(unit, form, k):
    """Of A, whether it comes as an array or as lists of numbers; values have the same unit."""
    A, M = pair()
    expected = VALUES if k == SIZE else wanted("LA", k)
    w = ours(form(A * unit), k, M, which="LA", return_eigenvectors=False, rng=0)
    np.testing.assert_allclose(np.sort(w), expected * unit, rtol=1e-9)
    w, v = ours(form(A * unit), k, M, which="LA", rng=0)
    np.testing.assert_allclose(v.T @ M @ v, np.eye(k), atol=1e-9)
    w = ours(form(A), k, (M / unit).tolist() if form is np.ndarray.tolist else M / unit, which="LA", rng=0)[0]
    np.testing.assert_allclose(np.sort(w), expected * unit, rtol=1e-9)


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("k", [2, SIZE])
def test_an_indefinite_M_is_refused_at_every_k(vectors, k):
    A, M = pair()
    with pytest.raises(sm.NotPositiveDefinite, match=r"\bM\b"):
        ours(M, k, A, return_eigenvectors=vectors)


@pytest.mark.parametrize("k", [0, -1])
def test_no_pair_at_all(k):
    with pytest.raises(ValueError, match=r"^k must be greater than 0\.$"):
        sm.eigsh(pair()[0], k)


@pytest.mark.parametrize("options", [{}, {"return_eigenvectors": False}])
def test_the_warning_is_about_the_line_that_calls(options):
    A, M = pair()
    with pytest.warns(RuntimeWarning, match=r"k >= N .*scipy\.linalg\.eigh instead") as told:
        sm.eigsh(A, SIZE, M, **options)
    assert [warning.filename for warning in told] == [__file__]
    with pytest.warns(RuntimeWarning, match=r"k >= N - 1 .*scipy\.linalg\.eig instead"):
        sm.eigsh(A.astype(complex), SIZE - 1, M.astype(complex), **options)
    with pytest.warns(UserWarning, match="same type precision") as told:
        sm.eigsh(A, 2, M.astype("f"), **options)
    assert [warning.filename for warning in told] == [__file__]


@pytest.mark.parametrize("k", [SIZE - 2, SIZE - 1])
def test_a_complex_matrix_gives_one_pair_less(k):
    """As `eigs`, which ARPACK has for it, needs one more row; then all of them are returned."""
    A, M = pair("D")
    w = ours(A, k, M, which="LA", return_eigenvectors=False)
    assert w.size == (k if k < SIZE - 1 else SIZE)


@pytest.mark.parametrize("dtype", ["F", "D"])
@pytest.mark.parametrize("mass", [True, False], ids=["M", "identity"])
@pytest.mark.parametrize(("name", "same"), [("LR", "LA"), ("SR", "SA")])
@pytest.mark.parametrize("sigma", [None, 0.3])
def test_the_names_of_eigs(dtype, mass, name, same, sigma):
    """Which SciPy takes for complex matrices alone: the largest and the smallest real parts."""
    A, M = pair(dtype, mass=mass)
    w = sm.eigsh(A, 3, M, sigma=sigma, which=name, rng=0, return_eigenvectors=False)
    expected = wanted(same, 3, sigma)
    np.testing.assert_allclose(np.sort(w), expected, rtol=1e3 * float(np.finfo(dtype).eps))
    with pytest.raises(ValueError, match=r"^which must be one of LM SM LA SA BE$"):
        sm.eigsh(A.real.copy(), 3, which=name)


@pytest.mark.parametrize("ncv", [4, 5, SIZE, 100])
@pytest.mark.parametrize("kind", ["d", "D"])
def test_size_of_the_basis(kind, ncv):
    """More than k (than k + 1 of a complex matrix), and what is beyond n is n."""
    A, M = pair(kind)
    k = 3
    if min(ncv, SIZE) <= k + (kind == "D"):
        with pytest.raises(ValueError, match=r"^ncv must be k\+1<ncv<=n, ncv=4"):
            sm.eigsh(A, k, M, ncv=ncv)
    else:
        w = sm.eigsh(A, k, M, which="LA", ncv=ncv, rng=0, return_eigenvectors=False)
        np.testing.assert_allclose(np.sort(w), wanted("LA", k), rtol=1e-8)
    with pytest.raises(ValueError, match=r"ncv must be k"):
        sm.eigsh(A, k, M, ncv=k)


@pytest.mark.parametrize("size", [SIZE, 60])
@pytest.mark.parametrize("which", ["LM", "LA", "SA"])
def test_an_inexact_Minv_makes_pairs_no_worse(size, which):
    """Its solves are good to nine digits only; the pairs are those of A and M."""
    A, M = pair_of(np.linspace(-2.9, 5, size), condition=4.0)
    noise = np.random.default_rng(0).standard_normal((size, size)) * 1e-10
    rough = np.linalg.inv(M) + noise + noise.T
    w, v = sm.eigsh(A, 3, M, which=which, Minv=rough, rng=0)
    values = eigh(A, M, eigvals_only=True)
    order = np.argsort(np.abs(values) if which == "LM" else values)
    np.testing.assert_allclose(w, np.sort(values[order[:3] if which == "SA" else order[-3:]]), rtol=1e-11)
    assert (np.linalg.norm(A @ v - (M @ v) * w, axis=0) <= 1e-11 * np.abs(w) * np.linalg.norm(M @ v, axis=0)).all()


@pytest.mark.parametrize(("name", "options"), [("A", {"sigma": 1.0, "mode": "buckling"}), ("M", {"sigma": 0.3})])
def test_the_matrix_that_is_meant_is_named(name, options):
    """In buckling mode it is A that has to be positive definite."""
    indefinite, definite = pair()
    given = (indefinite, 2, definite) if name == "A" else (definite, 2, indefinite)
    with pytest.raises(sm.NotPositiveDefinite, match=rf"\b{name}\b"):
        sm.eigsh(*given, **options)


def test_shapes_that_do_not_fit():
    A, M = pair()
    with pytest.raises(ValueError, match=r"wrong M dimensions \(8, 8\), should be \(9, 9\)"):
        sm.eigsh(A, 2, M[:8, :8])
    with pytest.raises(ValueError, match=r"wrong M dimensions \(9, 8\)"):
        sm.eigsh(A, 2, aslinearoperator(M[:, :8]))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"OPinv": np.eye(SIZE)}, "OPinv should not be specified with sigma = None."),
        ({"Minv": np.eye(SIZE)}, "Minv should not be specified with M = None."),
        ({"Minv": np.eye(SIZE), "sigma": 1.2}, "Minv should not be specified when sigma is specified."),
        ({"sigma": 1.2, "mode": "caley"}, "unrecognized mode 'caley'"),
        ({"maxiter": 0}, "maxiter must be positive, maxiter=0"),
        ({"maxiter": -3}, "maxiter must be positive, maxiter=-3"),
    ],
)
def test_what_is_refused(options, told):
    with pytest.raises(ValueError, match=f"^{told}"):
        sm.eigsh(pair(mass=False)[0], 2, **options)


@pytest.mark.parametrize("vectors", [True, False])
def test_a_start_that_is_given_is_used(vectors):
    """An eigenvector itself: a few products are enough, and without it they are not."""
    n = 300
    values = np.sort(np.random.default_rng(0).random(n))
    made = []

    def product(x):
        made.append(1)
        return values * np.ravel(x)

    A = LinearOperator((n, n), matvec=product, dtype=float)
    counts = []
    for start in (np.eye(n)[-1], None):
        made.clear()
        found = sm.eigsh(A, 1, which="LA", v0=start, tol=1e-6, rng=0, return_eigenvectors=vectors)
        np.testing.assert_allclose(found[0] if vectors else found, values[-1:], rtol=1e-6)
        counts.append(len(made))
    assert counts[0] != counts[1]


@pytest.mark.parametrize(
    ("which", "sigma", "mode"),
    [("LA", 0.37, "normal"), ("LM", 0.37, "cayley"), ("LM", 0.37, "buckling"), ("LM", 0.37, "normal")],
)
def test_the_search_next_to_a_shift_begins_with_the_start(which, sigma, mode):
    """It is among the first vectors that OPinv is applied to; without one, no such vector is."""
    n, met = 200, []
    values = np.linspace(0.1, 5, n)
    masses = np.linspace(1, 2, n) if mode == "buckling" else np.ones(n)
    start = np.random.default_rng(8).standard_normal(n)

    def inverse(x):
        met.append(np.ravel(x).copy())
        return np.ravel(x) / (values - sigma * masses)

    opinv = LinearOperator((n, n), matvec=inverse, dtype=float)
    A, M = np.diag(values), np.diag(masses) if mode == "buckling" else None
    for v0 in (start, None):
        met.clear()
        sm.eigsh(A, 2, M, sigma=sigma, which=which, mode=mode, OPinv=opinv, v0=v0, rng=0, tol=1e-8)
        weights = {"normal": [np.ones(n)], "cayley": [np.ones(n)], "buckling": [np.ones(n), values, masses]}[mode]
        cosines = [
            abs(x @ (w * start)) / (np.linalg.norm(x) * np.linalg.norm(w * start)) for x in met[:8] for w in weights
        ]
        assert (max(cosines) > 1 - 1e-6) == (v0 is not None)
