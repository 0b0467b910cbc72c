"""What the short way accepts: residuals in every system of coordinates."""

import numpy as np
import pytest

from splitmerge.express.found import Found
from splitmerge.express.result import checked

TOL, GOOD, BAD = 1e-8, 1e-9, 1e-7


def found_with(*residuals):
    """A pair with λ = ‖x‖ = ‖Bx‖ = 1 whose residual norm in each system of coordinates is one of these."""
    x, norms = np.eye(3)[:1], [[[residual], [1.0], [1.0]] for residual in residuals]
    return Found(x, x, [1.0], [1.0], [GOOD], [0.0], norms, [1.0])


@pytest.mark.parametrize(("own", "stands"), [((GOOD, GOOD), True), ((GOOD, BAD), False), ((BAD, GOOD), False)])
def test_residuals_are_held_to_the_tolerance_in_both_systems(own, stands):
    """A residual that is too large in the coordinates of the scaled pair only is refused like one in the user's."""
    result = checked(found_with(*own), [(1.0, 1.0)] * 2, 1.0, TOL, None)
    assert (result is not None) is stands
    assert result is None or result.met


@pytest.mark.parametrize("large", [0, 1])
def test_rounding_excuses_in_its_own_system_only(large):
    """Matrices of norm 1e9 leave more than `BAD` of a residual in their own coordinates, and nothing in the others."""
    scales, residuals = [(1.0, 1.0)] * 2, [GOOD] * 2
    scales[large], residuals[large] = (1e9, 1.0), BAD
    result = checked(found_with(*residuals), scales, 1.0, TOL, None)
    assert result is not None
    assert not result.met
    assert checked(found_with(*residuals), scales[::-1], 1.0, TOL, None) is None
