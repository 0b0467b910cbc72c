"""Slices hold every eigenvalue once."""

from itertools import pairwise

import numpy as np
import pytest

import splitmerge as sm
from splitmerge.slicing.cuts import Counter
from splitmerge.slicing.slices import slices

SPECTRA = {
    "even": np.linspace(0, 1, 120),
    "multiple": np.repeat(np.arange(6.0) / 5, 20),
    "one cluster": np.r_[np.linspace(0, 1, 60), 0.5 + 1e-9 * np.arange(60)],
    "geometric": np.geomspace(1e-8, 1, 120),
    "one value": np.full(120, 0.5),
}


@pytest.mark.parametrize("every", SPECTRA.values(), ids=SPECTRA)
@pytest.mark.parametrize("size", [5, 30, 200])
class TestSlices:
    def parts(self, every, size):
        counter = Counter(sm.Pencil(np.diag(every)).products)
        return list(slices(counter, counter.at(-0.1), counter.at(1.1), size)), counter

    def test_partition(self, every, size):
        parts, _ = self.parts(every, size)
        assert sum(part.count for part in parts) == every.size
        for part in parts:
            assert ((every > part.low.tau) & (every < part.high.tau)).sum() == part.count
        for left, right in pairwise(parts):
            assert left.high.tau <= right.low.tau

    def test_size(self, every, size):
        """At most `size`, unless they are one multiple eigenvalue."""
        for part in self.parts(every, size)[0]:
            inside = every[(every > part.low.tau) & (every < part.high.tau)]
            assert part.count <= size or np.ptp(inside) < 1e-7

    def test_few_factorisations(self, every, size):
        parts, counter = self.parts(every, size)
        assert counter.factorisations <= 10 + 10 * len(parts)

    def test_centres(self, every, size):
        """The eigenvalues of a slice are those nearest to the middle, the last resort of its shifts."""
        for part in self.parts(every, size)[0]:
            nearest = np.argsort(np.abs(every - part.shifts[-1][1]), kind="stable")[: part.count]
            inside = np.flatnonzero((every > part.low.tau) & (every < part.high.tau))
            assert set(nearest) == set(inside)
