"""Preconditioners of the user's, in the coordinates of the pair that is solved."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from pairs import pair_of
from splitmerge.preconditioners import UserDiagonal, UserPreconditioner

N = 40
UNITS = {"even": np.ones(N), "uneven": 10.0 ** np.linspace(-3, 2, N)}
each_unit = pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
each_dtype = pytest.mark.parametrize("dtype", [float, complex])


def pencil_of(units, dtype):
    """The pencil of a pair with these units, and the B of the user."""
    A, B = (units[:, None] * M * units for M in pair_of(np.linspace(1, 5, N), dtype=dtype))
    return sm.Pencil(A, B, equilibrate=True), B


def normal(count, dtype):
    X = np.random.default_rng(0).standard_normal((2, N, count))
    return (X[0] + 1j * X[1] if dtype is complex else X[0]).astype(dtype)


@each_unit
@each_dtype
@pytest.mark.parametrize("kind", [np.asarray, aslinearoperator, lambda M: lambda x: M @ x])
def test_the_inverse_of_B(units, dtype, kind):
    """It is the inverse of the B that is solved with, too, up to a factor."""
    pencil, B = pencil_of(units, dtype)
    assert (pencil.scaling is None) == (units is UNITS["even"])
    P = UserPreconditioner(kind(np.linalg.inv(B))).prepare(pencil)
    for x in normal(3, dtype).T:
        y = P.gram_solve(pencil.apply_B(np.ascontiguousarray(x)))
        np.testing.assert_allclose(y / np.linalg.norm(y), x / np.linalg.norm(x), atol=1e-8)


@each_unit
@each_dtype
def test_it_stays_hermitian(units, dtype):
    """Of any Hermitian matrix, not only of an inverse."""
    pencil, _ = pencil_of(units, dtype)
    C = normal(N, dtype)
    P = UserPreconditioner(C @ C.conj().T + np.eye(N)).prepare(pencil)
    X = normal(4, dtype)
    G = X.conj().T @ P.gram_block(X)
    np.testing.assert_allclose(G, G.conj().T, atol=1e-10 * np.abs(G).max())


@each_unit
@each_dtype
def test_the_diagonal_of_B(units, dtype):
    """It serves as the diagonal that the matrix itself has."""
    pencil, B = pencil_of(units, dtype)
    P, own = UserDiagonal(B.diagonal().real).prepare(pencil), sm.Diagonal().prepare(pencil)
    for x in normal(3, dtype).T:
        np.testing.assert_allclose(P.gram_solve(x), own.gram_solve(x), rtol=1e-10)
