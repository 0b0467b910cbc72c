"""Sparse pairs of everyday size: the smallest, and those next to σ, found in one basis and certified by counts."""

import math
import sys

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import splitmerge as sm
from rotated import MASSES, N, pair
from splitmerge.express.sparse import completed
from splitmerge.express.sparse.search import window_beyond
from splitmerge.linalg.rounding import by_distance


def wanted(values, k, sigma):
    """The k nearest to σ, the nearest first."""
    return values[by_distance(values, sigma)[:k]]


@pytest.fixture
def taken(recorded):
    """What the short way returned, solve by solve."""
    return recorded("by_inverse")


def check(A, B, values, solution, k, sigma=0.0):
    """The right values within their bounds, B-orthonormal vectors, small residuals, and a certificate."""
    assert solution.verdict == "certified"
    expected = wanted(values, k, sigma)
    rounding = 1e-13 * np.abs(values).max()
    # equally near ones may be exchanged
    distances = np.abs(solution.eigenvalues - sigma), np.abs(expected - sigma)
    assert (np.abs(distances[0] - distances[1]) <= solution.error_bounds + rounding).all()
    errors = np.abs(values[:, None] - solution.eigenvalues).min(axis=0)
    assert (errors <= solution.error_bounds + rounding).all()
    V = solution.eigenvectors
    BV = V if B is None else B @ V
    np.testing.assert_allclose(V.T @ BV, np.eye(k), atol=1e-10)
    residual = np.linalg.norm(A @ V - BV * solution.eigenvalues, axis=0)
    assert (residual <= 1e-8 * np.abs(solution.eigenvalues) * np.linalg.norm(BV, axis=0)).all()


@pytest.mark.parametrize("masses", MASSES)
@pytest.mark.parametrize("k", [1, 4, 12])
def test_the_smallest(k, masses, taken):
    values = np.linspace(1, 40, N) ** 1.5
    A, B = pair(values, masses)
    solution = sm.solve(A, B, k, which="smallest", rng=0)
    assert taken[-1] is solution
    assert (np.diff(solution.eigenvalues) > 0).all()
    check(A, B, values, solution, k)


@pytest.mark.parametrize("masses", MASSES)
@pytest.mark.parametrize("sigma", [-3.0, 17.23, 252.9, 300.0])
def test_those_next_to_a_shift(sigma, masses, taken):
    values = np.linspace(1, 40, N) ** 1.5
    A, B = pair(values, masses)
    solution = sm.solve(A, B, 5, sigma=sigma, rng=0)
    assert taken[-1] is solution
    check(A, B, values, solution, 5, sigma)


@pytest.mark.parametrize("copies", [2, 3, 4])
@pytest.mark.parametrize("sigma", [None, 50.3])
def test_every_copy_of_a_multiple_eigenvalue(sigma, copies, taken):
    """A Krylov space shows one of them; the count shows how many there are."""
    values = np.repeat(np.arange(1.0, 1 + N // copies), copies)
    A, B = pair(values, "consistent")
    k = 2 * copies
    question = {"which": "smallest"} if sigma is None else {"sigma": sigma}
    solution = sm.solve(A, B, k, rng=0, **question)
    assert taken[-1] is solution
    check(A, B, values, solution, k, sigma or 0.0)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_multiple_eigenvalue_that_k_cuts(k, taken):
    """All its copies are sought, so that a count beyond it fits."""
    values = np.r_[1.0, np.full(4, 2.0), np.linspace(3, 30, N - 5)]
    A, B = pair(values, "lumped")
    solution = sm.solve(A, B, k, which="smallest", rng=0)
    assert taken[-1] is solution
    check(A, B, values, solution, k)
    assert "cluster" in solution.verdict.why


def test_a_shift_in_the_middle_of_a_gap(taken):
    """The two nearest are equally near."""
    values = np.arange(1.0, N + 1)
    A, _ = pair(values)
    solution = sm.solve(A, k=1, sigma=40.5, rng=0)
    assert taken[-1] is solution
    assert solution.eigenvalues[0] == pytest.approx(40) or solution.eigenvalues[0] == pytest.approx(41)
    assert "cluster" in solution.verdict.why


@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csc_array, sp.csc_matrix])
def test_other_formats(convert, taken):
    values = np.linspace(1, 20, N)
    A, B = pair(values, "consistent")
    solution = sm.solve(convert(A), convert(B), 3, which="smallest", rng=0)
    assert taken[-1] is solution
    check(A, B, values, solution, 3)


def test_the_user_s_matrices_are_not_written_to(taken):
    A, B = pair(np.linspace(1, 20, N), "badly scaled")
    copies = [array.copy() for M in (A, B) for array in (M.data, M.indices, M.indptr)]
    sm.solve(A, B, 3, sigma=5.01, rng=0)
    assert taken[-1] is not None
    for array, copy in zip([a for M in (A, B) for a in (M.data, M.indices, M.indptr)], copies, strict=True):
        assert (array == copy).all()


