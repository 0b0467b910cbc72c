"""Single precision is taken only where it leaves enough digits."""

import numpy as np
import pytest

import splitmerge as sm
from pairs import pair_of
from splitmerge.preparation.single_precision import in_single
from splitmerge.problem.products import Products


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(("condition", "taken"), [(10.0, True), (1e3, True), (5e4, False), (1e6, False), (1e9, False)])
def test_up_to_a_condition_of_B(dtype, condition, taken):
    A, B = pair_of(np.arange(1.0, 31.0), dtype=dtype, condition=condition)
    # in the range of single precision
    single = in_single(Products(sm.Pencil(A / condition, B / condition)))
    assert (single is not None) == taken
    if taken:
        assert 2 * single.A.dtype.itemsize == 2 * single.solver.dtype.itemsize == np.dtype(dtype).itemsize


@pytest.mark.parametrize("factor", [1e-7, 1e7])
@pytest.mark.parametrize("which", "AB")
def test_not_beyond_its_range(factor, which):
    A, B = pair_of(np.arange(1.0, 31.0))
    A, B = (A * factor, B) if which == "A" else (A, B * factor)
    assert in_single(Products(sm.Pencil(A, B))) is None
    assert in_single(Products(sm.Pencil(A, None))) is None or which == "B"
