"""What a problem says of itself, and what of it a solution keeps."""

from dataclasses import fields, replace

import numpy as np
import pytest

import splitmerge as sm
from splitmerge.problem.problem import ALIASES, WHICH, Problem
from splitmerge.problem.start import Warm

# each argument something else, so that none can stand for another
GIVEN = {field.name: (field.name,) for field in fields(Problem)}
KEPT = {
    "A", "B", "k", "which", "sigma", "method", "tol", "stop", "max_steps", "b_policy", "certify", "preconditioner",
    "interval",
}  # fmt: skip
PLAIN = Problem(
    A=np.eye(3), B=None, k=1, which="largest", sigma=None, method=None, tol=1e-8, stop=None, max_steps=None,
    b_policy="error", certify=False,
)  # fmt: skip
WARM = Warm(np.ones((3, 1)))


@pytest.mark.parametrize("name", GIVEN)
def test_what_a_solution_keeps(name):
    """All that a resumed solve needs, but nothing that belongs to one call."""
    kept = Problem(**GIVEN).kept()
    default = {field.name: field.default for field in fields(Problem)}
    assert getattr(kept, name) == (GIVEN[name] if name in KEPT else default[name])


def test_kept_twice_is_kept_once():
    once, twice = Problem(**GIVEN).kept(), Problem(**GIVEN).kept().kept()
    assert all(getattr(once, name) == getattr(twice, name) for name in GIVEN)


@pytest.mark.parametrize(
    ("options", "true"),
    [
        ({}, set()),
        ({"x0": np.ones(3)}, {"given", "started", "iterates"}),
        ({"x0": WARM}, {"given"}),
        ({"stop": sm.Residual(1e-6)}, {"followed", "iterates", "limited"}),
        ({"callback": print}, {"followed", "iterates"}),
        ({"max_steps": 5}, {"iterates", "limited"}),
        ({"max_steps": 5, "x0": WARM}, {"given", "iterates", "limited"}),
        ({"which": "smallest"}, set()),
        ({"which": "smallest", "method": sm.SplitMerge()}, {"negated"}),
        ({"which": "smallest", "method": sm.GradientDescent()}, {"negated"}),
        ({"which": "largest", "method": sm.SplitMerge()}, set()),
        ({"which": "smallest", "method": sm.Accelerated()}, set()),
        ({"which": "smallest", "method": sm.LocallyOptimal()}, set()),
        ({"progress": True, "certify": True, "rng": 3, "checkpoint": "a"}, set()),
    ],
    ids=lambda given: "-".join(sorted(given)) or "none",
)
def test_what_is_asked_for(options, true):
    problem = replace(PLAIN, **options)
    names = ("given", "started", "followed", "iterates", "limited", "negated")
    assert {name for name in names if getattr(problem, name)} == true


def test_names_of_what_is_wanted():
    assert set(ALIASES.values()) < set(WHICH)
    A = np.diag([-9.0, -1.0, 4.0, 8.0])
    for long, short in ALIASES.items():
        found, same = (sm.solve(A, k=3, which=which, rng=0).eigenvalues for which in (long, short))
        np.testing.assert_array_equal(found, same)
    np.testing.assert_allclose(sm.solve(A, k=2, which="largest_magnitude", rng=0).eigenvalues, [-9, 8])
    np.testing.assert_allclose(sm.solve(A, k=3, which="both_ends", rng=0).eigenvalues, [8, -9, 4])


@pytest.mark.parametrize("n", [8, 150])
def test_an_interval_is_remembered(n, tmp_path):
    """By the solution, by what was read from a file, and by a resumed solve."""
    A = np.diag(np.arange(1.0, n + 1))
    sol = sm.solve(A, interval=(2.5, 6.5), rng=0)
    sol.save(tmp_path / "some.npz")
    for again in (sol.resume(), sol.resume(tol=1e-10), sm.load(tmp_path / "some.npz").resume()):
        np.testing.assert_allclose(np.sort(again.eigenvalues), [3, 4, 5, 6], rtol=1e-8)
        assert again.verdict == "certified"
