"""LAPACK after a search that fails: for the same eigenvalues, in the units of the pencil."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from asking import asked, tridiagonal
from checking import choices
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


@pytest.mark.parametrize("reason", [reason for reason in sm.Reason if not reason.converged])
def test_lapack_follows_a_search_that_has_failed_itself(reason, monkeypatch):
    """Not one that the user or a limit has ended."""
    failed = {"EXHAUSTED", "STAGNATED", "DIVERGED", "UNCONFIRMED", "MISSED", "MISCOUNTED"}
    monkeypatch.setattr(sm.Residual, "begin", lambda self, products: lambda state: reason)
    try:
        sol = sm.solve(tridiagonal(N), k=2, which="magnitude", rng=0)
    except sm.NotConverged as error:
        sol = error.solution
    assert ("LAPACK" in choices(sol)) == (reason.name in failed) == reason.failed
