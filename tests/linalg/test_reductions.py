"""Sums over the unknowns."""

import math

import numpy as np
import pytest

from splitmerge.linalg.reductions import column_dots, column_forms

EPS = np.finfo(float).eps


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [1, 7, 2048, 100_003])
def test_forms_of_terms_that_are_alike(n, order):
    X = np.full((n, 3), 0.1, order=order)
    Y = np.asarray(X * [1.0, -3.0, 7.0], order=order)
    truth = [math.fsum((x * y).tolist()) for x, y in zip(X.T, Y.T, strict=True)]
    assert np.abs(column_forms(X, Y) / truth - 1).max() <= 8 * EPS


def test_forms_are_real_parts():
    rng = np.random.default_rng(0)
    X, Y = (rng.standard_normal((50, 4)) + 1j * rng.standard_normal((50, 4)) for _ in range(2))
    assert column_forms(X, Y).dtype.kind == "f"
    assert np.allclose(column_forms(X, Y), column_dots(X, Y), rtol=1e-13, atol=0)
