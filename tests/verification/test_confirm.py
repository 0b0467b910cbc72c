"""Gaps of purified pairs next to a shift."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.problem.target import Target
from splitmerge.verification.bounds import bounds_from
from splitmerge.verification.confirm import _gaps


def gaps_of(values, sigma, error):
    """Of pairs with this error of 1/(λ − σ), relative to it."""
    values = np.array(values)
    pencil, transform = SimpleNamespace(inverse=None), SimpleNamespace(sign=1)
    setup = SimpleNamespace(shift_invert=transform, products=SimpleNamespace(pencil=pencil), target=Target.MAGNITUDE)
    return _gaps(setup, SimpleNamespace(values=values, sigma=sigma, errors=np.full(values.size, error)))


@pytest.mark.parametrize("values", [[2.0, 3.0], [2.0, 1.0], [3.0, 2.0], [2.0]], ids=str)
@pytest.mark.parametrize("error", [1e-12, 0.5, 1e12])
def test_a_shift_on_an_eigenvalue_leaves_no_gaps(values, error):
    """Rounding hides how far the value is from σ, so the gaps of 1/(λ − σ) are finite and bound nothing."""
    gaps, none = gaps_of(values, 2.0, error), [0.0] * len(values)
    assert np.isfinite(gaps).all()
    bounds = bounds_from(values, [error] * len(values), [1e-15] * len(values), none, gaps.tolist(), 2.0, 9)
    assert (bounds.angles == 1).all()


def test_pairs_next_to_a_shift_on_an_eigenvalue_are_bounded():
    """Beside eigenvalues up to 1e8, the nearest is as far from σ as rounding puts it."""
    n, neighbours = 800, np.full(799, 0.1)
    d = np.r_[1, 1.5, 2, np.geomspace(3, 1e8, n - 3)]
    A = sp.diags_array([d, neighbours, neighbours], offsets=[0, 1, -1], format="csr")
    exact = np.linalg.eigvalsh(A.toarray())[:4]
    sol = sm.solve(A, k=4, sigma=exact[0], rng=0)
    assert (np.abs(sol.eigenvalues - exact) <= sol.error_bounds).all()
