"""The recipe for a method of one's own in CONTRIBUTING.md works as it stands there."""

import dataclasses
import re
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from pairs import pair_of
from sources import ROOT

FIRST_LINE = "# how to add a method"
# A recipe that takes more lines than this is not simple enough; empty ones do not count.
MAX_LINES = 15


@cache
def recipe():
    """The fenced block of CONTRIBUTING.md that begins with the line above."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    found = [block for block in blocks if block.startswith(FIRST_LINE)]
    if len(found) != 1:
        pytest.fail(f"CONTRIBUTING.md has {len(found)} blocks ```python that begin with {FIRST_LINE!r}; it needs one")
    return found[0]


@cache
def method():
    """An object of the one method that the recipe defines."""
    names = {"__name__": "recipe"}
    exec(compile(recipe(), "CONTRIBUTING.md", "exec"), names)
    defined = [
        value
        for value in names.values()
        if isinstance(value, type) and issubclass(value, sm.Method) and value.__module__ == "recipe"
    ]
    assert len(defined) == 1, f"the recipe defines {len(defined)} methods"
    return defined[0]()


def test_it_is_short():
    lines = [line for line in recipe().splitlines() if line.strip()]
    assert len(lines) <= MAX_LINES


def test_it_is_an_immutable_options_object():
    kind = type(method())
    assert dataclasses.is_dataclass(kind)
    assert kind.__dataclass_params__.frozen
    assert kind.__doc__
    assert kind.step is not sm.Method.step
    assert kind() == method()


SPECTRUM = np.r_[1.0, 0.6, 0.35, np.linspace(0.15, 0.01, 21)]
MAKES = {"dense": np.asarray, "sparse": sp.csr_array}


@pytest.mark.parametrize("dtype", [float, complex], ids=["real", "complex"])
@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_it_finds_k_pairs(make, dtype):
    A, B = pair_of(SPECTRUM, dtype=dtype)
    sol = sm.solve(make(A), make(B), k=3, method=method(), rng=0)
    assert sol.converged
    assert sol.method == method()
    np.testing.assert_allclose(sol.eigenvalues, SPECTRUM[:3], rtol=1e-9)
    assert (sol.residuals <= 1e-8).all()
    U = sol.eigenvectors
    np.testing.assert_allclose(U.conj().T @ B @ U, np.eye(3), atol=1e-10)
    _, exact = scipy.linalg.eigh(A, B)
    cosines = np.abs(np.einsum("ij,ij->j", exact[:, ::-1][:, :3].conj(), B @ U))
    np.testing.assert_allclose(cosines, 1, atol=1e-10)


def test_it_finds_the_other_end():
    """The library negates and shifts the pair: a method need not know."""
    A, B = pair_of(-SPECTRUM)
    sol = sm.solve(A, B, k=2, which="smallest", method=method(), rng=0)
    np.testing.assert_allclose(sol.eigenvalues, -SPECTRUM[:2], rtol=1e-9)


def test_an_indefinite_pair():
    values = np.r_[1.0, 0.4, np.linspace(0.1, 0.0, 12), -0.3]
    sol = sm.solve(*pair_of(values), k=2, method=method(), rng=0)
    assert sol.shift > 0
    np.testing.assert_allclose(sol.eigenvalues, values[:2], rtol=1e-9)


def test_the_identity():
    A = np.diag(SPECTRUM)
    np.testing.assert_allclose(sm.solve(A, k=3, method=method(), rng=0).eigenvalues, SPECTRUM[:3], rtol=1e-9)


def test_stopping_counting_and_monitoring_come_for_nothing():
    A, B = pair_of(SPECTRUM)
    seen = []
    sol = sm.solve(A, B, method=method(), callback=seen.append, rng=0)
    assert len(sol.history) == len(seen)
    assert sol.steps == sol.history.step.max() >= 3
    assert sol.counts.A_products >= sol.steps
    with pytest.raises(sm.NotConverged) as caught:
        sm.solve(A, B, method=method(), max_steps=2, rng=0)
    assert caught.value.solution.reason is sm.Reason.MAX_STEPS
    assert caught.value.solution.steps == 2


def test_its_iterates_approach_the_pair():
    A, B = pair_of(SPECTRUM)
    states = sm.iterates(A, B, method=method(), rng=0)
    values = [state.eigenvalue for state, _ in zip(states, range(60), strict=False)]
    assert values[-1] == pytest.approx(1.0, rel=1e-6)
    assert values[0] < values[-1]


@pytest.mark.parametrize("n", [64, 420])
@pytest.mark.parametrize("question", [{"which": "largest"}, {"which": "smallest"}])
def test_a_subspace_method_of_ones_own_is_the_one_that_runs(n, question):
    bound = []

    @dataclasses.dataclass(frozen=True)
    class Own(sm.Method):
        subspace: ClassVar[bool] = True

        def bind(self, setup):
            bound.append(setup)
            return sm.Accelerated().bind(setup)

    A, B = sm.gallery.synthetic_pair(n, kappa_B=10, rng=0)
    sol = sm.solve(A, B, 1, method=Own(), rng=0, **question)
    assert len(bound) == 1
    assert bound[0].single is None
    assert sol.method == Own()
    values = scipy.linalg.eigh(A, B, eigvals_only=True)
    assert sol.eigenvalues[0] == pytest.approx(values[-1] if question["which"] == "largest" else values[0], rel=1e-8)
