"""The paper's statements, tested on random pencils: derivatives, landscape, surrogates, equivalences, rates, costs."""

from __future__ import annotations

import itertools
from dataclasses import asdict

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import splitmerge as sm
from splitmerge.inner import attach
from strategies import EPS, Pair, definite, gep, hermitian, make_pair, normal, pairs, sparse_definite

some = settings(deadline=None, max_examples=40)
few = settings(deadline=None, max_examples=20)

DENSE_PRECONDITIONERS = [sm.Exact(), sm.SquareRoot(), sm.Diagonal(), sm.LowRank(rank=3)]
SPARSE_PRECONDITIONERS = [*DENSE_PRECONDITIONERS, sm.IncompleteCholesky(drop_tol=0.1)]
ALL_METHODS = [
    sm.SplitMerge(),
    sm.Power(),
    sm.GradientDescent(),
    sm.MirrorDescent(),
    sm.MirrorDescent(preconditioner=sm.Diagonal()),
    sm.Lanczos(),
]


def solving_pencil(pair: Pair) -> sm.Pencil:
    """A pencil that can solve with B."""
    pencil = sm.Pencil(pair.A, pair.B)
    attach(pencil, None)
    return pencil


def first_states(pencil: sm.Pencil, method: sm.Method, x0: np.ndarray, steps: int, rng: int = 0) -> list[sm.State]:
    """The start and at most `steps` steps."""
    return list(itertools.islice(sm.iterates(pencil, method, x0, rng=rng), steps + 1))


def B_norm(pair: Pair, x: np.ndarray) -> float:
    return float(np.sqrt(np.vdot(x, pair.B @ x).real))


def distance(pair: Pair, x: np.ndarray, y: np.ndarray) -> float:
    """‖x − y‖_B relative to ‖y‖_B."""
    return B_norm(pair, x - y) / B_norm(pair, y)


def matrix_of(action: object, n: int, dtype: object) -> np.ndarray:
    """The dense matrix of a linear map, column by column."""
    return np.column_stack([action(np.ascontiguousarray(e)) for e in np.eye(n, dtype=dtype)])  # type: ignore[operator]


def scaled(pair: Pair, x: np.ndarray) -> np.ndarray:
    """The multiple of x with the least f."""
    return x * (np.linalg.norm(pair.F @ x) / (2 * B_norm(pair, x) ** 2))


def admissible_v(pair: Pair, x: np.ndarray, length: float, stream: int = 7) -> np.ndarray:
    """A random v ⟂ Fx of this length; zero when F has one row."""
    Fx = pair.F @ x
    v = pair.vector(stream, size=Fx.size)
    # twice, as one pass leaves rounding of the size of what it took out
    for _ in range(2):
        v = v - Fx * (np.vdot(Fx, v) / np.vdot(Fx, Fx))
    norm = np.linalg.norm(v)
    return v * (length / norm) if norm > 1e-8 else 0 * v


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


# --- the surrogates (section 4.1) -------------------------------------------------------------------------------


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
        x, r = before.x, np.linalg.norm(F @ before.x)
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
        # the method may take another multiple of the same vector, where f is lower
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


# --- descent (sections 3.1 and 4.2) -----------------------------------------------------------------------------


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


def largest_preconditioned(pair: Pair, P: object) -> float:
    """λ₁((PᴴP)⁻¹B), densely."""
    inverse = matrix_of(P.solve, pair.n, pair.A.dtype)  # type: ignore[attr-defined]
    return float(np.linalg.norm(inverse.conj().T @ pair.dense_B @ inverse, 2))


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
        noise = 4 * pair.f_rounding(before.scaled().x)
        # −λ/4 is f at the best multiple of x
        assert after.scaled().f <= before.scaled().f + noise, before.step
    assert states[-1].value > states[0].value or states[0].residual < 1e-8


