"""The figures in the words of `explain` are those of the solution."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm

A = sp.csr_array(sp.diags_array(np.arange(1.0, 1501.0)))


@pytest.mark.parametrize(("interval", "below"), [((2.5, 5.5), 2), ((0.5, 1.5), 0), ((10.5, 90.5), 10), ((3.2, 3.8), 3)])
def test_counts_of_an_interval(interval, below):
    """As many as there are, which is the difference of the counts at both ends."""
    sol = sm.solve(A, interval=interval, rng=0)
    told = re.search(r"(\d+) eigenvalues are below .* and (\d+) below .*, so (\d+) between them", sol.explain())
    assert told is not None
    first, last, between = map(int, told.groups())
    assert (first, last, between) == (below, below + sol.eigenvalues.size, sol.eigenvalues.size)


def test_sizes_of_the_slices():
    """Their sum is the number of eigenvalues, where all slices are of one size."""
    sol = sm.solve(A, interval=(0.5, 120.5), rng=0)
    told = re.search(r"(\d+) slices? of (\d+)(?: to (\d+))? eigenvalues", sol.explain())
    assert told is not None
    slices, least, most = int(told[1]), int(told[2]), int(told[3] or told[2])
    assert slices * least <= sol.eigenvalues.size == 120 <= slices * most
