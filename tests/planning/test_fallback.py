"""LAPACK after a search that fails: for the same eigenvalues, in the units of the pencil."""

import numpy as np
import pytest
import scipy.sparse as sp

from asking import asked, tridiagonal
from splitmerge.planning.choose import choose
from splitmerge.planning.plan import Engine, Map

N = 300


def fallback(scale, mass=1.0, **question):
    problem, pencil = asked(tridiagonal(N) * scale, sp.csr_array(sp.eye_array(N) * mass), 2, **question)
    assert (pencil.unit == 1) == (scale == mass)
    return choose(problem, pencil).candidates[-1], pencil


@pytest.mark.parametrize(("scale", "mass"), [(1.0, 1.0), (1e200, 1.0), (1.0, 1e-200)])
def test_nearest_to_sigma_in_its_units(scale, mass):
    sigma = 1.5 * scale / mass
    candidate, pencil = fallback(scale, mass, sigma=sigma)
    assert candidate.engine is Engine.LAPACK
    assert candidate.target.name == "closest"
    np.testing.assert_allclose(candidate.target.centre * pencil.unit, sigma, rtol=1e-15)


@pytest.mark.parametrize("which", ["largest", "smallest", "magnitude", "ends"])
def test_the_same_end(which):
    candidate, _ = fallback(1.0, which=which)
    assert candidate.engine is Engine.LAPACK
    assert (candidate.map is Map.NEGATED) == (which == "smallest")
    name = {"magnitude": "farthest", "ends": "ends"}.get(which, "largest")
    assert candidate.target.name == name
