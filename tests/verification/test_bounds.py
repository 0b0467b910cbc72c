"""Bounds from residuals and gaps: they hold, they group what cannot be told apart, and they are not much too large."""

import math

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import splitmerge as sm
from pairs import pair_of
from splitmerge.linalg.extreme import nearest_pairs
from splitmerge.linalg.rounding import levels_of
from splitmerge.verification.bounds import bound, bounds_from, bounds_of
from splitmerge.verification.residuals import Pairs
from strategies import EPS, dtypes, hermitian, normal, seeds, unitary

K = 4


def approximated(wanted, others, size, seed, dtype):
    """A matrix with these values, and Ritz pairs of a span that is about `size` from that of the wanted ones.

    The exact values and vectors come first, then those of the Ritz pairs with their errors, noise and gaps.
    """
    rng = np.random.default_rng(seed)
    values = np.concatenate([wanted, others])
    n, k = values.size, len(wanted)
    Q = unitary(rng, n, dtype)
    A = hermitian((Q * values) @ Q.conj().T)
    X = np.linalg.qr(Q[:, :k] + size * normal(rng, (n, k), dtype) / math.sqrt(n))[0]
    ritz, C = np.linalg.eigh(hermitian(X.conj().T @ A @ X))
    # in the order of a search, not of the values
    order = rng.permutation(k)
    ritz, X = ritz[order], (X @ C)[:, order]
    noise = np.full(k, 10 * n * EPS * np.abs(values).max())
    errors = np.linalg.norm(A @ X - X * ritz, axis=0) + noise
    gaps = np.abs(ritz[:, None] - others).min(axis=1, initial=math.inf)
    return np.asarray(wanted), Q, ritz, X, errors, noise, gaps


def check(exact, Q, ritz, X, errors, noise, gaps):
    bounds = bound(ritz, errors, noise, gaps)
    k = len(exact)
    matched = np.sort(exact)
    names = np.argsort(exact, kind="stable")
    ranks = np.argsort(np.argsort(ritz, kind="stable"))
    assert (bounds.values <= errors).all()
    assert (np.abs(ritz - matched[ranks]) <= bounds.values).all()
    assert ((bounds.angles >= 0) & (bounds.angles <= 1)).all()
    for i in range(k):
        together = np.flatnonzero(bounds.clusters == bounds.clusters[i])
        space = Q[:, :k][:, names[ranks[together]]]
        sine = np.linalg.norm(X[:, i] - space @ (space.conj().T @ X[:, i]))
        assert sine <= bounds.angles[i] + 100 * EPS
    return bounds


