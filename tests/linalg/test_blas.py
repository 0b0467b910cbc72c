"""`blas`: products of Hermitian matrices with blocks, and the 1-norm."""

import numpy as np
import pytest

from splitmerge.linalg.blas import NARROW_COLUMNS, SUMMED_COLUMNS, hermitian_product, one_norm


def hermitian(n, dtype):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, n))
    if np.dtype(dtype).kind == "c":
        X = X + 1j * rng.standard_normal((n, n))
    return np.asfortranarray(X + X.conj().T).astype(dtype, order="F")


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
@pytest.mark.parametrize("columns", [0, 1, 2, 3, NARROW_COLUMNS, NARROW_COLUMNS + 1])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_block_is_multiplied_as_by_numpy(dtype, columns, order):
    M = hermitian(37, dtype)
    X = np.array(hermitian(37, dtype)[:, :columns], order=order)
    kept = X.copy()
    Y, expected = hermitian_product(M, X), M.astype("D") @ X.astype("D")
    assert Y.dtype == M.dtype
    assert np.abs(Y - expected).max(initial=0.0) <= 50 * np.finfo(M.dtype).eps * np.abs(expected).max(initial=0.0)
    np.testing.assert_array_equal(X, kept)


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
@pytest.mark.parametrize("n", [1, 3, 2 * SUMMED_COLUMNS, 2 * SUMMED_COLUMNS + 1, 5 * SUMMED_COLUMNS - 7])
def test_the_norm_is_the_largest_sum_of_magnitudes(n, dtype):
    """Wherever the column with the largest sum is."""
    M = hermitian(n, dtype)
    for column in {0, n // 2, n - 1}:
        X = M.copy(order="F")
        X[:, column] *= 10
        assert one_norm(X) == pytest.approx(np.abs(X.astype("D")).sum(axis=0).max(), rel=1e-5)
