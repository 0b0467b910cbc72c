"""What the short way tells of vectors that are not exact, against the definitions in dense matrices."""

import math
from functools import lru_cache

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from pairs import pair_of
from rotated import pair
from splitmerge.express.found import Found, standard, swapped
from splitmerge.express.plain import plain_pair
from splitmerge.express.result import checked
from splitmerge.express.sparse.direct import DirectSearch
from splitmerge.express.sparse.inverse import InverseSearch
from splitmerge.express.sparse.pair import factorable_pair, sparse_pair
from splitmerge.linalg.extreme import Extreme
from splitmerge.problem.pencil import equilibration

N = 14
UNITS = [(1.0, 1.0), (1e9, 1e-9), (1e-6, 1e6)]
EVERY = np.r_[np.linspace(0.3, 2.0, N - 4), 5.0, 6.0, 8.0, 11.0]


def dense_pair(dtype, units, B):
    """A definite pair with these eigenvalues (those of A alone where B is the identity)."""
    A, M = pair_of(EVERY, dtype=dtype, condition=1.0 if B == "identity" else 9.0)
    if B == "identity":
        return units[0] * A, None
    d = np.exp2(np.random.default_rng(3).integers(-5, 6, N)) if B == "badly scaled" else np.ones(N)
    return units[0] * d[:, None] * A * d, units[1] * d[:, None] * M * d


def mixed(A, B, chosen, size=1e-4):
    """Vectors of these eigenvalues with components of about this size along all others."""
    U = scipy.linalg.eigh(A, B)[1]
    C = np.random.default_rng(1).standard_normal((2, U.shape[1], len(chosen)))
    C = C[0] + 1j * C[1] if np.iscomplexobj(A) else C[0]
    return np.asfortranarray(U[:, chosen] + size * U @ C)


def check_figures(found, A, B, scaling=None, sigma=None):
    """Values, error norms, offsets and residual norms of vectors whose residuals are far above rounding."""
    A, B = (M.toarray() if sp.issparse(M) else M for M in (A, B))
    B = np.eye(len(A)) if B is None else B
    for i, x in enumerate(found.vectors):
        root = math.sqrt(np.vdot(x, B @ x).real)
        u = x / root
        value = np.vdot(u, A @ u).real
        r, Bu = A @ u - value * (B @ u), B @ u
        assert found.roots[i] == pytest.approx(root, rel=1e-9)
        assert found.values[i] == pytest.approx(value, rel=1e-9)
        np.testing.assert_allclose(found.images[i], B @ x, atol=1e-9 * np.abs(B @ x).max())
        if sigma is None:
            error, offset = math.sqrt(np.vdot(r, np.linalg.solve(B, r)).real), 0.0
        else:
            w = np.linalg.solve(A - sigma * B, r)
            error, offset = math.sqrt(np.vdot(w, B @ w).real), abs(np.vdot(Bu, w))
        assert found.errors[i] == pytest.approx(error, rel=1e-5)
        assert found.offsets[i] == pytest.approx(offset, rel=1e-4, abs=1e-13)
        systems = [np.ones(len(A))] if scaling is None else [np.ones(len(A)), scaling]
        assert len(found.norms) == len(systems)
        for d, norms in zip(systems, found.norms, strict=True):
            lengths = [np.linalg.norm(y) for y in (d * r, u / d, d * Bu)]
            assert [row[i] for row in norms] == pytest.approx(lengths, rel=1e-5)


@pytest.mark.parametrize("units", UNITS, ids=str)
@pytest.mark.parametrize("B", ["identity", "full", "badly scaled"])
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("k", [1, 3])
def test_of_a_dense_pair(k, order, dtype, B, units):
    """Of (A, B), and of (B, A) for the smallest; in the user's units and in those of the scaled pair."""
    A, M = (None if M is None else np.array(M, order=order) for M in dense_pair(dtype, units, B))
    plain = plain_pair(A, M, k, smallest=True)
    assert plain is not None
    if B == "badly scaled":
        np.testing.assert_allclose(plain.scaling, equilibration(M.diagonal().real))
    gaps = [1.0] * k
    largest = standard(plain, Extreme(mixed(A, M, list(range(N - 1, N - 1 - k, -1))), gaps))
    check_figures(largest, A, M, plain.scaling)
    smallest = swapped(plain, plain.definite(), Extreme(mixed(A, M, list(range(k))), gaps))
    check_figures(smallest, A, M, plain.scaling, sigma=0.0)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
