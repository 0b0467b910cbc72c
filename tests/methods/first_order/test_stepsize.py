"""Step sizes: what their parameters say is what is done."""

import numpy as np
import pytest

import splitmerge as sm
from pairs import EASY


def first_step(stepsize, *, exact=False):
    """α in the first step from a fixed start: x₁ is proportional to x₀ − αd with d = (PᴴP)⁻¹∇f."""
    A, B = EASY
    pencil, x0 = sm.Pencil(A, B), np.linspace(1, 2, len(A))
    method = (
        sm.MirrorDescent(preconditioner=sm.Exact(), stepsize=stepsize)
        if exact
        else sm.GradientDescent(stepsize=stepsize)
    )
    states = sm.iterates(pencil, method=method, x0=x0, rng=0)
    before, after = next(states), next(states)
    x, y = before.x.copy(), after.x
    d = 2 * before.Bx - before.Ax / before.r
    d = np.linalg.solve(B, d) if exact else d
    # y = c (x − αd)
    (c, minus), *_ = np.linalg.lstsq(np.column_stack([x, d]), y)
    return -minus / c


@pytest.mark.parametrize("exact", [False, True], ids=["GradientDescent", "MirrorDescent"])
@pytest.mark.parametrize("relaxation", [0.1, 0.5, 0.8, 1.0])
def test_relaxation_multiplies_the_step_of_the_line_search(exact, relaxation):
    full = first_step(sm.Adaptive(1.0), exact=exact)
    assert full > 0
    assert first_step(sm.Adaptive(relaxation), exact=exact) == pytest.approx(relaxation * full, rel=1e-6)


def test_relaxation_is_eight_tenths_by_default():
    assert first_step(sm.Adaptive()) == pytest.approx(0.8 * first_step(sm.Adaptive(1.0)), rel=1e-6)


@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_fixed_is_relative_to_what_it_says(alpha):
    ratio = first_step(sm.Fixed(alpha), exact=True) / first_step(sm.Fixed(2 * alpha), exact=True)
    assert ratio == pytest.approx(0.5, rel=1e-6)
