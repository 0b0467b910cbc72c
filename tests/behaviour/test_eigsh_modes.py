"""`sm.eigsh` next to a shift when A (buckling) or M (normal, Cayley) is singular or badly conditioned."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator
from scipy.sparse.linalg import eigsh as scipy_eigsh

import splitmerge as sm
from covering import parametrise
from pairs import pair_of
from strategies import EPS

SIGMA, K = 0.4, 2
# Eigenvalues of the semidefinite matrix, by its size.
SPECTRA = {
    "condition 1e12": lambda n: np.logspace(-12, 0, n),
    "one zero": lambda n: np.r_[0, np.linspace(0.1, 2, n - 1)],
    "a fifth zero": lambda n: np.r_[np.zeros(n // 5), np.linspace(0.1, 2, n - n // 5)],
    "rank three": lambda n: np.r_[np.zeros(n - 3), 1, 2, 3],
}
WHICH = ("LM", "LA", "SA", "BE", "SM")


def _pair(spectrum, n, mode, seed=0):
    """(A, M): a semidefinite matrix with this spectrum, and an indefinite one in the other place."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    S, G = (Q * SPECTRA[spectrum](n)) @ Q.T, rng.standard_normal((n, n))
    S, G = (S + S.T) / 2, (G + G.T) / 2
    return (S, G) if mode == "buckling" else (G, S)


def _transformed(alpha, beta, mode):
    """The transformed value of λ = α/β."""
    above = {"normal": beta, "cayley": alpha + SIGMA * beta, "buckling": alpha}[mode]
    return above / (alpha - SIGMA * beta)


def _expected(A, M, mode, which):
    """The wanted transformed values, ascending, from all pairs by the QZ algorithm; the finite λ of a singular M."""
    alpha, beta = scipy.linalg.eig(A, M, right=False, homogeneous_eigvals=True)
    if mode != "buckling":
        finite = np.abs(beta) > 1e-13 * np.abs(alpha)
        alpha, beta = alpha[finite], beta[finite]
    nu = _transformed(alpha, beta, mode).real
    order = np.argsort(np.abs(nu) if which in ("LM", "SM") else nu)
    return np.sort(nu[{"L": order[-K:], "S": order[:K], "B": order[[0, -1]]}[which[0]]])


def _residuals(A, M, w, v):
    sizes = np.linalg.norm(A, 2) + np.abs(w) * np.linalg.norm(M, 2)
    return np.linalg.norm(A @ v - M @ v * w, axis=0) / (sizes * np.linalg.norm(v, axis=0))


@parametrise(
    mode=["normal", "cayley", "buckling"], which=WHICH, spectrum=list(SPECTRA), n=[10, 60, 150], kind=["dense", "csr"]
)
def test_semidefinite_matrices_agree_with_QZ(mode, which, spectrum, n, kind):
    A, M = _pair(spectrum, n, mode)
    make = np.asarray if kind == "dense" else sp.csr_array
    w, v = sm.eigsh(make(A), K, make(M), SIGMA, which, mode=mode, rng=0)
    expected = _expected(A, M, mode, which)
    found = np.sort(_transformed(w, 1.0, mode))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * max(1, np.abs(expected).max()))
    assert (_residuals(A, M, w, v) <= 1e-11).all()
    S = A if mode == "buckling" else M
    gram = v.T @ S @ v
    # a vector in the null space of A has norm 1, as it has no A-norm
    lengths = np.linalg.norm(v, axis=0)
    null = np.abs(lengths - 1) < 1e-12
    # rounding of S, relative to ‖S‖, moves xᴴSy by this: up to eps times its condition for vectors of S-norm 1
    allowed = 1e-12 + EPS * np.linalg.norm(S, 2) * np.outer(lengths, lengths)
    assert (np.abs(gram - np.eye(K)) <= allowed)[~null][:, ~null].all()


@pytest.mark.parametrize("mode", ["normal", "buckling"])
def test_semidefinite_matrices_agree_with_SciPy(mode):
    A, M = _pair("a fifth zero", 60, mode)
    ours, theirs = (f(A, K, M, SIGMA, mode=mode, rng=0, return_eigenvectors=False) for f in (sm.eigsh, scipy_eigsh))
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize("n", [6, 150])
@pytest.mark.parametrize("which", ["LM", "SM"])
def test_zero_A_has_zeros_in_buckling_mode(n, which):
    w, v = sm.eigsh(np.zeros((n, n)), K, np.diag(np.arange(1.0, n + 1)), SIGMA, which, mode="buckling")
    assert (w == 0).all()
    np.testing.assert_allclose(np.linalg.norm(v, axis=0), 1)


@pytest.mark.parametrize("n", [6, 150])
def test_shift_on_an_eigenvalue_in_buckling_mode(n):
    A = np.diag(np.r_[0, SIGMA, np.arange(2.0, n)])
    w = sm.eigsh(A, K, np.eye(n), SIGMA, mode="buckling", return_eigenvectors=False)
    np.testing.assert_allclose(w, [SIGMA, 2], rtol=1e-12)


@pytest.mark.parametrize(("which", "expected"), [("LM", [4, 5, 6]), ("LA", [5, 6, 7]), ("SA", [2, 3, 4])])
@pytest.mark.parametrize("n", [8, 30, 150])
def test_shift_on_an_eigenvalue_beside_a_singular_M(n, which, expected):
    A, M = np.diag(np.arange(1.0, n + 1)), np.diag(np.r_[0.0, np.ones(n - 1)])
    w = sm.eigsh(A, 3, M, 5.0, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(w), expected, rtol=1e-10)


