"""Which rows make a slice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splitmerge.learn.sliced.slicing import Slicing, divided


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 60), st.integers(2, 12), st.integers(0, 1000))
def test_slices_are_those_of_array_split(rows, number, seed):
    y = np.random.default_rng(seed).permutation(rows + number).astype(float)
    members = Slicing.of(y, number).members(y)
    expected = np.empty(y.size, int)
    for s, part in enumerate(np.array_split(np.argsort(y), number)):
        expected[part] = s
    np.testing.assert_array_equal(members, expected)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=9, max_size=40), st.integers(2, 5), st.integers(0, 1000))
def test_ties_stay_together_and_weights_are_repetitions(values, number, seed):
    y = np.array(values, float)
    if len(set(values)) < 2:
        return
    slicing = Slicing.of(y, number)
    members = slicing.members(y)
    assert all(len(set(members[y == value])) == 1 for value in values)
    assert set(members) == set(range(slicing.count))
    counts = np.random.default_rng(seed).integers(1, 4, y.size)
    repeated = Slicing.of(np.repeat(y, counts), number)
    np.testing.assert_array_equal(Slicing.of(y, number, counts.astype(float)).members(y), repeated.members(y))


def test_slices_by_label():
    y = np.array(["low", "high", "low", "mid"])
    np.testing.assert_array_equal(Slicing.of(y, 2).members(y), [1, 0, 1, 2])
    few = np.array([3, 1, 1, 7])
    np.testing.assert_array_equal(Slicing.of(few, 10).members(few), [1, 0, 0, 2])
    with pytest.raises(ValueError, match="not among the slices"):
        Slicing.of(y, 10).members(["huge"])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=9, max_size=40), st.integers(2, 9))
def test_ties_are_split_as_array_split_does(values, number):
    y = np.array(values, float)
    if len(set(values)) < 2:
        return
    expected = np.empty(y.size, int)
    for s, part in enumerate(np.array_split(np.argsort(y), number)):
        expected[part] = s
    slicing, members = divided(y, number, np.ones(y.size))
    np.testing.assert_array_equal(members, expected)
    assert slicing.count == number


def test_a_row_of_large_weight_is_not_divided():
    slicing, members = divided(np.arange(5.0), 4, np.array([1.0, 10.0, 1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(members, [0, 0, 1, 1, 1])
    assert slicing.count == 2
