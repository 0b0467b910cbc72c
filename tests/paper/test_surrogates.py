"""The surrogates (sections 3.1 and 4.1): bounds on the Hessian, and the steps that minimise them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as la
from hypothesis import given
from hypothesis import strategies as st

import splitmerge as sm
from splitmerge.objective import curvature, splitting
from splitmerge.objective.difference import gradient
from strategies import EPS, Pair, hermitian, make_pair, pairs
from theory import admissible_v, distance, few, first_states, matrix_of, scaled, solving_pencil, some


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


# --- the quadratic bound of gradient descent (section 3.1) --------------------------------------------------------


@some
@given(pairs(complex_too=False))
def test_largest_curvature_is_below_the_bound(pair: Pair) -> None:
    pencil = sm.Pencil(pair.A, pair.B)
    L = sm.positive_curvature(pencil, sm.LanczosBound(), pair.rng())
    for x in (scaled(pair, pair.vector(0)), pair.vector(1)):
        r, Ax = np.linalg.norm(pair.F @ x), pair.A @ x
        hessian = 2 * pair.B - pair.A / r + np.outer(Ax, Ax) / r**3
        size = 2 * np.linalg.norm(pair.B, 2) + 2 * np.linalg.norm(pair.A, 2) / r
        found = curvature.largest_curvature(pencil, x)
        assert found == pytest.approx(max(np.linalg.eigvalsh(hessian)[-1], 0), abs=1e-12 * size)
        assert 0 <= found <= L * (1 + 1e-12)


def test_largest_curvature_attains_the_bound() -> None:
    """Along x itself f bends by 2xᵀBx alone; for x the leading eigenvector of B that is L₊."""
    pair = make_pair(np.linspace(1, 0.1, 6), kappa=50, seed=1)
    values, vectors = np.linalg.eigh(pair.B)
    # a tiny A leaves 2B
    small = sm.Pencil(1e-18 * pair.A, pair.B)
    assert curvature.largest_curvature(small, vectors[:, -1]) == pytest.approx(2 * values[-1], rel=1e-6)


@some
@given(pairs(), st.floats(0.01, 1.99))
def test_admissible_stepsizes_descend(pair: Pair, part: float) -> None:
    objective = sm.Objective(sm.Pencil(pair.A, pair.B))
    L = 2 * float(np.linalg.norm(pair.B, 2))
    alpha = part / L
    assert curvature.admissible_stepsize(alpha, L)
    x = scaled(pair, pair.vector(0))
    g = objective.gradient(x)
    after = objective.value(x - alpha * g)
    promised = alpha * (1 - alpha * L / 2) * np.vdot(g, g).real
    assert after <= objective.value(x) - promised + 2 * pair.f_rounding(x)


def test_other_stepsizes_may_ascend() -> None:
    """For n = 1 a step multiplies the error by 1 − αL₊."""
    objective = sm.Objective(sm.Pencil(np.array([[3.0]]), np.array([[2.0]])))
    x, L = np.array([0.45]), 4.0
    for alpha, descends in ((1e-9, True), (0.4999, True), (0.5001, False), (-0.1, False), (0.0, False)):
        assert curvature.admissible_stepsize(alpha, L) is descends
        assert (objective.value(x - alpha * objective.gradient(x)) < objective.value(x)) is descends


@some
@given(pairs(), st.floats(-3, 2))
def test_quadratic_bound_is_above_f(pair: Pair, size: float) -> None:
    objective = sm.Objective(sm.Pencil(pair.A, pair.B))
    values, vectors = np.linalg.eigh(pair.B)
    L = 2 * float(values[-1])
    for x in (scaled(pair, pair.vector(0)), scaled(pair, vectors[:, -1])):
        state = objective.state(x)
        for d in (pair.vector(1), pair.vector(2), x):
            y = x + 10**size * d * (np.linalg.norm(x) / np.linalg.norm(d))
            bound = curvature.upper_bound(state, y, L)
            noise = pair.f_rounding(x) + pair.f_rounding(y) + 16 * pair.n * EPS * abs(bound)
            assert bound >= objective.value(y) - noise
    # √(yᴴAy) is linear along x, and L₊ is the curvature of yᴴBy along its leading eigenvector: the bound is attained
    y = (1 + 10**size) * x
    assert curvature.upper_bound(state, y, L) == pytest.approx(objective.value(y), abs=noise + 1e-12 * abs(bound))


@some
@given(pairs(), st.floats(0.05, 1.99))
def test_gradient_step_minimises_its_surrogate(pair: Pair, part: float) -> None:
    alpha = part / (2 * float(np.linalg.norm(pair.B, 2)))
    method = sm.GradientDescent(stepsize=sm.Fixed(alpha))
    before, after = first_states(sm.Pencil(pair.A, pair.B), method, pair.vector(0), 1)
    least = curvature.gradient_surrogate(before, after.x, alpha)
    assert curvature.gradient_surrogate(before, before.x, alpha) == pytest.approx(before.f, rel=1e-14)
    noise = pair.f_rounding(before.x) + pair.f_rounding(after.x)
    for stream in range(1, 4):
        d = pair.vector(stream)
        d *= np.linalg.norm(before.x) / np.linalg.norm(d)
        rise = curvature.gradient_surrogate(before, after.x + d, alpha) - least
        expected = np.vdot(d, d).real / (2 * alpha)
        assert rise == pytest.approx(expected, abs=1e-12 * expected + 4 * noise / part)


@some
@given(pairs())
def test_power_step_minimises_the_surrogate_of_twice_B(pair: Pair) -> None:
    before, after = first_states(solving_pencil(pair), sm.Power(), pair.vector(0), 1)
    g, B = gradient(before), pair.dense_B

    def surrogate(y: np.ndarray) -> float:
        d = y - before.x
        return before.f + float(np.vdot(g, d).real + np.vdot(d, B @ d).real)

    noise = pair.f_rounding(before.x) + pair.f_rounding(after.x)
    for stream in range(1, 4):
        d = pair.vector(stream)
        d *= np.linalg.norm(before.x) / np.linalg.norm(d)
        expected = np.vdot(d, B @ d).real
        assert surrogate(after.x + d) - surrogate(after.x) == pytest.approx(expected, abs=1e-11 * expected + 8 * noise)


# --- the surrogates of the splitting family (section 4.1) ---------------------------------------------------------


def split_point(pair: Pair, part: float) -> tuple[sm.State, np.ndarray]:
    """A state of the pair, and an admissible v for which σ ≥ 0.05."""
    state = sm.Objective(solving_pencil(pair)).state(scaled(pair, pair.vector(0)))
    v = admissible_v(pair, state.x, 1.0)
    Fv = pair.F.T @ v
    t = float(Fv @ np.linalg.solve(pair.B, Fv)) / (2 * state.r)
    return state, v * (part * min(1.0, np.sqrt(0.95 / t) if t > 0 else 1.0))


@some
@given(pairs(complex_too=False), st.floats(0, 1), st.floats(-3, 1))
def test_surrogate_is_the_quadratic_model_of_f(pair: Pair, part: float, size: float) -> None:
    state, v = split_point(pair, part)
    H = splitting.splitting_matrix(state, v, pair.F)
    g = 2 * pair.B @ state.x - pair.A @ state.x / np.linalg.norm(pair.F @ state.x)
    f = float(state.x @ pair.B @ state.x) - np.linalg.norm(pair.F @ state.x)
    for stream in (1, 2):
        d = pair.vector(stream)
        d *= 10**size * np.linalg.norm(state.x) / np.linalg.norm(d)
        parts = (f, float(g @ d), float(d @ H @ d) / 2)
        y = state.x + d
        found = splitting.surrogate(state, v, pair.F, y)
        assert found == pytest.approx(sum(parts), abs=1e-13 * sum(map(abs, parts)) + 4 * pair.f_rounding(y))
    # it touches f at x
    assert splitting.surrogate(state, v, pair.F, state.x) == pytest.approx(f, abs=pair.f_rounding(state.x))


@some
@given(pairs(complex_too=False, max_kappa=1e3), st.floats(0, 1))
def test_splitting_step_minimises_the_surrogate(pair: Pair, part: float) -> None:
    state, v = split_point(pair, part)
    H = splitting.splitting_matrix(state, v, pair.F)
    step = splitting.splitting_step(state, v, pair.F)
    assert distance(pair, step, splitting.splitting_update(state, v, pair.F)) <= 1e-13 * np.linalg.cond(H)
    least = splitting.surrogate(state, v, pair.F, step)
    for stream in range(1, 4):
        d = pair.vector(stream)
        d *= np.linalg.norm(step) / np.linalg.norm(d)
        expected = float(d @ H @ d) / 2
        rise = splitting.surrogate(state, v, pair.F, step + d) - least
        assert rise == pytest.approx(expected, abs=1e-11 * expected + 8 * pair.f_rounding(step + d))


@some
@given(pairs(complex_too=False), st.floats(0, 1))
def test_splitting_solve_is_the_inverse(pair: Pair, part: float) -> None:
    state, v = split_point(pair, part)
    H = splitting.splitting_matrix(state, v, pair.F)
    for b in (pair.vector(1), state.Ax, pair.F.T @ v):
        found = splitting.splitting_solve(state, v, pair.F, b)
        size = np.linalg.norm(H, 2) * np.linalg.norm(found) + np.linalg.norm(b)
        assert np.linalg.norm(H @ found - b) <= 1e-12 * size
