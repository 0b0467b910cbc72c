"""Deflation: what it does where A proves indefinite."""

import numpy as np
import pytest
import scipy.linalg

import splitmerge as sm
from asking import asked
from pairs import pair_of
from splitmerge.methods.deflation import Deflation, Ended
from splitmerge.objective.state import State
from splitmerge.planning.choose import choose
from splitmerge.preparation.prepare import bind, setups
from splitmerge.preparation.workspace import Workspace
from splitmerge.run.reason import Reason


def iteration_of(A, B):
    problem, pencil = asked(A, B, method=sm.Power())
    workspace = Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))
    iteration = bind(next(iter(setups(workspace)))[1])
    assert isinstance(iteration, Deflation)
    return iteration


def test_one_larger_shift_is_enough():
    """A + ηB is positive at the vector that showed A to be indefinite, with as much to spare for those that follow."""
    A, B = pair_of(np.linspace(-4, 2, 30))
    iteration = iteration_of(A, B)
    iteration.shift = 0.0
    state = iteration.start(np.ones((30, 1)))
    x = np.linalg.eigh(A)[1][:, 0]
    x = x / np.sqrt(x @ B @ x)
    state = State(iteration.deflated, x, A @ x, B @ x)
    assert state.indefinite
    again = iteration._restarted(Ended(state, Reason.EXHAUSTED, indefinite=True))
    assert iteration.shift >= 2 * abs(state.value)
    shifted = iteration.deflated.apply_A(x, B @ x)
    np.testing.assert_allclose(shifted, A @ x + iteration.shift * (B @ x), atol=1e-12)
    assert x @ shifted >= 0.999 * abs(state.value)
    assert isinstance(again, State)
    assert not again.indefinite


@pytest.mark.parametrize("shift", [4.1, 7.0, 50.0])
def test_what_is_passed_over_does_not_depend_on_the_shift(shift):
    """The survey is of the pair that was given: every eigenvector but the first has passed over the first."""
    A, B = pair_of(np.linspace(-4, 2, 30))
    iteration = iteration_of(A, B)
    iteration.shift = shift
    iteration.start(np.ones((30, 1)))
    X = scipy.linalg.eigh(A, B)[1]
    for index in (29, 28, 20, 5):
        x = np.ascontiguousarray(X[:, index])
        state = State(iteration.deflated, x, A @ x + shift * (B @ x), B @ x)
        assert iteration._passed_over(state) == (index != 29)
