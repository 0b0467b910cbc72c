"""Descent (sections 3.1 and 4.2): f falls at every step, by as much as promised."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.linalg as la
from hypothesis import assume, given
from hypothesis import strategies as st

import splitmerge as sm
from strategies import Pair, hermitian, pairs
from theory import (
    DENSE_PRECONDITIONERS,
    SPARSE_PRECONDITIONERS,
    B_norm,
    few,
    first_states,
    largest_preconditioned,
    some,
)


def assert_descent(pair: Pair, states: list[sm.State], drops: list[float] | None = None) -> None:
    """f falls at every step, by `drops` at least; and the f that the states carry is that of their x."""
    objective = sm.Objective(sm.Pencil(pair.A, pair.B))
    values = [objective.value(state.x) for state in states]
    noise = max(pair.f_rounding(state.x) for state in states)
    for step, (before, after) in enumerate(itertools.pairwise(values)):
        assert after <= before - (drops[step] if drops else 0.0) + noise, step
    np.testing.assert_allclose([state.f for state in states], values, rtol=0, atol=10 * noise)
    # the start is not converged, so that the whole run has somewhere to go
    assert values[-1] < values[0] or states[0].residual < 1e-10


def promised_drops(states: list[sm.State], largest: float, P: object = None) -> list[float]:
    """α(1 − αλ₁(B̃))‖∇f‖² in the metric of P for each step; α is read off the move itself."""
    drops = []
    for before, after in itertools.pairwise(states):
        if before.residual < 1e-6:
            break
        g = 2 * before.Bx - before.Ax / before.r
        d = g if P is None else P.gram_solve(g)  # type: ignore[attr-defined]
        move = before.x - after.x
        alpha = np.vdot(d, move).real / np.vdot(d, d).real
        assert 0 < alpha < 1 / largest * (1 + 1e-9)
        assert np.linalg.norm(move - alpha * d) <= 1e-10 * np.linalg.norm(before.x)
        # the last digits of g are rounding, and the inequality is sharp for a rank-one A
        drops.append((1 - 1e-9) * alpha * (1 - alpha * largest) * np.vdot(g, d).real)
    return drops


@some
@given(pairs(gap=0.05), st.floats(0.05, 0.999))
def test_gradient_descent_decreases_enough(pair: Pair, part: float) -> None:
    largest = float(np.linalg.norm(pair.B, 2))
    for stepsize in (sm.Sampled(), sm.Fixed(part / largest)):
        method = sm.GradientDescent(stepsize=stepsize)
        states = first_states(sm.Pencil(pair.A, pair.B), method, pair.vector(0), 25)
        drops = promised_drops(states, largest)
        assert_descent(pair, states[: len(drops) + 1], drops)


@pytest.mark.parametrize("preconditioner", DENSE_PRECONDITIONERS, ids=repr)
@few
@given(pair=pairs(gap=0.05), part=st.floats(0.05, 0.999))
def test_mirror_descent_decreases_enough(preconditioner: object, pair: Pair, part: float) -> None:
    check_mirror_descent(preconditioner, pair, part)


@pytest.mark.parametrize("preconditioner", SPARSE_PRECONDITIONERS, ids=repr)
@few
@given(pair=pairs(gap=0.05, sparse=True, max_kappa=1e3), part=st.floats(0.05, 0.999))
def test_mirror_descent_decreases_enough_sparse(preconditioner: object, pair: Pair, part: float) -> None:
    check_mirror_descent(preconditioner, pair, part)


def check_mirror_descent(preconditioner: object, pair: Pair, part: float) -> None:
    P = preconditioner.prepare(sm.Pencil(pair.A, pair.B))  # type: ignore[attr-defined]
    largest = largest_preconditioned(pair, P)
    for stepsize in (sm.Sampled(), sm.Fixed(part / largest)):
        method = sm.MirrorDescent(preconditioner=preconditioner, stepsize=stepsize)  # type: ignore[arg-type]
        states = first_states(sm.Pencil(pair.A, pair.B), method, pair.vector(0), 25)
        drops = promised_drops(states, largest, P)
        assert_descent(pair, states[: len(drops) + 1], drops)


@some
@given(pairs(gap=0.05), st.floats(0.1, 1.0))
def test_adaptive_steps_descend(pair: Pair, relaxation: float) -> None:
    stepsize = sm.Adaptive(relaxation)
    methods = [sm.GradientDescent(stepsize=stepsize)]
    methods += [sm.MirrorDescent(preconditioner=P, stepsize=stepsize) for P in DENSE_PRECONDITIONERS]  # type: ignore[misc]
    for method in methods:
        assert_descent(pair, first_states(sm.Pencil(pair.A, pair.B), method, pair.vector(0), 25))


@some
@given(pairs(gap=0.05))
def test_full_adaptive_step_is_the_best_on_its_ray(pair: Pair) -> None:
    methods: list[sm.Method] = [sm.MirrorDescent(preconditioner=sm.Exact(), stepsize=sm.Adaptive(1.0))]
    # a real step is the best of all complex ones only where xᴴAd is real, as it is for an exact P
    if pair.A.dtype.kind == "f":
        methods.append(sm.GradientDescent(stepsize=sm.Adaptive(1.0)))
    for method in methods:
        before, after = first_states(sm.Pencil(pair.A, pair.B), method, pair.vector(0), 1)
        g = 2 * before.Bx - before.Ax / before.r
        d = g if isinstance(method, sm.GradientDescent) else np.linalg.solve(pair.B, g)
        assume(B_norm(pair, d) > 1e-3 * B_norm(pair, before.x))
        # minimising f over span{x, d} is Rayleigh–Ritz there
        basis = np.linalg.qr(np.column_stack([before.x / np.linalg.norm(before.x), d / np.linalg.norm(d)]))[0]
        ritz = la.eigh(*(hermitian(basis.conj().T @ X @ basis) for X in (pair.A, pair.B)), eigvals_only=True)
        assert after.value == pytest.approx(ritz[-1], rel=1e-12 * max(100, pair.kappa))


@some
@given(pairs())
def test_split_merge_descends(pair: Pair) -> None:
    states = first_states(sm.Pencil(pair.A, pair.B), sm.SplitMerge(), pair.vector(0), 40)
    for before, after in itertools.pairwise(states):
        # a badly conditioned B leaves more of f to rounding than 1e-13
        assert after.f <= before.f + max(1e-13 * abs(before.f), pair.f_rounding(after.x)), before.step


@some
@given(pairs())
def test_split_merge_raises_the_quotient(pair: Pair) -> None:
    states = first_states(sm.Pencil(pair.A, pair.B), sm.SplitMerge(), pair.vector(0), 40)
    for before, after in itertools.pairwise(states):
        noise = 4 * pair.f_rounding(before.x)
        # −λ/4 is f at the best multiple of x
        assert -after.value / 4 <= -before.value / 4 + noise, before.step
    assert states[-1].value > states[0].value or states[0].residual < 1e-8


@some
@given(pairs(gap=0.1), st.integers(0, 3))
def test_split_merge_converges_globally(pair: Pair, stream: int) -> None:
    states = sm.iterates(sm.Pencil(pair.A, pair.B), method=sm.SplitMerge(), x0=pair.vector(stream))
    state = next(state for state in itertools.islice(states, 500) if state.residual <= 1e-9)
    assert state.eigenvalue == pytest.approx(pair.top, rel=1e-9)
    # the length settles after the direction has
    state = next(itertools.islice(states, 20, None))
    assert 2 * state.r == pytest.approx(pair.top, rel=1e-9)
    assert state.f == pytest.approx(-pair.top / 4, rel=1e-9)


@some
@given(pairs())
def test_accelerated_descends_at_least_as_far(pair: Pair) -> None:
    """After 2m + 1 products its space holds the mth iterate of Split-Merge from the same start."""
    x0 = pair.vector(0)
    split_merge = first_states(sm.Pencil(pair.A, pair.B), sm.SplitMerge(), x0, 20)
    pencil = sm.Pencil(pair.A, pair.B)
    before = np.inf
    for state in sm.iterates(pencil, method=sm.Accelerated(), x0=x0, rng=0):
        rival = split_merge[min((pencil.counts.A_products - 1) // 2, len(split_merge) - 1)]
        noise = max(1e-12 * pair.top, 10 * pair.f_rounding(rival.x))
        assert state.f <= min(before, rival.f) + noise, state.step
        before = state.f
        if state.residual <= 1e-9 or state.step == 20:
            break


@some
@given(pairs(gap=0.05), st.integers(0, 3))
def test_accelerated_converges_globally(pair: Pair, stream: int) -> None:
    states = sm.iterates(sm.Pencil(pair.A, pair.B), x0=pair.vector(stream), rng=0)
    state = next(state for state in itertools.islice(states, 500) if state.residual <= 1e-9)
    assert state.eigenvalue == pytest.approx(pair.top, rel=1e-9)
    assert state.f == pytest.approx(-pair.top / 4, rel=1e-9)