def test_the_pair_is_the_one_that_was_given(orders, dtype):
    """A complex matrix in C order is not its transpose."""
    A, B = (np.array(M, order=order) for M, order in zip(dense_pair(dtype, (1.0, 1.0), "full"), orders, strict=True))
    plain = plain_pair(A, B, 2, smallest=False)
    assert np.abs(plain.A - A).max() <= 1e-14
    assert np.abs(plain.B - B).max() <= 1e-14
    L = np.tril(plain.L)
    np.testing.assert_allclose(L @ L.conj().T, B, atol=1e-12)
    K = np.tril(plain.definite())
    np.testing.assert_allclose(K @ K.conj().T, A, atol=1e-12)


SPARSE = np.linspace(1, 40, 300) ** 1.5
MASSES = ("identity", "lumped", "badly scaled lumped", "consistent", "badly scaled")


@lru_cache
def sparse_problem(masses):
    """The pair, its exact vectors, and random directions."""
    A, B = pair(SPARSE, masses)
    U = scipy.linalg.eigh(A.toarray(), None if B is None else B.toarray())[1]
    return A, B, U, 1e-4 * U @ np.random.default_rng(1).standard_normal((300, 3))


def in_units(units, masses):
    """The pair in other units, and how much larger its eigenvalues are."""
    A, B, *_ = sparse_problem(masses)
    return units[0] * A, None if B is None else units[1] * B, units[0] / (1.0 if B is None else units[1])


@pytest.mark.parametrize(("units", "k"), [((1.0, 1.0), 3), ((1e9, 1e-9), 1), ((1e-6, 1e6), 3)], ids=str)
@pytest.mark.parametrize("masses", MASSES[:3])
def test_of_the_largest_of_a_sparse_pair(masses, units, k):
    A, B, _ = in_units(units, masses)
    sparse = sparse_pair(A, B)
    search = DirectSearch(sparse, k, 1e-8, np.random.default_rng(0), magnitude=False)
    U, V = sparse_problem(masses)[2:]
    check_figures(search.figures(U[:, -k:] + V[:, :k]), A, B, sparse.D if "badly" in masses else None)


@pytest.mark.parametrize(("sigma", "units"), [(17.23, (1.0, 1.0)), (0.0, (1e9, 1e-9)), (300.0, (1e-6, 1e6))], ids=str)
@pytest.mark.parametrize("masses", MASSES)
def test_next_to_a_shift_in_a_sparse_pair(masses, sigma, units):
    A, B, unit = in_units(units, masses)
    sparse = factorable_pair(A, B, near=True)
    search = InverseSearch(sparse, sparse.factor(sigma * unit), sigma * unit, 2, 1e-8, np.random.default_rng(0))
    U, V = sparse_problem(masses)[2:]
    X = U[:, np.argsort(np.abs(SPARSE - sigma))[:2]] + V[:, :2]
    check_figures(search.figures(X), A, B, sparse.D if "badly" in masses else None, sigma * unit)


@pytest.mark.parametrize("sigma", [None, 2.5])
def test_levels_by_hand(sigma):
    """Sizes, rounding and relative residuals of each system, from its own norms: (‖A‖, ‖B‖) = (11, 13) and (17, 19)."""
    systems = [[[2e-9, 3e-9], [0.5, 4.0], [7.0, 0.2]], [[1e-8, 2e-8], [3.0, 0.25], [0.5, 6.0]]]
    x, none, units, eps = np.eye(3)[:2], [0.0, 0.0], 50.0, float(np.finfo(float).eps)
    found = Found(x, x, [1.0, 1.0], [3.0, 5.0], [1e-5, 1e-4], none, systems, [1.0, 1.0])
    result = checked(found, [(11.0, 13.0), (17.0, 19.0)], units, 1.0, sigma)
    for (A_norm, B_norm), norms, level in zip([(11, 13), (17, 19)], found.norms, result.levels, strict=True):
        for i, (value, error) in enumerate([(3.0, 1e-5), (5.0, 1e-4)]):
            r, length, image = (row[i] for row in norms)
            size, noise = A_norm + value * B_norm, units * eps * (A_norm + value * B_norm) * length**2
            bound = error if sigma is None else (value - sigma) * error / (1 - error)
            assert level.sizes[i] == pytest.approx(image * value)
            assert level.floors[i] == pytest.approx(units * eps * size * length)
            assert level.noise[i] == pytest.approx(noise)
            assert level.deltas[i] == pytest.approx(bound + noise)
            assert level.residuals[i] == pytest.approx(r / max(image * value, math.sqrt(eps) * size * length))