def unsorted(M):
    M = M.copy()
    M.indices[:2], M.data[:2] = M.indices[1::-1].copy(), M.data[1::-1].copy()
    M.has_sorted_indices = M.has_canonical_format = False
    return M


LEFT = {
    "COO": lambda A, B: (sp.coo_array(A), sp.coo_array(B)),
    "not canonical": lambda A, B: (unsorted(A), B),
    "complex": lambda A, B: (A.astype(complex), B.astype(complex)),
    "float32": lambda A, B: (A.astype(np.float32), B.astype(np.float32)),
    "extreme": lambda A, B: (A * 1e250, B),
    "nearly singular B": lambda A, B: (A, B - (1 - 1e-9) * scipy.linalg.eigvalsh(B.toarray())[0] * sp.eye_array(N)),
    "massless rows": lambda A, B: (A, sp.csr_array(sp.diags_array(np.r_[0.0, np.ones(N - 1)]))),
    "indefinite A": lambda A, B: (A - 3 * B, B),
    "singular A": lambda A, B: (A - B, B),
}


@pytest.mark.parametrize("kind", LEFT)
def test_what_is_left_to_the_pipeline(kind, taken):
    A, B = LEFT[kind](*pair(np.r_[1.0, np.linspace(2, 20, N - 1)], "consistent"))
    solution = sm.solve(A, B, 2, which="smallest", rng=0)
    assert taken[-1] is None
    assert solution.converged


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_entries_that_are_not_finite_are_refused(bad, taken):
    A, B = pair(np.linspace(1, 20, N), "consistent")
    B.data[5] = bad
    with pytest.raises(ValueError, match="B contains NaN or infinity"):
        sm.solve(A, B, 2, which="smallest")
    assert taken == [None]


def test_an_indefinite_B_is_refused(taken):
    A, B = pair(np.linspace(1, 20, N), "consistent")
    with pytest.raises(sm.NotPositiveDefinite):
        sm.solve(A, B - 1.1 * sp.diags_array(B.diagonal()[::-1]), 2, which="smallest")
    assert taken == [None]


def test_a_shift_on_an_eigenvalue_is_left_to_the_pipeline(taken):
    values = np.arange(1.0, N + 1)
    A, B = pair(values, "consistent")
    solution = sm.solve(A, B, 3, sigma=7.0, rng=0)
    assert taken[-1] is None
    np.testing.assert_allclose(np.sort(solution.eigenvalues), [6, 7, 8], rtol=1e-9)


def test_the_history_and_the_counts():
    A, B = pair(np.linspace(1, 20, N) ** 2, "consistent")
    solution = sm.solve(A, B, 3, which="smallest", rng=0)
    history = solution.history
    assert set(history.pair) == {0, 1, 2}
    assert solution.steps == len(history) - 3
    assert solution.counts.K_solves == solution.counts.B_products == history.products[-1] == solution.counts.products
    for i in range(3):
        assert history.value[history.pair == i][-1] == pytest.approx(solution.eigenvalues[i], rel=1e-8)


@pytest.mark.parametrize("question", [{"which": "smallest"}, {"sigma": 5.3}])
def test_it_agrees_with_the_pipeline(question, monkeypatch, taken):
    A, B = pair(np.linspace(1, 20, N) ** 2, "badly scaled")
    short = sm.solve(A, B, 4, rng=0, **question)
    assert taken[-1] is short
    monkeypatch.setattr(sys.modules["splitmerge.solve"], "express", lambda *_: None)
    long = sm.solve(A, B, 4, rng=0, **question)
    assert short.story == long.story
    assert (short.reason, short.verdict, short.verdict.why) == (long.reason, long.verdict, long.verdict.why)
    np.testing.assert_allclose(short.eigenvalues, long.eigenvalues, rtol=1e-10)
    np.testing.assert_allclose(short.shift, long.shift)
    assert short.counts.monitoring.A_products <= long.counts.monitoring.A_products


