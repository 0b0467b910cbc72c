"""Whether a start is good does not depend on units, and random ones depend on what they should."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from checking import choices
from pairs import pair_of
from splitmerge.linalg.blas import kernels
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.problem.start import Warm, columns, generator, given_block, is_far, is_poor, random_vector

UNITS = [(1.0, 1.0), (1e-9, 1.0), (1e9, 1.0), (1.0, 1e-9), (1e-3, 1e9)]


def start(share, dtype=float):
    """A vector whose residual with diag(1, 1.2, …) is this share of ‖Ax‖, by bisection."""
    a = np.array([1.0, 1.2, 1.3])

    def residual(t):
        x = np.array([1.0, t, 0])
        value = (a * x) @ x / (x @ x)
        return np.linalg.norm(a * x - value * x) / np.linalg.norm(a * x)

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if residual(middle) < share else (low, middle)
    return a, np.array([1.0, low, 0], dtype)


@pytest.mark.parametrize(("a", "b"), UNITS)
@pytest.mark.parametrize("dtype", [float, complex, np.float32])
@pytest.mark.parametrize(("share", "far"), [(0.0, False), (0.03, False), (0.045, False), (0.055, True), (0.08, True)])
def test_a_start_up_to_a_relative_residual(a, b, dtype, share, far):
    """‖Ax − ρBx‖ ≤ 0.05 ‖Ax‖, whatever the units of A and B are."""
    diagonal, x = start(share, dtype)
    call = kernels(np.dtype(dtype))
    assert is_far(x, (a * diagonal * x).astype(dtype), (b * x).astype(dtype), call) is far
    for length in (1e-3, 1e3):
        y = (length * x).astype(dtype)
        products = Products(Pencil(np.diag(a * diagonal).astype(dtype), np.diag(np.full(3, b)).astype(dtype)))
        assert is_poor(y, products) is far
        assert (products.counts.A_products, products.counts.B_products) == (1, 1)


def test_a_start_without_norm_is_poor():
    call = kernels(np.dtype(float))
    x = np.array([1.0, 0.0])
    assert is_far(x, x, np.array([0.0, 1.0]), call)
    assert is_far(x, x, np.array([-1.0, 0.0]), call)
    assert not is_far(x, 0 * x, x, call)


@pytest.mark.parametrize(("a", "b"), UNITS)
def test_a_good_start_is_used_in_any_units(a, b):
    """An exact start takes hardly a step."""
    A, B = pair_of(np.linspace(1.0, 30.0, 120))
    w, U = np.linalg.eigh(np.linalg.solve(np.linalg.cholesky(B), np.linalg.solve(np.linalg.cholesky(B), A).T))
    x = np.linalg.solve(np.linalg.cholesky(B).T, U[:, -1:])
    sol = sm.solve(sp.csr_array(a * A), sp.csr_array(b * B), x0=x, method=sm.Accelerated(), rng=0)
    assert sol.eigenvalues[0] == pytest.approx(w[-1] * a / b)
    assert sol.steps <= 3


class TestGenerator:
    """Its numbers depend on the seed and on the start, and have nothing to do with the user's own."""

    def test_from_a_seed(self):
        one, same, other = (generator(seed).standard_normal(4) for seed in (3, 3, 4))
        np.testing.assert_array_equal(one, same)
        assert not np.isin(one, other).any()
        assert not np.isin(one, np.random.default_rng(3).standard_normal(50)).any()

    def test_from_a_generator(self):
        """The solve takes the same few numbers of it, however long it is."""
        first, second = np.random.default_rng(3), np.random.default_rng(3)
        np.testing.assert_array_equal(generator(first).standard_normal(4), generator(3).standard_normal(4))
        generator(second).standard_normal(1000)
        np.testing.assert_array_equal(first.standard_normal(5), second.standard_normal(5))

    def test_from_a_start(self):
        x = np.arange(6.0)
        plain, one, same, other = (generator(0, y).standard_normal(4) for y in (None, x, x.copy(), x + 1))
        np.testing.assert_array_equal(one, same)
        for two in (plain, other):
            assert not np.isin(one, two).any()

    @pytest.mark.parametrize("bad", ["a", -1, 1.5, [1.5]])
    def test_refused(self, bad):
        with pytest.raises(ValueError, match=r"^rng is .*; give a seed"):
            generator(bad)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
    def test_random_vectors(self, dtype):
        """Normally distributed, in the dtype of the pencil; both parts of a complex one are random."""
        pencil = Pencil(np.eye(800, dtype=dtype))
        x = random_vector(pencil, np.random.default_rng(0))
        assert x.dtype == dtype
        parts = (x.real, x.imag) if np.dtype(dtype).kind == "c" else (x,)
        for part in parts:
            assert abs(part.mean()) < 0.1
        assert all(np.std(part) == pytest.approx(np.std(parts[0]), rel=0.1) for part in parts)
        assert len(parts) == 1 or abs(np.corrcoef(*parts)[0, 1]) < 0.1


