"""The short search of `solve` for dense pairs: what it finds, what it leaves to LAPACK, and what it reports."""

import sys

import numpy as np
import pytest
import scipy.linalg

import splitmerge as sm
from splitmerge.express import search as search_module
from splitmerge.express import shortcut
from splitmerge.express.complete import clearance
from splitmerge.express.found import standard
from splitmerge.express.plain import EPS, plain_pair
from splitmerge.express.search import searched
from splitmerge.linalg.extreme import Extreme
from splitmerge.linalg.rounding import Scale

N = 240


def rotation(n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, n))
    return np.linalg.qr(M + 1j * rng.standard_normal((n, n)) if dtype is complex else M)[0]


def spectrum(name, n):
    """Ascending values with isolated largest and smallest ones."""
    inner = np.linspace(1, 2, n - 12)
    ends = {
        "positive": (np.linspace(0.2, 0.8, 6), np.linspace(3, 9, 6)),
        "indefinite": (-np.linspace(9, 3, 6), np.linspace(3, 9, 6)),
        "negative": (-np.linspace(19, 13, 6), -np.linspace(1.5, 0.2, 6)),
    }[name]
    return np.sort(np.r_[ends[0], inner - 4 if name == "negative" else inner, ends[1]])


def pair(values, dtype=float, seed=0, *, identity=False):
    """A pair with these eigenvalues."""
    n = len(values)
    Q = rotation(n, dtype, seed)
    A = (Q * values) @ Q.conj().T
    if identity:
        return (A + A.conj().T) / 2, None
    R = np.tril(rotation(n, dtype, seed + 1)) / 4 + np.eye(n)
    A, B = R @ A @ R.conj().T, R @ R.conj().T
    return (A + A.conj().T) / 2, (B + B.conj().T) / 2


def best(values, k, which):
    return np.sort(values)[:k] if which == "smallest" else np.sort(values)[::-1][:k]


def is_search(solution):
    return isinstance(solution.method, sm.Accelerated)


@pytest.mark.parametrize("identity", [False, True])
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("name", ["positive", "indefinite", "negative"])
@pytest.mark.parametrize("k", [1, 3])
def test_a_pair_with_isolated_ends(k, name, which, dtype, identity):
    n = 340
    values = spectrum(name, n)
    A, B = pair(values, dtype, identity=identity)
    solution = sm.solve(A, B, k, which=which, rng=0)
    assert is_search(solution)
    assert solution.verdict == ("probed" if k == 1 else "certified")
    wanted = best(values, k, which)
    assert (np.abs(solution.eigenvalues - wanted) <= solution.error_bounds + 1e-13 * np.abs(values).max()).all()
    V, M = solution.eigenvectors, np.eye(n) if B is None else B
    np.testing.assert_allclose(V.conj().T @ M @ V, np.eye(k), atol=1e-10)
    residual = np.linalg.norm(A @ V - M @ V * solution.eigenvalues, axis=0)
    sizes = np.abs(solution.eigenvalues) * np.linalg.norm(M @ V, axis=0)
    assert (residual <= 1e-8 * sizes).all()
    np.testing.assert_allclose(solution.residuals, residual / sizes, rtol=0.5, atol=1e-14)


def test_the_history_and_the_counts():
    A, B = pair(spectrum("positive", N))
    solution = sm.solve(A, B, rng=0)
    history = solution.history
    assert is_search(solution)
    assert len(history) == solution.steps + 1
    assert history.products[-1] == solution.counts.products == solution.counts.A_products == solution.counts.B_solves
    assert (np.diff(history.products) > 0).all()
    assert history.value[-1] == pytest.approx(solution.eigenvalues[0], rel=1e-12)
    assert history.residual[-1] <= 1e-8
    assert (np.diff(history.f) <= 1e-12).all()
    assert history.f[-1] == pytest.approx(-solution.eigenvalues[0] / 4)


def test_the_history_of_several_pairs_names_them():
    n = 340
    A, B = pair(spectrum("positive", n))
    solution = sm.solve(A, B, 3, which="smallest", rng=0)
    history = solution.history
    assert is_search(solution)
    assert set(history.pair) == {0, 1, 2}
    assert solution.steps == len(history) - 3
    assert solution.counts.K_solves == solution.counts.B_products == history.products[-1]
    for i in range(3):
        assert history.value[history.pair == i][-1] == pytest.approx(solution.eigenvalues[i], rel=1e-10)


