"""Costs: the products and solves of a step, and none that nobody asked for."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

import splitmerge as sm
from strategies import make_pair
from theory import ALL_METHODS, first_states


def costs_of_steps(pencil: sm.Pencil, method: sm.Method, x0: np.ndarray, steps: int = 5) -> list[tuple[int, ...]]:
    """(A products, B products, B solves, P solves) of each step; the generator works inside next()."""
    states = sm.iterates(pencil, method=method, x0=x0, rng=0)
    next(states)
    costs = []
    for _ in range(steps):
        before = tally(pencil)
        next(states)
        costs.append(tuple(b - a for a, b in zip(before, tally(pencil), strict=True)))
    return costs


def tally(pencil: sm.Pencil) -> tuple[int, ...]:
    counts = pencil.counts
    return (counts.A_products, counts.B_products, counts.B_solves, counts.P_solves)


COSTS = [
    (sm.SplitMerge(), (2, 0, 2, 0)),
    (sm.Power(), (1, 0, 1, 0)),
    (sm.GradientDescent(), (1, 1, 0, 0)),
    (sm.GradientDescent(stepsize=sm.Adaptive()), (1, 1, 0, 0)),
    (sm.MirrorDescent(preconditioner=sm.Diagonal()), (1, 1, 0, 1)),
    (sm.MirrorDescent(preconditioner=sm.Diagonal(), stepsize=sm.Sampled()), (1, 1, 0, 1)),
    (sm.MirrorDescent(preconditioner=sm.LowRank(rank=3)), (1, 1, 0, 1)),
    (sm.MirrorDescent(preconditioner=sm.Exact()), (1, 0, 0, 1)),
    (sm.MirrorDescent(preconditioner=sm.SquareRoot()), (1, 0, 0, 1)),
    (sm.Lanczos(), (1, 0, 1, 0)),
    (sm.Lanczos(reorthogonalise=False), (1, 0, 1, 0)),
]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(("method", "cost"), COSTS, ids=lambda value: repr(value))
def test_cost_of_a_step(method: sm.Method, cost: tuple[int, ...], dtype: type, sparse: bool) -> None:
    pair = make_pair(np.linspace(1, 0.1, 20), seed=4, dtype=dtype, sparse=sparse)
    assert costs_of_steps(sm.Pencil(pair.A, pair.B), method, pair.vector(0)) == [cost] * 5


@pytest.mark.parametrize(("method", "cost"), COSTS, ids=lambda value: repr(value))
def test_no_work_for_an_identity_B(method: sm.Method, cost: tuple[int, ...]) -> None:
    pair = make_pair(np.linspace(1, 0.1, 20), seed=5)
    pencil = sm.Pencil(pair.A)
    costs = costs_of_steps(pencil, method, pair.vector(0))
    assert [c[:3] for c in costs] == [(cost[0], 0, 0)] * 5
    assert (pencil.counts.B_products, pencil.counts.B_solves) == (0, 0)


def test_counts_are_the_products_really_made() -> None:
    pair = make_pair(np.linspace(1, 0.1, 12), seed=6)
    made = {"A": 0, "B": 0}

    class Counted:
        """A matrix that counts its own products."""

        def __init__(self, name: str, matrix: np.ndarray) -> None:
            self.name, self.matrix, self.shape, self.dtype = name, matrix, matrix.shape, matrix.dtype

        def __matmul__(self, x: np.ndarray) -> np.ndarray:
            made[self.name] += 1
            return self.matrix @ x

    solve = sm.UserSolve(lambda b: np.linalg.solve(pair.B, b))
    for method in (sm.SplitMerge(inner=solve), sm.Power(inner=solve), sm.GradientDescent(), sm.Lanczos(inner=solve)):
        pencil = sm.Pencil(Counted("A", pair.A), Counted("B", pair.B))
        states = sm.iterates(pencil, method=method, x0=pair.vector(0), rng=0)
        next(states)
        for _ in range(5):
            before, counted = dict(made), tally(pencil)
            next(states)
            after = tally(pencil)
            assert made["A"] - before["A"] == after[0] - counted[0]
            assert made["B"] - before["B"] == after[1] - counted[1]


@pytest.mark.parametrize("method", ALL_METHODS, ids=repr)
def test_iterates_are_lazy_and_can_be_abandoned(method: sm.Method) -> None:
    pair = make_pair(np.linspace(1, 0.1, 15), seed=7)
    pencil = sm.Pencil(pair.A, pair.B)
    states = sm.iterates(pencil, method=method, x0=pair.vector(0), rng=0)
    # the set-up is made at once, so that errors come early; the iteration is not
    assert asdict(pencil.counts) | {"setup": None} == asdict(sm.Pencil(pair.A).counts) | {"setup": None}
    state = next(states)
    assert state.step == 0
    next(states)
    spent = asdict(pencil.counts)
    # looking at a state costs nothing
    _ = (state.eigenvalue, state.residual, state.f, state.x, state.final)
    states.close()
    assert asdict(pencil.counts) == spent
    _ = (state.Ax, state.Bx)
    # a search does not keep the products with its Ritz vectors: who asks for them has them made, as monitoring
    if isinstance(method, sm.Accelerated):
        assert (pencil.counts.monitoring.A_products, pencil.counts.monitoring.B_products) == (1, 1)
        spent["monitoring"] = asdict(pencil.counts.monitoring)
    assert asdict(pencil.counts) == spent
    with pytest.raises(StopIteration):
        next(states)
    again = first_states(pencil, method, pair.vector(0), 3)
    fresh = first_states(sm.Pencil(pair.A, pair.B), method, pair.vector(0), 3)
    assert [state.step for state in again] == [0, 1, 2, 3]
    for ours, theirs in zip(again, fresh, strict=True):
        np.testing.assert_array_equal(ours.x, theirs.x)
