"""The surrogates (section 4.1): bounds on the Hessian, and the steps that follow from them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.linalg as la
from hypothesis import assume, given
from hypothesis import strategies as st

import splitmerge as sm
from strategies import Pair, hermitian, pairs
from theory import distance, few, first_states, matrix_of, scaled, solving_pencil, some


def admissible_v(pair: Pair, x: np.ndarray, length: float, stream: int = 7) -> np.ndarray:
    """A random v ⟂ Fx of this length; zero when F has one row."""
    Fx = pair.F @ x
    v = pair.vector(stream, size=Fx.size)
    # twice, as one pass leaves rounding of the size of what it took out
    for _ in range(2):
        v = v - Fx * (np.vdot(Fx, v) / np.vdot(Fx, Fx))
    norm = np.linalg.norm(v)
    return v * (length / norm) if norm > 1e-8 else 0 * v


def assert_below(smaller: np.ndarray, larger: np.ndarray) -> None:
    """smaller ≼ larger, up to the rounding of forming them."""
    size = max(np.linalg.norm(smaller, 2), np.linalg.norm(larger, 2))
    assert np.linalg.eigvalsh(hermitian(larger - smaller))[0] >= -1e-12 * size


@some
@given(pairs(complex_too=False), st.floats(0, 1))
def test_hessian_below_splitting_below_twice_B(pair: Pair, length: float) -> None:
    pencil = sm.Pencil(pair.A, pair.B)
    objective = sm.Objective(pencil)
    x = scaled(pair, pair.vector(0))
    hessian = matrix_of(lambda d: objective.hessian_product(x, d), pair.n, float)
    for v in (admissible_v(pair, x, length), admissible_v(pair, x, 1.0), 0 * pair.F[:, 0]):
        H = objective.splitting_matrix(x, v, pair.F)
        assert_below(hessian, H)
        assert_below(H, 2 * pair.B)
    np.testing.assert_allclose(objective.splitting_matrix(x, 0 * pair.F[:, 0], pair.F), 2 * pair.B, rtol=1e-14)


@some
@given(pairs())
def test_positive_curvature_bounds_twice_B(pair: Pair) -> None:
    largest = 2 * np.linalg.norm(pair.B, 2)
    for bound in (sm.LanczosBound(), sm.TraceBound()):
        L = sm.positive_curvature(sm.Pencil(pair.A, pair.B), bound, pair.rng())
        assert largest * (1 - 1e-12) <= L
    # the trace may be n times too large, the Lanczos bound not
    assert sm.positive_curvature(sm.Pencil(pair.A, pair.B), sm.LanczosBound(), pair.rng()) <= 1.03 * largest
    assert pytest.approx(2 * np.trace(pair.B).real) == L


@some
@given(pairs(complex_too=False), st.floats(0.05, 1))
def test_splitting_update_solves_with_the_surrogate(pair: Pair, part: float) -> None:
    objective = sm.Objective(solving_pencil(pair))
    x = scaled(pair, pair.vector(0))
    v = admissible_v(pair, x, 1.0)
    Fv, r = pair.F.T @ v, np.linalg.norm(pair.F @ x)
    # the longest v with σ = 0.05
    t = float(Fv @ np.linalg.solve(pair.B, Fv)) / (2 * r)
    v *= part * min(1.0, np.sqrt(0.95 / t) if t > 0 else 1.0)
    H, g = objective.splitting_matrix(x, v, pair.F), objective.gradient(x)
    d = objective.splitting_update(x, v, pair.F) - x
    size = np.linalg.norm(H, 2) * np.linalg.norm(x) + np.linalg.norm(pair.A, 2) * np.linalg.norm(x) / r
    assert np.linalg.norm(H @ d + g) <= 1e-10 * size
    assert distance(pair, x + d, x - la.solve(H, g, assume_a="pos")) <= 1e-12 * np.linalg.cond(H)


@few
@given(pairs(complex_too=False, min_n=4, singular=False))
def test_inadmissible_v_is_refused(pair: Pair) -> None:
    objective = sm.Objective(solving_pencil(pair))
    x = scaled(pair, pair.vector(0))
    Fx = pair.F @ x
    for act in (objective.splitting_update, objective.splitting_matrix):
        with pytest.raises(ValueError, match="v must satisfy"):
            act(x, Fx / np.linalg.norm(Fx), pair.F)
        with pytest.raises(ValueError, match="v must satisfy"):
            act(x, admissible_v(pair, x, 1.01), pair.F)
    # a tiny x makes r so small that H is indefinite
    v = admissible_v(pair, x, 1.0)
    with pytest.raises(ValueError, match="too long"):
        objective.splitting_update(1e-6 * x, v, pair.F)


@some
@given(pairs(complex_too=False))
def test_splitting_with_no_v_is_power(pair: Pair) -> None:
    pencil = solving_pencil(pair)
    before, after = first_states(pencil, sm.Power(), pair.vector(0), 1)
    update = sm.Objective(pencil).splitting_update(before.x, 0 * pair.F[:, 0], pair.F)
    assert distance(pair, update, after.x) <= 1e-13
    expected = np.linalg.solve(pair.B, pair.A @ before.x) / (2 * np.linalg.norm(pair.F @ before.x))
    assert distance(pair, after.x, expected) <= 1e-14 * max(100, pair.kappa)


@some
@given(pairs(gap=1e-2, complex_too=False, max_kappa=1e3))
def test_merged_step_is_the_splitting_step_of_best_v(pair: Pair) -> None:
    pencil = solving_pencil(pair)
    F, A, B = pair.F, pair.A, pair.B
    for before, after in itertools.pairwise(first_states(pencil, sm.SplitMerge(), pair.vector(0), 4)):
        # the paper's iterate is longer than the state's by the factor that the state remembers
        x = before.x * (before.memory or 1.0)
        r = np.linalg.norm(F @ x)
        Tx = np.linalg.solve(B, A @ x)
        q = float(x @ A @ Tx) / r**2
        direction = F @ Tx - q * (F @ x)
        delta = float(direction @ direction)
        # a converged x has no direction left
        if np.sqrt(delta) <= 1e-5 * np.linalg.norm(F @ Tx):
            break
        z = F.T @ direction
        t = float(z @ np.linalg.solve(B, z)) / (2 * r * delta)
        v = direction / np.sqrt(max(1.0, 1.01 * t) * delta)
        v = v - (F @ x) * float(v @ (F @ x)) / r**2
        ours = scaled(pair, sm.Objective(pencil).splitting_update(x, v, F))
        assert distance(pair, ours, scaled(pair, after.x)) <= 1e-9


@some
@given(pairs(gap=1e-2))
def test_split_merge_coefficients_as_published(pair: Pair) -> None:
    before, after = first_states(sm.Pencil(pair.A, pair.B), sm.SplitMerge(), pair.vector(0), 1)
    x, A, B = before.x, pair.A, pair.B
    Ax = A @ x
    Tx = np.linalg.solve(B, Ax)
    ATx = A @ Tx
    TTx = np.linalg.solve(B, ATx)
    s, p = np.vdot(x, Ax).real, np.vdot(Ax, Tx).real
    r, q = np.sqrt(s), p / s
    delta = np.vdot(ATx, Tx).real - p**2 / s
    assume(delta > 1e-3 * np.vdot(ATx, Tx).real)
    z = ATx - q * Ax
    t = np.vdot(z, np.linalg.solve(B, z)).real / (2 * r * delta)
    rho = max(1.0, 1.01 * t)
    omega = 1 / (4 * (1 - t / rho) * rho * s)
    zeta = 1 / (2 * r) - omega * q
    published = scaled(pair, zeta * Tx + omega * TTx)
    assert distance(pair, scaled(pair, after.x), published) <= 1e-11 * max(1, pair.kappa / 100)