@some
@given(pairs(gap=0.1), st.integers(0, 3))
def test_split_merge_converges_globally(pair: Pair, stream: int) -> None:
    states = sm.iterates(sm.Pencil(pair.A, pair.B), sm.SplitMerge(), pair.vector(stream))
    state = next(state for state in itertools.islice(states, 500) if state.residual <= 1e-9)
    assert state.eigenvalue == pytest.approx(pair.top, rel=1e-9)
    # the length settles after the direction has
    state = next(itertools.islice(states, 20, None))
    assert 2 * state.r == pytest.approx(pair.top, rel=1e-9)
    assert state.f == pytest.approx(-pair.top / 4, rel=1e-9)


# --- equivalences (theorems 3.7 and 4.6) ------------------------------------------------------------------------


@some
@given(pairs())
def test_mirror_descent_with_half_step_is_power(pair: Pair) -> None:
    power = first_states(sm.Pencil(pair.A, pair.B), sm.Power(), pair.vector(0), 20)
    for preconditioner, tol in ((sm.Exact(), 1e-12), (sm.SquareRoot(), 1e-10)):
        method = sm.MirrorDescent(preconditioner=preconditioner, stepsize=sm.Fixed(0.5))
        mirror = first_states(sm.Pencil(pair.A, pair.B), method, pair.vector(0), 20)
        assert len(mirror) == len(power)
        for ours, theirs in zip(mirror, power, strict=True):
            assert distance(pair, ours.x, theirs.x) <= tol, theirs.step


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("preconditioner", SPARSE_PRECONDITIONERS, ids=repr)
@few
@given(data=st.data(), part=st.floats(0.05, 0.99))
def test_mirror_descent_is_gradient_descent_in_the_domain(
    sparse: bool, preconditioner: object, data: st.DataObject, part: float
) -> None:
    pair = data.draw(pairs(sparse=sparse))
    pencil = sm.Pencil(pair.A, pair.B)
    P = preconditioner.prepare(pencil)  # type: ignore[attr-defined]
    domain = sm.TransformDomain(pencil, P)
    stepsize = sm.Fixed(part / largest_preconditioned(pair, P))
    x0 = pair.vector(0)
    method = sm.MirrorDescent(preconditioner=preconditioner, stepsize=stepsize)  # type: ignore[arg-type]
    direct = first_states(sm.Pencil(pair.A, pair.B), method, x0, 10)
    image = sm.Pencil(domain.A, domain.B)
    mapped = first_states(image, sm.GradientDescent(stepsize=stepsize), domain.to_domain(x0), 10)
    for x, y in zip(direct, mapped, strict=True):
        assert distance(pair, domain.from_domain(y.x), x.x) <= 1e-10
        assert y.value == pytest.approx(x.value, rel=1e-9)


@some
@given(pairs(gap=0.1))
def test_split_merge_does_not_see_a_change_of_variables(pair: Pair) -> None:
    L = np.linalg.cholesky(pair.B)
    half = la.solve_triangular(L, pair.A, lower=True)
    whitened = hermitian(la.solve_triangular(L, half.conj().T, lower=True).conj().T)
    # a start almost without the leader would grow any rounding as fast as the leader
    x0 = pair.U @ (1 + 0.3 * normal(pair.rng(5), (pair.n,), pair.A.dtype))
    ours = first_states(sm.Pencil(pair.A, pair.B), sm.SplitMerge(), x0, 20)
    theirs = first_states(sm.Pencil(whitened), sm.SplitMerge(), L.conj().T @ x0, 20)
    rounding = max(1, pair.kappa / 100)
    # whitening costs κ roundings, and σ = 0.01 multiplies them by a hundred at each step
    for x, y in zip(ours, theirs, strict=True):
        tol = 1e-10 if x.step <= 1 else 1e-9
        assert distance(pair, x.x, la.solve_triangular(L.conj().T, y.x)) <= tol * rounding, x.step


@pytest.mark.parametrize("method", ALL_METHODS, ids=repr)
@few
@given(pair=pairs(gap=1e-2, max_kappa=1.0))
def test_no_B_is_the_identity(method: sm.Method, pair: Pair) -> None:
    x0, identity = pair.vector(0), np.eye(pair.n)
    ours = first_states(sm.Pencil(pair.A), method, x0, 8)
    theirs = first_states(sm.Pencil(pair.A, identity), method, x0, 8)
    for x, y in zip(ours, theirs, strict=False):
        phase = np.vdot(x.x, y.x)
        # Ritz vectors have no sign of their own
        assert np.linalg.norm(x.x * phase / abs(phase) - y.x) <= 1e-9 * np.linalg.norm(y.x)


