"""A start close to the wanted eigenvector is refined, and the factor that refines it shows that nothing is missing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

import splitmerge as sm
from checking import choices
from pairs import Pair, make_pair, spectrum
from splitmerge.problem.factorise import deflated_cholesky
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products

N = 150


def near(u: np.ndarray, error: float, seed: int = 0) -> np.ndarray:
    """u with a random error of this relative size."""
    g = np.random.default_rng(seed).standard_normal(u.shape)
    return u / np.linalg.norm(u) + error * g / np.linalg.norm(g)


def taken(sol: sm.Solution) -> bool:
    return "REFINEMENT" in choices(sol)


def without(dtype: type = float, kappa_B: float = 10.0, n: int = N) -> Pair:
    return make_pair(spectrum(n), seed=3, dtype=dtype, kappa_B=kappa_B)


class TestTheWantedOne:
    @pytest.mark.parametrize("dtype", [float, complex])
    @pytest.mark.parametrize(
        ("error", "kappa_B"), [(e, c) for e in (0.0, 1e-12, 1e-6, 1e-3) for c in (1.0, 100.0, 5e3) if e * c < 1]
    )
    def test_largest(self, dtype: type, error: float, kappa_B: float) -> None:
        pair = without(dtype, kappa_B)
        sol = sm.solve(pair.A, pair.B, x0=near(pair.vectors[:, 0], error), rng=0)
        assert taken(sol)
        assert sol.verdict == "certified"
        assert abs(sol.eigenvalues[0] - 1) <= sol.error_bounds[0]
        assert sol.residuals[0] <= 1e-8
        assert sol.steps <= 4

    def test_smallest(self) -> None:
        pair = without()
        sol = sm.solve(pair.A, pair.B, which="smallest", x0=near(pair.vectors[:, -1], 1e-5), rng=0)
        assert taken(sol)
        assert sol.verdict == "certified"
        np.testing.assert_allclose(sol.eigenvalues, [-0.5], rtol=1e-12)

    def test_without_B_and_certified(self) -> None:
        Q = np.linalg.qr(np.random.default_rng(0).standard_normal((N, N)))[0]
        A = (Q * np.arange(1.0, N + 1)) @ Q.T
        sol = sm.solve((A + A.T) / 2, x0=near(Q[:, -1], 1e-4), certify=True, rng=0)
        assert taken(sol)
        assert sol.verdict == "certified"
        np.testing.assert_allclose(sol.eigenvalues, [N], rtol=1e-13)

    @pytest.mark.parametrize("gap", [1e-3, 1e-6])
    def test_narrow_gap(self, gap: float) -> None:
        """Single precision does not show it, double does."""
        values = np.concatenate([[1.0, 1 - gap], np.linspace(0.9, 0.1, N - 2)])
        pair = make_pair(values, seed=5)
        sol = sm.solve(pair.A, pair.B, x0=near(pair.vectors[:, 0], 1e-2 * gap), rng=0)
        assert taken(sol)
        assert sol.verdict == "certified"
        assert abs(sol.eigenvalues[0] - 1) <= sol.error_bounds[0]

    @pytest.mark.parametrize("gap", [1e-2, 1e-1])
    def test_bounds_beside_a_close_eigenvalue(self, gap: float) -> None:
        """The error and the sine are within bounds that know how near the second eigenvalue is."""
        x = np.full(N, 1e-4)
        x[:2] = 1, 2e-3
        sol = sm.solve(np.diag(np.r_[10, 10 - gap, np.linspace(0, 9, N - 2)]), x0=x, tol=1e-4, rng=0)
        assert taken(sol)
        assert sol.verdict == "certified"
        assert abs(sol.eigenvalues[0] - 10) <= sol.error_bounds[0]
        assert np.linalg.norm(sol.eigenvectors[1:, 0]) <= sol.angle_bounds[0]

    @pytest.mark.parametrize("scale", [1e-140, 1e140])
    def test_scales(self, scale: float) -> None:
        pair = without()
        sol = sm.solve(scale * pair.A, pair.B / scale**0.5, x0=near(pair.vectors[:, 0], 1e-6), rng=0)
        np.testing.assert_allclose(sol.eigenvalues, [scale**1.5], rtol=1e-11)


class TestAnotherOne:
    @pytest.mark.parametrize("index", [1, 2, N // 2, N - 1])
    @pytest.mark.parametrize("error", [0.0, 1e-9, 1e-3])
    def test_is_not_refined(self, index: int, error: float) -> None:
        pair = without()
        sol = sm.solve(pair.A, pair.B, x0=near(pair.vectors[:, index], error), rng=0)
        assert not taken(sol)
        np.testing.assert_allclose(sol.eigenvalues, [1.0], rtol=1e-9)

    @pytest.mark.parametrize("copies", [2, 3])
    def test_a_multiple_eigenvalue_is_not_certified_alone(self, copies: int) -> None:
        values = np.concatenate([np.ones(copies), np.linspace(0.9, 0.1, N - copies)])
        pair = make_pair(values, seed=7)
        sol = sm.solve(pair.A, pair.B, x0=near(pair.vectors[:, 0], 1e-8), rng=0)
        assert not taken(sol)
        np.testing.assert_allclose(sol.eigenvalues, [1.0], rtol=1e-9)

    def test_in_mixed_precision_a_random_vector_joins_it(self) -> None:
        pair = without(n=420)
        sol = sm.solve(pair.A, pair.B, x0=pair.vectors[:, 1], rng=0)
        assert "MIXED_PRECISION" in choices(sol)
        np.testing.assert_allclose(sol.eigenvalues, [1.0], rtol=1e-9)

    def test_a_singular_B_is_refused_as_ever(self) -> None:
        A, b = np.diag(np.arange(1.0, N + 1)), np.ones(N)
        b[3] = 0
        with pytest.raises(sm.NotPositiveDefinite, match="b_policy"):
            sm.solve(A, np.diag(b), x0=np.eye(N)[:, -1])


@given(seed=st.integers(0, 10**6), log_kappa=st.floats(0, 5), log_error=st.floats(-14, -1), index=st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_random(seed: int, log_kappa: float, log_error: float, index: int) -> None:
    """Whatever the start is close to, the largest is found, and its bound holds."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.choice([1.0, -1.0]) * rng.uniform(-0.5, 1, 120) ** rng.integers(1, 4))[::-1]
    pair = make_pair(values, seed=seed, kappa_B=10**log_kappa)
    exact = scipy.linalg.eigh(pair.A, pair.B, eigvals_only=True)[-1]
    sol = sm.solve(pair.A, pair.B, x0=near(pair.vectors[:, index], 10**log_error, seed), rng=seed)
    rounding = 1e-14 * 10**log_kappa * np.abs(values).max()
    if sol.verdict == "certified":
        assert abs(sol.eigenvalues[0] - exact) <= sol.error_bounds[0] + rounding
    assert abs(sol.eigenvalues[0] - exact) <= 1e-7 * max(abs(exact), 1e-3) + sol.error_bounds[0] + rounding


def test_the_factor_counts() -> None:
    """It exists iff at most as many eigenvalues are beyond τ as there are vectors, whatever these are."""
    A = np.diag(np.arange(1.0, 6.0))
    products = Products(Pencil(A, np.eye(5)))
    for tau, allowed in ((5.5, 0), (4.5, 1), (3.5, 2)):
        for count in range(3):
            G = 10 * np.eye(5)[:, 5 - count :].copy(order="F")
            U = deflated_cholesky(products.A.matrix, products.B.matrix, tau, G, above=True)
            assert (U is not None) == (count >= allowed)
