"""The figures of the theorems are those of the worst case."""

import numpy as np
import pytest
import scipy.linalg

from splitmerge import gallery
from splitmerge.bench.reproduce.theory import PAIR_ROWS, _landscape


def test_the_curvature_of_the_flattest_saddle():
    """Along the top eigenvector it is 2 − 2λ₁/λⱼ at the one for λⱼ, so that of the second is the largest."""
    A, B = gallery.synthetic_pair(PAIR_ROWS, 30, rng=0)
    values = scipy.linalg.eigh(A, B, eigvals_only=True)
    found = _landscape(A, B, np.random.default_rng(0).standard_normal(PAIR_ROWS))
    assert found["saddle"] == pytest.approx(2 - 2 * values[-1] / values[-2], rel=1e-8)
    assert found["stationary"] <= 1e-10
    assert found["minimum"] <= 1e-10
