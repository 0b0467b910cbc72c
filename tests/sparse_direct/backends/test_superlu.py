"""SuperLU without pivoting: in which order, and with which factors."""

import numpy as np
import pytest
import scipy.sparse as sp

from pairs import grid
from splitmerge.sparse_direct.backends.superlu import pivoted_lu, symmetric_lu


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("permuted", [False, True])
def test_the_order_is_that_of_the_factors(dtype, permuted):
    """L D Lᴴ is the matrix with its rows and columns in `order`, also where one was given to start with."""
    K = grid(7).astype(dtype) + sp.diags_array(np.linspace(1, 2, 49))
    if dtype is complex:
        K = K + sp.diags_array([np.full(48, 0.3j), np.full(48, -0.3j)], offsets=[1, -1])
    K = sp.csr_array(K)
    first = np.random.default_rng(0).permutation(49) if permuted else None
    lu = symmetric_lu(K, first)
    L = lu.L.toarray()
    rebuilt = (L * lu.pivots) @ L.conj().T
    np.testing.assert_allclose(rebuilt, K[lu.order][:, lu.order].toarray(), atol=1e-12)
    b = np.random.default_rng(1).standard_normal(49).astype(dtype)
    np.testing.assert_allclose(K @ lu.solve(b), b, atol=1e-12)


def test_a_structurally_singular_matrix_is_not_given_to_superlu():
    """Rows of one part of a bipartite graph cannot be independent if the other part is smaller: SuperLU crashed."""
    C = sp.random_array((60, 80), density=0.05, rng=np.random.default_rng(0))
    K = sp.csr_array(sp.block_array([[None, C], [C.T, None]]))
    assert symmetric_lu(K) is None
    with pytest.raises(ZeroDivisionError):
        pivoted_lu(K)
    # with zeros on the diagonal a matrix may have full rank
    swap = sp.csr_array([[0.0, 2.0], [2.0, 0.0]])
    np.testing.assert_allclose(pivoted_lu(swap).solve(np.array([2.0, 4.0])), [2, 1])
