"""Pairs that only the user's coordinates determine: what inverse iteration may replace."""

from types import SimpleNamespace

import numpy as np
import pytest

from splitmerge.linalg.cholesky import DenseFactor
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.verification import graded
from splitmerge.verification.residuals import measured_columns

N, TOL = 8, 1e-8
VALUES = np.arange(1.0, N + 1)


@pytest.fixture
def poor():
    """A set-up with a graded pair, its three largest pairs, the first of which is said to miss the tolerance."""
    d = 10.0 ** np.linspace(-3, 3, N)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((N, N)))[0]
    A = d[:, None] * ((Q * VALUES) @ Q.T) * d
    pencil = Pencil((A + A.T) / 2, np.diag(d**2), equilibrate=True)
    assert pencil.scaling is not None
    products = Products(pencil).solving(DenseFactor(pencil.B.matrix))
    eigenvectors = pencil.from_vectors(Q / d[:, None])
    pairs = measured_columns(products, eigenvectors[:, [-1, -2, -3]], None)
    pairs.norms[0, 0] = 10 * (TOL * pairs.sizes[0, 0] + pairs.floors[0, 0])
    pairs.norms[-1] = 0
    return SimpleNamespace(given_pair=products, inverse=None), pairs, Q / d[:, None]


def replaced_by(monkeypatch, vector):
    """Let inverse iteration end in this vector of the user's."""

    def iterated(pair, X, poor):
        assert poor.tolist() == [0]
        return np.column_stack([vector, X[:, 1:]])

    monkeypatch.setattr(graded._UserPair, "iterated", iterated)


def test_a_pair_that_misses_the_tolerance_is_sharpened(poor):
    setup, pairs, _ = poor
    better = graded.sharpened(setup, pairs, TOL)
    assert better is not pairs
    np.testing.assert_allclose(better.values, VALUES[[-1, -2, -3]], rtol=1e-12)
    assert (better.norms[0] <= TOL * better.sizes[0]).all()


def test_another_eigenvalue_replaces_none(poor, monkeypatch):
    """Even if its residual is better: it was not asked for."""
    setup, pairs, U = poor
    for other in (U[:, 0], U[:, -4]):
        replaced_by(monkeypatch, other)
        assert graded.sharpened(setup, pairs, TOL) is pairs


def test_two_that_have_become_one_replace_none(poor, monkeypatch):
    setup, pairs, U = poor
    replaced_by(monkeypatch, U[:, -2])
    assert graded.sharpened(setup, pairs, TOL) is pairs


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_overflows_replaces_nothing(poor, monkeypatch, bad):
    setup, pairs, U = poor
    replaced_by(monkeypatch, np.r_[bad, U[1:, -1]])
    assert graded.sharpened(setup, pairs, TOL) is pairs


@pytest.mark.parametrize(
    ("n", "dense", "last", "count"),
    [
        (900, True, True, 1),
        (900, True, False, 1),
        (1100, True, True, 0),
        (9000, False, True, 1),
        (11_000, False, True, 0),
    ],
)
def test_what_costs_too_much_is_left(n, dense, last, count):
    """One pair is poor; sparse factorisations are not limited where another iteration might follow."""
    shown = np.array([[2.0], [1e-9]])
    pairs = SimpleNamespace(norms=shown, floors=np.full((2, 1), 1e-8))
    pencil = SimpleNamespace(B=1, has_entries=True, scaling=1, dense=dense, n=n)
    assert graded._poor(pencil, pairs, np.ones((2, 1)), last=last).size == count