# --- rates ------------------------------------------------------------------------------------------------------


def components(pair: Pair, state: sm.State) -> np.ndarray:
    """The coefficients of x in the eigenvectors, relative to that of the leader."""
    c = pair.U.conj().T @ (pair.dense_B @ state.x)
    return c / c[0]


@some
@given(
    ratio=st.floats(0.3, 0.95),
    n=st.integers(2, 25),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from([float, complex]),
)
def test_power_contracts_by_the_ratio(ratio: float, n: int, seed: int, dtype: type) -> None:
    rest = np.linspace(0.5 * ratio, 0.01, n - 2)
    pair = make_pair(np.concatenate([[1.0, ratio], rest]), 100.0, seed, dtype)
    states = first_states(sm.Pencil(pair.A, pair.B), sm.Power(), pair.U.sum(axis=1), 14)
    tangents = [np.linalg.norm(components(pair, state)[1:]) for state in states]
    for before, after in itertools.pairwise(tangents[10:]):
        assert after / before == pytest.approx(ratio, rel=1e-4)


@some
@given(pairs(gap=0.05, max_kappa=1e3), st.floats(0.05, 0.99))
def test_exact_mirror_descent_contracts_each_component(pair: Pair, alpha: float) -> None:
    perturbation = pair.U @ normal(pair.rng(3), (pair.n,), pair.A.dtype)
    method = sm.MirrorDescent(preconditioner=sm.Exact(), stepsize=sm.Fixed(alpha))
    states = first_states(sm.Pencil(pair.A, pair.B), method, pair.U[:, 0] + 1e-5 * perturbation, 2)
    factors = 1 - 2 * alpha * (1 - pair.eigenvalues / pair.top)
    for before, after in itertools.pairwise(states):
        expected = factors * components(pair, before)
        # signed: a negative factor flips the component
        np.testing.assert_allclose(components(pair, after), expected, rtol=0, atol=1e-9)


# --- costs ------------------------------------------------------------------------------------------------------


def costs_of_steps(pencil: sm.Pencil, method: sm.Method, x0: np.ndarray, steps: int = 5) -> list[tuple[int, ...]]:
    """(A products, B products, B solves, P solves) of each step; the generator works inside next()."""
    states = sm.iterates(pencil, method, x0, rng=0)
    next(states)
    costs = []
    for _ in range(steps):
        before = tally(pencil)
        next(states)
        costs.append(tuple(b - a for a, b in zip(before, tally(pencil), strict=True)))
    return costs


def tally(pencil: sm.Pencil) -> tuple[int, ...]:
    counts = pencil.counts
    return (counts.A_products, counts.B_products, counts.B_solves, counts.P_solves)


COSTS = [
    (sm.SplitMerge(), (2, 0, 2, 0)),
    (sm.Power(), (1, 0, 1, 0)),
    (sm.GradientDescent(), (1, 1, 0, 0)),
    (sm.GradientDescent(stepsize=sm.Adaptive()), (1, 1, 0, 0)),
    (sm.MirrorDescent(preconditioner=sm.Diagonal()), (1, 1, 0, 1)),
    (sm.MirrorDescent(preconditioner=sm.Diagonal(), stepsize=sm.Sampled()), (1, 1, 0, 1)),
    (sm.MirrorDescent(preconditioner=sm.LowRank(rank=3)), (1, 1, 0, 1)),
    (sm.MirrorDescent(preconditioner=sm.Exact()), (1, 0, 0, 1)),
    (sm.MirrorDescent(preconditioner=sm.SquareRoot()), (1, 0, 0, 1)),
    (sm.Lanczos(), (1, 0, 1, 0)),
    (sm.Lanczos(reorthogonalise=False), (1, 0, 1, 0)),
]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(("method", "cost"), COSTS, ids=lambda value: repr(value))
def test_cost_of_a_step(method: sm.Method, cost: tuple[int, ...], dtype: type, sparse: bool) -> None:
    pair = make_pair(np.linspace(1, 0.1, 20), seed=4, dtype=dtype, sparse=sparse)
    assert costs_of_steps(sm.Pencil(pair.A, pair.B), method, pair.vector(0)) == [cost] * 5


