"""The derivatives of f, and its landscape (section 2)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as la
from hypothesis import assume, given
from hypothesis import strategies as st

import splitmerge as sm
from strategies import EPS, Pair, gep, hermitian, pairs
from theory import B_norm, matrix_of, scaled, some

# --- derivatives ------------------------------------------------------------------------------------------------


def difference_step(pair: Pair, x: np.ndarray, d: np.ndarray) -> float:
    """h with h‖Fd‖ = 1e-5 r at most, so that the truncation is known: |r‴| ≤ 3‖Fd‖³/r² along d."""
    r = np.linalg.norm(pair.F @ x)
    return 1e-5 * min(r / np.linalg.norm(pair.F @ d), B_norm(pair, x) / B_norm(pair, d))


@some
@given(pairs(), st.floats(-2, 2))
def test_gradient_against_differences(pair: Pair, size: float) -> None:
    objective = sm.Objective(sm.Pencil(pair.A, pair.B))
    x = scaled(pair, pair.vector(0)) * 10**size
    g = objective.gradient(x)
    for d in (pair.vector(1), g, x):
        h = difference_step(pair, x, d)
        measured = (objective.value(x + h * d) - objective.value(x - h * d)) / (2 * h)
        parts = 2 * abs(np.vdot(d, pair.B @ x)) + abs(np.vdot(d, pair.A @ x)) / np.linalg.norm(pair.F @ x)
        allowed = 1e-10 * np.linalg.norm(pair.F @ d) + 2 * pair.f_rounding(x) / h
        # a tolerance as large as the terms would test nothing
        assume(allowed < 1e-2 * parts)
        assert abs(measured - np.vdot(g, d).real) <= allowed


@some
@given(pairs(complex_too=False), st.floats(-2, 2))
def test_hessian_product_against_differences(pair: Pair, size: float) -> None:
    objective = sm.Objective(sm.Pencil(pair.A, pair.B))
    x = scaled(pair, pair.vector(0)) * 10**size
    r = np.linalg.norm(pair.F @ x)
    norm_A, norm_B = np.linalg.norm(pair.A, 2), np.linalg.norm(pair.B, 2)
    for d in (pair.vector(1), x):
        h = difference_step(pair, x, d)
        measured = (objective.gradient(x + h * d) - objective.gradient(x - h * d)) / (2 * h)
        Hd = objective.hessian_product(x, d)
        # the fourth derivative of ‖Fx‖ is at most 15‖Fd‖³‖F‖/r³; the rounding of s enters through 1/r
        truncation = 2.5e-10 * np.linalg.norm(pair.F @ d) * np.linalg.norm(pair.F, 2) / r
        rounding = norm_B + norm_A / r + norm_A * np.linalg.norm(pair.A @ x) * np.linalg.norm(x) / r**3
        allowed = truncation + 8 * pair.n * EPS * rounding * np.linalg.norm(x) / h
        parts = np.linalg.norm(2 * pair.B @ d) + np.linalg.norm(pair.A @ d) / r
        assume(allowed < 1e-2 * parts)
        assert np.linalg.norm(measured - Hd) <= allowed


@some
@given(pairs(), st.floats(-3, 3))
def test_value_is_the_difference(pair: Pair, size: float) -> None:
    x = pair.vector(0) * 10**size
    s, b = np.vdot(x, pair.A @ x).real, np.vdot(x, pair.B @ x).real
    objective = sm.Objective(sm.Pencil(pair.A, pair.B))
    assert objective.value(x) == pytest.approx(b - np.sqrt(s), abs=pair.f_rounding(x))
    assert objective.state(x).f == objective.value(x)


@some
@given(pairs(), st.floats(-3, 3))
def test_rayleigh_quotient_is_largest_at_the_leader(pair: Pair, size: float) -> None:
    objective = sm.Objective(sm.Pencil(pair.A, pair.B))
    x = pair.vector(0) * 10**size
    found = objective.state(x).value
    assert found == pytest.approx(np.vdot(x, pair.A @ x).real / np.vdot(x, pair.B @ x).real, rel=1e-11)
    assert found <= pair.top * (1 + 1e-12 * max(1, pair.kappa))
    assert objective.state(pair.U[:, 0]).value == pytest.approx(pair.top, rel=1e-12 * max(1, pair.kappa))
    # the least f over the multiples of x is −¼ of the quotient
    assert objective.value(scaled(pair, x)) == pytest.approx(-found / 4, rel=1e-11)


# --- the landscape of f (section 2) -----------------------------------------------------------------------------


@some
@given(pairs(gap=1e-3))
def test_scaled_eigenvectors_are_stationary(pair: Pair) -> None:
    objective = sm.Objective(sm.Pencil(pair.A, pair.B))
    values, vectors = gep(pair.A, pair.B)
    np.testing.assert_allclose(values, pair.eigenvalues, atol=1e-10 * pair.top)
    for value, u in zip(values, vectors.T, strict=True):
        if value < 1e-5 * pair.top:
            continue
        x = scaled(pair, u)
        r = np.linalg.norm(pair.F @ x)
        assert 2 * r == pytest.approx(value, rel=1e-6)
        assert objective.value(x) == pytest.approx(-value / 4, rel=1e-6)
        size = np.linalg.norm(pair.A, 2) * np.linalg.norm(x) / r + 2 * np.linalg.norm(pair.B @ x)
        assert np.linalg.norm(objective.gradient(x)) <= 1e-10 * size
    # a multiple of an eigenvector is not stationary: the scale matters
    assert np.linalg.norm(objective.gradient(1.5 * scaled(pair, vectors[:, 0]))) > 1e-3 * pair.top**0.5 / np.sqrt(
        np.linalg.norm(np.linalg.inv(pair.B), 2)
    )


@some
@given(pairs(), st.lists(st.floats(-3, 3), min_size=1, max_size=5), st.floats(-8, 0))
def test_minimum_is_minus_a_quarter_of_the_top_eigenvalue(pair: Pair, sizes: list[float], near: float) -> None:
    objective = sm.Objective(sm.Pencil(pair.A, pair.B))
    leader = scaled(pair, gep(pair.A, pair.B)[1][:, 0])
    assert objective.value(leader) == pytest.approx(-pair.top / 4, abs=pair.f_rounding(leader))
    for stream, size in enumerate(sizes):
        w = scaled(pair, pair.vector(stream))
        for x in (w, 10**size * w, leader + 10**near * w, (1 + 10**near) * leader):
            assert objective.value(x) >= -pair.top / 4 - pair.f_rounding(x)


@some
@given(pairs(gap=1e-2, complex_too=False))
def test_other_eigenvectors_are_strict_saddles(pair: Pair) -> None:
    objective = sm.Objective(sm.Pencil(pair.A, pair.B))
    values, vectors = gep(pair.A, pair.B)
    leader = vectors[:, 0]
    for value, u in zip(values[1:], vectors.T[1:], strict=True):
        if value < 1e-4 * pair.top:
            continue
        curvature = float(leader @ objective.hessian_product(scaled(pair, u), leader))
        assert curvature < 0
        assert curvature == pytest.approx(2 * (1 - values[0] / value), rel=1e-6)
    # and the leader is a minimum: no negative curvature there
    H = matrix_of(lambda d: objective.hessian_product(scaled(pair, leader), d), pair.n, float)
    assert la.eigvalsh(hermitian(H), pair.B)[0] > 1e-3
