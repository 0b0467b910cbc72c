"""Single precision is taken only where it leaves enough digits."""

import numpy as np
import pytest

import splitmerge as sm
from pairs import pair_of
from splitmerge.methods.refinement.polish import first_polished
from splitmerge.preparation.single_precision import _deflated, in_single
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


@pytest.mark.parametrize("tol", [1e-8, 1e-15])
@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e6])
def test_a_deflated_factor_bounds_all_other_eigenvalues(tol, unit):
    """Its bound is above τ, as rounding of the factorisation may hide an eigenvalue that is slightly above τ."""
    values = unit * np.r_[np.linspace(0.0, 1.0, 119), 3.0]
    A = pair_of(values, condition=1.0)[0]
    products = Products(sm.Pencil(A))
    A, x = products.A.matrix, np.linalg.eigh(products.A.matrix)[1][:, -1]
    start = first_polished(products, products.scale, x)
    factor = _deflated(products, start, tol)
    # LLᴴ = τI − A + GGᴴ with G = √(2(λ − τ + |λ|)) x
    L = np.tril(factor.L).astype(float)
    tau = (np.sum(L * L) + np.trace(A) - 4 * start.value) / (len(A) - 2)
    assert tau < factor.bound < start.value
    assert 0.2 < (factor.bound - tau) / (start.value - tau) <= 0.51