@pytest.mark.parametrize(("method", "cost"), COSTS, ids=lambda value: repr(value))
def test_no_work_for_an_identity_B(method: sm.Method, cost: tuple[int, ...]) -> None:
    pair = make_pair(np.linspace(1, 0.1, 20), seed=5)
    pencil = sm.Pencil(pair.A)
    costs = costs_of_steps(pencil, method, pair.vector(0))
    assert [c[:3] for c in costs] == [(cost[0], 0, 0)] * 5
    assert (pencil.counts.B_products, pencil.counts.B_solves) == (0, 0)


def test_counts_are_the_products_really_made() -> None:
    pair = make_pair(np.linspace(1, 0.1, 12), seed=6)
    made = {"A": 0, "B": 0}

    class Counted:
        """A matrix that counts its own products."""

        def __init__(self, name: str, matrix: np.ndarray) -> None:
            self.name, self.matrix, self.shape, self.dtype = name, matrix, matrix.shape, matrix.dtype

        def __matmul__(self, x: np.ndarray) -> np.ndarray:
            made[self.name] += 1
            return self.matrix @ x

    solve = sm.UserSolve(lambda b: np.linalg.solve(pair.B, b))
    for method in (sm.SplitMerge(inner=solve), sm.Power(inner=solve), sm.GradientDescent(), sm.Lanczos(inner=solve)):
        pencil = sm.Pencil(Counted("A", pair.A), Counted("B", pair.B))
        states = sm.iterates(pencil, method, pair.vector(0), rng=0)
        next(states)
        for _ in range(5):
            before, counted = dict(made), tally(pencil)
            next(states)
            after = tally(pencil)
            assert made["A"] - before["A"] == after[0] - counted[0]
            assert made["B"] - before["B"] == after[1] - counted[1]


@pytest.mark.parametrize("method", ALL_METHODS, ids=repr)
def test_iterates_are_lazy_and_can_be_abandoned(method: sm.Method) -> None:
    pair = make_pair(np.linspace(1, 0.1, 15), seed=7)
    pencil = sm.Pencil(pair.A, pair.B)
    untouched = asdict(pencil.counts)
    states = sm.iterates(pencil, method, pair.vector(0), rng=0)
    assert asdict(pencil.counts) == untouched
    state = next(states)
    assert state.step == 0
    next(states)
    spent = asdict(pencil.counts)
    # looking at a state costs nothing
    _ = (state.eigenvalue, state.residual, state.f, state.x, state.Ax, state.Bx, state.final)
    states.close()
    assert asdict(pencil.counts) == spent
    with pytest.raises(StopIteration):
        next(states)
    again = first_states(pencil, method, pair.vector(0), 3)
    fresh = first_states(sm.Pencil(pair.A, pair.B), method, pair.vector(0), 3)
    assert [state.step for state in again] == [0, 1, 2, 3]
    for ours, theirs in zip(again, fresh, strict=True):
        np.testing.assert_array_equal(ours.x, theirs.x)


