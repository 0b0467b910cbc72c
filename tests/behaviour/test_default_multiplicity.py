"""The default solver and multiple or clustered eigenvalues: none may be passed over, and every bound must hold."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import splitmerge as sm
from checking import exhaustive
from strategies import definite, dtypes, gep, seeds, unitary

EPS = float(np.finfo(float).eps)


def grid(n, m):
    """The Dirichlet Laplacian of an n×m grid."""

    def line(size):
        return sp.diags_array([-np.ones(size - 1), 2 * np.ones(size), -np.ones(size - 1)], offsets=[-1, 0, 1])

    return sp.kronsum(line(n), line(m), format="csr")


def three_grids():
    L = sp.csr_array(sp.block_diag([grid(12, 12)] * 3))
    return L, np.linalg.eigvalsh(L.toarray())


def check_values(sol, expected, tol=1e-9):
    assert np.abs(sol.eigenvalues - expected).max() <= tol * np.abs(expected).max()
    assert sol.converged


@pytest.mark.parametrize("method", exhaustive([None, sm.Accelerated()], quick=1), ids=["chosen", "accelerated"])
@pytest.mark.parametrize("kind", [sp.csr_array, lambda M: M.toarray()], ids=["sparse", "dense"])
@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_three_identical_grids(which, kind, method):
    """Values of multiplicity 3 and 6; 20 starts, and not one may miss a copy."""
    L, every = three_grids()
    expected = every[::-1][:8] if which == "largest" else every[:8]
    A = kind(L)
    for seed in range(20):
        check_values(sm.solve(A, k=8, which=which, method=method, rng=seed), expected)


@pytest.mark.parametrize("which", ["largest", "smallest", "magnitude", "ends"])
def test_three_identical_grids_with_a_mass(which):
    L, _ = three_grids()
    M = sp.csr_array(sp.block_diag([sp.diags_array(1 + 0.1 * np.arange(144) % 7)] * 3))
    every = gep(L, M)[0]
    expected = {
        "largest": every[:8],
        "smallest": every[::-1][:8],
        "magnitude": every[:8],
        "ends": np.column_stack([every[:4], every[::-1][:4]]).ravel(),
    }[which]
    for seed in range(5):
        check_values(sm.solve(L, M, k=8, which=which, rng=seed), expected)


@pytest.mark.parametrize("n", [500, 5000])
@pytest.mark.parametrize("copies", [2, 3, 5])
def test_outlying_copies_behind_a_broad_bulk(n, copies):
    """The best Ritz value of a short look into the rest is below the last pair: too short a look finds no copy."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        values = np.r_[np.full(copies, 3.0), 2.0, rng.uniform(0, 1.9, n - copies - 1)]
        A = sp.diags_array(rng.permutation(values), format="csr")
        sol = sm.solve(A, k=2, rng=seed)
        np.testing.assert_allclose(sol.eigenvalues, [3.0, 3.0], rtol=1e-12)


@pytest.mark.parametrize("method", [None, sm.Accelerated()], ids=["chosen", "accelerated"])
@pytest.mark.parametrize("which", ["largest", "smallest", "magnitude"])
def test_all_equal(which, method):
    n = 130
    rng = np.random.default_rng(0)
    B = definite(n, 100.0, rng)
    sol = sm.solve(-2 * B, B, k=5, which=which, method=method, rng=0)
    np.testing.assert_allclose(sol.eigenvalues, -2.0, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_count_is_not_loosened_until_it_fits(dtype):
    """A count at a distance as large as the gap below the last pair says nothing."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = np.repeat(rng.uniform(0.1, 1.0, 8), 4) * 1e-2
        Q = unitary(rng, 32, float)
        A = ((Q * values) @ Q.T).astype(dtype)
        sol = sm.solve((A + A.T) / 2, k=3, method=sm.Accelerated(), tol=1e-5, rng=seed)
        np.testing.assert_allclose(sol.eigenvalues, np.sort(values)[::-1][:3], rtol=1e-4)


@st.composite
def clustered(draw):
    """(values descending, size of the leading cluster, its relative width)."""
    n = draw(st.integers(12, 150), label="n")
    rng = np.random.default_rng(draw(seeds, label="spectrum"))
    width = draw(st.sampled_from([0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3]), label="width")
    size = draw(st.integers(2, 6), label="size")
    rest = rng.uniform(-1.0, 0.8, n - 2 * size)
    lead = 1.0 - width * np.r_[0.0, np.sort(rng.random(size - 2)), 1.0]
    second = 0.9 - width * np.r_[0.0, np.sort(rng.random(size - 2)), 1.0]
    values = np.sort(np.r_[lead, second, rest])[::-1]
    return values * 10.0 ** draw(st.integers(-3, 3), label="size of A"), size, width


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(clustered(), dtypes, st.floats(0, 6), seeds, st.sampled_from(["largest", "smallest"]), st.booleans())
def test_clusters(spectrum, dtype, log_kappa, seed, which, sparse):
    values, size, _ = spectrum
    rng = np.random.default_rng(seed)
    n, k = values.size, 2 * size
    B = definite(n, 10.0**log_kappa, rng, dtype)
    L = np.linalg.cholesky(B)
    W = unitary(rng, n, dtype)
    sign = 1.0 if which == "largest" else -1.0
    A = sign * (L @ (W * values) @ W.conj().T @ L.conj().T)
    A = (A + A.conj().T) / 2
    given_A, given_B = (sp.csr_array(A), sp.csr_array(B)) if sparse else (A, B)
    sol = sm.solve(given_A, given_B, k=k, which=which, method=sm.Accelerated(), rng=seed)
    every, V = gep(sign * A, B)
    every, wanted = sign * every, sign * every[:k]
    scale = np.abs(values).max()
    # what rounding in A and B does to their eigenvalues, in this reference as in the answer
    noise = 40 * n * EPS * 10.0**log_kappa * scale
    assert np.abs(sol.eigenvalues - wanted).max() <= 1e-9 * scale + noise
    assert np.abs(sol.eigenvectors.conj().T @ B @ sol.eigenvectors - np.eye(k)).max() <= 1e-10 + n * EPS * 10**log_kappa
    nearest = np.abs(sol.eigenvalues[:, None] - every).min(axis=1)
    assert (nearest <= 1.01 * sol.error_bounds + noise).all()
    _check_angles(sol, every, V, B, noise)


def _check_angles(sol, every, V, B, noise):
    """Each vector is as near to the invariant subspace of its cluster as it says."""
    for label in np.unique(sol.clusters):
        inside = sol.clusters == label
        w = sol.eigenvalues[inside]
        margin = 2 * sol.error_bounds[inside].max() + 2 * noise + 1e-8 * np.abs(w).max()
        members = (every >= w.min() - margin) & (every <= w.max() + margin)
        X, U = V[:, members], sol.eigenvectors[:, inside]
        rest = U - X @ (X.conj().T @ (B @ U))
        sines = np.sqrt(np.maximum(np.einsum("ij,ij->j", rest.conj(), B @ rest).real, 0))
        gap = np.abs(every[~members][:, None] - w).min(initial=np.inf)
        assert (sines <= 1.01 * sol.angle_bounds[inside] + 2 * noise / gap + 1e-7).all()
