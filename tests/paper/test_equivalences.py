"""Equivalences (sections 3.2 and 4.2): methods that take the same steps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as la
from hypothesis import given
from hypothesis import strategies as st

import splitmerge as sm
from splitmerge.preconditioners.diagonal import Rooted
from splitmerge.problem.products import Deflated
from strategies import Pair, hermitian, normal, pairs
from theory import (
    ALL_METHODS,
    DENSE_PRECONDITIONERS,
    SPARSE_PRECONDITIONERS,
    distance,
    few,
    first_states,
    largest_preconditioned,
    matrix_of,
    scaled,
    some,
)


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


@pytest.mark.parametrize("preconditioner", DENSE_PRECONDITIONERS, ids=repr)
@few
@given(pair=pairs(), size=st.floats(-2, 2))
def test_objective_in_the_domain(preconditioner: object, pair: Pair, size: float) -> None:
    pencil = sm.Pencil(pair.A, pair.B)
    domain = sm.TransformDomain(pencil, preconditioner.prepare(pencil))  # type: ignore[attr-defined]
    there = sm.Objective(sm.Pencil(domain.A, domain.B))
    x = scaled(pair, pair.vector(0)) * 10**size
    noise = 1e-14 * max(1e3, 10 * pair.kappa) * abs(np.vdot(x, pair.B @ x)) + 10 * pair.f_rounding(x)
    assert there.value(domain.to_domain(x)) == pytest.approx(sm.Objective(pencil).value(x), abs=noise)


@pytest.mark.parametrize("preconditioner", DENSE_PRECONDITIONERS, ids=repr)
@few
@given(pair=pairs(max_kappa=1e3), part=st.floats(0.05, 0.99))
def test_mirror_descent_minimises_the_mirror_objective(preconditioner: object, pair: Pair, part: float) -> None:
    pencil = sm.Pencil(pair.A, pair.B)
    P = preconditioner.prepare(pencil)  # type: ignore[attr-defined]
    domain = sm.TransformDomain(pencil, P)
    alpha = part / largest_preconditioned(pair, P)
    method = sm.MirrorDescent(preconditioner=preconditioner, stepsize=sm.Fixed(alpha))  # type: ignore[arg-type]
    before, after = first_states(pencil, method, pair.vector(0), 1)
    least = domain.mirror_objective(after.x, before.x, alpha)
    for stream in range(1, 4):
        d = pair.vector(stream)
        d *= np.linalg.norm(before.x) / np.linalg.norm(d)
        # the mirror map is quadratic: its divergence is that of d from 0
        expected = np.linalg.norm(P.apply(d)) ** 2 / 2
        assert domain.divergence(d, 0 * d) == pytest.approx(expected, rel=1e-13)
        rise = domain.mirror_objective(after.x + d, before.x, alpha) - least
        assert rise == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("preconditioner", DENSE_PRECONDITIONERS, ids=repr)
@few
@given(pair=pairs())
def test_divergence_is_bregman(preconditioner: object, pair: Pair) -> None:
    pencil = sm.Pencil(pair.A, pair.B)
    P = preconditioner.prepare(pencil)  # type: ignore[attr-defined]
    M = matrix_of(P.apply, pair.n, pair.A.dtype)
    gram = M.conj().T @ M

    def mirror_map(x: np.ndarray) -> float:
        return float(np.vdot(x, gram @ x).real) / 2

    x, z = pair.vector(1), pair.vector(2)
    parts = (mirror_map(x), -mirror_map(z), -float(np.vdot(gram @ z, x - z).real))
    found = sm.TransformDomain(pencil, P).divergence(x, z)
    assert found == pytest.approx(sum(parts), abs=1e-12 * sum(map(abs, parts)))


@some
@given(pairs(), st.floats(-0.5, 0.5))
def test_exact_and_diagonal_factors_are_optimal(pair: Pair, move: float) -> None:
    pencil = sm.Pencil(pair.A, pair.B)
    size = np.linalg.norm(pair.B) ** 2
    for exact in (sm.Exact(), sm.SquareRoot()):
        assert sm.TransformDomain(pencil, exact.prepare(pencil)).factor_error() <= 1e-22 * size
    diagonal = np.diag(pair.B).real
    least = sm.TransformDomain(pencil, sm.Diagonal().prepare(pencil)).factor_error()
    assert least == pytest.approx(np.linalg.norm(pair.B - np.diag(diagonal)) ** 2, abs=1e-13 * size)
    # any other diagonal P is further from B, by the change of its Gram matrix
    for i in range(pair.n):
        root = np.sqrt(diagonal)
        root[i] *= 1 + move
        error = sm.TransformDomain(pencil, Rooted(root)).factor_error()
        assert error - least == pytest.approx((diagonal[i] - root[i] ** 2) ** 2, abs=1e-13 * size)


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
        # of a converged x only rounding is left to step along
        if x.residual <= 1e-8 * rounding:
            break
        tol = 1e-10 if x.step <= 1 else 1e-9
        assert distance(pair, x.x, la.solve_triangular(L.conj().T, y.x)) <= tol * rounding, x.step


@some
@given(pairs(min_n=3, max_kappa=1e3), st.integers(1, 2), st.floats(0, 2))
def test_deflation_removes_the_leaders(pair: Pair, found: int, shift: float) -> None:
    products, eta = sm.Pencil(pair.A, pair.B).products, shift * pair.top
    U = pair.U[:, :found]
    deflated = Deflated.of(products, eta, 0.0, U, pair.B @ U)
    moved = matrix_of(lambda x: deflated.apply_A(x, pair.B @ x), pair.n, pair.A.dtype)
    P = np.eye(pair.n) - pair.B @ U @ U.conj().T
    expected = P @ (pair.A + eta * pair.B) @ P.conj().T
    assert np.linalg.norm(moved - expected) <= 1e-11 * np.linalg.norm(pair.A + eta * pair.B)
    values = la.eigh(hermitian(moved), pair.B, eigvals_only=True)[::-1]
    rest = np.sort(np.append(pair.eigenvalues[found:] + eta, np.zeros(found)))[::-1]
    np.testing.assert_allclose(values, rest, atol=1e-10 * pair.top)


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