def test_the_shift_makes_the_values_positive():
    values = spectrum("negative", N)
    A, B = pair(values)
    solution = sm.solve(A, B, rng=0)
    assert is_search(solution)
    assert 0 < solution.shift <= -values.min() * (1 + 1e-10)


def test_the_same_seed_gives_the_same_bits():
    A, B = pair(spectrum("positive", N))
    first, second, other = (sm.solve(A, B, rng=seed) for seed in (1, 1, 2))
    assert (first.eigenvectors == second.eigenvectors).all()
    assert (first.eigenvectors != other.eigenvectors).any()


@pytest.mark.parametrize("k", [1, 3])
def test_slow_convergence_is_left_to_lapack(k):
    """The values of a line: their ends are as dense as can be."""
    n = 200 if k == 1 else 300
    values = 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
    solution = sm.solve(*pair(values), k, rng=0)
    assert not is_search(solution)
    assert solution.verdict == "certified"
    np.testing.assert_allclose(solution.eigenvalues, best(values, k, "largest"), rtol=1e-12)


@pytest.mark.parametrize("copies", [2, 3, 5])
@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_copies_are_counted(copies, which):
    """A Krylov space from one vector shows one copy of a multiple eigenvalue."""
    n, k = 340, 3
    values = spectrum("positive", n)
    values[:copies], values[-copies:] = values[0], values[-1]
    for seed in range(3):
        solution = sm.solve(*pair(values, seed=seed), k, which=which, rng=seed)
        assert solution.verdict == "certified"
        np.testing.assert_allclose(solution.eigenvalues, best(values, k, which), rtol=1e-7)


def test_a_pair_of_few_values_ends_early():
    """The space of a random vector is invariant after as many products as there are values."""
    values = np.repeat([1.0, 2.0, 3.0, 5.0], N // 4)
    solution = sm.solve(*pair(values), rng=0)
    assert is_search(solution)
    assert solution.counts.A_products <= 5
    assert solution.eigenvalues[0] == pytest.approx(5, rel=1e-12)


@pytest.mark.parametrize("A", [np.eye(N), 7.0 * np.eye(N), np.zeros((N, N)), np.ones((N, N))])
@pytest.mark.parametrize("k", [1, 2])
def test_multiples_of_the_identity_and_low_rank(A, k):
    solution = sm.solve(A, np.eye(N) * 2, k, rng=0)
    expected = scipy.linalg.eigh(A, np.eye(N) * 2, eigvals_only=True)[::-1][:k]
    np.testing.assert_allclose(solution.eigenvalues, expected, atol=1e-12)
    assert solution.verdict in ("certified", "probed")


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-12, 1e-15])
def test_tolerances(tol):
    values = spectrum("positive", N)
    solution = sm.solve(*pair(values), tol=tol, rng=3)
    assert abs(solution.eigenvalues[0] - values[-1]) <= solution.error_bounds[0] + 1e-13
    assert solution.residuals[0] <= max(tol, 1e-13)


def test_certify_counts_a_single_pair():
    values = spectrum("positive", N)
    solution = sm.solve(*pair(values), certify=True, rng=0)
    assert is_search(solution)
    assert solution.verdict == "certified"
    assert solution.angle_bounds[0] < 1e-6


@pytest.mark.parametrize("size", [1e3, 1e6])
def test_bounds_of_an_inverse_are_in_its_own_units(size):
    """What a count shows of the distance between eigenvalues is none of 1/λ: errors and sines are within bounds."""
    Q = rotation(N, float)
    values = size * np.r_[100.0, 103 + 40 * np.arange(N - 1.0)]
    A = (Q * values) @ Q.T
    solution = sm.solve((A + A.T) / 2, which="smallest", tol=1e-3, certify=True, rng=0)
    x = solution.eigenvectors[:, 0]
    assert is_search(solution)
    assert solution.verdict == "certified"
    assert abs(solution.eigenvalues[0] - values[0]) <= solution.error_bounds[0]
    assert np.linalg.norm(x - Q[:, 0] * (Q[:, 0] @ x)) <= solution.angle_bounds[0] + 1e-13


def test_a_start_that_misses_an_eigenvalue_is_noticed_by_the_count(monkeypatch):
    """A search that is deaf to the largest value: the count must not fit, and LAPACK takes over."""
    n, k = 340, 2
    values = spectrum("positive", n)
    A, B = pair(values)
    _, X = scipy.linalg.eigh(A, B)
    own = search_module.random_vector

    def deaf(*args):
        y = np.linalg.cholesky(B).T @ X[:, -1]
        x = own(*args)
        return x - y * (y @ x) / (y @ y)

    monkeypatch.setattr(search_module, "random_vector", deaf)
    solution = sm.solve(A, B, k, rng=0)
    assert not is_search(solution)
    np.testing.assert_allclose(solution.eigenvalues, best(values, k, "largest"), rtol=1e-12)


