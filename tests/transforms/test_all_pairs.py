"""Every pair by LAPACK in the modes of `eigsh`, in any units and at any σ, beside the definite pair of its inverse."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from checking import operator_of
from pairs import pair_of
from splitmerge.transforms.modes import Reduced, most_wanted, reduce, transformed
from splitmerge.transforms.semidefinite import all_pairs, is_operator, with_entries

N, RANK = 12, 8
each_dtype = pytest.mark.parametrize("dtype", [float, complex])
UNITS = [(1.0, 1.0), (1e9, 1e-6)]


def finite_pair(dtype, null):
    """(A, M) with M of rank `RANK`, or definite, and the finite eigenvalues; 2 is one of them."""
    values = np.r_[np.linspace(-3, 1, RANK - 2), 2.0, 7.0]
    A, M = np.diag(np.r_[values, np.ones(N - RANK)]).astype(dtype), np.diag(np.r_[np.ones(RANK), np.zeros(N - RANK)])
    X = pair_of(np.arange(1.0, N + 1), 5, dtype)[0]
    X = X / np.linalg.norm(X, 2) + np.eye(N)
    if not null:
        M = np.eye(N)
        values = np.r_[values, np.ones(N - RANK)]
    A, M = (X.conj().T @ D @ X for D in (A, M))
    return (A + A.conj().T) / 2, (M + M.conj().T) / 2, np.sort(values)


@each_dtype
@pytest.mark.parametrize(("a", "b"), UNITS)
@pytest.mark.parametrize("null", [False, True], ids=["definite", "singular"])
# the last ones on an eigenvalue, or far away
@pytest.mark.parametrize("sigma", [0.3, -5.0, 2.0, 7.0, 40.0])
def test_next_to_sigma(dtype, a, b, null, sigma):
    A, M, values = finite_pair(dtype, null)
    found, X = all_pairs(a * A, b * M, sigma * a / b, "normal")
    np.testing.assert_allclose(np.sort(found) * b / a, values, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(A @ X, M @ X * (found * b / a), atol=1e-5 * np.abs(X).max())
    np.testing.assert_allclose(X.conj().T @ (b * M) @ X, np.eye(values.size), atol=1e-6)


@each_dtype
@pytest.mark.parametrize(("a", "b"), UNITS)
@pytest.mark.parametrize("null", [False, True], ids=["definite", "singular"])
@pytest.mark.parametrize("sigma", [0.3, -5.0])
def test_load_factors(dtype, a, b, null, sigma):
    """A K that is positive (semi)definite beside an indefinite KG."""
    KG, K, inverse = finite_pair(dtype, null)
    found, X = all_pairs(a * K, b * KG, sigma * a / b, "buckling")
    expected = np.sort(np.r_[1 / inverse, np.zeros(N - inverse.size)])
    np.testing.assert_allclose(np.sort(found) * b / a, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(K @ X, KG @ X * (found * b / a), atol=1e-5 * np.abs(X).max())
    kept = X[:, np.abs(found) * b / a > 1e-3]
    np.testing.assert_allclose(kept.conj().T @ (a * K) @ kept, np.eye(inverse.size), atol=1e-6)


def test_without_sigma():
    A, M = pair_of(np.arange(1.0, N + 1))
    np.testing.assert_allclose(all_pairs(A, M, None, "normal")[0], np.arange(1.0, N + 1))
    np.testing.assert_allclose(all_pairs(A, None, 0.5, "normal")[0], np.linalg.eigvalsh(A))
    with pytest.raises(sm.NotPositiveDefinite, match=r"^M is not positive definite; it must be, unless sigma is given"):
        all_pairs(A, np.diag(np.r_[np.ones(N - 1), 0.0]), None, "normal")


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_common_null_space(kind):
    X = np.tril(np.ones((N, N)))
    A, M = (X.T @ np.diag(np.r_[0.0, d]) @ X for d in (np.arange(1.0, N), np.r_[np.zeros(2), np.ones(N - 3)]))
    with pytest.raises(ValueError, match=r"^A − σM is singular at σ = 0.3 and near it"):
        all_pairs(kind(A), kind(M), 0.3, "normal")


@each_dtype
@pytest.mark.parametrize("unit", [1e-50, 1.0, 1e50])
def test_entries_of_an_operator(dtype, unit):
    """In the user's units and sign."""
    M = pair_of(np.linspace(-3, 5, N), dtype=dtype)[0] * unit
    given = operator_of(M)
    assert is_operator(given)
    assert not any(map(is_operator, (None, M, sp.csr_array(M))))
    np.testing.assert_allclose(with_entries(given), M, rtol=1e-12, atol=1e-14 * unit)
    assert with_entries(given).dtype == dtype
    assert with_entries(M) is M


