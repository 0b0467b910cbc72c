"""Checks of single arguments: both sides of every limit, and what is told."""

import math

import numpy as np
import pytest

from splitmerge.checks import instance, real, whole

NAN, INF = math.nan, math.inf


class Index:
    def __index__(self):
        return 3


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3), Index()])
def test_whole_numbers(value):
    number = whole(value, "k", 3, 3)
    assert number == 3
    assert type(number) is int


@pytest.mark.parametrize("value", [3.0, True, np.True_, "3", None, NAN, [3], np.float64(3), np.array([3, 4]), 3j])
def test_no_whole_numbers(value):
    with pytest.raises(ValueError, match=r"^k is .*; give a whole number$"):
        whole(value, "k", 0)


@pytest.mark.parametrize(
    ("least", "most", "inside", "outside", "limits"),
    [
        (1, None, [1, 2, 10**30], [0, -1], "of at least 1"),
        (0, 5, [0, 5], [-1, 6, 10**30], "from 0 to 5"),
        (2, 2, [2], [1, 3], "from 2 to 2"),
        (-3, None, [-3], [-4], "of at least -3"),
    ],
)
def test_limits_of_whole_numbers(least, most, inside, outside, limits):
    for value in inside:
        assert whole(value, "k", least, most) == value
    for value in outside:
        with pytest.raises(ValueError, match=f"^k is {value}; give a whole number {limits}$"):
            whole(value, "k", least, most)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), np.float64(2)])
def test_real_numbers(value):
    number = real(value, "tol")
    assert number == 2
    assert type(number) is float


@pytest.mark.parametrize(
    "value", ["2", None, True, np.True_, 2j, [2.0], np.array([2.0]), np.complex128(2), NAN, INF, -INF]
)
@pytest.mark.parametrize("limits", [{}, {"least": -INF}, {"least": 0.0, "below": 5.0}, {"most": 9.0}], ids=str)
def test_no_real_numbers(value, limits):
    with pytest.raises(ValueError, match=r"^tol is .*; give a (positive |finite real )?number"):
        real(value, "tol", **limits)


TINY = math.nextafter(0.0, 1.0)


@pytest.mark.parametrize(
    ("limits", "inside", "outside", "told"),
    [
        ({}, [TINY, 1e308], [0.0, -TINY, -1], "a positive number"),
        ({"least": 0.0}, [0.0, -0.0, TINY], [-TINY, -1.0], "a number of at least 0"),
        ({"least": -2.0}, [-2.0, -1, 1e300], [-2.1], "a number of at least -2"),
        ({"least": -INF}, [-1e308, 0, 1e308], [-INF, INF, NAN], "a finite real number"),
        ({"below": 1.0}, [TINY, 0.999], [1.0, 1.1, 0.0], "a positive number below 1"),
        ({"most": 1.0}, [TINY, 1.0], [1.0 + 1e-15, 0.0], "a positive number of at most 1"),
        ({"least": 0.0, "below": 1.0}, [0.0, 0.5], [1.0, -0.1], "a number of at least 0 and below 1"),
        ({"least": 0.5, "most": 1.0}, [0.5, 1.0], [0.49, 1.01], "a number of at least 0.5 and of at most 1"),
    ],
    ids=str,
)
def test_limits_of_real_numbers(limits, inside, outside, told):
    for value in inside:
        assert real(value, "tol", **limits) == value
    for value in outside:
        with pytest.raises(ValueError, match=f"; give {told}$"):
            real(value, "tol", **limits)


@pytest.mark.parametrize("bad", [int, "1", 1.5, None])
def test_objects(bad):
    instance(1, "count", int, "a count")
    instance("a", "count", (int, str), "a count")
    with pytest.raises(ValueError, match=r"^count is .*; give a count$"):
        instance(bad, "count", int, "a count")
