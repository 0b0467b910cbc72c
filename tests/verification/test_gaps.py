"""Bounds of loosely solved pairs rest on gaps that are not wider than the true ones, on every way through `solve`."""

import math
from functools import lru_cache

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from checking import operator_of
from pairs import pair_of
from rotated import pair as sparse_pair
from splitmerge.verification.bounds import bounds_from

N = 300
# the fourth from either end, and those next to the shifts, follow the wanted ones closely
EVERY = np.r_[1.0, 1.5, 2.0, 2.15, np.linspace(2.6, 30.0, N - 8), 33.0, 34.0, 36.0, 40.0]
UNITS = {"plain": (1.0, 1.0), "large A, small B": (1e9, 1e-9), "small A, large B": (1e-6, 1e6)}
QUESTIONS = {
    "largest": {"which": "largest"},
    "smallest": {"which": "smallest"},
    "inside": {"sigma": 2.04},
    "below": {"sigma": -3.0},
    "above": {"sigma": 41.0},
}


@lru_cache
def matrices(dtype, masses):
    """A pair with these eigenvalues: dense, or sparse with these masses."""
    if masses is None:
        A, B = pair_of(EVERY, dtype=dtype, condition=9.0)
    else:
        A, B = (M if M is None else M.toarray() for M in sparse_pair(EVERY, masses))
        B = np.eye(N) if B is None else B
    return A, B, scipy.linalg.eigh(A, B)


def check_bounds(sol, A, B, exact, U, sigma=None):
    """They lie between what the residuals and the true gaps allow, and what is true at least.

    e²/g for a value and e/g for a vector, for the residual norm e of λ, or for one of 1/(λ − σ).
    """
    V, gaps = sol.eigenvectors, []
    for value, bound, angle, v in zip(sol.eigenvalues, sol.error_bounds, sol.angle_bounds, V.T, strict=True):
        own = int(np.argmin(np.abs(exact - value)))
        r = A @ v - value * (B @ v)
        if sigma is None:
            error, others, here = math.sqrt(np.vdot(r, np.linalg.solve(B, r)).real), np.delete(exact, own), value
        else:
            w = np.linalg.solve(A - sigma * B, r)
            here, others = 1 / (value - sigma), 1 / (np.delete(exact, own) - sigma)
            error = math.sqrt(np.vdot(w, B @ w).real) * abs(here)
        gap = float(np.abs(others - here).min())
        gaps.append(gap)
        assert angle >= 0.999 * min(error / gap, 1.0), "of the vector"
        least = error**2 / gap if sigma is None else error**2 / gap / here**2
        assert bound >= 0.999 * min(least, abs(exact[own] - value) + least), "of the value"
        assert bound >= abs(exact[own] - value)
        rest = v - U[:, own] * np.vdot(U[:, own], B @ v)
        assert angle >= 0.999 * math.sqrt(np.vdot(rest, B @ rest).real)
    if (sol.angle_bounds < 1).all():
        assert len(set(sol.clusters.tolist())) == len(gaps)


WAYS = {
    "dense": (None, np.asarray, {}),
    "dense, accelerated": (None, np.asarray, {"method": sm.Accelerated()}),
    "sparse": ("consistent", sp.csr_array, {}),
    "sparse, lumped": ("lumped", sp.csr_array, {}),
    "sparse, badly scaled": ("badly scaled lumped", sp.csr_array, {}),
    "sparse, accelerated": ("consistent", sp.csr_array, {"method": sm.Accelerated()}),
}


# every way with every question, and every unit with each of both
EACH = [(way, asked, list(UNITS)[(i + j) % 3]) for i, way in enumerate(WAYS) for j, asked in enumerate(QUESTIONS)]


@pytest.mark.parametrize(("way", "asked", "unit"), EACH)
def test_bounds_use_no_gap_that_is_too_wide(way, asked, unit):
    masses, kind, options = WAYS[way]
    dtype = complex if way == "dense" and unit != "plain" else float
    (a, b), (A, B, (exact, U)) = UNITS[unit], matrices(dtype, masses)
    question = dict(QUESTIONS[asked])
    sigma = question.get("sigma", 0.0 if asked == "smallest" else None)
    if "sigma" in question:
        question["sigma"] = sigma * a / b
    sigma = None if sigma is None else sigma * a / b
    for k, tol in ((1, 1e-2), (3, 1e-3)):
        sol = sm.solve(kind(a * A), kind(b * B), k, tol=tol, rng=0, **question, **options)
        check_bounds(sol, a * A, b * B, exact * a / b, U / math.sqrt(b), sigma)


@pytest.mark.parametrize("mass", [1e-6, 1e6])
@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_of_operators(which, mass):
    """Nothing is factorised: residual norms are those of λ."""
    values = np.r_[EVERY[:4], np.linspace(4, 25, 22), EVERY[-4:]]
    A, B = pair_of(values)
    exact, U = scipy.linalg.eigh(A, mass * B)
    for method in [sm.LocallyOptimal()] + [sm.Accelerated()] * (which == "largest"):
        sol = sm.solve(operator_of(A), mass * B, 3, which=which, tol=1e-3, method=method, rng=0)
        check_bounds(sol, A, mass * B, exact, U)


@pytest.mark.parametrize("distance", [1.0, 1e-5, 1e7])
def test_the_two_sides_of_a_shift_are_far_from_each_other(distance):
    """1/(λ − σ) of two eigenvalues at the same distance on both sides are of opposite sign."""
    sigma = 3.0 * distance
    values = [sigma + side * distance for side in (1.0, -1.0, 2.0, -4.0)]
    found = bounds_from(values, [1e-3] * 4, [0.0] * 4, [0.0] * 4, None, sigma, 9)
    assert len(set(found.clusters.tolist())) == 4
    alone = bounds_from(values[:2], [1e-3] * 2, [0.0] * 2, [0.0] * 2, [math.inf] * 2, sigma, 9)
    # the gap is from −1 to the interval of 1, in units of the distance
    np.testing.assert_allclose(alone.angles, 1e-3 / (2 - 1e-3), rtol=1e-6)
    np.testing.assert_allclose(alone.values, distance * 1e-6 / 2, rtol=1e-2)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_each_neighbour_counts(unit):
    """In the middle of three, the nearer one of those before and after it, and what is known of the others."""
    values, errors = [10.0, 7.0, 6.0, 1.0], [0.1, 0.1, 0.1, 0.1]
    for order in (slice(None), slice(None, None, -1)):
        given = [[unit * x for x in column[order]] for column in (values, errors)]
        gaps = [unit * g for g in [9.0, 9.0, 9.0, 0.5][order]]
        found = bounds_from(*given, [0.0] * 4, [0.0] * 4, gaps, None, 9)
        expected = np.array([0.1 / 2.9, 0.1 / 0.9, 0.1 / 0.9, 0.1 / 0.5])[order]
        np.testing.assert_allclose(found.angles, expected, rtol=1e-9)
        np.testing.assert_allclose(found.values, unit * 0.1 * expected, rtol=1e-9)


@pytest.mark.parametrize("n", [3, 4, 9])
@pytest.mark.parametrize("sigma", [None, 0.5])
def test_nothing_else_is_there_only_if_all_were_found(sigma, n):
    """Of three values, three is all; where a fourth may be anywhere beyond the last, that one has no gap."""
    values = [9.0, 5.0, 2.0] if sigma is None else [2.0, 5.0, 9.0]
    found = bounds_from(values, [1e-3] * 3, [0.0] * 3, [0.0] * 3, None, sigma, n)
    assert (found.angles[2] == 1) == (n > 3)
    assert (found.angles[:2] < 0.01).all()
