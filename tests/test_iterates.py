"""The iterates of a method outside of `solve`: its options are those of the method."""

import itertools

import numpy as np
import pytest

import splitmerge as sm
from checking import METHODS, short
from pairs import EASY, pair_of


@pytest.mark.parametrize("kind", [sm.Power, sm.SplitMerge, sm.Lanczos, sm.Accelerated])
def test_systems_with_B_are_solved_by_the_solver_of_the_method(kind):
    """As many of them as are counted, beside the one that checks the solver."""
    A, B = EASY
    solved = []

    def solve(b):
        solved.append(b)
        return np.linalg.solve(B, b)

    pencil = sm.Pencil(A, B)
    states = sm.iterates(pencil, method=kind(inner=sm.UserSolve(solve)), rng=0)
    values = [next(states).eigenvalue for _ in range(5)]
    counts = pencil.counts
    assert len(solved) == counts.B_solves + counts.setup.B_solves + counts.monitoring.B_solves + 1
    assert counts.B_solves > 0
    plain = sm.iterates(A, B, method=kind(), rng=0)
    np.testing.assert_allclose(values, [next(plain).eigenvalue for _ in range(5)], rtol=1e-6)


@pytest.mark.parametrize("method", [method for method in METHODS if method.solves], ids=short)
@pytest.mark.parametrize("lowest", [-0.2, -3.0])
def test_an_indefinite_A_is_shifted(method, lowest):
    """The largest eigenvalue is found, also where the lowest is larger in magnitude."""
    A, B = pair_of(np.r_[2.0, np.linspace(1, lowest, 19)])
    *_, last = itertools.islice(sm.iterates(A, B, method=method, rng=0), 300)
    assert last.eigenvalue == pytest.approx(2, abs=1e-3)
    assert last.residual <= 0.05
