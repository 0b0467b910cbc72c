"""Sums and patterns of CSR arrays, compared with SciPy's."""

import numpy as np
import pytest
import scipy.sparse as sp

from splitmerge.linalg import csr


def random(n, density, seed, dtype=float, index=np.int32):
    rng = np.random.default_rng(seed)
    M = sp.random_array((n, n), density=density, rng=rng, format="csr").astype(dtype)
    M = sp.csr_array(M + M.T)
    M.indices, M.indptr = M.indices.astype(index), M.indptr.astype(index)
    return M


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtypes", [(float, float), (np.float32, np.float32), (float, complex), (np.float32, float)])
@pytest.mark.parametrize("densities", [(0.1, 0.1), (0.0, 0.2), (0.3, 0.0)])
def test_plus(densities, dtypes, index):
    a = random(30, densities[0], 0, dtypes[0])
    b = random(30, densities[1], 1, dtypes[1], index)
    c = csr.plus(a, -0.5, b)
    expected = a.toarray() - np.array(0.5, b.dtype) * b.toarray()
    assert c.dtype == expected.dtype
    np.testing.assert_array_equal(c.toarray(), expected)
    assert c.has_canonical_format
    assert csr.union_nonzeros(a, b) == (np.abs(a.toarray()) + np.abs(b.toarray()) > 0).sum()


def test_plus_of_one_pattern_shares_the_indices_and_leaves_the_arguments_alone():
    a = random(20, 0.2, 2)
    b = csr.like(a, np.arange(a.nnz, dtype=float))
    before = a.toarray()
    c = csr.plus(a, 2.0, b)
    np.testing.assert_array_equal(c.toarray(), before + 2 * b.toarray())
    np.testing.assert_array_equal(a.toarray(), before)
    assert c.indices is a.indices


def test_entries_that_cancel_are_left_out():
    a = sp.csr_array(np.array([[1.0, 2.0], [2.0, 0.0]]))
    b = sp.csr_array(np.array([[0.0, 2.0], [2.0, 5.0]]))
    c = csr.plus(a, -1.0, b)
    np.testing.assert_array_equal(c.toarray(), [[1, 0], [0, -5]])
    assert c.nnz == 2


def test_a_diagonal_is_part_of_any_pattern():
    assert csr.union_nonzeros(sp.csr_array(sp.eye_array(30)), b := random(30, 0.1, 3)) == b.nnz


def test_a_zero_that_is_stored_on_one_side_only():
    Z = sp.csr_array(
        (np.array([2, 1j, 0, -1j, 3, 4]), np.array([0, 1, 2, 0, 1, 2]), np.array([0, 3, 5, 6])), shape=(3, 3)
    )
    assert csr.asymmetry(Z) == 0
    Z.data[3] = 1j
    assert csr.asymmetry(Z) == 2
