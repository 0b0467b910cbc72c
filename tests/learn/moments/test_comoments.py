"""Co-moments of batches add up to those of all rows."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from splitmerge.learn import View
from splitmerge.learn.data.joint import Joint
from splitmerge.learn.moments import Comoments
from two_views import X, explicit


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.floats(-1e6, 1e6), st.booleans())
def test_moments_add_up(sizes, offset, weighted):
    """However the rows are cut into batches; means far from zero cost no digits."""
    rng = np.random.default_rng(sum(sizes))
    data = rng.standard_normal((sum(sizes), 3)) + offset
    w = rng.random(len(data)) + 0.1 if weighted else np.ones(len(data))
    found = None
    for part in np.split(np.arange(len(data)), np.cumsum(sizes)[:-1]):
        more = Comoments.of(Joint([View(data[part], w[part])]))
        found = more if found is None else found + more
    Z = explicit(data, w, False)
    assert found.samples == len(data)
    assert np.allclose(found.mean, w @ data / w.sum(), rtol=1e-13)
    assert np.allclose(found.covariance(scale=False)[0], Z.T @ Z, atol=1e-13 * (1 + abs(offset)))


def test_moments_of_no_weight_change_nothing():
    some, none = Comoments.of_rows(X), Comoments.of_rows(X, np.zeros(len(X)))
    assert (some + none) is some
    assert (none + some) is some
