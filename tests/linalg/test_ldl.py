"""The dense LDLᴴ factors: how many eigenvalues are negative, and solves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splitmerge.linalg.ldl import DenseShifted
from strategies import dtypes, hermitian, normal, seeds, unitary


def check(K):
    factors = DenseShifted(K.copy(order="F"))
    assert factors.negative == (np.linalg.eigvalsh(K) < 0).sum()
    b = normal(np.random.default_rng(0), (len(K),), K.dtype).astype(K.dtype)
    w = factors.solve(b)
    assert w.dtype == K.dtype
    np.testing.assert_allclose(
        K @ w, b, atol=1e3 * np.finfo(K.dtype).eps * np.linalg.norm(K, 2) * np.linalg.norm(w) + 1e-300
    )
    return factors


@given(n=st.integers(1, 25), negative=st.integers(0, 25), seed=seeds, dtype=dtypes)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_inertia(n, negative, seed, dtype):
    """Of a matrix whose spectrum is known."""
    rng = np.random.default_rng(seed)
    values = np.exp(rng.uniform(-5, 5, n)) * np.where(np.arange(n) < negative, -1, 1)
    Q = unitary(rng, n, dtype)
    assert check(hermitian((Q * values) @ Q.conj().T)).negative == min(negative, n)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("pairs", [1, 3, 10])
def test_pivots_of_two(pairs, dtype):
    """Nothing on the diagonal: every pivot is a 2×2 one, with an eigenvalue of each sign."""
    n = 2 * pairs
    coupling = 2.0 ** np.arange(pairs) if np.dtype(dtype).kind == "f" else np.exp(1j * np.arange(pairs))
    K = np.zeros((n, n), dtype)
    K[np.arange(0, n, 2), np.arange(1, n, 2)] = coupling
    K[np.arange(1, n, 2), np.arange(0, n, 2)] = coupling.conj()
    factors = check(K)
    assert (factors.pivots < 0).all()
    assert factors.negative == pairs


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("seed", range(5))
def test_pivots_of_both_kinds(seed, dtype):
    """A saddle point: a definite block beside one of zeros."""
    rng = np.random.default_rng(seed)
    C = normal(rng, (12, 5), dtype)
    K = np.block([[np.diag(rng.uniform(-1, 1, 12)), C], [C.conj().T, np.zeros((5, 5))]])
    factors = check(K)
    assert (factors.pivots < 0).any()
    assert (factors.pivots > 0).any()


@pytest.mark.parametrize("dtype", [float, complex])
def test_singular(dtype):
    with pytest.raises(ZeroDivisionError):
        DenseShifted(np.zeros((3, 3), dtype, order="F"))
    with pytest.raises(ZeroDivisionError):
        DenseShifted(np.asfortranarray(np.diag([1.0, 0.0, -1.0]).astype(dtype)))
