"""SciPy's own tests of `eigsh`, with ours in place of it."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.linalg import ArpackNoConvergence
from scipy.sparse.linalg import eigsh as scipy_eigsh

import splitmerge as sm
from covering import cover


def _scipys_tests():
    # the package is shadowed by the module of the same name, so the file is loaded by its path
    path = Path(inspect.getfile(scipy_eigsh)).parent / "tests" / "test_arpack.py"
    spec = importlib.util.spec_from_file_location("scipys_test_arpack", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


scipys = _scipys_tests()


def _cases(name):
    """Every combination of the parameters with which SciPy runs its test."""
    marks = [mark for mark in getattr(scipys, name).pytestmark if mark.name == "parametrize"]
    names = [[word.strip() for word in mark.args[0].split(",")] for mark in marks]
    for values in itertools.product(*(mark.args[1] for mark in marks)):
        arguments = {}
        for keys, value in zip(names, values, strict=True):
            arguments.update(zip(keys, value if len(keys) > 1 else (value,), strict=True))
        yield arguments


PARAMETRISED = {"test_symmetric_modes": 240, "test_hermitian_modes": 144, "test_symmetric_starting_vector": 20}
CASES = [(name, case, route) for name in PARAMETRISED for case in _cases(name) for route in ("lapack", "search")]


def _items():
    """All cases; those that add no pair of values are slow."""
    named = [
        {"test": name, "route": route} | {key: str(getattr(value, "__name__", value)) for key, value in case.items()}
        for name, case, route in CASES
    ]
    chosen = set(cover(named))
    for i, (item, names) in enumerate(zip(CASES, named, strict=True)):
        yield pytest.param(*item, id="-".join(names.values()), marks=() if i in chosen else pytest.mark.slow)


@pytest.fixture
def refusals():
    """The calls that found no answer."""
    return []


@pytest.fixture
def calls(monkeypatch, refusals):
    """Puts our eigsh in the place of SciPy's in its tests, and counts its calls."""
    made = []

    def eigsh(*args, **kwargs):
        made.append(threading.get_ident())
        try:
            return sm.eigsh(*args, **kwargs)
        except ArpackNoConvergence as refusal:
            refusals.append(refusal)
            raise

    monkeypatch.setattr(scipys, "eigsh", eigsh)
    return made


def test_scipys_parametrisation_is_complete():
    assert {name: len(list(_cases(name))) for name in PARAMETRISED} == PARAMETRISED


@pytest.mark.parametrize(("name", "case", "route"), list(_items()))
def test_scipys_own_tests(name, case, route, calls, refusals, monkeypatch):
    if route == "search":
        monkeypatch.setattr(sys.modules["splitmerge.eigsh_request"], "prefers_lapack", lambda *_, **__: False)
        # the inverse of a matrix with a condition of 1000 costs a digit that LAPACK keeps
        strict = scipys._get_test_tolerance
        monkeypatch.setattr(scipys, "_get_test_tolerance", lambda *args: np.multiply(strict(*args), (1, 5, 5)))
    getattr(scipys, name)(**case)
    # SciPy's test tries again after a wrong answer: there is none
    assert len(calls) == 1 + len(refusals)
    # and after a refusal: with tol=0 in single precision, what rounding leaves of a residual is now and then (1 start
    # in 140) above ten times its estimate, and on which start depends on the processor.
    assert len(refusals) <= (route == "search" and case["typ"] in "fF")
    for refusal in refusals:
        partial = refusal.__cause__.solution
        assert partial.reason is sm.Reason.UNCONFIRMED
        assert partial.residuals.max() <= 1e-3


def test_scipys_no_convergence(calls):
    scipys.test_symmetric_no_convergence()
    assert len(calls) == 1


def test_scipys_threads(calls):
    scipys.test_parallel_threads(num_parallel_threads=1)
    assert len(calls) == 11
    assert len(set(calls)) > 1


def test_scipys_k_greater(calls):
    scipys.test_eigsh_for_k_greater()
    assert len(calls) == 6
