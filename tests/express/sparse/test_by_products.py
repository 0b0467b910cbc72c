"""Sparse pairs of everyday size: the largest, also by magnitude, found in one basis and counted or probed."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import splitmerge as sm
from rotated import N, pair
from splitmerge.express.sparse import by_products as module
from splitmerge.express.sparse.direct import DirectSearch

DIAGONAL = ("identity", "lumped", "badly scaled lumped")
SPECTRA = {
    "positive": np.linspace(1, 40, N) ** 1.5,
    "both signs": np.linspace(-7, 6.6, N) ** 3,
    "negative": -(np.linspace(1, 40, N) ** 1.5),
}


@pytest.fixture
def taken(recorded):
    """What the short way returned, solve by solve."""
    return recorded("by_products")


@pytest.fixture
def probing(monkeypatch):
    """No pair is counted."""
    monkeypatch.setattr(module, "COUNTED_NONZEROS", 0)


def wanted(values, k, which):
    """The k most wanted, the best first."""
    return values[np.argsort(-(np.abs(values) if which == "magnitude" else values), kind="stable")[:k]]


def check(A, B, values, solution, which):
    """The right values within their bounds, B-orthonormal vectors and small residuals."""
    k, found, V = solution.eigenvalues.size, solution.eigenvalues, solution.eigenvectors
    rounding = 1e-13 * np.abs(values).max()
    np.testing.assert_allclose(found, wanted(values, k, which), rtol=1e-7, atol=rounding)
    errors = np.abs(values[:, None] - found).min(axis=0)
    assert (errors <= solution.error_bounds + rounding).all()
    BV = V if B is None else B @ V
    np.testing.assert_allclose(V.T @ BV, np.eye(k), atol=1e-10)
    assert (np.linalg.norm(A @ V - BV * found, axis=0) <= 1e-8 * np.abs(found) * np.linalg.norm(BV, axis=0)).all()


@pytest.mark.parametrize("which", ["largest", "magnitude"])
@pytest.mark.parametrize("masses", DIAGONAL)
@pytest.mark.parametrize("spectrum", ["positive", "both signs"])
@pytest.mark.parametrize("k", [1, 4, 8])
def test_the_largest(k, spectrum, masses, which, taken):
    values = SPECTRA[spectrum]
    A, B = pair(values, masses)
    solution = sm.solve(A, B, k, which=which, rng=0)
    assert taken[-1] is solution
    assert solution.verdict == ("probed" if k == 1 else "certified")
    check(A, B, values, solution, which)


@pytest.mark.parametrize("which", ["largest", "magnitude"])
@pytest.mark.parametrize("masses", DIAGONAL)
@pytest.mark.parametrize("copies", [1, 2, 3])
@pytest.mark.parametrize("probed", [False, True])
def test_every_copy_of_a_multiple_eigenvalue(probed, copies, masses, which, taken, request):
    """A Krylov space shows one of them; a count tells how many there are, and a probe whether there are more."""
    if probed:
        request.getfixturevalue("probing")
    values = np.repeat(SPECTRA["both signs"], copies)[-N:]
    A, B = pair(values, masses)
    solution = sm.solve(A, B, 3 * copies, which=which, rng=0)
    assert taken[-1] is solution
    assert solution.verdict == ("probed" if probed else "certified")
    check(A, B, values, solution, which)
    if probed:
        # rounding may show copies, too
        assert solution.verdict.why.startswith(("a random-start", "the last of")[: min(copies, 2)])


def test_a_cluster_that_k_cuts(taken):
    values = np.r_[np.linspace(0, 20, N - 5), np.full(4, 21.0), 22.0]
    A, B = pair(values, "lumped")
    solution = sm.solve(A, B, 3, rng=0)
    assert taken[-1] is solution
    check(A, B, values, solution, "largest")
    assert "cluster" in solution.verdict.why


def test_certify_counts_a_single_pair(taken):
    A, B = pair(SPECTRA["both signs"], "lumped")
    for which in ("largest", "magnitude"):
        solution = sm.solve(A, B, which=which, rng=0, certify=True)
        assert taken[-1] is solution
        assert solution.verdict == "certified"


def test_a_diagonal_that_is_not_stored_is_probed(taken):
    """Counts need its places."""
    A = sp.csr_array(sp.diags_array([np.linspace(1, 2, N - 1)] * 2, offsets=[-1, 1]))
    solution = sm.solve(A, k=2, which="magnitude", rng=0)
    assert taken[-1] is solution
    assert solution.verdict == "probed"
    assert sm.solve(A, k=2, which="magnitude", rng=0, certify=True).verdict == "certified"
    assert taken[-1] is None
    np.testing.assert_allclose(np.abs(solution.eigenvalues), np.linalg.norm(A.toarray(), 2), rtol=1e-7)


LEFT = {
    "consistent B": lambda: pair(SPECTRA["positive"], "consistent"),
    "slow": lambda: (sp.csr_array(sp.diags_array(np.linspace(0, 1, 2500) ** 0.2)), None),
    "far smaller ones": lambda: pair(np.r_[np.full(N - 2, 1e-9), 1.0, 2.0] * np.linspace(0.5, 1, N)),
    "massless rows": lambda: (*pair(SPECTRA["positive"])[:1], sp.csr_array(sp.diags_array(np.r_[0.0, np.ones(N - 1)]))),
}


@pytest.mark.parametrize("kind", LEFT)
def test_what_is_left_to_the_pipeline(kind, taken, probing):
    A, B = LEFT[kind]()
    if kind == "massless rows":
        with pytest.raises(sm.NotPositiveDefinite):
            sm.solve(A, B, 3)
    else:
        assert sm.solve(A, B, 3, rng=0).converged
    assert taken == [None]


@pytest.mark.parametrize("which", ["largest", "magnitude"])
@pytest.mark.parametrize("masses", DIAGONAL)
def test_it_agrees_with_the_pipeline(masses, which, monkeypatch, taken):
    values = SPECTRA["both signs"]
    A, B = pair(values, masses)
    short = sm.solve(A, B, 4, which=which, rng=0, certify=True)
    assert taken[-1] is short
    monkeypatch.setattr(sys.modules["splitmerge.solve"], "express", lambda *_: None)
    long = sm.solve(A, B, 4, which=which, rng=0, certify=True)
    assert [decision.choice for decision in short.decisions] == [decision.choice for decision in long.decisions]
    assert (short.reason, short.verdict, short.verdict.why) == (long.reason, long.verdict, long.verdict.why)
    np.testing.assert_allclose(short.eigenvalues, long.eigenvalues, rtol=1e-10)
    assert (short.shift > 0) == (long.shift > 0)
    np.testing.assert_allclose(short.shift, long.shift, rtol=0.5)


@pytest.mark.parametrize("lumped", [False, True])
def test_the_history_and_the_counts(lumped, taken, probing):
    A, B = pair(SPECTRA["both signs"], "lumped" if lumped else "identity")
    solution = sm.solve(A, B, 3, rng=0)
    assert taken[-1] is solution
    history, counts, monitoring = solution.history, solution.counts, solution.counts.monitoring
    assert set(history.pair) == {0, 1, 2}
    assert counts.A_products == history.products[-1]
    assert counts.B_solves == lumped * counts.A_products
    # the probe, and the verification
    assert monitoring.A_products > 12
    assert (monitoring.B_products, monitoring.B_solves) == (lumped * 3, lumped * monitoring.A_products)
    for i in range(3):
        assert history.value[history.pair == i][-1] == pytest.approx(solution.eigenvalues[i], rel=1e-8)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-8, 1e-12])
@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
def test_bounds_hold_for_masses_of_any_size(mass, tol, taken):
    values = SPECTRA["both signs"]
    A, _ = pair(values)
    for which in ("largest", "magnitude"):
        solution = sm.solve(A, sp.csr_array(mass * sp.eye_array(N)), 3, which=which, tol=tol, rng=0)
        assert taken[-1] is solution
        errors = np.abs(values[:, None] / mass - solution.eigenvalues).min(axis=0)
        assert (errors <= solution.error_bounds + 1e-13 * np.abs(values).max() / mass).all()


def test_eigsh_takes_it(taken):
    """Both the largest and, by default, the largest by magnitude."""
    A, B = pair(SPECTRA["both signs"], "lumped")
    for which, name in (("LA", "largest"), ("LM", "magnitude")):
        found, _ = sm.eigsh(A, 4, B, which=which, rng=0)
        assert taken[-1] is not None
        np.testing.assert_allclose(found, np.sort(wanted(SPECTRA["both signs"], 4, name)), rtol=1e-12)


def test_a_probe_goes_on_until_it_would_have_seen_a_copy():
    """As long as the search took to resolve its pairs from the values that the probe sees."""
    A, _ = pair(SPECTRA["positive"])
    pair_of_A = module.sparse_pair(A, None)
    search = DirectSearch(pair_of_A, 2, 1e-8, np.random.default_rng(0), magnitude=False)
    search.path = [(10, 1.0), (20, 1e-3), (30, 1e-9), (40, 1e-8), (50, 1e-12)]
    assert [search._resolving(gap) for gap in (1e-9, 1e-3, 2e-4, 20.0, 1e5)] == [50, 30, 30, 20, 10]


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 12),
    masses=st.sampled_from(DIAGONAL),
    which=st.sampled_from(["largest", "magnitude"]),
    tol=st.sampled_from([1e-10, 1e-8, 1e-5, 1e-2]),
)
def test_random_spectra(seed, k, masses, which, tol):
    """Copies, clusters and bands: whichever way is taken, the values are the wanted ones."""
    rng = np.random.default_rng(seed)
    values = np.cumsum(10 ** rng.uniform(-3, 1, N)) if rng.random() < 0.5 else rng.uniform(-10, 10, N)
    values = np.repeat(values - rng.choice([0.0, np.median(values)]), rng.integers(1, 4, N))[:N]
    values = values * (1 + float(rng.choice([0, 1e-13, 1e-9, 1e-5])) * rng.uniform(-1, 1, N))
    A, B = pair(values, masses, seed)
    solution = sm.solve(A, B, k, which=which, tol=tol, rng=seed)
    found, expected = solution.eigenvalues, wanted(values, k, which)
    if which == "magnitude":
        found, expected = np.abs(found), np.abs(expected)
    width = solution.error_bounds.max() + 1e-12 * np.abs(values).max()
    width += 1e-6 * np.abs(found).max() if "cluster" in solution.verdict.why else 0.0
    # a search from a random vector may not tell values apart that differ by a few tolerances
    width += 10 * tol * np.abs(found).max() if solution.verdict == "probed" else 0.0
    assert np.abs(np.sort(found) - np.sort(expected)).max() <= width or solution.verdict == "unchecked"


@pytest.mark.parametrize("tol", [1e-4, 1e-6])
@pytest.mark.parametrize("seed", [0, 9, 11])
def test_pairs_of_several_passes_are_ritz_pairs_together(seed, tol, taken):
    """Ten defects of nearly the same size in a cube: one pass sees only some of them."""
    rng = np.random.default_rng(seed)
    defects = np.zeros(1000)
    defects[rng.choice(1000, 10, replace=False)] = 300 * (1 + 1e-6 * rng.uniform(-1, 1, 10))
    A = sp.csr_array(sm.gallery.grid_laplacian((10, 10, 10))[0] + sp.diags_array(defects))
    solution = sm.solve(A, k=8, tol=tol, rng=seed)
    assert taken[-1] is solution
    V = solution.eigenvectors
    np.testing.assert_allclose(V.T @ (A @ V), np.diag(solution.eigenvalues), rtol=0, atol=1e-10)
    # nearly as accurate as the squared residuals, one by one
    exact = np.linalg.eigvalsh(A.toarray())[: -1 - 8 : -1]
    np.testing.assert_allclose(solution.eigenvalues, exact, rtol=0, atol=1e-6)


@pytest.mark.parametrize("k", [-3, 0, N + 1])
@pytest.mark.parametrize("asked", [{}, {"which": "smallest"}, {"sigma": 0.3}, {"which": "magnitude"}], ids=str)
def test_a_wrong_number_of_pairs_is_named(k, asked):
    A, _ = pair(np.linspace(1, 40, N))
    with pytest.raises(ValueError, match=f"k is {k}; give a whole number from 1 to 300"):
        sm.solve(A, k=k, **asked)
