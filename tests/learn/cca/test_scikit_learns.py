"""scikit-learn's own tests of `CCA`, with ours in place of it."""

import importlib.util
import inspect
import itertools
from pathlib import Path

import numpy as np
import pytest
import sklearn.cross_decomposition
from sklearn.datasets import load_linnerud

from splitmerge.learn import CCA


def _scikit_learns_tests():
    """Execute scikit-learn's test module with our CCA where it imports its own."""
    path = Path(sklearn.cross_decomposition.__file__).parent / "tests" / "test_pls.py"
    if not path.exists():
        pytest.skip("this scikit-learn is installed without its tests", allow_module_level=True)
    spec = importlib.util.spec_from_file_location("scikit_learns_test_pls", path)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sklearn.cross_decomposition, "CCA", CCA)
        spec.loader.exec_module(module)
    return module


theirs = _scikit_learns_tests()


def _cases(test):
    """Every combination of the parameters with which scikit-learn runs a test."""
    marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    names = [[word.strip() for word in mark.args[0].split(",")] for mark in marks]
    for values in itertools.product(*(list(mark.args[1]) for mark in marks)):
        arguments = {}
        for keys, value in zip(names, values, strict=True):
            arguments.update(zip(keys, value if len(keys) > 1 else (value,), strict=True))
        if "global_random_seed" in inspect.signature(test).parameters:
            arguments["global_random_seed"] = 42
        yield arguments


def _items():
    """The cases that concern CCA: it is a parameter, or the test mentions it."""
    for name, test in vars(theirs).items():
        if not name.startswith("test_"):
            continue
        for number, case in enumerate(_cases(test)):
            if any(value is CCA for value in case.values()) or "CCA" in test.__code__.co_names:
                yield pytest.param(test, case, id=f"{name}-{number}")


ITEMS = list(_items())
WRITES_TO_INPUT = "with copy=False it expects X to be overwritten, and ours never writes to its input"


def test_they_are_found():
    assert len(ITEMS) >= 14


@pytest.mark.filterwarnings("ignore:.*dimensions were left out:UserWarning")
@pytest.mark.parametrize(("test", "case"), ITEMS)
def test_scikit_learns_own_tests(test, case, request):
    if test.__name__ == "test_copy":
        request.applymarker(pytest.mark.xfail(raises=pytest.fail.Exception, reason=WRITES_TO_INPUT, strict=True))
    test(**case)


def test_copy_has_no_effect():
    """The remaining statements of scikit-learn's test_copy."""
    X, y = load_linnerud(return_X_y=True)
    given = X.copy(), y.copy()
    kept, not_kept = CCA(copy=True).fit(X, y), CCA(copy=False).fit(X, y)
    np.testing.assert_array_equal(kept.coef_, not_kept.coef_)
    for one, other in zip(kept.transform(X, y, copy=True), not_kept.transform(X, y, copy=False), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(kept.predict(X, copy=True), not_kept.predict(X, copy=False))
    np.testing.assert_array_equal(X, given[0])
    np.testing.assert_array_equal(y, given[1])


def test_their_arguments_have_our_meaning():
    """Every argument of scikit-learn's CCA is taken, and the first is the same by position."""
    scikit_learns = inspect.signature(sklearn.cross_decomposition.CCA).parameters
    ours = inspect.signature(CCA).parameters
    assert scikit_learns.keys() <= ours.keys()
    assert next(iter(ours)) == "n_components"
    for method in ("fit", "transform", "predict", "inverse_transform"):
        expected = inspect.signature(getattr(sklearn.cross_decomposition.CCA, method)).parameters
        assert list(inspect.signature(getattr(CCA, method)).parameters)[: len(expected)] == list(expected)


def test_attributes_are_those_of_scikit_learn():
    X, y = load_linnerud(return_X_y=True)
    ours, theirs = CCA(n_components=2).fit(X, y), sklearn.cross_decomposition.CCA(max_iter=5000, tol=1e-12).fit(X, y)
    assert {name for name in vars(theirs) if name.endswith("_") and name[0] != "_"} <= set(dir(ours))
    for name in ("x_weights_", "y_rotations_", "x_loadings_", "y_loadings_", "coef_", "intercept_"):
        assert getattr(ours, name).shape == getattr(theirs, name).shape, name
    assert len(ours.n_iter_) == len(theirs.n_iter_) == 2
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_)
    for one, other in zip(ours.transform(X, y), theirs.transform(X, y), strict=True):
        together = np.corrcoef(one.T, other.T)[:2, 2:]
        np.testing.assert_allclose(np.abs(together), np.eye(2), atol=1e-6)
