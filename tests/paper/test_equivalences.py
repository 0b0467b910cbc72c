"""Equivalences (sections 3.2 and 4.2): methods that take the same steps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as la
from hypothesis import given
from hypothesis import strategies as st

import splitmerge as sm
from strategies import Pair, hermitian, normal, pairs
from theory import ALL_METHODS, SPARSE_PRECONDITIONERS, distance, few, first_states, largest_preconditioned, some


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
        # of a converged x only rounding is left to step along
        if x.residual <= 1e-8 * rounding:
            break
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
