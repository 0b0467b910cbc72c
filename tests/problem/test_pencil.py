"""A pencil in its own units and coordinates, and the way back to those of the user."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from pairs import pair_of

N = 20
SPREAD = np.geomspace(1, 1e4, N)


def scaled(a, b, kind=np.asarray):
    """A pair whose unknowns and matrices have these units."""
    A, B = (SPREAD[:, None] * M * SPREAD for M in pair_of(np.arange(1.0, N + 1)))
    return kind(A * a), kind(B * b)


def one_norm(M):
    return float(abs(M).sum(axis=0).max())


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1e150, 1e-150), (1e-140, 1e160)])
class TestEquilibrated:
    def test_norms_are_those_of_the_user(self, kind, a, b):
        """In the units of the pencil, but before it was equilibrated: the user's residuals are relative to them."""
        A, B = scaled(a, b, kind)
        pencil = sm.Pencil(A, B, equilibrate=True)
        assert pencil.scaling is not None
        np.testing.assert_allclose(pencil.norms[0], one_norm(A * pencil.A.scale), rtol=1e-12)
        np.testing.assert_allclose(pencil.norms[1], one_norm(B * pencil.B.scale), rtol=1e-12)

    def test_the_way_back(self, kind, a, b):
        A, B = scaled(a, b, kind)
        pencil = sm.Pencil(A, B, equilibrate=True)
        D = np.diag(pencil.scaling)
        np.testing.assert_allclose(pencil.A.in_double(np.eye(N)), D @ (A * pencil.A.scale) @ D, rtol=1e-12)
        np.testing.assert_allclose(pencil.B.in_double(np.eye(N)), D @ (B * pencil.B.scale) @ D, rtol=1e-12)
        assert pencil.unit == pencil.B.scale / pencil.A.scale
        assert pencil.negated().unit == -pencil.unit
        X = np.random.default_rng(0).standard_normal((N, 3))
        np.testing.assert_allclose(pencil.vectors_of(pencil.from_vectors(X)), X, rtol=1e-14)
        np.testing.assert_allclose(pencil.vectors_of(X), D @ X, rtol=1e-14)
        assert pencil.length**2 == pytest.approx(pencil.B.scale)


def test_the_value_of_a_swapped_pair():
    A, B = pair_of(np.arange(1.0, 6.0))
    pencil = sm.Pencil(A * 4, B)
    for sign in (1, -1):
        other = pencil.swapped(pencil.A, 3.0, sign)
        assert other.original_value(0.5) == 3.0 + sign * 2
        assert other.value_of(0.5) == pencil.unit * (3.0 + sign * 2)
        assert other.original_value(0.0) == np.inf
