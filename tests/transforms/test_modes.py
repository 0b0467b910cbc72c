"""The transformed values that SciPy's modes select by."""

import numpy as np
import pytest

from splitmerge.transforms.modes import reduce, transformed

VALUES = np.array([-3.0, -0.5, 0.25, 1.0, 8.0])
SIGMA = 2.0
FORMULAS = {
    "normal": lambda values: 1 / (values - SIGMA),
    "buckling": lambda values: values / (values - SIGMA),
    "cayley": lambda values: (values + SIGMA) / (values - SIGMA),
}


@pytest.mark.parametrize("mode", FORMULAS)
def test_transformed(mode):
    np.testing.assert_allclose(transformed(VALUES, SIGMA, mode), FORMULAS[mode](VALUES), rtol=1e-14)
    assert transformed(VALUES, None, mode) is VALUES


@pytest.mark.parametrize("mode", FORMULAS)
@pytest.mark.parametrize("which", ["LM", "LA", "SA", "BE"])
@pytest.mark.parametrize("sigma", [2.0, -1.5])
def test_the_reduced_pair_ranks_alike(mode, which, sigma):
    """The target ranks `sign`/(λ − τ) of the reduced pair as the transformed values rank; ends count in any order."""
    values = np.array([0.2, 0.5, 0.7, 1.3, 5.0, 9.0])
    reduced = reduce(np.eye(2), np.eye(2), sigma, mode, which)
    inner = 1 / values if reduced.reciprocal else values
    thetas = reduced.sign / (inner - reduced.shift)
    rising = np.argsort(thetas)
    found = rising[reduced.target(reduced.shift).order(thetas[rising])]
    wanted = transformed(values, sigma, mode)
    order = {"LM": -np.abs(wanted), "LA": -wanted, "SA": wanted}.get(which)
    if which == "BE":
        assert set(found[:2]) == {int(np.argmax(wanted)), int(np.argmin(wanted))}
    else:
        assert found[:3].tolist() == np.argsort(order)[:3].tolist()


@pytest.mark.parametrize("which", ["LM", "LA", "SA", "BE"])
@pytest.mark.parametrize("mode", FORMULAS)
@pytest.mark.parametrize("sigma", [0.6, 2.0])
def test_enough(mode, which, sigma):
    """There are enough for the wanted θ to be on the wanted side of zero, where a search converges to them."""
    values = np.array([0.2, 0.5, 0.7, 1.3, 5.0, 9.0])
    reduced = reduce(np.eye(2), np.eye(2), sigma, mode, which)
    inner = np.sort(1 / values if reduced.reciprocal else values)
    thetas = np.sort(reduced.sign / (inner - reduced.shift))
    for k in range(1, values.size):
        order = reduced.target(reduced.shift).order(thetas)[:k]
        if reduced.which == "BE":
            expected = bool((thetas[order[0::2]] > 0).all() and (thetas[order[1::2]] < 0).all())
        else:
            expected = bool((thetas[-k:] > 0).all()) or (reduced.which == "LM" and not reduced.skewed)
        assert reduced.enough(values.size, int((inner < reduced.shift).sum()), k) == expected


def test_the_callers_inverse_belongs_to_its_own_shift():
    """The smallest of the Cayley transform are the largest of that at −σ, for which the caller gave no inverse."""
    A, M = np.diag([1.0, 2.0, 5.0]), np.eye(3)
    assert reduce(A, M, 1.5, "cayley", "SM").factor is None
    assert [reduce(A, M, 1.5, mode, "LM").factor for mode in ("normal", "cayley", "buckling")] == [1.0, 1.0, -1.5]
