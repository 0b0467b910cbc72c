"""Shift-invert with σ on an eigenvalue, with a B of any rank, and in any units."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from asking import asked
from checking import choices, figures_of
from pairs import pair_of
from splitmerge.planning.choose import choose
from splitmerge.preparation.definiteness import check_B
from splitmerge.preparation.shift_invert import factorised_near, shift_invert
from splitmerge.preparation.workspace import Workspace
from splitmerge.problem.products import Products
from splitmerge.transforms import LumpedShiftInvert, MasslessShiftInvert, SemidefiniteShiftInvert, ShiftInvert

N = 40
KINDS = {"dense": np.asarray, "sparse": sp.csr_array}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
each_dtype = pytest.mark.parametrize("dtype", [float, complex])
UNITS = [(1.0, 1.0), (1e9, 1e-6), (1e-200, 1.0)]


def masses(name, dtype):
    """A positive semidefinite matrix with its rank."""
    if name == "lumped":
        return np.diag(np.linspace(1, 2, N)).astype(dtype), N
    if name == "massless":
        return np.diag(np.r_[np.linspace(1, 2, N - 5), np.zeros(5)]).astype(dtype), N - 5
    B = pair_of(np.arange(1.0, N + 1), 3, dtype)[1]
    if name == "definite":
        return B, N
    size = {"rank": N, "massless and rank": N - 5}[name]
    rng = np.random.default_rng(1)
    X = rng.standard_normal((size, size - 4)) + (1j * rng.standard_normal((size, size - 4)) if dtype is complex else 0)
    B = np.zeros((N, N), dtype)
    B[:size, :size] = X @ X.conj().T / N
    return B, size - 4


def prepared(A, B, k, sigma, **options):
    problem, pencil = asked(A, B, k, sigma=sigma, method=sm.Accelerated(), **options)
    workspace = Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))
    check_B(workspace)
    return shift_invert(workspace, sigma / pencil.unit), workspace


# what takes the vectors into account that no inner product sees
TRANSFORMS = {
    ("dense", "definite"): ShiftInvert,
    ("sparse", "definite"): ShiftInvert,
    ("dense", "lumped"): ShiftInvert,
    ("sparse", "lumped"): LumpedShiftInvert,
    ("dense", "massless"): MasslessShiftInvert,
    ("sparse", "massless"): MasslessShiftInvert,
    ("dense", "rank"): SemidefiniteShiftInvert,
    ("sparse", "rank"): SemidefiniteShiftInvert,
    ("dense", "massless and rank"): SemidefiniteShiftInvert,
    ("sparse", "massless and rank"): SemidefiniteShiftInvert,
}


@each_dtype
@pytest.mark.parametrize(("kind", "name"), TRANSFORMS)
class TestRank:
    def test_the_transformation(self, kind, name, dtype):
        """Zero rows are left out by themselves where the rest of B is definite; otherwise the range of B serves."""
        B, rank = masses(name, dtype)
        A = pair_of(np.linspace(-3, 5, N), dtype=dtype)[0]
        transform = prepared(KINDS[kind](A), KINDS[kind](B), 2, 0.3)[0].transform
        assert type(transform) is TRANSFORMS[kind, name]
        assert transform.dimension == rank
        assert transform.sigma == 0.3

    def test_the_finite_ones(self, kind, name, dtype):
        """The nearest to σ, with residuals and B-orthonormality at the last digits."""
        B, rank = masses(name, dtype)
        A = pair_of(np.linspace(-3, 5, N), dtype=dtype)[0]
        L = scipy.linalg.ldl(B)[0] if rank == N else None
        finite = scipy.linalg.eigvalsh(A, B) if L is not None else finite_values(A, B, rank)
        expected = np.sort(finite[np.argsort(np.abs(finite - 0.3))[:4]])
        for method in (None, sm.Accelerated()):
            sol = sm.solve(KINDS[kind](A), KINDS[kind](B), 4, sigma=0.3, method=method, rng=0)
            np.testing.assert_allclose(np.sort(sol.eigenvalues), expected, rtol=1e-9)
            U = sol.eigenvectors
            np.testing.assert_allclose(U.conj().T @ B @ U, np.eye(4), atol=1e-9)
            np.testing.assert_allclose(A @ U, B @ U * sol.eigenvalues, atol=1e-8)

    def test_no_more_than_the_rank(self, kind, name, dtype):
        B, rank = masses(name, dtype)
        A = pair_of(np.linspace(-3, 5, N), dtype=dtype)[0]
        if rank == N:
            return
        prepared(KINDS[kind](A), KINDS[kind](B), rank, 0.3)
        with pytest.raises(ValueError, match=r"^k is .* eigenvalues are finite"):
            prepared(KINDS[kind](A), KINDS[kind](B), rank + 1, 0.3)


def finite_values(A, B, rank):
    """By the inverse at a shift."""
    sizes, Q = scipy.linalg.eigh(B)
    L = Q[:, -rank:] * np.sqrt(sizes[-rank:])
    theta = scipy.linalg.eigvalsh(L.conj().T @ np.linalg.solve(A - 0.37 * B, L))
    return np.sort(0.37 + 1 / theta)


class TestOnAnEigenvalue:
    """σ is moved: clear of the eigenvalue, but by little beside the distance to the others."""

    @each_kind
    @pytest.mark.parametrize(("a", "b"), UNITS)
    @pytest.mark.parametrize(("index", "copies", "first"), [(3, 1, 1), (10, 3, 1), (N - 1, 1, 1), (7, 1, -7)])
    def test_moved_off(self, kind, a, b, index, copies, first):
        values = np.arange(N) + float(first)
        values[index - copies + 1 : index + 1] = values[index]
        A, B = np.diag(values * a), np.diag(np.full(N, b))
        pencil = sm.Pencil(kind(A), kind(B))
        asked_for = values[index] * a / b / pencil.unit
        products = Products(pencil)
        sigma, factor = factorised_near(products, asked_for, 3)
        unit = a / b / pencil.unit
        assert 1e-14 * unit < abs(sigma - asked_for) < 1e-2 * unit
        x = np.ones(N)
        K = values * a - sigma * pencil.unit * b
        np.testing.assert_allclose(factor.solve(x) * pencil.A.scale, x / K * 1.0, rtol=1e-3)

    @each_kind
    @pytest.mark.parametrize(("a", "b"), UNITS)
    @pytest.mark.parametrize("shift", [0.3, -7.0, 40.6, 5.0 + 1e-5])
    def test_left_alone(self, kind, a, b, shift):
        pencil = sm.Pencil(kind(np.diag(np.arange(1.0, N + 1) * a)), kind(np.diag(np.full(N, b))))
        sigma = shift * a / b / pencil.unit
        assert factorised_near(Products(pencil), sigma, 3)[0] == sigma

    @each_kind
    @each_dtype
    @pytest.mark.parametrize(("a", "b"), UNITS)
    @pytest.mark.parametrize("method", [None, sm.Accelerated()], ids=repr)
    def test_the_nearest_of_both_sides(self, kind, dtype, a, b, method):
        """Measured from the σ that was asked for: 11 is nearer to 10 than 8.999 is."""
        values = np.r_[np.arange(1.0, 9), 8.999, 10, 11, 12.5, np.linspace(20, 60, N)]
        A, B = pair_of(values, dtype=dtype)
        sol = sm.solve(kind(A * a), kind(B * b), 3, sigma=10.0 * a / b, method=method, rng=0)
        np.testing.assert_allclose(np.sort(sol.eigenvalues) * b / a, [8.999, 10, 11], rtol=1e-7)
        sol = sm.solve(kind(A * a), kind(B * b), 2, sigma=10.0 * a / b, method=method, rng=0)
        np.testing.assert_allclose(np.sort(sol.eigenvalues) * b / a, [10, 11], rtol=1e-7)

    @each_kind
    @pytest.mark.parametrize("gap", [1e-3, 1e-5])
    def test_a_tie_that_the_move_must_not_decide(self, kind, gap):
        """10 ± 1, but one of them is a little nearer."""
        for sign in (1, -1):
            values = np.r_[1.0, 2, 3, 9 + gap * (sign > 0), 10, 11 - gap * (sign < 0), np.linspace(20, 90, N)]
            A, B = pair_of(values)
            sol = sm.solve(kind(A), kind(B), 2, sigma=10.0, method=sm.Accelerated(), rng=0)
            np.testing.assert_allclose(np.sort(sol.eigenvalues), np.sort([10, 10 - sign * (1 - gap)]), rtol=1e-8)

    @pytest.mark.parametrize("unit", [2.0**-300, 1.0, 2.0**300])
    def test_what_is_told_is_where_it_was_factorised(self, unit):
        """In the user's units."""
        A = sp.csr_array(np.diag(np.arange(1.0, N + 1)) * unit)
        for sigma, moved in ((7.4, False), (7.0, True)):
            sol = sm.solve(A, k=2, sigma=sigma * unit, method=sm.Accelerated(), rng=0)
            told = figures_of(sol, "SHIFT_INVERT")["sigma"] / unit
            assert (told == pytest.approx(sigma, rel=1e-15)) != moved
            assert told == pytest.approx(sigma, rel=1e-3)

    @each_kind
    def test_a_common_null_vector_is_refused(self, kind):
        A, B = np.diag(np.r_[0.0, np.arange(1.0, N)]), np.diag(np.r_[0.0, np.ones(N - 1)])
        with pytest.raises(ValueError, match=r"A − σB is singular .*common null vector"):
            sm.solve(kind(A), kind(B), 2, sigma=0.3, method=sm.Accelerated(), rng=0)


