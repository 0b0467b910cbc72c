"""Every argument is remembered by the solution, by what is resumed from it, and by its file."""

import inspect
from dataclasses import asdict

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from checking import operator_of
from resuming import differences
from splitmerge.solution.resume import REMEMBERED
from splitmerge.solution.store.guard import UnreadableFile

SMALL = np.diag(np.arange(1.0, 31.0)), np.diag(np.linspace(1.0, 2.0, 30))
LARGE = tuple(sp.csr_array(sp.diags_array(d)) for d in (np.arange(1.0, 231.0), np.linspace(1.0, 2.0, 230)))
PAIRS = {"small": SMALL, "large": LARGE}
# what is asked for beside A and B, by the names of `solve`
ASKED = {
    "nothing": {},
    "k": {"k": 4},
    "smallest": {"k": 3, "which": "smallest"},
    "magnitude": {"k": 3, "which": "magnitude"},
    "ends": {"k": 3, "which": "ends"},
    "sigma": {"k": 2, "sigma": 7.3},
    "negative sigma": {"k": 2, "sigma": -1e-3},
    "interval": {"interval": (3.2, 7.7)},
    "interval from below": {"interval": (-np.inf, 4.5)},
    "interval of nothing": {"interval": (-5.0, -4.0)},
    "interval of a point": {"interval": (1.0, 1.0)},
    "tol": {"k": 2, "tol": 1e-5},
    "stop": {"k": 2, "stop": sm.Residual(1e-6) | sm.MaxSeconds(1e6)},
    "max_steps": {"k": 2, "max_steps": 777},
    "method": {"k": 2, "method": sm.Accelerated(max_basis=40)},
    "method of the paper": {"method": sm.SplitMerge(), "tol": 1e-3},
    "b_policy": {"k": 2, "b_policy": "ridge"},
    "restrict": {"k": 2, "b_policy": "restrict"},
    "certify": {"k": 2, "certify": True},
    "preconditioner": {"k": 2, "preconditioner": sm.Diagonal()},
    "all": {"k": 2, "which": "smallest", "method": sm.LocallyOptimal(), "tol": 1e-6, "max_steps": 500},
}
DEFAULTS = {name: given.default for name, given in inspect.signature(sm.solve).parameters.items()}


def expected(asked):
    """What the problem should hold of every argument."""
    given = {name: DEFAULTS[name] for name in REMEMBERED if name not in ("A", "B")} | asked
    return {name: given[name] for name in given if not (name == "k" and given["interval"] is not None)}


def held(solution):
    names = expected({"interval": solution.problem.interval})
    return {name: getattr(solution.problem, name) for name in names}


def everything_but_matrices_and_starts():
    """The arguments of `solve` that are no part of one run alone."""
    of_a_run = {"x0", "rng", "callback", "progress", "comm", "checkpoint", "diagonal"}
    return set(DEFAULTS) - of_a_run


def test_what_is_remembered_is_what_is_asked():
    assert set(REMEMBERED) == everything_but_matrices_and_starts()


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("size", PAIRS)
def test_by_the_solution_and_by_its_heirs(tmp_path, name, size):
    A, B = PAIRS[size]
    asked = ASKED[name]
    sol = sm.solve(A, B, rng=0, **asked)
    assert sol.problem.A is A
    assert sol.problem.B is B
    assert held(sol) == expected(asked)
    again = sol.resume(rng=0)
    assert held(again) == expected(asked)
    assert again.problem.A is A
    np.testing.assert_allclose(again.eigenvalues, sol.eigenvalues, rtol=1e-4)
    sol.save(tmp_path / "x")
    loaded = sm.load(tmp_path / "x")
    assert held(loaded) == held(sol)
    assert differences([loaded.problem.A, loaded.problem.B][0], A) == differences(loaded.problem.B, B) == []
    for figure in ("eigenvalues", "eigenvectors", "residuals", "error_bounds", "angle_bounds", "clusters"):
        assert differences(getattr(loaded, figure), getattr(sol, figure)) == []
    assert (loaded.reason, loaded.steps, loaded.converged, loaded.shift) == (
        *(sol.reason, sol.steps, sol.converged, sol.shift),
    )
    assert asdict(loaded.counts) == asdict(sol.counts)
    assert asdict(loaded.seconds) == asdict(sol.seconds)
    assert (str(loaded.verdict), loaded.verdict.why) == (str(sol.verdict), sol.verdict.why)
    assert loaded.explain() == sol.explain()
    assert repr(loaded) == repr(sol)
    third = loaded.resume(rng=0)
    assert held(third) == expected(asked)
    np.testing.assert_allclose(third.eigenvalues, sol.eigenvalues, rtol=1e-4)


