"""The Lanczos process: its basis, its recurrence, and the values it ends with."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from splitmerge.linalg.lanczos import LanczosProcess, PlainLanczos, largest_eigenvalue, tridiagonal_pairs
from strategies import EPS, definite, dtypes, hermitian, normal, seeds


def process_of(K, M, seed=0, **options):
    """From a random start; M = None for the identity."""
    x = normal(np.random.default_rng(seed), (len(K),), K.dtype)
    if M is None:
        return LanczosProcess(lambda v, p: K @ v, lambda y: (y, y), x, x, **options)
    return LanczosProcess(lambda v, p: K @ v, lambda y: (np.linalg.solve(M, y), y), x, M @ x, **options)


def problem(n, seed, dtype, general):
    rng = np.random.default_rng(seed)
    K = hermitian(normal(rng, (n, n), dtype))
    return K, definite(n, 50.0, rng, dtype) if general else None


def basis(process, columns):
    """V and M V."""
    unit = np.eye(columns)
    V = np.column_stack([process.vector(unit[: i + 1, i]) for i in range(columns)])
    return V, np.column_stack([process.dual(unit[: i + 1, i]) for i in range(columns)])


def tridiagonal(process):
    beta = process.beta[: process.steps - 1]
    return np.diag(process.alpha) + np.diag(beta, 1) + np.diag(beta, -1)


@given(n=st.integers(2, 40), steps=st.integers(1, 40), seed=seeds, dtype=dtypes, general=st.booleans())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_invariants(n, steps, seed, dtype, general):
    K, M = problem(n, seed, dtype, general)
    process = process_of(K, M, seed)
    while process.steps < steps and not process.exhausted:
        process.extend()
    j = process.steps
    assert j == min(steps, n)
    assert process.exhausted == (j == n)
    V, MV = basis(process, j)
    M = np.eye(n) if M is None else M
    size = np.linalg.norm(K, 2) * np.linalg.norm(V, 2)
    np.testing.assert_allclose(V.conj().T @ M @ V, np.eye(j), atol=1e3 * n * EPS)
    np.testing.assert_allclose(MV, M @ V, atol=1e4 * EPS * np.abs(M).max())
    # K V = M V T + β p eᴴ
    rest = np.zeros((n, j), K.dtype)
    rest[:, -1] = process.error(np.eye(j)[:, -1])
    np.testing.assert_allclose(K @ V, MV @ tridiagonal(process) + rest, atol=1e4 * EPS * size)
    if not process.exhausted:
        following = process.error(np.eye(j)[:, -1]) / process.beta[-1]
        np.testing.assert_allclose(V.conj().T @ following, 0, atol=1e3 * n * EPS)
        np.testing.assert_allclose(np.vdot(following, np.linalg.solve(M, following)).real, 1, rtol=1e-10)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("general", [False, True])
def test_values_of_every_size(seed, general):
    """Here Ritz values converge at once, at which a basis loses its orthogonality unless that is kept."""
    n, rng = 60, np.random.default_rng(seed)
    M = definite(n, 1e6, rng) if general else None
    L = np.linalg.cholesky(M) if general else np.eye(n)
    process = process_of(hermitian((L * np.geomspace(1, 1e-14, n)) @ L.T), M, seed)
    for _ in range(25):
        process.extend()
    V, MV = basis(process, 25)
    np.testing.assert_allclose(V.T @ MV, np.eye(25), atol=1e-12)
    np.testing.assert_allclose(MV, V if M is None else M @ V, atol=1e-9 * np.abs(MV).max())


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("general", [False, True])
def test_three_terms_are_enough_for_a_few_steps(dtype, general):
    K, M = problem(40, 2, dtype, general)
    process = process_of(K, M, reorthogonalise=False)
    for _ in range(10):
        process.extend()
    V, MV = basis(process, 10)
    np.testing.assert_allclose(V.conj().T @ MV, np.eye(10), atol=1e-9)
    np.testing.assert_allclose(V.conj().T @ K @ V, tridiagonal(process), atol=1e-9)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("general", [False, True])
def test_ritz_pairs(dtype, general):
    """Their residuals are those that the recurrence tells, and in the end they are all eigenpairs."""
    n = 30
    K, M = problem(n, 1, dtype, general)
    process = process_of(K, M)
    exact = scipy.linalg.eigh(K, M, eigvals_only=True)
    M = np.eye(n) if M is None else M
    for _ in range(12):
        process.extend()
    values, S = process.ritz(9, 11)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(tridiagonal(process))[9:], rtol=1e-12)
    for value, s in zip(values, S.T, strict=True):
        x = process.vector(s)
        np.testing.assert_allclose(process.dual(s), M @ x, atol=1e-10)
        np.testing.assert_allclose(process.error(s), K @ x - value * (M @ x), atol=1e-10)
    assert values[-1] <= exact[-1] + 1e-12
    while not process.exhausted:
        process.extend()
    np.testing.assert_allclose(process.ritz(0, n - 1)[0], exact, atol=1e-9)


@pytest.mark.parametrize("general", [False, True])
def test_project(general):
    K, M = problem(20, 3, float, general)
    process = process_of(K, M)
    for _ in range(8):
        process.extend()
    values, C = process.project(K @ basis(process, 8)[0])
    np.testing.assert_allclose(values, np.linalg.eigvalsh(tridiagonal(process)), atol=1e-10)
    assert C.shape == (8, 8)


@pytest.mark.parametrize("dtype", [float, np.float32, complex])
def test_the_plain_recurrence_has_the_same_values(dtype):
    K, _ = problem(40, 4, dtype, False)
    stored = process_of(K, None, reorthogonalise=False)
    plain = PlainLanczos(lambda v: K @ v, stored.vector(np.ones(1, dtype)) * 3)
    for _ in range(25):
        stored.extend()
        plain.extend()
    rtol = 100 * float(np.finfo(dtype).eps) ** (0.5 if dtype is np.float32 else 0.9)
    np.testing.assert_allclose(plain.alpha, stored.alpha, rtol=rtol)
    np.testing.assert_allclose(plain.beta, stored.beta, rtol=rtol)


def test_the_plain_recurrence_ends_in_an_invariant_subspace():
    process = PlainLanczos(lambda v: np.repeat([1.0, 2.0], 8) * v, np.random.default_rng(0).standard_normal(16))
    while not process.exhausted:
        process.extend()
    assert process.steps == 2
    np.testing.assert_allclose(process.ritz(0, 1)[0], [1, 2], rtol=1e-12)


@pytest.mark.parametrize("distinct", [1, 2, 5])
def test_an_invariant_subspace_ends_it(distinct):
    """As many steps as there are different values, whatever their multiplicity."""
    values = np.repeat(np.arange(1.0, distinct + 1), 8)
    process = process_of(np.diag(values), None)
    while not process.exhausted:
        process.extend()
    assert process.steps == distinct
    np.testing.assert_allclose(process.ritz(0, distinct - 1)[0], np.arange(1.0, distinct + 1), rtol=1e-12)


@pytest.mark.parametrize("steps", [5, 10, 30, 100])
@pytest.mark.parametrize("seed", range(10))
def test_largest_eigenvalue_is_not_exceeded(steps, seed):
    """A bound from above, and not more than the theorem's factor above."""
    rng = np.random.default_rng(seed)
    K = np.diag(rng.uniform(0, 1, 60))
    top = largest_eigenvalue(process_of(K, None, seed), steps)
    assert K.max() * (1 - 1e-12) <= top
    if steps >= 60:
        np.testing.assert_allclose(top, K.max(), rtol=1e-12)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("size", [1e-6, 1e-10])
