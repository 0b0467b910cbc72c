"""Solves with A − σB by a function of the user's, in the coordinates of a scaled and equilibrated pencil."""

import numpy as np
import pytest

from pairs import pair_of
from splitmerge.problem.pencil import Pencil
from splitmerge.solvers.shifted import UserInverse


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("unit", [2.0**-600, 1.0, 2.0**600])
@pytest.mark.parametrize("spread", [0, 6])
@pytest.mark.parametrize("factor", [1.0, -2.0])
def test_the_inverse_of_the_scaled_pair(dtype, unit, spread, factor):
    A, B = pair_of(np.arange(1.0, 9.0), dtype=dtype)
    d = np.exp2(np.linspace(-spread, spread, 8))
    A, B = (d[:, None] * M * d for M in (A, B))
    pencil = Pencil(A * unit, B, equilibrate=True)
    assert (pencil.scaling is not None) == (spread > 0)
    assert (pencil.A.scale != 1) == (unit != 1)
    b = np.random.default_rng(0).standard_normal(8).astype(dtype)
    # the inverse of A alone: σ = 0
    inverse = UserInverse(pencil, lambda v: np.linalg.solve(A, v) / unit, factor)
    np.testing.assert_allclose(inverse.solve(b), factor * np.linalg.solve(pencil.A.matrix, b), rtol=1e-9)


@pytest.mark.parametrize("answer", [np.ones(3), np.full(8, np.inf)])
def test_what_is_no_solution_is_refused(answer):
    pencil = Pencil(np.eye(8), None)
    with pytest.raises(ValueError, match="OPinv gave"):
        UserInverse(pencil, lambda _: answer, 1.0).solve(np.ones(8))