def test_wrong_vectors_never_pass(monkeypatch):
    A, B = pair(spectrum("positive", N))

    def perturbed(*args, **options):
        found = searched(*args, **options)
        return found._replace(extreme=found.extreme._replace(vectors=found.extreme.vectors + 1e-5))

    monkeypatch.setattr(shortcut, "searched", perturbed)
    solution = sm.solve(A, B, rng=0)
    assert not is_search(solution)
    assert solution.residuals[0] <= 1e-8


def test_inputs_are_not_written_to():
    A, B = pair(spectrum("positive", N))
    copies = A.copy(), B.copy()
    for which in ("largest", "smallest"):
        sm.solve(A, B, 2, which=which, rng=0)
    assert (copies[0] == A).all()
    assert (copies[1] == B).all()


def test_it_agrees_with_the_pipeline(monkeypatch):
    A, B = pair(spectrum("positive", N))
    short = sm.solve(A, B, rng=0)
    monkeypatch.setattr(sys.modules["splitmerge.solve"], "express", lambda *_: None)
    long = sm.solve(A, B, method=sm.Accelerated(), rng=0)
    assert short.story == long.story
    assert (short.reason, short.verdict, short.verdict.why) == (long.reason, long.verdict, long.verdict.why)
    assert short.shift == long.shift
    np.testing.assert_allclose(short.eigenvalues, long.eigenvalues, rtol=1e-12)
    assert short.counts.monitoring == long.counts.monitoring


def test_it_can_be_kept_and_resumed(tmp_path):
    values = spectrum("positive", N)
    solution = sm.solve(*pair(values), rng=0)
    assert is_search(solution)
    solution.save(tmp_path / "solution.npz")
    loaded = sm.load(tmp_path / "solution.npz")
    assert (loaded.history.products == solution.history.products).all()
    np.testing.assert_allclose(solution.resume(k=3).eigenvalues, best(values, 3, "largest"), rtol=1e-10)


def test_the_shift_is_that_of_the_least_coefficient():
    """T + η has no negative entry on the diagonal of its projection."""
    for alpha, shift in (([-3.0, 1.0, -0.5], 3.0), ([2.0, 1.0], 0.0)):
        assert search_module.shift_of(alpha) == shift


@pytest.mark.parametrize(("following", "settled"), [(0.9, False), (0.4, True), (1.0 - 1e-3, False)])
def test_the_next_ritz_value_may_hide_one_that_is_more_wanted(following, settled):
    """By ten times its residual norm."""
    assert search_module.is_settled(following, 0.05, last=1.0, worst=0.0, largest=2.0) is settled


def test_no_gap_reaches_beyond_the_last_pair():
    """Copies of it may be missing, whatever the next Ritz value is."""
    A = np.asfortranarray(np.diag(spectrum("positive", N)))
    found = searched(A, None, 3, 1e-8, np.random.default_rng(0), sign=1.0, inverse=False)
    values = np.sort(A.diagonal())[::-1]
    assert found.following == pytest.approx(values[3], rel=1e-2)
    for gap, value in zip(found.extreme.gaps, values, strict=False):
        assert gap <= value - values[2] + 1e-12


@pytest.mark.parametrize("distance", [1e-9, 1e-8, 1e-6, 1e-3])
@pytest.mark.parametrize("hidden", [False, True])
def test_a_count_that_single_precision_leaves_open_is_made_in_double(distance, hidden):
    """A value next to the last pair, at a tenth of the distance of the next one, is seen; without it, a count fits."""
    for seed in range(5):
        last = 0.9
        values = np.r_[np.linspace(0, 0.5, N - 4), last - distance, last - distance, last, 1.0]
        if hidden:
            values[-3] = last - 0.05 * distance
        Q = rotation(N, float, seed)
        A = (Q * values) @ Q.T
        plain = plain_pair((A + A.T) / 2, None, 2, smallest=False)
        found = standard(plain, Extreme(np.asfortranarray(Q[:, :-3:-1]), [0.0, 0.0]))
        assert found.values == pytest.approx([1, last])
        scale = Scale(0.0, 0.0, N, EPS, *plain.scales()[0], 32)
        free = clearance(plain, found, [1e-13] * 2, last - distance, scale, above=True)
        assert (free is None) == hidden
