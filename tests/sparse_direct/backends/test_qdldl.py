"""QDLDL: factors without pivoting, and further ones in the same ordering."""

import numpy as np
import pytest
import scipy.sparse as sp

from pairs import grid
from splitmerge.sparse_direct.backends.qdldl import unpivoted

pytest.importorskip("qdldl")


def shifted(sigma: float, m: int = 9) -> sp.csr_array:
    return sp.csr_array(grid(m) - sigma * sp.eye_array(m * m))


def check(factors, K):
    L, order = factors.L.toarray(), factors.order
    dense = K.toarray()
    np.testing.assert_allclose((L * factors.pivots) @ L.T, dense[np.ix_(order, order)], atol=1e-12)
    assert factors.negative == (np.linalg.eigvalsh(dense) < 0).sum()
    assert factors.nonzeros == np.count_nonzero(factors.L.toarray())
    np.testing.assert_allclose(factors.least, (factors.pivots / np.abs(np.diag(dense)[order])).min())
    b = np.random.default_rng(0).standard_normal((K.shape[0], 3))
    for rhs in (b[:, 0], b, np.asfortranarray(b), b[:, ::2]):
        np.testing.assert_allclose(K @ factors.solve(rhs), rhs, atol=1e-10)


@pytest.mark.parametrize("sigma", [-1.0, 0.0, 0.33, 1.9, 9.0])
def test_factors(sigma):
    K = shifted(sigma)
    check(unpivoted(K), K)


def test_factors_that_share_an_ordering_take_turns():
    """There is room for one of them at a time; each is made again when it is used again."""
    matrices = [shifted(sigma) for sigma in (-1.0, 0.33, 1.9)]
    first = unpivoted(matrices[0])
    all_of_them = [first, *(unpivoted(K, first) for K in matrices[1:])]
    assert all(factors.analysis is first.analysis for factors in all_of_them)
    for _ in range(2):
        for factors, K in zip(all_of_them, matrices, strict=True):
            check(factors, K)


def test_solves_take_turns():
    """Nothing but solves in between: each finds the factors of its own matrix."""
    matrices = [shifted(sigma) for sigma in (-1.0, 0.33, 1.9)]
    first = unpivoted(matrices[0])
    all_of_them = [first, *(unpivoted(K, first) for K in matrices[1:])]
    b = np.ones((81, 2))
    for i in (0, 1, 0, 2, 1):
        np.testing.assert_allclose(matrices[i] @ all_of_them[i].solve(b[:, 0]), b[:, 0], atol=1e-10)
        np.testing.assert_allclose(matrices[i] @ all_of_them[i].solve(b), b, atol=1e-10)


def test_another_pattern_has_an_ordering_of_its_own():
    first, other = unpivoted(shifted(-1.0)), sp.csr_array(shifted(-1.0, 9) + 0.01 * sp.eye_array(81, k=5, format="csr"))
    other = sp.csr_array((other + other.T) / 2)
    factors = unpivoted(other, first)
    assert factors.analysis is not first.analysis
    check(factors, other)


def test_zero_pivots():
    """A structure without a diagonal, a singular matrix, and one in the ordering of a regular one."""
    swap = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert unpivoted(swap) is None
    ones = sp.csr_array(np.ones((2, 2)))
    assert unpivoted(ones) is None
    regular = sp.csr_array(np.array([[2.0, 1.0], [1.0, 2.0]]))
    factors = unpivoted(regular)
    assert unpivoted(ones, factors) is None
    # the failure leaves nothing behind
    check(factors, regular)


def test_empty_rows():
    assert unpivoted(sp.csr_array((3, 3))) is None
    assert unpivoted(sp.csr_array(np.diag([1.0, 0.0, 2.0]))) is None


def test_overflow():
    """Pivots that are no numbers are none."""
    assert unpivoted(sp.csr_array(np.array([[1e-200, 1e200], [1e200, 1.0]]))) is None


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128])
def test_double_precision_only(dtype):
    assert unpivoted(sp.csr_array(np.eye(3, dtype=dtype))) is None


def test_inputs_are_not_written_to():
    K = shifted(0.33)
    before = [x.copy() for x in (K.data, K.indices, K.indptr)]
    factors = unpivoted(K)
    unpivoted(shifted(1.0), factors)
    factors.solve(np.ones(81))
    for x, y in zip((K.data, K.indices, K.indptr), before, strict=True):
        np.testing.assert_array_equal(x, y)
