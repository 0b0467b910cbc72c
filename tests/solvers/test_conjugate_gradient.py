"""Conjugate gradients as a solver for B."""

import numpy as np
import pytest

from checking import operator_of
from pairs import pair_of
from splitmerge.errors import OutOfTime
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.solvers.conjugate_gradient import ConjugateGradient
from splitmerge.system.budget import Budget


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_of_any_length_are_solved(dtype):
    """The squares of small residuals underflow, and B was called indefinite."""
    A, B = (M.astype(dtype) for M in pair_of(np.arange(1.0, 21), seed=0))
    lengths = np.array([1.0, float(np.finfo(dtype).tiny) ** 0.6, 0.0], dtype)
    R = np.random.default_rng(0).standard_normal((20, 3)).astype(dtype) * lengths
    pencil = Pencil(A, B)
    solver = ConjugateGradient(None, tol=1e-6).prepare(pencil)
    W, BW = solver.solve_block(np.asfortranarray(R))
    assert W.dtype == dtype
    scaled = pencil.B.matrix.astype(float) @ W
    for column in (0, 1):
        size = float(np.abs(R[:, column]).max())
        assert np.abs(scaled[:, column] - R[:, column]).max() < 1e-4 * size
        assert np.abs(BW[:, column] - R[:, column]).max() < 1e-4 * size
    assert not W[:, 2].any()


@pytest.mark.parametrize("guessed", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_short_vectors_are_solved(dtype, guessed):
    """The curvature pᴴBp underflowed in single precision, and B was called indefinite."""
    A, B = pair_of(np.arange(1.0, 8), seed=0, dtype=dtype)
    products = Products(Pencil(operator_of(A.astype(dtype)), operator_of((0.1 * B).astype(dtype))))
    solver = ConjugateGradient(None, tol=1e-13).prepare(products)
    for exponent in np.linspace(-20, -10, 40):
        b = (10**exponent * np.random.default_rng(0).standard_normal(7)).astype(dtype)
        guess = b.copy() if guessed else None
        w, Bw = solver.solve(b, guess, products.apply_B(guess) if guessed else None)
        room = 1e3 * np.finfo(dtype).eps * np.abs(b).max()
        assert np.abs(products.apply_B(w) - b).max() < room
        assert np.abs(Bw - b).max() < room


@pytest.mark.parametrize("columns", [0, 1, 3], ids=["vector", "one column", "block"])
def test_a_time_limit_ends_a_solve(columns):
    """However many steps it still would take."""
    A, B = pair_of(np.arange(1.0, 101), condition=1e8)
    budget = Budget(limit=0.0)
    budget.begin()
    solver = ConjugateGradient(None, tol=1e-14).prepare(Products(Pencil(A, B), budget=budget))
    b = np.ones((100, columns), order="F") if columns else np.ones(100)
    with pytest.raises(OutOfTime):
        solver.solve_block(b) if columns else solver.solve(b, None, None)