def test_it_can_be_kept_and_resumed(tmp_path):
    values = np.linspace(1, 20, N) ** 2
    solution = sm.solve(*pair(values, "consistent"), 3, which="smallest", rng=0)
    solution.save(tmp_path / "solution.npz")
    loaded = sm.load(tmp_path / "solution.npz")
    assert (loaded.history.products == solution.history.products).all()
    np.testing.assert_allclose(solution.resume(k=5).eigenvalues, values[:5], rtol=1e-9)


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 12),
    masses=st.sampled_from(MASSES),
    near=st.booleans(),
    tol=st.sampled_from([1e-10, 1e-8, 1e-5, 1e-2]),
)
def test_random_spectra(seed, k, masses, near, tol):
    """Copies, clusters and bands: whichever way is taken, the values are the wanted ones."""
    rng = np.random.default_rng(seed)
    values = np.cumsum(10 ** rng.uniform(-3, 1, N)) if rng.random() < 0.5 else rng.uniform(0.1, 10, N)
    values = np.repeat(values, rng.integers(1, 4, N))[:N]
    values = values * (1 + float(rng.choice([0, 1e-13, 1e-9, 1e-5])) * rng.uniform(-1, 1, N))
    A, B = pair(values, masses, seed)
    sigma = float(rng.uniform(values.min(), np.sort(values)[N // 3])) if near else None
    question = {"which": "smallest"} if sigma is None else {"sigma": sigma}
    solution = sm.solve(A, B, k, tol=tol, rng=seed, **question)
    if solution.verdict == "certified":
        centre, found = sigma or 0.0, solution.eigenvalues
        expected = np.sort(np.abs(values - centre))[:k]
        width = solution.error_bounds.max() + 1e-12 * values.max()
        width += 1e-6 * np.abs(found).max() if "cluster" in solution.verdict.why else 0.0
        assert np.abs(np.sort(np.abs(found - centre)) - expected).max() <= width


def plate(m, ratio=1.3):
    """A Laplacian on a square grid, stiffer in one direction, its eigenvalues, and eigenvectors by (p, q)."""
    j = np.arange(1, m + 1)
    T = sp.diags_array([-np.ones(m - 1), np.full(m, 2.0), -np.ones(m - 1)], offsets=[-1, 0, 1])
    A = sp.csr_array(sp.kron(ratio * T, sp.eye_array(m)) + sp.kron(sp.eye_array(m), T))
    A.sort_indices()
    values = 4 * np.sin(np.pi * j / (2 * m + 2)) ** 2

    def vector(p, q):
        x = np.kron(np.sin(np.pi * p * j / (m + 1)), np.sin(np.pi * q * j / (m + 1)))
        return x / np.linalg.norm(x)

    return A, np.sort(np.add.outer(ratio * values, values).ravel()), vector


@pytest.mark.parametrize("excess", [1e-12, 1e-11])
def test_pairs_beyond_the_last_one_narrow_its_gap(excess, taken):
    """The second and the third eigenvalue are nearly equal, and their vectors are mixtures."""
    A, _, vector = plate(20, 1 + excess)
    solution = sm.solve(A, k=2, which="smallest", rng=0)
    assert taken[-1] is solution
    cosine = abs(float(vector(1, 2) @ solution.eigenvectors[:, 1]))
    assert math.sqrt(max(0.0, 1 - cosine**2)) <= solution.angle_bounds[1] + 1e-7


@pytest.mark.parametrize("lumped", [False, True])
def test_a_diagonal_B_takes_no_products(lumped, taken):
    A, *_ = plate(20)
    B = sp.csr_array(sp.diags_array(np.linspace(1, 2, 400))) if lumped else None
    solution = sm.solve(A, B, k=2, which="smallest", rng=0)
    assert taken[-1] is solution
    assert solution.counts.B_products == 0
    assert solution.counts.K_solves == solution.history.products[-1]
    monitoring = solution.counts.monitoring
    assert (monitoring.A_products, monitoring.B_products, monitoring.K_solves) == (2, 2 if lumped else 0, 2)


@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-8])
def test_bounds_hold_for_masses_of_any_size(tol, mass, taken):
    """At a loose tolerance they are not rounding, and neither are they loose by orders of magnitude."""
    A, values, _ = plate(24)
    B = sp.csr_array(mass * sp.eye_array(A.shape[0]))
    for question in ({"which": "smallest"}, {"sigma": 1.0 / mass}):
        solution = sm.solve(A, B, k=3, tol=tol, rng=0, **question)
        assert taken[-1] is solution
        errors = np.abs(values[:, None] / mass - solution.eigenvalues).min(axis=0)
        assert (errors <= solution.error_bounds + 1e-15 / mass).all()
        size = np.abs(solution.eigenvalues) * np.maximum(solution.residuals, 1e-13)
        assert (solution.error_bounds <= 10 * size + 1e-12 / mass).all()


@pytest.mark.parametrize("mass", [4.0**-10, 4.0**10])
def test_what_rounding_of_a_count_allows_does_not_depend_on_the_unit_of_mass(mass, monkeypatch, taken):
    """It is compared with the norms of the matrices that are factorised."""
    A, *_ = plate(20)
    windows = []

    def watched(*arguments):
        windows.append(window_beyond(*arguments))
        return windows[-1]

    monkeypatch.setattr(completed, "window_beyond", watched)
    for unit in (1.0, mass):
        sm.solve(A, sp.csr_array(unit * sp.eye_array(400)), k=3, which="smallest", rng=0)
        assert taken[-1] is not None
    first, last = windows[0], windows[-1]
    assert last.reach * mass == pytest.approx(first.reach, rel=1e-6)
    assert last.growth == pytest.approx(first.growth, rel=1e-3)
