"""Which values are wanted: their order and the window in which nothing more is, by brute force."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splitmerge.problem.target import Target

# no two of them are at the same distance from any of the centres
numbers = st.lists(st.integers(-40, 40).map(lambda i: i + 0.01 * math.sin(i)), min_size=1, max_size=8, unique=True)
centres = st.sampled_from([0.0, 0.3, -2.7, 11.1])
quick = settings(max_examples=100, deadline=None, derandomize=True)


def best(kind, values, centre):
    """The values, the most wanted first, one after the other."""
    left, found = sorted(values), []
    while left:
        if kind == "largest":
            value = max(left)
        elif kind == "ends":
            value = min(left) if len(found) % 2 else max(left)
        elif kind == "farthest":
            value = max(left, key=lambda v: abs(v - centre))
        else:
            value = min(left, key=lambda v: abs(1 / v + centre))
        left.remove(value)
        found.append(value)
    return found


def target_of(kind, centre):
    fixed = {"largest": Target.LARGEST, "ends": Target.ENDS}
    return fixed.get(kind) or getattr(Target, kind)(centre)


each_kind = pytest.mark.parametrize("kind", ["largest", "ends", "farthest", "nearest"])


@each_kind
@given(values=numbers, centre=centres)
@quick
def test_order(kind, values, centre):
    values = np.sort([value for value in values if value])
    found = values[target_of(kind, centre).order(values)]
    assert found.tolist() == best(kind, values.tolist(), centre)


@each_kind
@given(values=numbers, more=numbers, k=st.integers(1, 8), centre=centres)
@quick
def test_window(kind, values, more, k, centre):
    """A further value is wanted outside the window only: there it would take the place of one that was found."""
    values = [value for value in values if value]
    if not values:
        return
    found = best(kind, values, centre)[:k]
    low, high = target_of(kind, centre).window(np.array(found))
    assert low <= high
    reach = max(abs(1 / value + centre) for value in found)
    for value in more:
        if not value or value in values:
            continue
        wanted = value in best(kind, [*values, value], centre)[: len(found)]
        outside = value < low or value > high
        # beyond σ itself both sides are open, which is more than is wanted
        if kind == "nearest" and reach <= abs(centre):
            assert outside or not wanted
        else:
            assert outside == wanted


def test_magnitude_is_the_distance_from_zero():
    values = np.array([-5.0, -1.0, 2.0, 3.0])
    assert Target.farthest(0.0) == Target.MAGNITUDE
    assert Target.MAGNITUDE.order(values).tolist() == [0, 3, 2, 1]
    assert Target.nearest(0.0) is Target.MAGNITUDE
    assert Target.MAGNITUDE.window(np.array([-5.0, 3.0])) == (-3.0, 3.0)


def test_equal_values_stay_in_their_order():
    values = np.array([-2.0, 1.0, 2.0, 2.0])
    assert Target.MAGNITUDE.order(values).tolist() == [0, 2, 3, 1]


def test_nearest_takes_a_zero_as_infinitely_far():
    """θ = 0 belongs to λ = ∞."""
    values = np.array([-1.0, 0.0, 2.0])
    assert Target.nearest(0.1).order(values).tolist()[-1] == 1


def test_one_end_leaves_the_other_open():
    assert Target.ENDS.window(np.array([4.0])) == (-math.inf, 4.0)
