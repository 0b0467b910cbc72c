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