@pytest.mark.parametrize("size", PAIRS)
@pytest.mark.parametrize(
    ("anew", "values"),
    [
        ({"k": 3}, [30, 29, 28]),
        ({"which": "smallest"}, [1, 2]),
        ({"sigma": 7.3}, [7, 8]),
        ({"interval": (4.5, 6.5)}, [5, 6]),
        ({"which": "smallest", "k": 1}, [1]),
        ({"sigma": 7.8, "k": 1}, [8]),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "before", [{"k": 2}, {"k": 2, "which": "smallest"}, {"k": 2, "sigma": 15.2}, {"interval": (2.5, 3.5)}], ids=str
)
def test_a_new_question_takes_the_place_of_the_old_one(tmp_path, size, before, anew, values):
    """Of the solution itself, and of the one in its file."""
    ends = np.arange(1.0, (31 if size == "small" else 231))
    A = np.diag(ends) if size == "small" else sp.csr_array(sp.diags_array(ends))
    sol = sm.solve(A, rng=0, **before)
    if "k" not in anew and "interval" not in anew and "interval" in before:
        anew = anew | {"k": 2}
    if anew == {"k": 3}:
        if "interval" in before:
            # all in the interval are asked for, however many
            with pytest.raises(ValueError, match=r"^k and interval are both given"):
                sol.resume(k=3)
            return
        values = {"which": [1, 2, 3], "sigma": [15, 16, 14]}.get(list(before)[-1], ends[:-4:-1])
    sol.save(tmp_path / "x")
    for start in (sol, sm.load(tmp_path / "x")):
        found = start.resume(rng=0, **anew)
        np.testing.assert_allclose(np.sort(found.eigenvalues), np.sort(values), rtol=1e-7)


def test_a_looser_or_an_equal_tolerance_needs_no_further_vectors():
    """And a tighter one takes the spare ones, too."""
    A = sp.csr_array(sp.diags_array(np.linspace(0.0, 3.0, 600) ** 2))
    sol = sm.solve(A, k=3, tol=1e-6, method=sm.Accelerated(), rng=0)
    assert sol.spare is not None
    steps = {tol: sol.resume(tol=tol, rng=0).counts.A_products for tol in (1e-3, 1e-6, None)}
    assert len(set(steps.values())) == 1
    assert sol.resume(tol=1e-10, rng=0).counts.A_products > steps[1e-6]


@pytest.mark.parametrize("kind", [np.asarray, operator_of], ids=["dense", "operator"])
def test_a_lumped_mass_is_given_again(kind, tmp_path):
    """`load` takes what `solve` has taken."""
    A, b = kind(np.diag(np.arange(1.0, 8.0)) + 0.1), np.arange(1.0, 8.0)
    solved = sm.solve(A, b, 2, rng=0)
    solved.save(tmp_path / "x.npz")
    again = sm.load(tmp_path / "x.npz", A, b).resume(k=3, rng=0)
    expected = scipy.linalg.eigvalsh(np.diag(np.arange(1.0, 8.0)) + 0.1, np.diag(b))[::-1]
    np.testing.assert_allclose(again.eigenvalues, expected[:3], rtol=1e-8)
    for wrong in (b[:-1], np.ones((7, 1)), np.ones((7, 8))):
        with pytest.raises(UnreadableFile, match="B has shape"):
            sm.load(tmp_path / "x.npz", A, wrong)
    with pytest.raises(UnreadableFile, match="A has shape"):
        sm.load(tmp_path / "x.npz", b, b)
