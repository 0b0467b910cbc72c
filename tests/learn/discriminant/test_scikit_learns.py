"""scikit-learn's own tests of `LinearDiscriminantAnalysis`, with ours in place of it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import sklearn

from splitmerge.learn import LinearDiscriminantAnalysis


def _scikit_learns_tests():
    # a copy of the module, so that whoever imports theirs finds it unchanged
    path = Path(sklearn.__file__).parent / "tests" / "test_discriminant_analysis.py"
    spec = importlib.util.spec_from_file_location("scikit_learns_test_discriminant_analysis", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.LinearDiscriminantAnalysis = LinearDiscriminantAnalysis
    return module


THEIRS = {
    name: test
    for name, test in vars(_scikit_learns_tests()).items()
    if name.startswith("test_") and "LinearDiscriminantAnalysis" in test.__code__.co_names
}
# pytest collects them with their parameters
globals().update(THEIRS)


def test_all_of_them_are_here():
    assert len(THEIRS) >= 17
