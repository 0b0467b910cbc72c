"""Size and symmetry of an array: the largest entry, and the largest difference to the mirror image."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import splitmerge as sm
from splitmerge.problem.symmetry import lone_triangle, measure, tolerable
from strategies import hermitian, normal, seeds

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
}
# beyond a tile, and beyond where BLAS is asked
SIZES = [1, 2, 5, 130, 400]
each_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_size = pytest.mark.parametrize("n", SIZES)


def matrix(n, dtype, seed=0):
    return hermitian(normal(np.random.default_rng(seed), (n, n), dtype)).astype(dtype)


@each_layout
@each_dtype
@each_size
def test_hermitian(n, dtype, layout):
    a = layout(matrix(n, dtype))
    before = a.copy()
    size, asymmetry = measure(a)
    assert size == pytest.approx(np.abs(a).max(), rel=1e-6)
    assert asymmetry == 0
    assert np.array_equal(a, before)


@each_layout
@each_dtype
@given(n=st.integers(2, 40), seed=seeds, log_change=st.floats(-3, 3))
@settings(max_examples=10, deadline=None, derandomize=True)
def test_one_entry_that_differs(n, dtype, layout, seed, log_change):
    rng = np.random.default_rng(seed)
    a = matrix(n, dtype, seed)
    i, j = rng.choice(n, 2, replace=False)
    a[i, j] += 10**log_change
    size, asymmetry = measure(layout(a))
    assert size == pytest.approx(np.abs(a).max(), rel=1e-6)
    assert asymmetry == pytest.approx(np.abs(a - a.conj().T).max(), rel=1e-6)
    assert asymmetry > tolerable(size, a.dtype)


@each_dtype
@pytest.mark.parametrize("n", [130, 400])
@pytest.mark.parametrize("row", [0, 64, -1])
@pytest.mark.parametrize("column", [1, 65, -2])
def test_one_entry_in_any_tile(n, row, column, dtype):
    a = matrix(n, dtype)
    a[row, column] += 1
    assert measure(a)[1] == pytest.approx(1, rel=1e-4)
    assert measure(np.asfortranarray(a))[1] == pytest.approx(1, rel=1e-4)


@each_dtype
@each_size
def test_two_changes_that_cancel_in_a_sum(n, dtype):
    if n < 3:
        return
    a = matrix(n, dtype)
    a[0, 1] += 1
    a[0, 2] -= 1
    assert measure(a)[1] == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("n", [1, 5, 130])
def test_a_diagonal_that_is_not_real(n, dtype):
    a = matrix(n, dtype)
    a[n // 2, n // 2] += 0.25j
    assert measure(a)[1] == pytest.approx(0.5, rel=1e-4)


@pytest.mark.parametrize("n", [3, 130])
def test_symmetric_but_not_hermitian(n):
    a = matrix(n, complex)
    a = a + a.T
    a += 1j * np.ones((n, n))
    assert measure(a)[1] == pytest.approx(2, rel=1e-12)


@each_dtype
@each_size
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_what_is_not_finite(n, dtype, bad, layout):
    for place in {(0, 0), (n - 1, 0), (0, n - 1), (n // 2, n // 2)}:
        a = matrix(n, dtype)
        a[place] = bad
        assert not math.isfinite(measure(layout(a))[0])


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_products_that_overflow(dtype):
    """Finite entries of which no two can be added."""
    a = np.full((4, 4), 1.5e308, dtype)
    assert measure(a) == (1.5e308, 0.0)
    a[0, 1] = 1e308
    size, asymmetry = measure(a)
    assert size == 1.5e308
    assert asymmetry == pytest.approx(0.5e308)


@each_dtype
def test_rounding_is_tolerated(dtype):
    """An asymmetry of some roundings is found to be nothing, or what it is."""
    a = matrix(50, dtype)
    a[3, 7] *= 1 + 4 * np.finfo(dtype).eps
    size, asymmetry = measure(a)
    assert asymmetry <= tolerable(size, a.dtype)


def test_zero():
    assert measure(np.zeros((5, 5))) == (0.0, 0.0)


@pytest.mark.parametrize("stored", [False, True], ids=["left out", "stored"])
@pytest.mark.parametrize(("side", "take"), [("lower", sp.tril), ("upper", sp.triu)])
def test_a_lone_triangle_is_seen_beside_zeros(side, take, stored):
    """Whether they are stored or not."""
    a = sp.csr_array(np.ones((4, 4)) + np.diag(np.arange(4.0)))
    if stored:
        a.data[a.toarray().ravel() != take(a).toarray().ravel()] = 0
    else:
        a = sp.csr_array(take(a))
    assert lone_triangle(a) == lone_triangle(a.toarray()) == side
    with pytest.raises(ValueError, match=f"only its {side} triangle has entries"):
        sm.solve(a)
    assert lone_triangle(a + a.T) == lone_triangle(sp.eye_array(4)) == ""
