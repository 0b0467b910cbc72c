"""Every row of the table for `scipy.linalg.eigh`, both sides run."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError, eigh

import splitmerge as sm
from tables import Table

TABLE = Table("`scipy.linalg.eigh`")
A, B = (matrix.toarray() for matrix in sm.gallery.element_laplacian((7, 6)))
n, k = A.shape[0], 4


@TABLE.checks("`eigh(A, B)` for all eigenvalues")
def test_all():
    sol = sm.solve(A, B, k=n)
    np.testing.assert_allclose(sol.eigenvalues, eigh(A, B, eigvals_only=True)[::-1], rtol=1e-9)
    # LAPACK makes none
    assert sol.steps == 0


@pytest.mark.parametrize(
    ("theirs", "ours"),
    TABLE.pairs("`subset_by_index=(0, k - 1)`", "`subset_by_index=(n - k, n - 1)`"),
)
def test_by_index(theirs, ours):
    values = eval(f"eigh(A, B, eigvals_only=True, {theirs})")
    found = eval(f"sm.solve(A, B, {ours})").eigenvalues
    np.testing.assert_allclose(found, values if "smallest" in ours else values[::-1], rtol=1e-9)


@TABLE.checks("`subset_by_value=(a, b)`, a < λ ≤ b")
def test_by_value():
    D = np.diag(np.arange(1.0, 9.0))
    assert eigh(D, eigvals_only=True, subset_by_value=(2, 5)).tolist() == [3, 4, 5]
    np.testing.assert_allclose(sm.solve(D, interval=(2, 5)).eigenvalues, [2, 3, 4, 5], rtol=1e-12)


@TABLE.checks("`lower=True`: one triangle is read")
def test_one_triangle():
    triangle = np.tril(A)
    np.testing.assert_allclose(eigh(triangle, B, eigvals_only=True), eigh(A, B, eigvals_only=True), rtol=1e-9)
    with pytest.raises(ValueError, match=r"A is not symmetric.*only its lower triangle"):
        sm.solve(triangle, B)


@TABLE.checks("`LinAlgError: … not positive definite`")
def test_singular_B():
    D, S = np.diag([1.0, 2.0, 3.0, 4.0]), np.diag([1.0, 0.0, 2.0, 2.0])
    with pytest.raises(LinAlgError, match="not positive definite"):
        eigh(D, S)
    with pytest.raises(sm.NotPositiveDefinite, match=r"b_policy='restrict'.*b_policy='ridge'"):
        sm.solve(D, S)
    np.testing.assert_allclose(sm.solve(D, S, k=3, b_policy="restrict").eigenvalues, [2, 1.5, 1], rtol=1e-9)
    # the ridge makes the infinite eigenvalue a large one
    assert sm.solve(D, S, k=1, b_policy="ridge").eigenvalues[0] > 1e6


@TABLE.checks("`type=2`, `type=3`", "`overwrite_a`, `check_finite`")
def test_other_arguments():
    assert eigh(A, B, type=2, eigvals_only=True).shape == (n,)
    with pytest.raises(TypeError, match="type"):
        sm.solve(A, B, type=2)
    kept = A.copy()
    sm.solve(A, B, k=2)
    np.testing.assert_array_equal(A, kept)
    with pytest.raises(ValueError, match=r"^A .*NaN"):
        sm.solve(np.where(A.max() == A, np.nan, A), B)


def test_every_row_has_a_test():
    assert TABLE.untested == []
