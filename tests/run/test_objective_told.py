"""The column `f` of a history: xᴴBx − √(xᴴ(A + ηB)x) of a pair, which is −(λ + η)/4 where x is at its minimum."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from checking import short
from pairs import pair_of

LOW, HIGH = np.r_[-12.0, np.linspace(-3, 4, 217), 6, 9], np.r_[-0.5, np.linspace(0, 4, 217), 6, 9]
POSITIVE = np.r_[np.linspace(0.1, 4, 218), 6, 9]
PAIRS = {
    "far below zero": pair_of(LOW),
    "far below zero, identity": (pair_of(LOW, condition=1.0)[0], None),
    "a little below zero": pair_of(HIGH),
    "positive": pair_of(POSITIVE),
    "complex": pair_of(LOW, dtype=complex),
    "sparse": (sp.csr_array(sp.diags_array(LOW)), None),
}
METHODS = [None, sm.Accelerated(), sm.Lanczos(), sm.SplitMerge(), sm.Power()]


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("method", METHODS, ids=short)
@pytest.mark.parametrize("unit", [1.0, 1e6])
def test_of_the_largest(name, method, unit):
    """With the shift that is told, in the units of the eigenvalues."""
    A, B = PAIRS[name]
    sol = sm.solve(A * unit, B, method=method, rng=0, tol=1e-8 if method is None else 1e-4)
    assert len(sol.history)
    value, f = sol.history.value[-1], sol.history.f[-1]
    assert f == pytest.approx(-(value + sol.shift) / 4, rel=1e-5)
    assert value == pytest.approx(9 * unit, rel=1e-4)
    assert 0 <= sol.shift <= 13 * unit
    if name == "positive":
        assert sol.shift == 0


@pytest.mark.parametrize("name", ["far below zero", "a little below zero", "positive"])
@pytest.mark.parametrize("unit", [1.0, 1e6])
def test_of_the_smallest(name, unit):
    """As the largest of −A, so that the sign of the value is the other one."""
    A, B = PAIRS[name]
    sol = sm.solve(A * unit, B, which="smallest", method=sm.Lanczos(), rng=0, tol=1e-3)
    value, f = sol.history.value[-1], sol.history.f[-1]
    assert sol.shift >= 8.9 * unit
    assert f == pytest.approx(-(-value + sol.shift) / 4, rel=1e-4)


@pytest.mark.parametrize("method", METHODS, ids=short)
def test_it_falls(method):
    """Towards the minimum, which no state is below."""
    A, B = PAIRS["positive"]
    sol = sm.solve(A, B, method=method, rng=0, tol=1e-4)
    f = sol.history.f
    assert (np.diff(f) <= 1e-12).all()
    assert f.min() >= -9 / 4 - 1e-12