@pytest.mark.parametrize("sigma", [1e-6, -1e6])
def test_shift_of_another_size_than_the_spectrum_in_buckling_mode(sigma):
    A, M = _pair("condition 1e12", 40, "buckling")
    A += 1e-3 * np.eye(40)
    w, v = sm.eigsh(A, K, M, sigma, mode="buckling")
    assert (_residuals(A, M, w, v) <= 1e-13).all()


def _zero_row(n):
    return np.diag(np.r_[0, np.arange(1.0, n)])


REFUSED = {
    "common null space": (_zero_row, _zero_row, "buckling", r"row 0.*A.*M.*zero|singular"),
    "common null space, normal": (_zero_row, _zero_row, "normal", r"row 0.*A.*M.*zero|singular"),
    "indefinite A": (lambda n: -np.eye(n), np.eye, "buckling", r"^A\b.*(semidefinite|indefinite)"),
    "indefinite M": (np.eye, lambda n: -np.eye(n), "cayley", r"^M\b.*(semidefinite|indefinite)"),
    "more than the rank": (
        np.eye,
        lambda n: np.diag(np.r_[1, np.zeros(n - 1)]),
        "normal",
        r"M has rank 1\b.*k = 2|only 1 ",
    ),
}


@pytest.mark.parametrize("n", [6, 150])
@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_name_of_the_matrix(name, n):
    A, M, mode, pattern = REFUSED[name]
    with pytest.raises(ValueError, match=pattern):
        sm.eigsh(A(n), K, M(n), SIGMA, mode=mode)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("mode", "which"), [("normal", "LA"), ("cayley", "LM"), ("cayley", "LA")])
@pytest.mark.parametrize("n", [60, 150])
def test_an_indefinite_M_with_zeros_is_refused(n, mode, which, kind):
    """One negative eigenvalue beside zeros and positive ones, which the range of M does not hide."""
    A, M = np.diag(np.arange(1.0, n + 1)), np.diag(np.r_[np.ones(n - 5), np.zeros(4), -0.5])
    with pytest.raises(ValueError, match=r"^M\b.*(semidefinite|indefinite)"):
        sm.eigsh(kind(A), K, kind(M), 7.3, which, mode=mode)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("which", "expected"),
    [("LM", [-2, 1, 3]), ("LA", [1, 3, 6]), ("SA", [-5, -2, 40]), ("SM", [38, 39, 40]), ("BE", [-2, 1, 3])],
)
@pytest.mark.parametrize("n", [39, 203])
def test_cayley_mode_at_zero_selects_by_the_inverse(n, which, expected, kind):
    """(λ + 0)/(λ − 0) is 1 for all eigenvalues, which are ranked by 1/λ then."""
    A, M = pair_of(np.r_[-5.0, -2, 1, 3, np.linspace(6, 37, n - 7), 38, 39, 40])
    w = sm.eigsh(kind(A), 3, kind(M), 0.0, which, mode="cayley", return_eigenvectors=False, rng=0)
    np.testing.assert_allclose(w, expected, rtol=1e-9)


@pytest.mark.parametrize("mode", ["normal", "cayley", "buckling"])
@pytest.mark.parametrize("units", [(900, 0), (-900, 0), (0, 900), (498, -498), (-498, 498)], ids=str)
def test_entries_of_extreme_sizes(mode, units):
    """Powers of two change the eigenvalues by a power of two."""
    a, m = (2.0**exponent for exponent in units)
    A, M = pair_of(np.arange(1.0, 13.0))
    plain, scaled = (
        sm.eigsh(s * A, 2, t * M, 3.3 * (s / t), mode=mode, return_eigenvectors=False) for s, t in ((1, 1), (a, m))
    )
    np.testing.assert_allclose(scaled / (a / m), plain, rtol=1e-10)


@pytest.mark.parametrize("seed", [26, 27, 58])
@pytest.mark.parametrize("exponent", [-900, 0, 900])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_an_OPinv_of_another_M(kind, exponent, seed):
    """A singular M beside the inverse for a definite one: the right pairs, or an error, and no infinite eigenvalue."""
    A, M = pair_of(np.arange(1.0, 13.0))
    unit = 2.0**exponent
    K = np.linalg.inv(A - 3.3 * M) / unit
    singular = kind(np.diag(np.r_[0.0, np.ones(11)]))
    try:
        w, v = sm.eigsh(
            kind(A * unit), 2, singular, 3.3 * unit, OPinv=LinearOperator(K.shape, lambda x: K @ x), rng=seed
        )
    except (ArpackNoConvergence, ValueError):
        return
    assert np.linalg.norm(A @ v - singular @ v * (w / unit), axis=0).max() <= 1e-6 * np.abs(A).max()


@pytest.mark.parametrize("mode", ["normal", "cayley"])
@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
def test_an_inverse_that_is_given_changes_nothing(which, mode):
    d = np.r_[-np.arange(1.0, 101), np.arange(1.0, 201)]
    A, inverse = sp.diags_array(d, format="csr"), sp.diags_array(1 / (d - 20.4), format="csr")
    options = {"k": 3, "sigma": 20.4, "which": which, "mode": mode, "return_eigenvectors": False, "rng": 0}
    expected = sm.eigsh(A, **options)
    np.testing.assert_allclose(sm.eigsh(A, OPinv=aslinearoperator(inverse), **options), expected, rtol=1e-8)


@pytest.mark.parametrize("sigma", [1e-17, -1e-15, 1e-13, 1e-10])
def test_a_tiny_shift_beside_a_singular_A(sigma):
    """A − σM is singular to rounding there; σ was moved by fractions of itself only, and a regular pair refused."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 40))
        G, masses = rng.normal(size=(n, n // 2)), 10.0 ** rng.uniform(-6, 0, n)
        values = sm.eigsh(G @ G.T, 2, np.diag(masses), sigma=sigma, return_eigenvectors=False)
        assert np.abs(values).max() < 1e-8