class TestBeyondTheSpectrum:
    """(B, ±(A − σB)) is taken where ±(A − σB) is positive definite, with the sign that makes it so."""

    @each_kind
    @each_dtype
    @pytest.mark.parametrize(("a", "b"), UNITS)
    @pytest.mark.parametrize(("sigma", "sign", "first"), [(-3.0, 1, 1), (47.0, -1, 1), (9.0, 1, 12), (-5.0, -1, -60)])
    def test_swapped(self, kind, dtype, a, b, sigma, sign, first):
        A, B = pair_of(np.arange(N) + float(first), dtype=dtype)
        sol = sm.solve(kind(A * a), kind(B * b), 3, sigma=sigma * a / b, method=sm.Accelerated(), rng=0)
        expected = np.arange(3) + (first if sign > 0 else first + N - 3)
        np.testing.assert_allclose(np.sort(sol.eigenvalues) * b / a, expected, rtol=1e-8)
        figures = figures_of(sol, "SWAPPED")
        assert figures["sign"] == sign
        assert figures["shift"] == pytest.approx(-sigma * a / b)
        # the nearest one first
        assert sol.eigenvalues[0] * b / a == pytest.approx(expected[0 if sign > 0 else -1])

    @each_kind
    def test_inside_of_the_diagonal_but_not_of_the_spectrum(self, kind):
        """−(A − σB) has a positive diagonal, but is indefinite: shift-invert follows."""
        A = np.diag(np.full(N, 2.0)) - np.diag(np.ones(N - 1), 1) - np.diag(np.ones(N - 1), -1)
        exact = np.linalg.eigvalsh(A)
        for sigma in (2.9, 1.1):
            sol = sm.solve(kind(A), k=4, sigma=sigma, method=sm.Accelerated(), rng=0)
            assert "SHIFT_INVERT" in choices(sol)
            assert "SWAPPED" not in choices(sol)
            nearest = exact[np.argsort(np.abs(exact - sigma))[:4]]
            np.testing.assert_allclose(np.sort(sol.eigenvalues), np.sort(nearest), rtol=1e-9)
