"""Estimates that error margins are built on, beside dense computations: ‖B⁻¹‖, the longest vector, singularity."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from pairs import pair_of
from splitmerge.linalg.rounding import Scale
from splitmerge.problem.adapt import adapt
from splitmerge.problem.factorise import factorise, shifted_factor
from splitmerge.problem.operator import plus
from splitmerge.problem.products import Products
from splitmerge.solvers.estimate import inverse_norm, is_singular, longest_vector, resolution, resolution_of

N = 24
KINDS = {"dense": np.asarray, "sparse": sp.csr_array}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
each_dtype = pytest.mark.parametrize("dtype", [float, complex])
UNITS = [1e-9, 1.0, 1e9]


def with_values(values, dtype=float, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2, len(values), len(values)))
    Q = np.linalg.qr(X[0] + (1j * X[1] if dtype is complex else 0))[0]
    M = (Q * values) @ Q.conj().T
    return (M + M.conj().T) / 2, Q


def of_integers(dtype):
    """A singular matrix that rounding does not touch."""
    X = np.random.default_rng(7).integers(-3, 4, (2, N, N - 3))
    X = X[0] + (1j * X[1] if dtype is complex else 0)
    return (X * np.r_[1, -np.ones(N - 4)]) @ X.conj().T


def products_of(B, kind=np.asarray, solver=True):
    pencil = sm.Pencil(kind(np.eye(len(B), dtype=B.dtype)), kind(B))
    return Products(pencil, solver=factorise(pencil.B) if solver else None)


@each_kind
@each_dtype
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e10])
def test_the_inverse_and_the_longest_vector_of_norm_1(kind, dtype, unit, condition):
    """From below, and nearly reached where one eigenvalue is far below the others.

    The longest is that of all vectors, not of those that are given, unless these are longer than the estimate.
    """
    B, Q = with_values(unit * np.r_[1.0, np.geomspace(1, 2, N - 1) * condition], dtype)
    products, least = products_of(B, kind), (condition * 2 * unit) ** -0.5
    exact = 1 / np.linalg.eigvalsh(B)[0]
    assert 0.4 * exact <= inverse_norm(products) <= 1.001 * exact
    assert products.counts.monitoring.B_solves > 0
    assert products.counts.B_solves == products.counts.setup.B_solves == 0
    short = least * Q[:, -2:]
    assert 0.6 * unit**-0.5 <= longest_vector(products, short) <= 1.001 * unit**-0.5
    long = 3 * unit**-0.5 * Q[:, 2:3]
    assert longest_vector(products, np.hstack([short, long])) == pytest.approx(3 * unit**-0.5)
    # without a solver only they are known
    assert longest_vector(products_of(B, kind, solver=False), short) == pytest.approx(least)


def test_the_longest_vector_of_the_standard_problem():
    products = Products(sm.Pencil(np.eye(N)))
    assert longest_vector(products, np.eye(N)[:, :3] * [1.0, 2.5, 0.5]) == 2.5


@pytest.mark.parametrize("longest", [1.0, 1e-3, 1e4])
@pytest.mark.parametrize("size", [0.0, 2.0, 1e5])
def test_a_count_keeps_clear_of_rounding(longest, size):
    """Four times what rounding of A and B moves an eigenvalue of this size by: 4 · 32 eps (‖A‖ + |λ|‖B‖) ‖x‖²."""
    A, B = pair_of(np.arange(1.0, 9.0))
    products = products_of(B)
    expected = 128 * 2.0**-52 * (1 + size * np.linalg.norm(B, 1)) * longest**2
    assert resolution(products, longest, size) == pytest.approx(expected)
    assert resolution(products, longest, -size) == pytest.approx(expected)
    scale = Scale(0.0, 0.0, 8, 2.0**-52, float(np.linalg.norm(A, 1)), float(np.linalg.norm(B, 1)), 50.0)
    expected = 200 * 2.0**-52 * (np.linalg.norm(A, 1) + size * np.linalg.norm(B, 1)) * longest**2
    assert resolution_of(scale, longest, size) == pytest.approx(expected)


@each_kind
@each_dtype
@pytest.mark.parametrize(("unit", "spread"), [(1.0, 0), (1e-9, 5), (1e9, 5)])
@pytest.mark.parametrize(("distance", "singular"), [(1.0, False), (1e-8, False), (1e-11, False), (0.0, True)])
def test_singular_however_its_rows_are_scaled(kind, dtype, unit, spread, distance, singular):
    M, _ = with_values(np.r_[distance, np.linspace(1, 3, N // 2), -np.linspace(1, 3, N // 2 - 1)], dtype)
    M = M if distance else of_integers(dtype)
    d = np.exp2(np.round(np.linspace(-spread, spread, N)))
    K = adapt(kind(unit * d[:, None] * M * d), "K")
    try:
        factor = shifted_factor(K)
    except ZeroDivisionError:
        assert singular
        return
    assert is_singular(K, factor) is singular


@each_kind
def test_singular_in_single_precision(kind):
    for distance, singular in ((1e-2, False), (1e-4, False), (0.0, True)):
        M = with_values(np.r_[distance, np.linspace(1, 3, N - 1)])[0] if distance else of_integers(float)
        K = adapt(kind(M.astype(np.float32)), "K")
        try:
            factor = shifted_factor(K)
        except ZeroDivisionError:
            assert singular
            continue
        assert is_singular(K, factor) is singular


@each_kind
@each_dtype
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("condition", [10.0, 1e8])
def test_counts_next_to_eigenvalues_of_a_badly_conditioned_B(kind, dtype, unit, condition):
    """Rounding moves an eigenvalue by eps ‖A‖ ‖x‖² = eps ‖A‖ ‖B⁻¹‖, and the margin of a count covers that."""
    A, B = (M * unit for M in pair_of(np.linspace(1, 2, N), dtype=dtype, condition=condition))
    products = products_of(B, kind)
    products = Products(sm.Pencil(kind(A), kind(B)), solver=products.solver)
    margin = resolution(products, longest_vector(products, np.zeros((N, 1), dtype)), 2.0)
    moved = 2.0**-52 * (np.linalg.norm(A, 1) + 2 * np.linalg.norm(B, 1)) / np.linalg.eigvalsh(B)[0]
    assert 32 * moved < margin < 200 * moved
    K = plus(sm.Pencil(kind(A), kind(B)).A, -(1.0 - margin), sm.Pencil(kind(A), kind(B)).B)
    assert shifted_factor(K).negative in (0, None)
