"""Rates: how fast each component of the error shrinks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import splitmerge as sm
from strategies import Pair, dtypes, make_pair, normal, pairs, seeds
from theory import first_states, some


def components(pair: Pair, state: sm.State) -> np.ndarray:
    """The coefficients of x in the eigenvectors, relative to that of the leader."""
    c = pair.U.conj().T @ (pair.dense_B @ state.x)
    return c / c[0]


@some
@given(ratio=st.floats(0.3, 0.95), n=st.integers(2, 25), seed=seeds, dtype=dtypes)
def test_power_contracts_by_the_ratio(ratio: float, n: int, seed: int, dtype: type) -> None:
    rest = np.linspace(0.5 * ratio, 0.01, n - 2)
    pair = make_pair(np.concatenate([[1.0, ratio], rest]), 100.0, seed, dtype)
    states = first_states(sm.Pencil(pair.A, pair.B), sm.Power(), pair.U.sum(axis=1), 14)
    tangents = [np.linalg.norm(components(pair, state)[1:]) for state in states]
    for before, after in itertools.pairwise(tangents[10:]):
        assert after / before == pytest.approx(ratio, rel=1e-4)


@some
@given(pairs(gap=0.05, max_kappa=1e3), st.floats(0.05, 0.99))
def test_exact_mirror_descent_contracts_each_component(pair: Pair, alpha: float) -> None:
    perturbation = pair.U @ normal(pair.rng(3), (pair.n,), pair.A.dtype)
    method = sm.MirrorDescent(preconditioner=sm.Exact(), stepsize=sm.Fixed(alpha))
    states = first_states(sm.Pencil(pair.A, pair.B), method, pair.U[:, 0] + 1e-5 * perturbation, 2)
    factors = 1 - 2 * alpha * (1 - pair.eigenvalues / pair.top)
    for before, after in itertools.pairwise(states):
        expected = factors * components(pair, before)
        # signed: a negative factor flips the component
        np.testing.assert_allclose(components(pair, after), expected, rtol=0, atol=1e-9)
