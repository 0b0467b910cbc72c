"""Eigenvalues that a random vector hardly shows: their vectors are where B is small, or others dwarf them."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import splitmerge as sm
from checking import exhaustive


def rotated(n, tiny, gap, seed):
    """A dense pair whose largest eigenvalue 1 + gap has its vector in the one direction in which B is small."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    b, values = np.ones(n), rng.uniform(-1, 0.8, n)
    b[0], values[:2] = tiny, (1 + gap, 1)
    A, B = (Q * (b * values)) @ Q.T, (Q * b) @ Q.T
    return (A + A.T) / 2, (B + B.T) / 2, Q[:, 1]


def blocks(n, tiny, gap, seed):
    """The same, sparse."""
    rng = np.random.default_rng(seed)
    b, values = np.ones(n), rng.uniform(-1, 0.8, n)
    b[0], values[0], values[2] = tiny, 1 + gap, 1
    c = np.sqrt(0.5)
    R = sp.csr_array(sp.block_diag([[[c, -c], [c, c]]] * (n // 2)))
    A, B = R @ sp.diags_array(b * values) @ R.T, R @ sp.diags_array(b) @ R.T
    return sp.csr_array((A + A.T) / 2), sp.csr_array((B + B.T) / 2), R[:, [2]].toarray()[:, 0]


def check(sol, gap):
    assert abs(sol.eigenvalues[0] - 1 - gap) <= 1e-3 * gap + 20 * sol.error_bounds[0]


each_tiny = pytest.mark.parametrize("tiny", [1e-4, 1e-6, 1e-8])
each_gap = pytest.mark.parametrize("gap", [0.1, 1e-3])


@pytest.mark.parametrize("seed", exhaustive(range(4), quick=1))
@each_gap
class TestWhereBIsSmall:
    @pytest.mark.parametrize("noise", [0, 1e-6])
    @pytest.mark.parametrize("n", exhaustive([70, 200, 40], quick=2))
    @pytest.mark.parametrize("tiny", [1e-6, 1e-8, 1e-10])
    def test_dense_beside_a_start(self, n, tiny, gap, noise, seed):
        A, B, x = rotated(n, tiny, gap, seed)
        x = x + noise * np.random.default_rng(1).standard_normal(n) / n**0.5
        check(sm.solve(A, B, x0=x, rng=seed), gap)

    @each_tiny
    @pytest.mark.parametrize("n", exhaustive([300, 2000], quick=1))
    @pytest.mark.parametrize(
        "options", [{}, {"sigma": 1.5}, {"method": sm.Accelerated()}, {"method": sm.LocallyOptimal()}], ids=str
    )
    def test_sparse_beside_a_start(self, n, tiny, gap, options, seed):
        A, B, x = blocks(n, tiny, gap, seed)
        check(sm.solve(A, B, x0=x, rng=seed, **options), gap)

    @each_tiny
    def test_sparse_to_a_loose_tolerance(self, tiny, gap, seed):
        A, B, _ = blocks(2000, tiny, gap, seed)
        check(sm.solve(A, B, rng=seed, tol=1e-4), gap)

    @pytest.mark.parametrize("tiny", [1e-4, 1e-6])
    @pytest.mark.parametrize("started", [False, True])
    def test_operators(self, tiny, gap, started, seed):
        A, B, x = blocks(2000, tiny, gap, seed)
        check(sm.solve(A, aslinearoperator(B), x0=x if started else None, rng=seed), gap)


@pytest.mark.parametrize("seed", exhaustive(range(4), quick=1))
@pytest.mark.parametrize(("n", "span"), [(120, 8), (300, 6), (300, 8)])
@pytest.mark.parametrize("identity", [np.eye, lambda n: None], ids=["entries", "none"])
def test_zero_beside_huge_negative_values(n, span, identity, seed):
    """A probe does not decide it, a count does."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.sort(np.append(-(10.0 ** rng.uniform(0, span, n - 1)), 0.0))[::-1]
    A = (Q * values) @ Q.T
    sol = sm.solve((A + A.T) / 2, identity(n), x0=Q[:, 1], rng=seed)
    assert abs(sol.eigenvalues[0]) <= 1e-10 * 10**span
    assert sol.verdict == "certified"


def one_sided_band(isolated, *, seed=1):
    """A band of 2,200 eigenvalues from -1.80855 down; of the others, the eighth by size is farther than its edge."""
    values = np.r_[
        -0.003, -0.066, -0.54, -0.74, 0.95, 1.16, 1.28, isolated, 2.5, 3.3, -1.80855 - np.linspace(0, 1, 2200)
    ]
    return np.random.default_rng(seed).permutation(values)


@pytest.mark.parametrize("isolated", [1.8086, 1.8116, 1.9])
@pytest.mark.parametrize("seed", range(3))
class TestTheOtherSide:
    """The isolated eigenvalue converges sooner than the edge of the band on the other side, which is more wanted."""

    def test_of_a_shift(self, isolated, seed):
        sol = sm.solve(sp.csr_array(sp.diags_array(one_sided_band(isolated))), k=8, sigma=0.0, rng=seed)
        np.testing.assert_allclose(sol.eigenvalues[-1], -1.80855, rtol=1e-9)

    def test_of_zero(self, isolated, seed):
        values = 1 / one_sided_band(isolated)
        A = LinearOperator((values.size,) * 2, matvec=lambda x: values * np.ravel(x), dtype=float)
        sol = sm.solve(A, k=8, which="magnitude", rng=seed)
        np.testing.assert_allclose(sol.eigenvalues[-1], -1 / 1.80855, rtol=1e-9)
