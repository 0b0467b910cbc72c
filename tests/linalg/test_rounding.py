"""The formulas of rounding, each by its definition."""

import math

import numpy as np
import pytest

from splitmerge.linalg.reductions import norm
from splitmerge.linalg.rounding import (
    AIMED_UNITS,
    ROUNDING_UNITS,
    STAGNATION_UNITS,
    Scale,
    attainable_residual,
    pivot_threshold,
    relative,
)

EPS = float(np.finfo(float).eps)
# η = 3, Λ = 20, and 1-norms 50 and 2
SCALE = Scale(3.0, 20.0, 100, EPS, 50.0, 2.0)


def test_residuals_are_relative_to_the_eigenvalue_that_is_not_shifted():
    assert SCALE.magnitude(10.0) == 7.0
    assert SCALE.magnitude(-4.0) == 7.0
    # one that is lost in the rounding of the largest counts as zero
    assert SCALE.magnitude(3.0) == pytest.approx(math.sqrt(EPS) * 20)


def test_floor():
    assert SCALE.floor(10.0, 0.5, 4.0) == pytest.approx(AIMED_UNITS * EPS * (50 + 7 * 2) * 0.5 / 4)


def test_stagnation():
    """Rounding at the largest eigenvalue and at the shift, but no excuse for everything."""
    assert SCALE.shifted_radius == 23
    assert SCALE.stagnation(0.5, 4.0) == pytest.approx(STAGNATION_UNITS * EPS * (50 + 23 * 2) * 0.5 / 4)
    assert SCALE.stagnation(1e20, 1.0) == pytest.approx(EPS**0.4)


def test_perturbation():
    """uᴴEu for a perturbation E of A and of λB by rounding, where ‖u‖ enters twice."""
    found = SCALE.perturbation(np.array([0.0, -7.0]), np.array([1.0, 10.0]))
    np.testing.assert_allclose(found, ROUNDING_UNITS * EPS * np.array([50.0, 64.0 * 100]))


def test_moved():
    moved = SCALE.moved(-1.0, 5.0)
    assert (moved.shift, moved.radius) == (-1.0, 5.0)
    assert moved[2:] == SCALE[2:]
    assert moved.shifted_radius == 6.0


def test_relative():
    assert relative(0.0, 0.0) == 0
    assert relative(1.0, 0.0) == math.inf
    assert relative(1.0, 4.0) == 0.25


def test_levels():
    assert attainable_residual(25, EPS) == pytest.approx(20 * EPS)
    assert pivot_threshold(25, np.dtype(np.float32)) == pytest.approx(50 * float(np.finfo(np.float32).eps))


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_a_norm_in_single_precision_does_not_overflow(dtype):
    assert norm(np.full(4, 1e30, dtype)) == pytest.approx(2e30)


def test_a_scale_that_is_moved_keeps_all_else():
    """The units of products with long rows among them."""
    scale = SCALE._replace(units=500.0)
    assert scale.moved(-1.0, 7.0) == scale._replace(shift=-1.0, radius=7.0)
    assert scale.moved(-1.0, 7.0).moved(scale.shift, scale.radius) == scale
