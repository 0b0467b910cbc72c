"""The ends of an interval as cuts."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from rotated import turned
from splitmerge.slicing.cuts import Counter
from splitmerge.slicing.ends import ENCLOSING_FACTOR, OUTWARD_MOVES, counted_ends

EVERY = np.arange(1.0, 41.0)


def counter_of(values=EVERY):
    return Counter(sm.Pencil(np.diag(values)).products)


class TestEnds:
    @pytest.mark.parametrize(("a", "b", "count"), [(0.5, 3.5, 3), (2, 3, 2), (7, 7, 1), (7.5, 7.5, 0), (-3, 0, 0)])
    def test_count(self, a, b, count):
        ends = counted_ends(counter_of(), a, b)
        assert ends.count == count
        assert ends.clear

    def test_moved_outwards(self):
        ends = counted_ends(counter_of(), 2, 3)
        assert 2 - 1e-9 < ends.low.decided.tau < 2
        assert 3 < ends.high.decided.tau < 3 + 1e-9
        assert 2 - 1e-6 < ends.low.border.tau < ends.low.decided.tau
        assert ends.undecided == (2, 3)

    def test_not_moved(self):
        ends = counted_ends(counter_of(), 2.5, 3.5)
        assert (ends.low.border.tau, ends.high.border.tau) == (2.5, 3.5)
        assert ends.undecided == (-math.inf, math.inf)

    def test_a_point_takes_one_factorisation(self):
        counter = counter_of()
        counted_ends(counter, 2.5, 2.5)
        assert counter.factorisations == 1

    @pytest.mark.parametrize("far", [1e6, 1e300, math.inf])
    def test_moved_inwards(self, far):
        """To where nothing is beyond, so that no slice is mostly empty."""
        counter = counter_of()
        ends = counted_ends(counter, -far, far)
        assert ends.count == 40
        assert ends.high.border.tau <= 40 * ENCLOSING_FACTOR
        assert counter.factorisations <= 6

    def test_border_beyond_a_cluster(self):
        """The counts decide how many of a cluster are inside, which values computed to a tolerance would not tell."""
        ends = counted_ends(counter_of(np.sort(np.r_[EVERY, 2 - 1e-10 * np.arange(1, 4)])), 2, 2.5)
        assert ends.beyond == (3, 0)
        assert ends.count == 4

    def test_nowhere_clear(self):
        """A cluster that is as wide as the moves: the widest gap is taken."""
        dense = 2 - np.geomspace(1e-15, 1e-3, 400)
        counter = counter_of(np.sort(np.r_[dense, 2.0, EVERY]))
        ends = counted_ends(counter, 2, 2.5)
        assert counter.factorisations <= OUTWARD_MOVES + 3
        assert ends.count >= 1


@pytest.mark.parametrize("distance", [1e-11, 3e-9, 1e-6])
@pytest.mark.parametrize("low", [0, 1, 3])
@pytest.mark.parametrize("high", [0, 1, 2])
def test_nothing_beyond_an_end_is_in_the_interval(low, high, distance):
    """Eigenvalues so near to an end that it is moved outwards, more of them at one end than at the other."""
    a, b = 3.0, 5.0
    near = np.r_[a - distance * np.arange(1, low + 1), b + distance * np.arange(1, high + 1)]
    others = np.linspace(1, 9, 400 - near.size)
    others = others[np.minimum(abs(others - a), abs(others - b)) > 1e-3]
    values = np.r_[near, others]
    A = turned(values, 0)
    sol = sm.solve(sp.csr_array((A + A.T) / 2), interval=(a, b), method=sm.Accelerated(), rng=0)
    inside = np.sort(values[(values >= a) & (values <= b)])
    assert sol.verdict == "certified"
    assert sol.eigenvalues.shape == inside.shape
    np.testing.assert_allclose(sol.eigenvalues, inside, rtol=1e-12)
