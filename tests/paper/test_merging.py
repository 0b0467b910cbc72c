"""Merging (section 4.2): the split direction, and the coefficients of the Split-Merge step."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.linalg as la
from hypothesis import assume, given
from hypothesis import strategies as st

import splitmerge as sm
from splitmerge.objective import merging, splitting
from splitmerge.objective.merging import MergeCoefficients
from strategies import Pair, make_pair, pairs
from theory import admissible_v, distance, few, first_states, scaled, some


def point(pair: Pair) -> sm.State:
    """A random x at its best multiple, clearly no eigenvector."""
    state = sm.Objective(sm.Pencil(pair.A, pair.B)).state(scaled(pair, pair.vector(0)))
    q = pair.F @ np.linalg.solve(pair.dense_B, state.Ax)
    assume(len(q) > 1)
    across = q - pair.F @ state.x * (q @ (pair.F @ state.x)) / state.s
    assume(np.linalg.norm(across) > 1e-3 * np.linalg.norm(q))
    return state


def safe_rho(pair: Pair, state: sm.State, more: float) -> float:
    """A ρ for which C of equation 4.6 is positive definite."""
    return max(1.0, (1 + more) * pair.top / (2 * state.r))


def coefficients(pair: Pair, x: np.ndarray, rho: float | None = None) -> tuple[MergeCoefficients, np.ndarray]:
    """The published coefficients at x, and their step."""
    Ax = pair.A @ x
    Tx = np.linalg.solve(pair.dense_B, Ax)
    ATx = pair.A @ Tx
    TTx = np.linalg.solve(pair.dense_B, ATx)
    found = MergeCoefficients.of(x, Ax, Tx, ATx, TTx, rho)
    return found, found.step(Tx, TTx)


# --- the split direction ------------------------------------------------------------------------------------------


@some
@given(pairs(complex_too=False, max_kappa=1e3, min_n=3), st.floats(0.05, 3))
def test_decrease_is_that_of_the_minimised_surrogate(pair: Pair, more: float) -> None:
    state = point(pair)
    rho = safe_rho(pair, state, more)
    for v in (admissible_v(pair, state.x, rho**-0.5), merging.merged_direction(state, pair.F, rho)):
        best = splitting.splitting_step(state, v, pair.F)
        expected = state.f - splitting.surrogate(state, v, pair.F, best)
        found = merging.surrogate_decrease(state, v, pair.F)
        assert found == pytest.approx(expected, abs=1e-10 * expected + 4 * pair.f_rounding(best))


@some
@given(pairs(complex_too=False, max_kappa=1e3, min_n=3), st.floats(0.05, 3))
def test_optimal_direction_has_the_largest_decrease(pair: Pair, more: float) -> None:
    state = point(pair)
    rho = safe_rho(pair, state, more)
    optimal = merging.optimal_direction(state, pair.F, rho)
    assert optimal @ optimal == pytest.approx(1 / rho, rel=1e-13)
    assert abs(optimal @ (pair.F @ state.x)) <= 1e-13 * state.r
    largest = merging.surrogate_decrease(state, optimal, pair.F)
    merged = merging.merged_direction(state, pair.F, rho)
    for other in (merged, *(admissible_v(pair, state.x, rho**-0.5, stream) for stream in range(7, 15))):
        assert merging.surrogate_decrease(state, other, pair.F) <= largest * (1 + 1e-11)
        # and near it, where only a maximum has no first-order change
        near = optimal + 1e-3 * other
        near /= np.linalg.norm(near) * np.sqrt(rho)
        assert merging.surrogate_decrease(state, near, pair.F) <= largest * (1 + 1e-11)


@some
@given(pairs(complex_too=False, max_kappa=1e3, min_n=3), st.floats(0.05, 3))
def test_optimal_direction_solves_the_eigenvalue_problem(pair: Pair, more: float) -> None:
    """The decrease is an affine function of vᵀDv/vᵀCv, whose maximum over Ω is an eigenvalue of the projected pair."""
    state = point(pair)
    F, B, r, rho = pair.F, pair.B, state.r, safe_rho(pair, state, more)
    q = F @ np.linalg.solve(B, pair.A @ state.x)
    D, C = np.outer(q, q), rho * np.eye(len(q)) - F @ np.linalg.solve(B, F.T) / (2 * r)
    g = 2 * B @ state.x - pair.A @ state.x / r
    optimal = merging.optimal_direction(state, F, rho)
    for v in (optimal, merging.merged_direction(state, F, rho), admissible_v(pair, state.x, rho**-0.5)):
        expected = g @ np.linalg.solve(B, g) / 4 + (v @ D @ v) / (v @ C @ v) / (8 * r**3)
        assert merging.surrogate_decrease(state, v, F) == pytest.approx(expected, rel=1e-9)
    N = la.null_space((F @ state.x)[None, :])
    values, vectors = la.eigh(N.T @ D @ N, N.T @ C @ N)
    assert (optimal @ D @ optimal) / (optimal @ C @ optimal) == pytest.approx(values[-1], rel=1e-9)
    top = N @ vectors[:, -1]
    assert abs(optimal @ top) == pytest.approx(np.linalg.norm(top) / np.sqrt(rho), rel=1e-9)


@some
@given(pairs(complex_too=False, max_kappa=1e3, min_n=3), st.floats(0.05, 3))
def test_merged_direction_is_the_best_for_the_numerator(pair: Pair, more: float) -> None:
    state = point(pair)
    rho = safe_rho(pair, state, more)
    q = pair.F @ np.linalg.solve(pair.B, state.Ax)
    merged = merging.merged_direction(state, pair.F, rho)
    assert merged @ merged == pytest.approx(1 / rho, rel=1e-13)
    for stream in range(7, 15):
        other = admissible_v(pair, state.x, rho**-0.5, stream)
        assert abs(other @ q) <= merged @ q * (1 + 1e-11)
    # vᵀFTx = √(δ/ρ), and vᵀCv = σ lies between 1 − λ₁/(2ρr) and 1
    found, _ = coefficients(pair, state.x, rho)
    assert (merged @ q) ** 2 == pytest.approx(found.delta / rho, rel=1e-9)
    assert 1 - pair.top / (2 * rho * state.r) - 1e-12 <= found.sigma <= 1 + 1e-12


@few
@given(pairs(complex_too=False, min_n=4, singular=False, max_kappa=1e3))
def test_too_small_a_rho_is_refused(pair: Pair) -> None:
    state = point(pair)
    tiny = sm.Objective(sm.Pencil(pair.A, pair.B)).state(1e-6 * state.x)
    with pytest.raises(ValueError, match="rho is 1: C is not positive definite"):
        merging.optimal_direction(tiny, pair.F, 1.0)
    with pytest.raises(ValueError, match="give a rho ≥ 1 above t"):
        coefficients(pair, tiny.x, 1.0)
    with pytest.raises(ValueError, match="give a rho ≥ 1"):
        coefficients(pair, 1e6 * state.x, 0.5)


def test_an_eigenvector_has_no_split_direction() -> None:
    pair = make_pair([2.0, 0.0, 0.0], seed=3)
    state = sm.Objective(sm.Pencil(pair.A, pair.B)).state(pair.vector(0))
    for choose in (merging.optimal_direction, merging.merged_direction):
        with pytest.raises(ValueError, match="eigenvector"):
            choose(state, np.array([[1.0, 0.0, 0.0]]), 1e3)
    x = np.array([1.0, 0.0])
    with pytest.raises(ValueError, match="δ = 0"):
        MergeCoefficients.of(x, 2 * x, 2 * x, 4 * x, 4 * x)


# --- the merged step ----------------------------------------------------------------------------------------------


@some
@given(pairs(complex_too=False, max_kappa=1e3, min_n=3), st.floats(0.05, 3), st.floats(-0.5, 2))
def test_coefficients_are_those_of_the_splitting_step(pair: Pair, more: float, size: float) -> None:
    """ζTx + ωT²x minimises the surrogate of the merged direction, for any ρ and any length of x."""
    state = sm.Objective(sm.Pencil(pair.A, pair.B)).state(point(pair).x * 10**size)
    rho = safe_rho(pair, state, more)
    v = merging.merged_direction(state, pair.F, rho)
    found, step = coefficients(pair, state.x, rho)
    H = splitting.splitting_matrix(state, v, pair.F)
    assert distance(pair, step, splitting.splitting_step(state, v, pair.F)) <= 1e-13 * max(100, np.linalg.cond(H))
    Fv = pair.F.T @ v
    assert found.sigma == pytest.approx(1 - Fv @ np.linalg.solve(pair.B, Fv) / (2 * state.r), abs=1e-9)
    least = splitting.surrogate(state, v, pair.F, step)
    for stream in range(1, 4):
        d = pair.vector(stream)
        d *= np.linalg.norm(step) / np.linalg.norm(d)
        expected = float(d @ H @ d) / 2
        rise = splitting.surrogate(state, v, pair.F, step + d) - least
        assert rise == pytest.approx(expected, abs=1e-10 * expected + 8 * pair.f_rounding(step + d))


@some
@given(pairs(gap=1e-2))
def test_coefficients_against_dense_matrices(pair: Pair) -> None:
    """The published formulas, with every product of matrices written out."""
    x, A, inverse = scaled(pair, pair.vector(0)), pair.A, np.linalg.inv(pair.dense_B)

    def form(M: np.ndarray) -> float:
        return float(np.vdot(x, M @ x).real)

    s, p = form(A), form(A @ inverse @ A)
    r, delta = np.sqrt(s), form(A @ inverse @ A @ inverse @ A) - p**2 / s
    assume(delta > 1e-3 * p**2 / s)
    z = A @ inverse @ A @ x - p / s * (A @ x)
    found, step = coefficients(pair, x)
    rho = found.rho
    sigma = 1 - float(np.vdot(z, inverse @ z).real) / (2 * rho * r * delta)
    omega = 1 / (4 * sigma * rho * s)
    zeta = 1 / (2 * r) - 1 / (4 * sigma * rho * s) * p / s
    rounding = 1e-10 * max(1, pair.kappa / 100)
    assert rho == max(1.0, 1.01 * found.t)
    assert found.q == pytest.approx(p / s, rel=rounding)
    assert found.delta == pytest.approx(delta, rel=rounding)
    # σ may be 0.01, the difference of two numbers near one
    assert found.sigma == pytest.approx(sigma, abs=rounding)
    assert found.t == pytest.approx(rho * (1 - sigma), rel=rounding)
    assert found.omega == pytest.approx(omega, rel=100 * rounding)
    assert found.zeta == pytest.approx(zeta, abs=100 * rounding * (1 / (2 * r) + omega * p / s))
    expected = zeta * inverse @ A @ x + omega * inverse @ A @ inverse @ A @ x
    assert distance(pair, step, expected) <= 100 * rounding


@some
@given(pairs(gap=1e-2))
def test_split_merge_takes_the_published_step(pair: Pair) -> None:
    states = first_states(sm.Pencil(pair.A, pair.B), sm.SplitMerge(), pair.vector(0), 4)
    compared = 0
    for before, after in itertools.pairwise(states):
        # the published iterate is longer than the state's by the factor that the state remembers
        x = before.x * (before.memory or 1.0)
        Tx = np.linalg.solve(pair.dense_B, pair.A @ x)
        # the published δ is a difference of squares: compare where it has digits
        across = pair.F @ Tx - pair.F @ x * (np.vdot(pair.F @ x, pair.F @ Tx) / np.vdot(pair.F @ x, pair.F @ x))
        if np.linalg.norm(across) <= 0.03 * np.linalg.norm(pair.F @ Tx):
            break
        _, step = coefficients(pair, x)
        tol = 1e-11 * max(1, pair.kappa / 100)
        assert distance(pair, scaled(pair, after.x), scaled(pair, step)) <= tol, before.step
        # and the length that the state remembers is that of the published iterate
        assert distance(pair, after.x * after.memory, step) <= tol, before.step
        compared += 1
    assume(compared)


@some
@given(pairs(gap=1e-2, complex_too=False, max_kappa=1e3))
def test_merged_step_is_the_splitting_step_of_best_v(pair: Pair) -> None:
    pencil = sm.Pencil(pair.A, pair.B)
    F, A, B = pair.F, pair.A, pair.B
    for before, after in itertools.pairwise(first_states(pencil, sm.SplitMerge(), pair.vector(0), 4)):
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
