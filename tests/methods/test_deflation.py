"""Deflation: what it does where A proves indefinite."""

import numpy as np

import splitmerge as sm
from asking import asked
from pairs import pair_of
from splitmerge.methods.deflation import Deflation, Ended
from splitmerge.objective.state import State
from splitmerge.planning.choose import choose
from splitmerge.preparation.prepare import bind, setups
from splitmerge.preparation.workspace import Workspace
from splitmerge.run.reason import Reason


def test_one_larger_shift_is_enough():
    """A + ηB is positive at the vector that showed A to be indefinite, with as much to spare for those that follow."""
    A, B = pair_of(np.linspace(-4, 2, 30))
    problem, pencil = asked(A, B, method=sm.Power())
    workspace = Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))
    iteration = bind(next(iter(setups(workspace)))[1])
    assert isinstance(iteration, Deflation)
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
