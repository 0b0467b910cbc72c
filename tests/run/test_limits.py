"""Limits of steps hold exactly: n steps and not one more or less."""

from types import SimpleNamespace

import numpy as np
import pytest

import splitmerge as sm
from checking import METHODS, partial, short
from pairs import HARD
from splitmerge.problem.products import Products


def state(step, residual=1.0):
    return SimpleNamespace(step=step, residual=residual)


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_max_steps_stops_at_its_number(limit):
    check = sm.MaxSteps(limit).begin(None)
    reasons = [check(state(step)) for step in range(limit + 2)]
    assert reasons == [None] * limit + [sm.Reason.MAX_STEPS] * 2


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_stagnation_stops_at_its_number(limit):
    check = sm.Stagnation(limit).begin(None)
    residuals = [1.0, 0.5, *[0.5] * limit]
    reasons = [check(state(step, residual)) for step, residual in enumerate(residuals)]
    assert reasons == [None] * (limit + 1) + [sm.Reason.STAGNATED]


@pytest.mark.parametrize("method", [*METHODS, sm.LocallyOptimal()], ids=short)
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_every_method_makes_that_many_steps(method, limit):
    seen = []
    sol = partial(
        *(sm.Reason.MAX_STEPS, *HARD),
        method=method,
        max_steps=limit,
        tol=1e-14,
        callback=lambda state: seen.append(state.step),
    )
    assert sol.steps == limit
    assert seen == list(range(limit + 1))


@pytest.mark.parametrize("limit", [1, 2, 30])
@pytest.mark.parametrize("preconditioner", [None, sm.Exact()], ids=["Diagonal", "Exact"])
def test_conjugate_gradients_make_that_many_products(limit, preconditioner):
    A, B = HARD
    products = Products(sm.Pencil(A, B))
    # with the inverse itself one step is enough
    expected = limit if preconditioner is None else 1
    solver = sm.ConjugateGradient(limit, preconditioner, tol=1e-12).prepare(products)
    b = np.random.default_rng(0).standard_normal(len(A))
    for solve, right in ((lambda b: solver.solve(b, None, None), b), (solver.solve_block, b[:, None])):
        before = products.counts.B_products
        solve(right)
        assert products.counts.B_products - before == expected
