"""An incomplete factor keeps no more entries than its options allow."""

import numpy as np
import pytest

import splitmerge as sm
from pairs import grid

B = grid(40)
PENCIL = sm.Pencil(B, B)
COMPLETE = sm.IncompleteCholesky(drop_tol=0).prepare(PENCIL)


@pytest.mark.parametrize("fill", [1.0, 1.5, 2.0])
def test_fill_limits_the_entries(fill):
    """It is a multiple of those of B, and what is left of the factor still stands for B."""
    P = sm.IncompleteCholesky(drop_tol=0, fill=fill).prepare(PENCIL)
    assert P.GH.nnz <= min(fill * B.nnz, COMPLETE.GH.nnz - 1)
    b = np.random.default_rng(0).standard_normal(1600)
    assert b @ P.gram_solve(b) > 0


@pytest.mark.parametrize("drop_tol", [1e-1, 1e-2, 1e-3])
def test_a_drop_tolerance_leaves_small_entries_out(drop_tol):
    """The larger it is, the fewer are left."""
    P, finer = (sm.IncompleteCholesky(drop_tol=tol).prepare(PENCIL) for tol in (drop_tol, drop_tol / 10))
    assert P.GH.nnz < finer.GH.nnz <= COMPLETE.GH.nnz
    x = np.random.default_rng(0).standard_normal(1600)
    errors = [np.linalg.norm(Q.gram_solve(B @ x) - x) for Q in (P, finer, COMPLETE)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] <= 1e-10