@given(
    spread=st.lists(st.floats(-10, 0), min_size=K - 1, max_size=K - 1),
    distance=st.floats(-1.5, 1),
    size=st.floats(-8, -1.5),
    above=st.booleans(),
    seed=seeds,
    dtype=dtypes,
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_bounds_hold(spread, distance, size, above, seed, dtype):
    """Whatever the gaps among the wanted ones and beyond them, and however good the vectors are."""
    wanted = np.concatenate([[0.0], np.cumsum(10.0 ** np.array(spread))])
    others = -(10**distance) - np.random.default_rng(seed).uniform(0, 5, 6)
    if above:
        others[::2] = wanted[-1] - others[::2]
    # beside a gap that they do not respect, the vectors are not those of the wanted ones
    check(*approximated(wanted, others, min(10**size, 0.02 * 10**distance), seed, dtype))


@given(log_gap=st.floats(-2, 2), size=st.floats(-6, -2), seed=seeds, dtype=dtypes)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_bounds_are_not_much_too_large(log_gap, size, seed, dtype):
    """Of an isolated value at the end: beside a spectrum of ten gaps by no more than that factor."""
    gap = 10**log_gap
    rng = np.random.default_rng(seed)
    others = -gap * np.concatenate([[1.0], rng.uniform(1, 10, 9)])
    exact, Q, ritz, X, errors, noise, gaps = approximated([0.0], others, 10**size, seed, dtype)
    bounds = check(exact, Q, ritz, X, errors, noise, gaps)
    error = abs(ritz[0] - exact[0])
    sine = np.linalg.norm(X[:, 0] - Q[:, 0] * np.vdot(Q[:, 0], X[:, 0]))
    assert bounds.values[0] <= 20 * error + 2 * noise[0]
    assert bounds.angles[0] <= 20 * sine + 2 * noise[0] / gap


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_by_hand(order):
    """Three values far from each other and one nearer to what is not known: Kato, Temple, Davis and Kahan."""
    values, errors = np.array([10.0, 6.0, 1.0]), np.array([0.1, 0.2, 0.3])
    noise, gaps = np.array([1e-3, 1e-3, 1e-3]), np.array([math.inf, math.inf, 0.5])
    found = bound(values[order], errors[order], noise[order], gaps[order])
    # 10 is 3.8 from the interval of 6, which is 3.9 from that of 10; and 1 is 0.5 from the unknown
    expected = np.array([0.01 / 3.8 + 1e-3, 0.04 / 3.9 + 1e-3, 0.09 / 0.5 + 1e-3])
    np.testing.assert_allclose(found.values, expected[order], rtol=1e-12)
    np.testing.assert_allclose(found.angles, np.array([0.1 / 3.8, 0.2 / 3.9, 0.3 / 0.5])[order], rtol=1e-12)
    assert found.clusters.tolist() == np.array([2, 1, 0])[order].tolist()


def test_intervals_that_overlap_are_one_cluster():
    values = np.array([5.0, 4.95, 1.0, 0.5])
    found = bound(values, np.full(4, 0.03), np.zeros(4), np.full(4, math.inf))
    assert found.clusters.tolist() == [2, 2, 1, 0]
    # the residuals of both, and their distance from 1.03
    np.testing.assert_allclose(found.angles[:2], math.sqrt(2) * 0.03 / 3.92, rtol=1e-12)
    np.testing.assert_allclose(found.values[:2], 2 * 0.03**2 / 3.92, rtol=1e-12)


def test_a_chain_of_overlaps_is_one_cluster():
    """One large interval holds all, also those whose own do not touch."""
    values = np.array([1.0, 1.5, 2.5, 9.0])
    for wide in range(2):
        errors = np.full(4, 0.1)
        errors[wide] = 2.0
        found = bound(values, errors, np.zeros(4), np.full(4, math.inf))
        assert found.clusters.tolist() == [0, 0, 0, 1]


def test_the_mirror_image_has_the_same_clusters():
    values, errors = np.array([-9.0, -2.5, -1.5, -1.0]), np.array([0.1, 0.1, 0.1, 2.0])
    found = bound(values, errors, np.zeros(4), np.full(4, math.inf))
    assert found.clusters.tolist() == [0, 1, 1, 1]


@given(
    values=st.lists(st.floats(-10, 10), min_size=2, max_size=6),
    logs=st.lists(st.floats(-3, 1), min_size=6, max_size=6),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_intervals_that_overlap_are_told_apart_by_nothing(values, logs):
    """They are in one cluster, or nothing but their errors is known."""
    values = np.array(values)
    errors = 10 ** np.array(logs[: values.size])
    found = bound(values, errors, np.zeros(values.size), np.full(values.size, math.inf))
    overlap = np.abs(values[:, None] - values) <= errors[:, None] + errors
    for i, j in np.argwhere(overlap & (found.clusters[:, None] != found.clusters)):
        assert found.angles[[i, j]].tolist() == [1.0, 1.0]
        assert found.values[[i, j]].tolist() == errors[[i, j]].tolist()


def test_without_a_gap_nothing_but_the_error_is_known():
    found = bound(np.array([2.0, 1.0]), np.array([0.1, 0.1]), np.zeros(2), np.array([math.inf, 0.05]))
    assert found.values[1] == 0.1
    assert found.angles[1] == 1.0
    assert found.angles[0] < 1


def test_never_less_than_the_noise():
    found = bound(np.array([1.0]), np.array([1e-12]), np.array([1e-13]), np.array([1.0]))
    assert 1e-13 <= found.values[0] <= 1.001e-13


def inverted(values, sigma, errors=0.0, noise=0.0, offsets=0.0):
    """Pairs from an inverse of A − σB, with nothing but these errors and far from all others."""
    values = np.array(values)
    errors, noise, offsets = (np.full(values.size, float(size)) for size in (errors, noise, offsets))
    rows = [np.ones((1, values.size))] * 3
    gaps, distances = 0.9 / np.abs(values - sigma), np.abs(values - sigma)
    with np.errstate(divide="ignore"):
        deltas = np.where(errors < 1, distances * errors / np.maximum(1 - errors, 0), np.inf) + noise
    return Pairs(values, np.eye(values.size), *rows, errors, errors, deltas, noise, offsets, deltas, gaps, sigma=sigma)


class TestInverted:
    """Bounds from 1/(λ − σ), which are those of λ in the end."""

    VALUES, SIGMA, DISTANCES = [5.25, 3.0], 5.0, np.array([0.25, 2.0])

    def test_rounding_stays(self):
        """However small the residual is, and however near to σ the value: A and B are known to rounding only."""
        found = bounds_of(inverted(self.VALUES, self.SIGMA, errors=1e-16, noise=1e-12), 99).values
        assert (found >= 1e-12).all()
        assert (found <= 1.1e-12).all()

    def test_so_does_what_separates_the_quotients(self):
        """λ̂ is the quotient of (A, B), not that of the inverse: the two differ by the fraction `offsets`."""
        found = bounds_of(inverted(self.VALUES, self.SIGMA, errors=1e-16, offsets=1e-11), 99).values
        assert (found >= 1e-11 * self.DISTANCES).all()
        assert (found <= 1.1e-11 * self.DISTANCES).all()

    def test_the_square_of_the_residual_over_the_gap(self):
        """The residual relative to θ = 1/(λ − σ) is 1e-4, the gap 0.9θ, and back in λ it is the distance times that."""
        found = bounds_of(inverted([5.25], self.SIGMA, errors=1e-4), 99)
        np.testing.assert_allclose(found.values, 0.25 * 1e-8 / 0.9, rtol=1e-6)
        np.testing.assert_allclose(found.angles, 1e-4 / 0.9, rtol=1e-6)

    def test_a_residual_of_the_size_of_the_value_tells_nothing(self):
        found = bounds_of(inverted([5.25], self.SIGMA, errors=1.5), 99)
        assert found.values[0] == math.inf

    def test_rounding_of_the_size_of_the_value_is_the_bound(self):
        """1/(λ − σ) may be anything then, and λ is still as near as the rounding is."""
        found = bounds_of(inverted([5.25], self.SIGMA, errors=1e-9, noise=0.5), 99)
        assert found.values[0] == pytest.approx(0.5, rel=1e-6)
        assert found.angles[0] == 1


ROUTES = [{"which": "largest"}, {"which": "smallest"}, {"sigma": 0.123}]


def tightness(seed, route, tol, dtype):
    """The ratios of the true errors and the true sines to their bounds, of a solve for a random spectrum."""
    rng = np.random.default_rng(seed)
    every = np.sort(np.cumsum(10.0 ** rng.uniform(-2, 0, 40)) * rng.choice([-1, 1], 40))
    every = every if "sigma" in route else every + 1 - every.min()
    A, B = pair_of(every, seed, dtype)
    sol = sm.solve(A, B, 4, method=sm.Accelerated(), tol=tol, rng=seed, **route)
    exact, U = scipy.linalg.eigh(A, B)
    order = {"largest": -exact, "smallest": exact, None: np.abs(exact - route.get("sigma", 0))}[route.get("which")]
    wanted = np.sort(np.argsort(order)[:4])
    ranks = wanted[np.argsort(np.argsort(sol.eigenvalues))]
    rounding = 100 * EPS * np.abs(exact).max()
    values = (np.abs(sol.eigenvalues - exact[ranks]) - rounding) / sol.error_bounds
    sines = []
    for i, vector in enumerate(sol.eigenvectors.T):
        space = U[:, ranks[sol.clusters == sol.clusters[i]]]
        rest = vector - space @ (space.conj().T @ (B @ vector))
        sines.append(math.sqrt(max(np.vdot(rest, B @ rest).real, 0.0)))
    return values.max(), ((np.array(sines) - 1e3 * EPS) / sol.angle_bounds).max()


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_what_solve_returns_is_bounded(route, dtype):
    """Errors and B-angles to the exact eigenspaces of the clusters, at loose and at tight tolerances.

    A tenth of the bounds on the angles is violated, so they are not idle.
    """
    ratios = np.array([tightness(seed, route, 10.0**-digits, dtype) for seed, digits in enumerate([1, 1, 2, 3, 5, 8])])
    assert ratios.max() <= 1
    assert ratios[:, 1].max() > 0.1


def unseen(seed, which):
    """The ratios to their bounds of three certified pairs, from a start that does not show what follows them.

    The first space holds the first two, a mixture of the third and the fourth, and one of the rest, far from these.
    """
    rng, E = np.random.default_rng(seed), np.eye(120)
    every = np.r_[6 - np.cumsum(rng.uniform(0.1, 0.7, 4)), rng.uniform(0, 1, 116)]
    every = every if which == "largest" else 7 - every
    angle, tol = 10 ** rng.uniform(-2, -0.5), 10 ** rng.uniform(-2, -1)
    x0 = np.column_stack([E[0] + math.cos(angle) * E[2] + math.sin(angle) * E[3], E[1] + E[4]])
    sol = sm.solve(np.diag(every), k=3, which=which, method=sm.Accelerated(), tol=tol, x0=x0, certify=True, rng=0)
    assert sol.verdict == "certified"
    sines = []
    for vector, cluster in zip(sol.eigenvectors.T, sol.clusters, strict=True):
        sines.append(np.linalg.norm(np.delete(vector, np.flatnonzero(sol.clusters == cluster))))
    return (np.abs(sol.eigenvalues - every[:3]) / sol.error_bounds).max(), (sines / sol.angle_bounds).max()


@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_what_is_certified_is_bounded(which):
    """A count shows that nothing is missing beyond some τ, not how far what follows is; bounds do not claim more."""
    ratios = np.array([unseen(seed, which) for seed in range(60)])
    assert ratios.max() <= 1
    assert (ratios.max(axis=0) > 0.5).all()


@pytest.mark.parametrize("question", [{"which": "largest"}, {"which": "smallest"}, {"sigma": 4.6}], ids=str)
@pytest.mark.parametrize("method", [None, sm.Accelerated()], ids=["default", "accelerated"])
def test_the_units_of_the_unknowns_do_not_matter(question, method):
    """A pair that has to be equilibrated is bounded as it is then, whatever its units were."""
    A, B = pair_of(np.linspace(1.0, 9.0, 40))
    found = []
    for exponents in (np.arange(40) % 9, 5 - np.arange(40) % 11, np.arange(40) % 7 + 20):
        D = 2.0**exponents
        found.append(sm.solve(D[:, None] * A * D, D[:, None] * B * D, 3, method=method, rng=0, **question))
    for sol in found[1:]:
        np.testing.assert_allclose(sol.eigenvalues, found[0].eigenvalues, rtol=1e-12)
        np.testing.assert_allclose(sol.error_bounds, found[0].error_bounds, rtol=1e-6)


def test_a_bound_next_to_a_shift_is_one_of_the_eigenvalue():
    """λ = σ + 1/θ: an error of a fifth of θ moves λ − σ = 2 by up to a quarter of it."""
    found = bounds_from([3.0], [0.2], [0.0], [0.0], None, 1.0, 5)
    assert found.values == pytest.approx(0.5)


def test_deltas_next_to_a_shift_are_relative_to_the_distance_from_it():
    levels = levels_of([3.0], [0.2], [[0.1], [1.0], [1.0]], (1.0, 1.0), 1e-16, 1.0)
    assert levels.deltas == pytest.approx([0.5])


def test_no_gap_is_known_of_unchecked_pairs():
    """A deflation may have passed over an eigenvalue between two that it found."""
    A = np.diag(np.arange(1.0, 41))
    sol = sm.solve(A, k=3, method=sm.Power(), tol=1e-6, rng=0)
    norms = np.linalg.norm(A @ sol.eigenvectors - sol.eigenvectors * sol.eigenvalues, axis=0)
    assert sol.verdict == "unchecked"
    assert (sol.error_bounds >= norms).all()
    assert (sol.error_bounds <= norms + 1e-12).all()
    assert (sol.angle_bounds == 1).all()
    assert sorted(sol.clusters) == [0, 1, 2]


def test_unchecked_pairs_of_a_cluster_are_bounded():
    """Gaps between found values of which others lie made bounds of 2e-12 for an error of 4e-12."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values = np.r_[1.0, 1 - 10.0 ** -rng.integers(3, 12) * rng.random(4)]
        Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
        A = hermitian((Q * values) @ Q.T)
        sol = sm.solve(A, k=2, which="smallest", method=sm.SplitMerge(), tol=0.1, rng=seed)
        errors = np.abs(sol.eigenvalues[:, None] - np.linalg.eigvalsh(A)).min(axis=1)
        assert (errors <= sol.error_bounds + 20 * EPS).all()


def test_pairs_that_are_not_complete_have_no_gaps_even_if_they_are_as_many_as_unknowns():
    given = [3.0, 1.0], [0.1, 0.1], [0.0, 0.0], [0.0, 0.0], None, None, 2
    assert (bounds_from(*given).values < 0.01).all()
    assert (bounds_from(*given, complete=False).values == 0.1).all()


@pytest.mark.parametrize("sigma", [None, 0.5])
def test_pairs_that_are_not_complete_have_no_gaps_even_if_a_search_has_seen_some(sigma):
    """An eigenvalue that is missing may lie in each of them."""
    given = [3.0, 1.0], [0.1, 0.1], [0.0, 0.0], [0.0, 0.0], [1.5, 1.5], sigma, 9
    known, unknown = bounds_from(*given), bounds_from(*given, complete=False)
    assert (known.angles < 0.2).all()
    assert (unknown.angles == 1).all()
    assert (unknown.values >= 5 * known.values).all()


def test_rounding_of_the_largest_inverse_mixes_the_vectors_of_a_cluster():
    """θ = 1/λ of 1 and 1 + 1e-9 are determined to rounding of 1e6, the one for λ = 1e-6."""
    values, errors = [1e-6, 1.0, 1 + 1e-9], [1e-14, 1e-8, 1e-8]
    found = bounds_from(values, errors, [0.0] * 3, [0.0] * 3, None, 0.0, 3, projected=True)
    assert found.clusters[1] == found.clusters[2]
    assert (found.values[1:] > 1e-10).all()
    alone = bounds_from(values[:2], errors[:2], [0.0] * 2, [0.0] * 2, None, 0.0, 2, projected=True)
    assert alone.values[1] < 1e-15


def test_all_values_of_an_inverse_are_bounded():
    """Multiple values, all of them wanted, next to σ = −1.02: bounds of 2.2e-14 for errors of 4e-14."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = rng.choice([-1.0, 0.0, 1.0, 2.0, 1 + 1e-13, 1 + 1e-9, 1 - 1e-7], 60)
        question = {"which": "smallest", "method": sm.Accelerated(), "tol": 1e-3}
        try:
            sol = sm.solve(np.diag(values), k=60, rng=seed, **question)
        except sm.NotConverged as error:
            sol = error.solution
        errors = np.abs(sol.eigenvalues[:, None] - values).min(axis=1)
        assert (errors <= sol.error_bounds).all()


def test_gaps_next_to_a_shift_are_those_to_all_others():
    values = np.r_[0.0, 1.9, 2.1, np.linspace(50, 90, 57)]
    near = nearest_pairs(np.asfortranarray(np.diag(values)), None, 1, 1.0)
    assert near.gaps[0] == pytest.approx(0.2)


def test_vectors_with_equal_entries():
    """The vectors of two hypercubes have entries ±c, of which a plain sum of x Ax loses n units of rounding."""
    edge = sp.csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    cube = edge
    for _ in range(9):
        cube = sp.csr_array(sp.kronsum(cube, edge))
    A = sp.csr_array(sp.block_diag([cube, cube]))
    for seed in range(10):
        sol = sm.solve(A, k=4, rng=seed)
        assert (np.abs(sol.eigenvalues - [20, 20, 18, 18]) <= sol.error_bounds).all()
        assert sol.residuals.max() <= 1e-14
