"""A solution as a data frame, and unpacked."""

import sys
from collections.abc import Sequence, Sized

import numpy as np
import pytest

import splitmerge as sm

SOLUTION = sm.solve(np.diag([1.0, 2.0, 2.0, 3.0]), k=3)


def test_columns():
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = SOLUTION.to_frame()
    assert frame.index.name == "pair"
    assert frame.columns.tolist() == ["value", "residual", "error_bound", "angle_bound", "cluster"]
    for name, column in zip(
        frame.columns,
        ("eigenvalues", "residuals", "error_bounds", "angle_bounds", "clusters"),
        strict=True,
    ):
        np.testing.assert_array_equal(frame[name], getattr(SOLUTION, column))


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        SOLUTION.to_frame()


def test_unpacking():
    w, V = SOLUTION
    assert w is SOLUTION.eigenvalues
    assert V is SOLUTION.eigenvectors


def test_it_is_no_sequence():
    """NumPy would make an array of a sequence, and `if solution` ask for its length."""
    assert not isinstance(SOLUTION, (Sequence, Sized))
    assert np.asarray(SOLUTION, dtype=object).shape == ()
    assert bool(SOLUTION)
    with pytest.raises(ValueError, match="x0"):
        sm.solve(np.eye(4), x0=SOLUTION)
