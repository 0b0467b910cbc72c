"""Values so small beside the largest one that its rounding may hide others from a search."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.verification.verdict import by_lapack


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("top", [2e11, -3e11, 1e12])
def test_copies_below_the_rounding_of_the_largest_are_not_called_complete(top, seed):
    """Three copies each, which Lanczos may see as two: a probe allows for 1,000 units of rounding of the largest."""
    rng = np.random.default_rng(seed)
    n, k = 1100, 5
    split = rng.choice([1, 1 + 1e-9], n - 1)
    d = np.r_[top, np.repeat(np.linspace(1, 10, n // 3 + 1), 3)[: n - 1] * split]
    sol = sm.solve(sp.diags_array(rng.permutation(d)).tocsr(), k=k, which="magnitude", rng=seed)
    wanted = d[np.argsort(-np.abs(d))][:k]
    if sol.verdict == "unchecked":
        assert "rounding of the largest value" in sol.verdict.why
    else:
        np.testing.assert_allclose(np.sort(sol.eigenvalues), np.sort(wanted), rtol=1e-6, atol=1e-14 * abs(top))


def test_a_count_takes_the_place_of_the_probe():
    d = np.r_[1e10, np.repeat(np.linspace(1, 10, 300), 3)]
    sol = sm.solve(sp.diags_array(d).tocsr(), k=4, which="magnitude", rng=0)
    assert sol.verdict == "certified"
    np.testing.assert_allclose(sol.eigenvalues, [1e10, 10, 10, 10], rtol=1e-6)


def graded():
    """A row with nearly no mass makes the largest eigenvalue 1e9 times the others."""
    A, mass = np.diag(np.linspace(1.0, 0.5, 8)), np.r_[1e-9, np.ones(7)]
    return sm.Pencil(A, np.diag(mass), equilibrate=True), np.diag(A) / mass


@pytest.mark.parametrize(
    ("places", "word"),
    [
        ([0], "certified"),
        ([0, 1, 2], "certified"),
        ([2, 0], "certified"),
        ([1], "unchecked"),
        ([7, 6], "unchecked"),
        (range(8), "certified"),
        ([], "certified"),
    ],
)
def test_lapack_confuses_values_beside_a_far_larger_one_that_is_not_among_them(places, word):
    pencil, values = graded()
    assert pencil.graded
    assert by_lapack(pencil, values[list(places)]) == word


def test_lapack_is_trusted_with_an_even_pair():
    A, B = np.diag(np.linspace(1.0, 0.5, 8)), np.diag(np.linspace(1.0, 2.0, 8))
    assert by_lapack(sm.Pencil(A, B, equilibrate=True), np.array([0.5])) == "certified"
