"""Bounds of the curvature: at most as many products as they are allowed."""

import numpy as np
import pytest

import splitmerge as sm
from pairs import pair_of
from splitmerge.preconditioners import Diagonal


@pytest.mark.parametrize("P", [None, Diagonal()], ids=repr)
@pytest.mark.parametrize("steps", [3, 80])
def test_the_steps_of_a_bound(steps, P):
    """All of them leave a few percent between the bound and the largest eigenvalue."""
    A, B = pair_of(np.linspace(1, 2, 100), condition=50.0)
    pencil, d = sm.Pencil(A, B), np.sqrt(np.diag(B)) if P is not None else np.ones(100)
    prepared = None if P is None else P.prepare(pencil)
    bound = sm.LanczosBound(steps).largest(pencil, prepared, np.random.default_rng(0))
    assert pencil.counts.B_products == steps
    top = np.linalg.eigvalsh(B / d / d[:, None])[-1]
    assert top <= bound
    assert steps < 80 or bound <= 1.03 * top
