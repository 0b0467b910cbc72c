"""Gradient and mirror descent over many steps: every step costs the same, and the products stay those of x."""

import itertools

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import splitmerge as sm
from pairs import HARD
from splitmerge.methods.first_order.mirror_descent import REFRESH_STEPS

STEPS = 2 * REFRESH_STEPS + 10
# the method, whether B must be given by its entries, and the products with B and solves with P of a step
METHODS = {
    "GradientDescent": (sm.GradientDescent(), False, 1, 0),
    "MirrorDescent": (sm.MirrorDescent(), True, 0, 1),
    "MirrorDescent, Diagonal": (sm.MirrorDescent(preconditioner=sm.Diagonal()), True, 1, 1),
}
each_method = pytest.mark.parametrize("name", METHODS)
each_B = pytest.mark.parametrize("identity", [False, True], ids=["mass", "identity"])


def counting(M, calls, name):
    """M as an operator that counts how often it is called."""
    calls[name] = 0

    def product(x):
        calls[name] += 1
        return M @ x

    return LinearOperator(M.shape, matvec=product, dtype=M.dtype)


def numbers(tally):
    return np.array([tally.A_products, tally.B_products, tally.B_solves, tally.P_solves])


@each_method
@each_B
def test_every_step_costs_the_same(name, identity):
    """Products that are recomputed against drift are monitoring; operators that count confirm the sum."""
    method, entries, B_products, P_solves = METHODS[name]
    (A, B), calls = HARD, {}
    B = None if identity else B if entries else counting(B, calls, "B")
    pencil = sm.Pencil(counting(A, calls, "A"), B)
    counts, own, uncounted = pencil.counts, [], []
    for _ in itertools.islice(sm.iterates(pencil, method=method, x0=np.ones(len(A)), rng=0), STEPS + 1):
        own.append(numbers(counts))
        total = sum(numbers(part) for part in (counts, counts.setup, counts.monitoring))
        uncounted.append([calls[letter] - total["AB".index(letter)] for letter in calls])
    cost = [1, 0, 0, 0] if identity else [1, B_products, 0, P_solves]
    np.testing.assert_array_equal(np.diff(own, axis=0), np.tile(cost, (STEPS, 1)))
    # only the check of an operator's symmetry is not counted, and that comes first
    np.testing.assert_array_equal(uncounted, np.full((STEPS + 1, len(calls)), 2))
    np.testing.assert_array_equal(numbers(counts.monitoring), [2, 0 if identity else 2, 0, 0])


@each_method
@each_B
def test_the_products_are_those_of_x(name, identity):
    method, (A, B) = METHODS[name][0], HARD
    pencil = sm.Pencil(A, None if identity else B)
    state = list(itertools.islice(sm.iterates(pencil, method=method, x0=np.ones(len(A)), rng=0), STEPS + 1))[-1]
    Bx = state.x if identity else B @ state.x
    np.testing.assert_allclose(state.Ax, A @ state.x, atol=1e-13 * np.linalg.norm(state.Ax))
    np.testing.assert_allclose(state.Bx, Bx, atol=1e-13 * np.linalg.norm(Bx))
