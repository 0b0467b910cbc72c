"""A window of which eigenvalues are counted holds the error intervals of all pairs, and of no others."""

from types import SimpleNamespace

import pytest

from splitmerge.express.sparse.search import GAP_FRACTION, window_beyond
from splitmerge.linalg.rounding import Scale

EPS = 2.0**-52
SCALE = Scale(0.0, 0.0, 500, EPS, 3.0, 1.0)
SIGMA, VALUES, FOLLOWING = 1.0, [1.5, 0.0, 3.0], 2.4


def window(deltas, longest=1.0):
    """The window of values at the distances 0.5, 1 and 2 from σ; the next one is at 2.4."""
    pair = SimpleNamespace(factored_scale=lambda: (3.0, 1.0), longest=longest)
    search = SimpleNamespace(
        pair=pair,
        distances=lambda values: [abs(value - SIGMA) for value in values],
        gap=lambda last: FOLLOWING - last,
    )
    return window_beyond(search, VALUES, deltas, SCALE)


def test_it_ends_in_the_gap_behind_the_pairs():
    found = window([1e-12] * 3)
    assert found.margin == pytest.approx(GAP_FRACTION * 0.4)
    assert found.reach == pytest.approx(2.0 + GAP_FRACTION * 0.4)
    assert found.growth > 1


@pytest.mark.parametrize(("place", "room"), [(0, 1.54), (1, 1.04), (2, 0.04)])
def test_no_error_interval_reaches_out_of_it(place, room):
    """A pair that may be outside is not one of those that a count finds."""
    deltas = [0.0, 0.0, 0.0]
    deltas[place] = 0.99 * room
    assert window(deltas) is not None
    deltas[place] = 1.01 * room
    assert window(deltas) is None


def test_none_where_rounding_is_wider_than_its_margin():
    assert window([0.0] * 3, longest=1e5) is not None
    assert window([0.0] * 3, longest=1e7) is None