class TestColumns:
    A, B = pair_of(np.arange(1.0, 7.0))

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            (np.zeros(6), "x0 is zero"),
            (np.c_[np.ones(6), np.zeros(6)], "x0 is zero"),
            (np.ones(5), r"x0 has shape \(5,\); give a vector of length 6"),
            (np.ones((6, 0)), r"x0 has shape \(6, 0\)"),
            (np.ones((6, 1, 1)), "x0 has shape"),
            (np.full(6, np.nan), "x0 contains NaN or infinity"),
            (np.r_[np.inf, np.ones(5)], "x0 contains NaN or infinity"),
            (np.ones(6) * 1j, "x0 is complex but A and B are real"),
            (["a"] * 6, "x0 has dtype"),
            ([[1, 2], [1]], "x0 is ragged"),
            (np.ma.masked_array(np.ones(6), [1, 0, 0, 0, 0, 0]), "x0 has masked entries"),
        ],
        ids=str,
    )
    def test_refused(self, given, said):
        with pytest.raises(ValueError, match=f"^{said}"):
            columns(given, "x0", Pencil(self.A, self.B))

    def test_a_complex_start_without_imaginary_part(self):
        X = columns(np.arange(1.0, 7.0) + 0j, "x0", Pencil(self.A, self.B))
        assert X.dtype == float
        np.testing.assert_allclose(X[:, 0], np.arange(1.0, 7.0) / 6)

    @pytest.mark.parametrize(("width", "k", "fine"), [(1, 1, True), (2, 2, True), (3, 2, False), (2, 1, False)])
    def test_as_many_as_are_wanted(self, width, k, fine):
        """At most; a resumed solve may have more."""
        X, pencil = np.random.default_rng(0).standard_normal((6, width)), Pencil(self.A, self.B)
        assert given_block(Warm(X), k, pencil, None).shape == (6, width)
        if fine:
            assert given_block(X, k, pencil, None).shape == (6, width)
            return
        with pytest.raises(ValueError, match=f"give at most one column for each of the k = {k} pairs"):
            given_block(X, k, pencil, None)

    def test_none(self):
        assert given_block(None, 1, Pencil(self.A, self.B), None) is None

    @pytest.mark.parametrize("dtype", [float, complex])
    def test_in_the_coordinates_of_a_restricted_pair(self, dtype):
        """z = Dᴴu for a start u of the user's; one that has the length of z is z."""
        D = np.linalg.qr(pair_of(np.arange(1.0, 10.0), 3, dtype)[0])[0][:, :6]
        pencil = Pencil(self.A.astype(dtype))
        z = np.linspace(0.1, 1, 6)[:, None].astype(dtype)
        np.testing.assert_allclose(given_block(D @ z, 1, pencil, D), z, atol=1e-12)
        np.testing.assert_allclose(given_block(z, 1, pencil, D), z, atol=1e-12)


@pytest.mark.parametrize("policy", ["restrict", "ridge"])
@pytest.mark.parametrize("dtype", [float, complex])
def test_a_start_with_a_singular_B(policy, dtype):
    """The start is the user's vector, not one of the condensed pair."""
    n = 130
    A, _ = pair_of(np.linspace(1, 20, n), dtype=dtype)
    b = np.r_[np.ones(n - 4), np.zeros(4)].astype(dtype)
    exact = sm.solve(A, np.diag(b), 1, b_policy=policy, rng=0).eigenvectors
    sol = sm.solve(A, np.diag(b), 1, b_policy=policy, x0=exact, method=sm.Accelerated(), rng=0)
    assert sol.steps <= 3
    assert "B_POLICY" in choices(sol)