# --- preconditioners --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("preconditioner", [*SPARSE_PRECONDITIONERS, sm.IncompleteCholesky(), sm.LowRank()], ids=repr)
@few
@given(
    n=st.integers(2, 25),
    log_kappa=st.floats(0, 4),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from([float, complex]),
)
def test_four_actions_of_a_preconditioner_agree(
    sparse: bool, preconditioner: object, n: int, log_kappa: float, seed: int, dtype: type
) -> None:
    rng = np.random.default_rng(seed)
    kappa = 10**log_kappa
    B = sparse_definite(n, kappa, rng, dtype) if sparse else definite(n, kappa, rng, dtype)
    P = preconditioner.prepare(sm.Pencil(np.eye(n), B))  # type: ignore[attr-defined]
    p, inverse, adjoint, gram = (
        matrix_of(action, n, dtype) for action in (P.apply, P.solve, P.solve_adjoint, P.gram_solve)
    )
    assert all(X.dtype == np.dtype(dtype) for X in (p, inverse, adjoint, gram))
    cond = np.linalg.cond(p)
    np.testing.assert_allclose(inverse @ p, np.eye(n), atol=1e-13 * n * cond)
    np.testing.assert_allclose(adjoint, inverse.conj().T, atol=1e-13 * n * cond * np.abs(inverse).max())
    product = inverse @ inverse.conj().T
    np.testing.assert_allclose(gram, product, atol=1e-13 * n * cond * np.abs(product).max())
    dense = B.toarray() if sparse else B
    pencil_matrix = p.conj().T @ p
    if P.exact:
        np.testing.assert_allclose(pencil_matrix, dense, atol=1e-13 * n * np.abs(dense).max())
    if isinstance(preconditioner, sm.Diagonal):
        np.testing.assert_allclose(pencil_matrix, np.diag(np.diag(dense)), rtol=1e-14)
    assert P.exact == isinstance(preconditioner, (sm.Exact, sm.SquareRoot))


@few
@given(n=st.integers(2, 25), seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from([float, complex]))
def test_incomplete_becomes_complete_without_dropping(n: int, seed: int, dtype: type) -> None:
    B = sparse_definite(n, 10.0, np.random.default_rng(seed), dtype)
    P = sm.IncompleteCholesky(drop_tol=0.0, fill=100.0).prepare(sm.Pencil(np.eye(n), B))
    p = matrix_of(P.apply, n, dtype)
    np.testing.assert_allclose(p.conj().T @ p, B.toarray(), atol=1e-12 * abs(B).max())


@few
@given(n=st.integers(6, 25), seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from([float, complex]))
def test_low_rank_is_exact_on_identity_plus_low_rank(n: int, seed: int, dtype: type) -> None:
    rng = np.random.default_rng(seed)
    # unit-modulus entries keep the diagonal constant, so the Jacobi scaling leaves the low-rank form alone
    v = np.exp(2j * np.pi * rng.random(n)) if dtype is complex else rng.choice([-1.0, 1.0], n)
    B = np.eye(n) + 10 * np.outer(v, v.conj())
    P = sm.LowRank(rank=1).prepare(sm.Pencil(np.eye(n), B))
    p = matrix_of(P.apply, n, dtype)
    np.testing.assert_allclose(p.conj().T @ p, B, atol=1e-11)


@few
@given(pairs(sparse=True, max_kappa=1e2))
def test_transform_domain_has_the_same_eigenvalues(pair: Pair) -> None:
    pencil = sm.Pencil(pair.A, pair.B)
    for preconditioner in SPARSE_PRECONDITIONERS:
        domain = sm.TransformDomain(pencil, preconditioner.prepare(pencil))  # type: ignore[attr-defined]
        A, B = (matrix_of(X.matvec, pair.n, pair.A.dtype) for X in (domain.A, domain.B))
        np.testing.assert_allclose(gep(hermitian(A), hermitian(B))[0], pair.eigenvalues, atol=1e-10 * pair.top)
        if domain.P.exact:
            np.testing.assert_allclose(B, np.eye(pair.n), atol=1e-11)


def test_strategies_build_what_they_promise() -> None:
    for dtype, sparse in itertools.product((float, complex), (False, True)):
        pair = make_pair([3.0, 2.0, 1.0, 0.0], 1e3, 8, dtype, sparse=sparse)
        np.testing.assert_allclose(gep(pair.A, pair.B)[0], pair.eigenvalues, atol=1e-12)
        np.testing.assert_allclose(pair.F.conj().T @ pair.F, pair.A, atol=1e-10)
        np.testing.assert_allclose(pair.U.conj().T @ (pair.B @ pair.U), np.eye(4), atol=1e-12)
        assert sp.issparse(pair.B) == sparse
        assert sparse or np.linalg.cond(pair.B) == pytest.approx(1e3)
