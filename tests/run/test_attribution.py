"""Which pair each row of a history belongs to."""

import numpy as np
import pytest

from splitmerge.run.attribution import attributed

VALUES = np.array([1.0, 2.0, 2.0, 3.0])


def numbers(rows, eigenvalues=VALUES):
    """Rows of place, step, value and residual."""
    places, steps, values, residuals = map(np.array, zip(*rows, strict=True))
    return attributed(places, steps, values, residuals, np.asarray(eigenvalues)).tolist()


def test_places_are_kept():
    rows = [
        (0, 0, 1.5, 0.5),
        (0, 1, 1.0, 1e-9),
        (1, 0, 2.0, 1e-9),
        (2, 0, 2.0, 1e-9),
        (3, 0, 3.1, 0.1),
        (3, 1, 3, 1e-9),
    ]
    assert numbers(rows) == [0, 0, 1, 2, 3, 3]


def test_a_copy_turns_up():
    rows = [(2, 0, 3.0, 1e-7), (2, 1, 2.01, 1e-2), (2, 2, 2.0, 1e-9), (3, 0, 3.0, 1e-12)]
    assert numbers(rows) == [3, 2, 2, 3]


def test_rows_before_a_pair_has_converged_are_those_of_the_pair_that_it_becomes():
    rows = [(0, 0, 2.9, 0.5), (0, 1, 2.2, 0.3), (0, 2, 1.4, 0.2), (0, 3, 1.0, 1e-9)]
    assert numbers(rows) == [0, 0, 0, 0]


def test_places_in_another_order_than_the_eigenvalues():
    rows = [(0, 0, 2.0, 1e-9), (1, 0, 2.0, 1e-9), (2, 0, 1.0, 1e-9), (3, 0, 3.0, 1e-9)]
    assert numbers(rows) == [1, 2, 0, 3] or numbers(rows) == [2, 1, 0, 3]


def test_a_second_pass():
    rows = [
        (0, 0, 1.0, 1e-9),
        (1, 0, 2.0, 1e-9),
        (2, 0, 3.0, 1e-9),
        (0, 0, 1.0, 1e-12),
        (1, 0, 2.0, 1e-9),
        (2, 0, 2, 1e-9),
    ]
    assert numbers(rows) == [0, 1, 3, 0, 1, 2]


def test_pairs_that_do_not_remain():
    rows = [(0, 0, 1.0, 1e-9), (1, 0, 5.0, 1e-9), (2, 0, 6.0, 1e-9), (2, 1, 5.0, 1e-9), (3, 0, 3.0, 1e-9)]
    assert numbers(rows) == [0, 4, 5, 4, 3]


def test_a_residual_that_is_not_known_allows_everything():
    assert numbers([(0, 0, 7.0, np.nan), (0, 1, 1.0, 1e-9), (1, 0, 9.0, np.nan)]) == [0, 0, 1]


@pytest.mark.parametrize("eigenvalues", [[], [1.0]])
def test_nothing(eigenvalues):
    nothing = np.zeros(0)
    assert attributed(nothing, nothing, nothing, nothing, np.array(eigenvalues)).size == 0
    assert numbers([(0, 0, 1.0, 1e-9)], eigenvalues) == [0]


@pytest.mark.parametrize(
    ("values", "numbers_"),
    [([2.6, 2.2, 2.0], [1, 1, 1]), ([1.1, 2.4, 3.0], [3, 3, 3]), ([1.0, 1.8, 2.9, 3.0], [3, 3, 3, 3])],
    ids=str,
)
def test_a_track_belongs_where_it_ends(values, numbers_):
    """Its first values may be near any eigenvalue, that of its place among them, as their residuals allow it."""
    residuals = [*[0.2] * (len(values) - 1), 1e-9]
    rows = [(0, step, value, residual) for step, (value, residual) in enumerate(zip(values, residuals, strict=True))]
    assert numbers(rows) == numbers_


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1e-9, 1e-3, 1e3, 1e9, 1e12, 1e300])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_unit_does_not_matter(unit, sign):
    """Neither for the resolution of values, nor for that of copies."""
    rows = [
        (0, 0, 1.5, 0.5),
        (0, 1, 1.0 + 3e-10, 1e-16),
        (0, 2, 1.0, 1e-16),
        (1, 0, 2.0 + 1e-8, 1e-7),
        (2, 0, 3.0, 1e-7),
        (2, 1, 2.01, 1e-2),
        (2, 2, 2.0, 1e-16),
        (3, 0, 3.0, 1e-12),
        (4, 0, 5.0, 1e-9),
    ]
    moved = [(place, step, sign * unit * value, residual) for place, step, value, residual in rows]
    for eigenvalues in (VALUES, np.array([1.0, 2.0, 2.0 + 1e-7, 3.0])):
        expected = [0, 0, 0, 1, 3, 2, 2, 3, 4]
        assert numbers(rows, eigenvalues) == numbers(moved, sign * unit * eigenvalues) == expected


@pytest.mark.parametrize(("away", "number"), [(0.9e-9, 0), (1.1e-9, 2)])
def test_the_resolution_is_a_fraction_of_the_largest(away, number):
    """Of the eigenvalues, whatever the size of the value itself, which is nearly 0 here."""
    assert numbers([(0, 0, 3.0 * away, 0.0)], [0.0, 3.0]) == [number]


@pytest.mark.parametrize(("residual", "number"), [(1.1e-3, 0), (0.9e-3, 4)])
def test_a_value_may_move_by_ten_of_its_residuals(residual, number):
    """Which are relative to the largest eigenvalue, where the value itself is smaller."""
    assert numbers([(0, 0, 1.03, residual)]) == [number]


def test_copies_are_numbered_in_their_order():
    """Three copies in any places have the three numbers of the eigenvalue, and a fourth one the last of them."""
    eigenvalues = [1.0, 2.0, 2.0 + 1e-7, 2.0 - 1e-7]
    rows = [(place, 0, 2.0, 1e-6) for place in range(5)]
    assert numbers(rows, eigenvalues) == [1, 2, 3, 3, 3]


def test_single_precision():
    """Eigenvalues are compared in double, where the sum of a value and its slack is not rounded away."""
    eigenvalues = np.array([1.0, 2.0, 2.0, 3.0], np.float32)
    assert numbers([(0, 0, 1.0 + 5e-10, 0.0), (1, 0, 2.0, 0.0), (2, 0, 2.0, 0.0)], eigenvalues) == [0, 1, 2]