class TestReduced:
    """(A, M) with σ as a pair (A', B'), τ and a factor: factor · (A − σM)⁻¹ is (A' − τB')⁻¹."""

    A, M = pair_of(np.r_[0.4, 0.9, 1.7, 3.0, 8.0])

    @pytest.mark.parametrize("which", ["LM", "LA", "SA", "BE"])
    @pytest.mark.parametrize("sigma", [1.3, -0.6])
    @pytest.mark.parametrize("mode", ["normal", "buckling", "cayley"])
    @pytest.mark.parametrize("identity", [False, True])
    def test_the_inverse(self, mode, sigma, which, identity):
        M = None if identity else self.M
        reduced = reduce(self.A, M, sigma, mode, which)
        inverse = np.linalg.inv(self.A - sigma * (np.eye(5) if identity else M))
        first, second = (
            np.eye(5) if part is None else part.toarray() if sp.issparse(part) else part
            for part in (reduced.A, reduced.B)
        )
        K = first - reduced.shift * second
        np.testing.assert_allclose(reduced.factor * inverse, np.linalg.inv(K), rtol=1e-9)
        np.testing.assert_allclose(reduced.moved() @ np.eye(5), K, atol=1e-12)
        values = scipy.linalg.eigvalsh(self.A, M)
        inner = scipy.linalg.eigvalsh(first, second)
        np.testing.assert_allclose(np.sort(reduced.values(inner)), values, rtol=1e-9)
        assert not reduced.far

    def test_far_from_sigma(self):
        assert reduce(self.A, self.M, 1.3, "normal", "SM").far
        assert not reduce(self.A, self.M, 1.3, "cayley", "SM").far
        assert reduce(self.A, self.M, 0.0, "cayley", "SM").far

    @pytest.mark.parametrize("sigma", [1.3, -0.7])
    @pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
    def test_the_centre_of_cayley(self, sigma, unit):
        """|1 + 2σθ| for the θ of the sign, in the units of the scaled pair."""
        values = np.array([0.4, 0.9, 1.7, 3.0, 8.0]) * unit
        reduced = reduce(self.A * unit, self.M, sigma * unit, "cayley", "LM")
        theta = np.sort(reduced.sign / (values - reduced.shift))
        found = theta[reduced.target(reduced.shift).order(theta)]
        expected = theta[np.argsort(-np.abs(1 + 2 * abs(sigma) * unit * theta))]
        np.testing.assert_array_equal(found, expected)

    def test_names_of_what_is_singular(self):
        assert Reduced(None, None, 1.0, 1, "LM").weight == "M"
        assert reduce(self.A, self.M, 1.3, "buckling", "LM").weight == "A"
        assert reduce(self.A, self.M, 1.3, "cayley", "LM").weight == "M"


VALUES = np.array([2.0, -9.0, 0.5, 4.0, -1.0])


@pytest.mark.parametrize(
    ("which", "order"),
    [
        ("LM", [-9, 4, 2, -1, 0.5]),
        ("SM", [0.5, -1, 2, 4, -9]),
        ("LA", [4, 2, 0.5, -1, -9]),
        ("SA", [-9, -1, 0.5, 2, 4]),
        ("BE", [4, -9, 2, -1, 0.5]),
    ],
)
def test_most_wanted_first(which, order):
    np.testing.assert_array_equal(VALUES[most_wanted(VALUES, which)], order)


def test_an_infinite_eigenvalue():
    np.testing.assert_array_equal(transformed(np.array([np.inf]), 2.0, "normal"), [0.0])
    np.testing.assert_array_equal(transformed(np.array([np.inf]), 2.0, "cayley"), [1.0])
    np.testing.assert_array_equal(transformed(np.array([np.inf]), 2.0, "buckling"), [1.0])
    assert np.isinf(transformed(np.array([2.0]), 2.0, "normal")).all()


MODES = [("normal", "LM"), ("normal", "LA"), ("normal", "SA"), ("normal", "BE"), ("buckling", "LM")]
MODES += [("buckling", "LA"), ("buckling", "SA"), ("cayley", "LM"), ("cayley", "LA"), ("cayley", "SA")]


# complex pairs have the first mode only, as SciPy's do
@pytest.mark.parametrize(("mode", "which", "dtype"), [(*m, float) for m in MODES] + [(*m, complex) for m in MODES[:3]])
@pytest.mark.parametrize("sigma", [2.4, -1.3])
@pytest.mark.parametrize("given", [False, True], ids=["factorised", "OPinv"])
def test_eigsh_of_operators_and_of_matrices(mode, which, dtype, sigma, given):
    """The values that the formula of the mode ranks first, with the caller's inverse and without."""
    values = np.r_[-4.0, -0.7, 0.3, 1.1, 2.2, 3.1, 5.0, np.linspace(9, 30, 100)]
    A, M = pair_of(np.abs(values) if mode == "buckling" else values, dtype=dtype)
    values = scipy.linalg.eigvalsh(A, M)
    k, mapped = 3, transformed(values, sigma, mode)
    expected = np.sort(values[most_wanted(mapped, which)[:k]])
    options = {}
    if given:
        inverse = np.linalg.inv(A - sigma * M)
        A, M = operator_of(A), operator_of(M)
        options["OPinv"] = operator_of(inverse)
    w = sm.eigsh(A, k, M=M, sigma=sigma, which=which, mode=mode, rng=0, return_eigenvectors=False, **options)
    np.testing.assert_allclose(np.sort(w), expected, rtol=1e-7)
