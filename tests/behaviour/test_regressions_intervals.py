"""Failures at the ends of intervals that adversarial solves have found, each by its smallest example."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from plain_matrices import rotated


def test_an_end_of_an_interval_within_the_errors_of_lapack_is_decided_by_a_count():
    """Beside 1e17 LAPACK cannot tell 1.4 from 0; the inertia of A can."""
    Q = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]
    B = (Q * [1.0, 1e-4, 1e-8]) @ Q.T
    A = (Q * [1.4, 30.0, 1e9]) @ Q.T
    sol = sm.solve((A + A.T) / 2, (B + B.T) / 2, interval=(-1e17, 0.0))
    assert sol.eigenvalues.size == 0


def test_loose_intervals_certify_nothing_that_is_wrong():
    """At tol=0.1 error intervals overlap; a certificate needs them apart, or values that agree to 1e-6."""
    for seed in range(6):
        values = np.sort(np.random.default_rng(seed).uniform(0, 1, 150))
        for which, exact in (("largest", values[::-1]), ("smallest", values)):
            sol = sm.solve(
                rotated(values, seed), k=4, which=which, tol=0.1, method=sm.Accelerated(), certify=True, rng=seed
            )
            assert sol.verdict == "certified"
            assert (np.abs(sol.eigenvalues - exact[:4]) <= sol.error_bounds + 1e-6).all()


@pytest.mark.parametrize("seed", [158, 512, 1148])
def test_an_interval_of_a_badly_scaled_pair_holds_nothing_beyond_its_end(seed):
    """Rounding in the user's coordinates, which is more than that of the equilibrated pair, took 71 for 0."""
    rng, n = np.random.default_rng(seed), 6
    p = 2.0 ** rng.integers(-23, 24, n)
    F, G = (rng.integers(-3, 4, (n, n)).astype(float) for _ in range(2))
    sol = sm.solve(G + G.T, (F @ F.T + n * np.eye(n)) * np.outer(p, p), interval=(-np.inf, 0))
    assert (sol.eigenvalues <= sol.error_bounds).all()


@pytest.mark.parametrize("end", [4.0, np.nextafter(4.0, 0), np.nextafter(4.0, 9)])
@pytest.mark.parametrize("tol", [1e-8, 1e-12])
def test_an_end_at_a_multiple_eigenvalue_on_the_diagonal(end, tol):
    """Without pivoting A − τI has no factors near its diagonal; those with pivoting count."""
    T = sp.csr_array(2 * np.eye(4) - np.roll(np.eye(4), 1, 0) - np.roll(np.eye(4), -1, 0))
    A = sp.csr_array(sp.kron(T, sp.eye_array(4)) + sp.kron(sp.eye_array(4), T))
    sol = sm.solve(A, interval=(end, 9.0), method=sm.Accelerated(), tol=tol, rng=0)
    np.testing.assert_allclose(sol.eigenvalues[-5:], [6, 6, 6, 6, 8], atol=1e-9)
    assert sol.eigenvalues.size in (5, 11)
    np.testing.assert_allclose(sol.eigenvalues[:-5], 4, atol=1e-9)


@pytest.mark.parametrize(
    ("values", "interval", "dtype"),
    [
        ([-6e-13, 7e-3, 600.0, 3e8], (0.0, 0.1), float),
        ([-1e-9, -1e-10, 3e-9, 1.0, 1e9], (1e-8, 2.0), float),
        ([1.0, 2.0, 3.0, 1e7], (1.4, 2.6), np.float32),
    ],
)
def test_an_interval_below_the_rounding_of_a_large_eigenvalue_is_not_certified(values, interval, dtype):
    """What is inside cannot be known: the bounds say so, and the verdict as well."""
    sol = sm.solve(np.diag(values).astype(dtype), interval=interval)
    assert sol.verdict == "probed"
    assert sol.error_bounds.max() > 1e-7 * max(interval)