def test_orthonormal_beyond_a_nearly_invariant_subspace(dtype, size):
    """Nearly all of the next vector cancels there, and what is left must be orthogonal to its last digits."""
    rng = np.random.default_rng(0)
    K = np.diag(np.arange(1.0, 41.0)).astype(dtype)
    x = size * normal(rng, (40,), K.dtype)
    x[::8] += 1
    process = LanczosProcess(lambda v, p: K @ v, lambda y: (y, y), x, x)
    while process.steps < 12:
        process.extend()
    V, _ = basis(process, 12)
    assert min(process.beta) < 1e3 * size
    np.testing.assert_allclose(V.conj().T @ V, np.eye(12), atol=1e-13)


@pytest.mark.parametrize("dtype", [float, complex])
def test_orthonormal_for_a_badly_conditioned_M(dtype):
    """A solve with M is wrong by its condition, and the vector is orthogonalised after it."""
    rng = np.random.default_rng(0)
    K, M = hermitian(normal(rng, (40, 40), dtype)), definite(40, 1e9, rng, dtype)
    process = process_of(K, M)
    while process.steps < 25:
        process.extend()
    V, _ = basis(process, 25)
    np.testing.assert_allclose(V.conj().T @ M @ V, np.eye(25), atol=1e-6)


def test_pairs_of_a_tridiagonal_matrix_in_blocks():
    """Two blocks with the same eigenvalues, as products with two eigenvalues leave them, are nothing for dstemr."""
    count = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        low, angles = rng.uniform(-1, 0.5), rng.uniform(0, np.pi, 3)
        c, s = np.cos(angles), np.sin(angles)
        d, e = np.empty(6), np.zeros(6)
        d[::2], d[1::2], e[::2] = c * c + low * s * s, s * s + low * c * c, (1 - low) * c * s
        T = np.diag(d) + np.diag(e[:-1], 1) + np.diag(e[:-1], -1)
        for first in range(6):
            found = tridiagonal_pairs(d.copy(), e.copy(), first, 5)
            if found is not None:
                count += 1
                values, vectors = found
                np.testing.assert_allclose(T @ vectors, vectors * values, atol=1e-13)
    assert count > 900


def test_eigenvalues_of_several_blocks_are_told_apart_to_rounding():
    """dstemr selects by index with eight digits where the matrix splits, and passed over 1 + 1e-11."""
    d, e = np.array([2.0, 1 + 1e-11, 1.0, 1.0, 1.0, 1.0]), np.array([1e-8, 1e-12, 0.0, 0.0, 0.0, 0.0])
    exact = np.linalg.eigvalsh(np.diag(d) + np.diag(e[:-1], 1) + np.diag(e[:-1], -1))
    for first in range(6):
        values, vectors = tridiagonal_pairs(d.copy(), e.copy(), first, 5)
        assert np.abs(values - exact[first:]).max() < 10 * EPS
        assert np.abs(vectors.T @ vectors - np.eye(6 - first)).max() < 100 * EPS
