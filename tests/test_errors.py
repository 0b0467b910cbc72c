"""Errors that a caller can catch: their classes, what they say, and what they carry."""

import copy
import pickle

import numpy as np
import pytest

import splitmerge as sm
from checking import METHODS, short
from pairs import HARD
from splitmerge.errors import NotFactorised, NotPositiveDefinite, OutOfTime


@pytest.fixture(scope="module")
def error():
    with pytest.raises(sm.NotConverged) as caught:
        sm.solve(*HARD, 2, method=sm.SplitMerge(), max_steps=3, tol=1e-14, rng=0)
    return caught.value


def test_what_a_solve_that_did_not_converge_says(error):
    """Why, what to do, and what came of it."""
    sol = error.solution
    assert str(error) == f"{sol.reason.advice} {sol.summary()}"
    assert str(error).startswith("The limit of steps was reached: allow more max_steps")
    assert "after 3 steps" in str(error)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_copies(error, again):
    other = again(error)
    assert type(other) is sm.NotConverged
    assert str(other) == str(error)
    np.testing.assert_array_equal(other.solution.eigenvalues, error.solution.eigenvalues)


def test_classes():
    """As what they may be caught."""
    assert issubclass(sm.NotConverged, RuntimeError)
    assert issubclass(sm.NotPositiveDefinite, ValueError)
    assert sm.NotPositiveDefinite is NotPositiveDefinite
    assert issubclass(NotFactorised, ValueError)
    assert not issubclass(OutOfTime, (ValueError, RuntimeError))
    assert NotPositiveDefinite("B").indefinite is False


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("dtype", [np.float32, float, complex])
@pytest.mark.parametrize("method", [None, sm.Accelerated(), sm.Power()], ids=str)
def test_an_indefinite_B_is_refused_by_name(unit, dtype, method):
    """In every unit, and for any end."""
    A, B = np.diag([3.0, 2.0, 1.0, 0.5]), np.diag([1.0, 2.0, -1.0, 3.0])
    for which in ("largest", "smallest"):
        with pytest.raises(sm.NotPositiveDefinite, match=r"\bB\b"):
            sm.solve(A.astype(dtype), (unit * B).astype(dtype), which=which, method=method)


@pytest.mark.parametrize("method", METHODS, ids=short)
def test_an_interrupt_is_no_error(method):
    """Ctrl-C returns what is there, where a limit would raise."""

    def callback(state):
        if state.step == 2:
            raise KeyboardInterrupt

    sol = sm.solve(*HARD, method=method, tol=1e-14, callback=callback, rng=0)
    assert sol.reason is sm.Reason.INTERRUPTED
    assert not sol.converged
    assert sol.eigenvalues.shape == (1,)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("method", [None, sm.Accelerated()], ids=str)
def test_an_eigenvalue_that_no_number_holds(sign, which, method):
    """Of single precision, whose largest is 3.4e38; it is refused, and not told as infinite."""
    A, B = (np.diag(d).astype(np.float32) for d in ([sign * 1e30, 2e29, 1e29], [1e-10, 1.0, 2.0]))
    if (sign > 0) == (which == "largest"):
        with pytest.raises(ValueError, match="an eigenvalue is beyond the largest number of float32; multiply A by a"):
            sm.solve(A, B, which=which, method=method, rng=0)
    else:
        sol = sm.solve(A, B, which=which, method=method, rng=0)
        expected = np.sort([sign * 1e40, 2e29, 5e28])[0 if which == "smallest" else -1]
        np.testing.assert_allclose(sol.eigenvalues, expected, rtol=1e-4)
