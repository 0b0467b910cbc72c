"""Counts at cuts, and the distance of the nearest eigenvalue."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from pairs import pair_of
from splitmerge.linalg.rounding import ROUNDING_UNITS
from splitmerge.slicing import cuts
from splitmerge.slicing.cuts import Counter

EVERY = np.arange(1.0, 41.0)


def counter_of(A, B=None):
    return Counter(sm.Pencil(A, B).products)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [float, complex])
class TestCounter:
    def test_counts(self, kind, dtype):
        A, B = pair_of(EVERY, dtype=dtype)
        counter = counter_of(kind(A), kind(B))
        for tau in (-1.0, 0.5, 7.3, 39.9, 41.0):
            cut = counter.at(tau)
            assert cut.below == (tau > EVERY).sum()
            assert cut.clear
        assert counter.factorisations == 5

    def test_nearest(self, kind, dtype):
        counter = counter_of(*(kind(M) for M in pair_of(EVERY, dtype=dtype)))
        for tau, nearest in ((7.001, 7), (6.999, 7), (0.9, 1), (40.001, 40)):
            assert counter.at(tau).nearest == pytest.approx(nearest, abs=1e-3)

    @pytest.mark.parametrize("distance", [0.0, 1e-15, -1e-15, 1e-14])
    def test_not_clear_at_an_eigenvalue(self, kind, dtype, distance):
        counter = counter_of(*(kind(M) for M in pair_of(EVERY, dtype=dtype)))
        cut = counter.at(7 * (1 + distance))
        assert cut is None or not cut.clear


def test_exactly_singular():
    assert counter_of(np.diag([1.0, 2.0])).at(1.0) is None
    assert counter_of(sp.csr_array(np.diag([1.0, 2.0]))).at(1.0) is None


def test_radius():
    assert counter_of(np.diag([1.0, 5.0]), np.diag([1.0, 2.0])).radius == 2.5
    assert counter_of(np.zeros((2, 2))).radius == 1.0


def test_rounding_of_a_cut_is_that_of_its_factorisation(monkeypatch):
    """Its backward error counts where it exceeds the rounding of A and B, and never less than that."""
    counter = counter_of(np.diag(EVERY))
    plain = counter.at(7.3).rounding
    assert plain >= counter.rounding(7.3)
    own = cuts.counting_factor

    def inexact(K):
        factor = own(K)
        monkeypatch.setattr(type(factor), "backward_error", 50.0 * ROUNDING_UNITS)
        return factor

    monkeypatch.setattr(cuts, "counting_factor", inexact)
    assert counter.at(7.3).rounding == pytest.approx(50 * counter.rounding(7.3), rel=0.5)