def test_a_value_outside_by_more_than_its_bound_is_left_out():
    """Pairs of eigenvalues j ± 2**-39: those just outside were returned, with bounds that did not reach inside."""
    d, m = 2.0**-39, 140
    j = np.arange(1.0, m + 1)
    A = np.block([[np.diag(j), d * np.eye(m)], [d * np.eye(m), np.diag(j)]])
    for seed in (2, 10):
        order = np.random.default_rng(seed).permutation(2 * m)
        sol = sm.solve(sp.csr_array(A[np.ix_(order, order)]), interval=(42 + d, 45 - d), tol=1e-9, rng=seed)
        outside = np.maximum(42 + d - sol.eigenvalues, sol.eigenvalues - (45 - d))
        assert (outside <= sol.error_bounds).all()
        assert sol.eigenvalues.size >= 6


def test_an_end_below_the_error_bounds_is_not_certain():
    """Eigenvalues of 1e-9 beside 1e12: on which side of 1e-7 they are, rounding does not tell."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    A = (Q * np.r_[np.linspace(-1e-9, 1e-9, 28), 1e12, 4e12]) @ Q.T
    sol = sm.solve(sp.csr_array((A + A.T) / 2), interval=(1e-7, 5e12), tol=0.1, rng=0)
    assert sol.eigenvalues.size == 2 or sol.verdict == "probed"
    # zero is asked for up to rounding
    A = sp.diags_array([-np.ones(99), np.r_[1, 2 * np.ones(98), 1], -np.ones(99)], offsets=(-1, 0, 1))
    assert sm.solve(sp.csr_array(A), interval=(0, 0.1), rng=0).verdict == "certified"


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_certificate_at_an_end_misses_nothing(kind, inside):
    """One eigenvalue is at zero up to rounding of the other one, exactly 1.5e-8 on one side of it."""
    b = np.nextafter(1e8, 0.0 if inside else 2e8)
    sol = sm.solve(kind(np.array([[1e8, b], [b, 1e8]])), interval=(0, 4e8))
    assert sol.eigenvalues.size == 2 or not inside or sol.verdict != "certified"
    if sol.verdict == "certified":
        assert "within rounding of an end included" in sol.verdict.why


def test_what_an_ill_conditioned_B_moves_out_of_an_interval_is_not_certified_away():
    """3.005e-8, by 60 digits, is inside, but a value on the other side of zero is what LAPACK computes for it."""
    rng = np.random.default_rng(113)
    V = np.vander(np.sort(rng.random(4)))
    B = V @ V.T + 1e-9 * np.eye(4)
    S = rng.standard_normal((4, 4))
    A = B @ (S + S.T) @ B
    sol = sm.solve((A + A.T) / 2, B, interval=(0, 13.4676))
    assert sol.eigenvalues.size == 2 or sol.verdict == "probed"


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_random_vector_and_its_solve_do_not_cancel(make):
    """n = 1: x + (A − σB)⁻¹x of equal norms was zero for one seed in six, and B was called indefinite."""
    for seed in range(20):
        sol = sm.solve(make(np.zeros((1, 1))), make(np.eye(1)), interval=(0, np.inf), rng=seed)
        assert sol.eigenvalues.tolist() == [0]


def test_lapack_follows_slices_that_fail():
    """A wheel with a diagonal over eleven decades: shifts far below the spectrum left residuals of 1e-4."""
    for seed in (1, 2):
        rng, n = np.random.default_rng(seed), 400
        A = np.diag(10.0 ** rng.uniform(-8, 3, n))
        A[0, 1:] = A[1:, 0] = rng.choice([1.0, -1.0, 1e-6, 10.0], n - 1)
        i = np.arange(1, n - 1)
        A[i, i + 1] = A[i + 1, i] = A[1, -1] = A[-1, 1] = 1
        exact = np.linalg.eigvalsh(A)
        sol = sm.solve(sp.csr_array(A), interval=(-np.inf, (exact[5] + exact[6]) / 2), rng=0)
        np.testing.assert_allclose(sol.eigenvalues, exact[:6], rtol=1e-10)


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1.0])
def test_an_interval_may_be_wider_than_the_spectrum_by_any_factor(unit):
    """A border was moved outwards by a fraction of the interval, where (A − σB)⁻¹ underflows; B was blamed."""
    A = unit * np.diag([1.0, 2.0, 3.0])
    for interval, count in (((unit, 1e10), 3), ((2 * unit, np.inf), 2), ((-1e10, 2 * unit), 2), ((-1e10, 1e10), 3)):
        sol = sm.solve(A, interval=interval)
        assert sol.eigenvalues.size == count
        assert sol.verdict == "certified"
