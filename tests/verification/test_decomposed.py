"""Pairs from a decomposition stand or fall whatever the units of the matrices and the lengths of the vectors are."""

import numpy as np
import pytest
import scipy.linalg

from pairs import pair_of
from splitmerge.verification.decomposed import standing

TOL = 1e-6


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("units", [(1, 1, 1), (1e3, 1, 1), (1, 1e4, 1), (1, 1e-5, 1), (1, 1, 1e6)], ids=str)
def test_units_do_not_matter(dtype, units):
    """Of pairs with residuals below and above the tolerance, those below it stand."""
    a, m, length = units
    A, M = pair_of(np.linspace(1.0, 9.0, 8), dtype=dtype)
    values, X = scipy.linalg.eigh(A, M)
    noise = np.random.default_rng(0).standard_normal(X.shape) * np.where(np.arange(8) % 2, 1e-3, 1e-9)
    X = (X + noise) * length
    MX = M @ X
    residuals = np.linalg.norm(A @ X - MX * values, axis=0) / (values * np.linalg.norm(MX, axis=0))
    assert (standing(a * A, m * M, values * a / m, X, TOL) == (residuals <= TOL)).all()
    assert (residuals <= TOL).sum() == 4


def test_only_finite_values_are_judged():
    A, M = np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 1.0, 0.0])
    values = np.array([1.0, 2.5, np.inf])
    assert standing(A, M, values, np.eye(3), TOL).tolist() == [True, False, True]
