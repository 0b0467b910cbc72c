"""Small kernels against their definitions: both sides of thresholds, every dtype, extreme sizes, the second column."""

import math

import numpy as np
import pytest

from splitmerge.errors import NotPositiveDefinite
from splitmerge.linalg import cg
from splitmerge.linalg.blas import SUMMED_COLUMNS, one_norm
from splitmerge.linalg.cholesky import check_condition, check_pivots, not_definite
from splitmerge.linalg.extreme import extreme_pairs, lower_factor, nearest_pairs
from splitmerge.linalg.lanczos import LanczosProcess, largest_eigenvalue
from splitmerge.linalg.ldl import DenseShifted
from splitmerge.linalg.reductions import (
    column_norms,
    column_sizes,
    column_vdots,
    gram,
    largest,
    leading_entries,
    norms,
    phases,
    random_vector,
)
from splitmerge.linalg.rounding import by_distance, narrowed, pivot_threshold, precision
from strategies import normal, unitary

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)


@each_dtype
@pytest.mark.parametrize("n", [5, 2 * SUMMED_COLUMNS + 1, 3 * SUMMED_COLUMNS, 4 * SUMMED_COLUMNS - 3])
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_the_1_norm_sees_every_column(place, n, dtype):
    column = {"first": 0, "middle": n // 2, "last": n - 1}[place]
    M = np.zeros((n, n), dtype, order="F")
    M[:, column] = -2.0 if np.dtype(dtype).kind == "f" else -1.2 + 1.6j
    assert one_norm(M) == pytest.approx(2 * n)


@each_dtype
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
class TestColumns:
    def made(self, dtype, size):
        X, Y = (size * normal(np.random.default_rng(seed), (9, 4), dtype) for seed in (0, 1))
        return X.astype(dtype), Y.astype(dtype)

    def test_products(self, dtype, size):
        """The first factor is the one that is conjugated."""
        X, Y = self.made(dtype, size)
        exact = X.astype(complex).conj().T @ Y.astype(complex)
        tolerance = {"rtol": 1e-4, "atol": 1e-5 * np.abs(exact).max()}
        np.testing.assert_allclose(gram(X, Y), exact, **tolerance)
        np.testing.assert_allclose(gram(X, Y[:, 2]), exact[:, 2], **tolerance)
        np.testing.assert_allclose(column_vdots(X, Y), exact.diagonal(), **tolerance)

    def test_sizes(self, dtype, size):
        X, _ = self.made(dtype, size)
        exact = np.linalg.norm(X.astype(complex), axis=0)
        np.testing.assert_allclose(norms(X), exact, rtol=1e-5)
        np.testing.assert_allclose(column_norms(X), exact, rtol=1e-5)
        np.testing.assert_allclose(column_sizes(X), np.abs(X).max(axis=0), rtol=1e-6)
        assert largest(np.abs(X).ravel()) == pytest.approx(np.abs(X).max(), rel=1e-6)

    def test_phases_make_the_largest_entry_positive(self, dtype, size):
        """Times its phase, a column has a real and positive largest entry, and its length is the same."""
        X, _ = self.made(dtype, size)
        X[:, 3] = 0
        turned = X * phases(X)
        for j in range(3):
            row = int(np.abs(X[:, j]).argmax())
            assert leading_entries(X)[j] == X[row, j]
            assert turned[row, j].real == pytest.approx(abs(X[row, j]), rel=1e-5)
            assert abs(turned[row, j].imag) <= 1e-6 * abs(X[row, j])
        assert phases(X)[3] == 1
        np.testing.assert_allclose(np.abs(phases(X)), 1.0, rtol=1e-6)


def test_the_largest_of_nothing():
    assert largest(np.zeros(0)) == -math.inf


@each_dtype
def test_random_vectors_have_the_dtype_and_are_standard_normal(dtype):
    x = random_vector(20_000, np.dtype(dtype), np.random.default_rng(0))
    assert x.dtype == dtype
    for part in (x.real, x.imag) if np.dtype(dtype).kind == "c" else (x,):
        assert float(part.std()) == pytest.approx(1, rel=0.03)
        assert abs(float(part.mean())) <= 0.05


@each_dtype
def test_precision_is_that_of_the_dtype(dtype):
    """A float32 matrix is singular at a pivot of 1e-6 of its entry, a float64 one is not."""
    eps = {4: 2.0**-23, 8: 2.0**-52}[np.zeros(1, dtype).real.itemsize]
    assert precision(np.dtype(dtype)) == eps
    for n in (4, 25):
        assert pivot_threshold(n, np.dtype(dtype)) == pytest.approx(10 * math.sqrt(n) * eps)
    assert narrowed(np.dtype(dtype)) == (np.complex64 if np.dtype(dtype).kind == "c" else np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_pivots_are_compared_with_their_entries(size, dtype):
    """Just below and just above the threshold, in the last place; the row is that of the user's matrix."""
    diagonal = (size * np.array([1.0, 4.0, 100.0])).astype(dtype)
    threshold = 10 * math.sqrt(3) * float(np.finfo(dtype).eps)
    good, bad = (diagonal * np.array([1, 1, factor * threshold], dtype) for factor in (1.1, 0.9))
    assert check_pivots(good, diagonal) == pytest.approx(1.1 * threshold, rel=1e-3)
    with pytest.raises(NotPositiveDefinite, match=r"pivot 2 \(row 2 from 0\)"):
        check_pivots(bad, diagonal)
    # the third pivot is of the second row, the first of the last one
    with pytest.raises(NotPositiveDefinite, match=r"pivot 1 \(row 1 from 0\)"):
        check_pivots(bad, diagonal, np.array([2, 0, 1]))
    with pytest.raises(NotPositiveDefinite, match=r"pivot 2 \(row 2 from 0\)"):
        check_pivots(bad[::-1].copy(), diagonal[::-1].copy(), np.array([2, 0, 1]))


def test_a_small_negative_pivot_is_rounding_and_a_larger_one_is_not():
    """Relative to its diagonal entry, in any unit."""
    for size in (1e-8, 1.0, 1e8):
        assert not getattr(not_definite(0, -0.9e-6 * size, size), "indefinite", False)
        assert not_definite(0, -1.1e-6 * size, size).indefinite


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_condition_is_that_of_a_unit_diagonal(unit):
    """A badly scaled B is as good as its correlation matrix; of that, 1e15 stands and 1e17 does not."""
    d = unit * np.array([1.0, 1e-3, 1e4])
    for condition, stands in ((1e15, True), (1e17, False)):
        inverse = np.diag([1.0, 1.0, condition])
        solve = lambda b, inverse=inverse: (inverse @ (b / d)) / d  # noqa: E731
        if stands:
            check_condition(solve, d * d)
        else:
            with pytest.raises(NotPositiveDefinite, match="condition number"):
                check_condition(solve, d * d)


@each_dtype
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_negative_eigenvalues_are_counted_with_pivots_of_both_kinds(size, dtype):
    """Also where both diagonal entries of a 2×2 pivot are positive, or both negative."""
    for a in (0.1, -0.1):
        # eigenvalues a ± 1, and two of its own sign each
        block = np.array([[a, 1.0], [1.0, a]])
        K = np.zeros((6, 6))
        K[:2, :2], K[2:4, 2:4], K[4:, 4:] = block, 3 * block, np.diag([5.0, -6.0])
        assert DenseShifted((size * K).astype(dtype, order="F")).negative == 3


def test_a_column_with_a_negative_curvature_is_refused_beside_a_good_one():
    B = np.diag([1.0, 2.0, -1.0])
    seen = []

    def refuse(curvature):
        seen.append(curvature)
        raise ArithmeticError

    for columns in ([0, 2], [2, 0], [2]):
        R = np.eye(3)[:, columns]
        with pytest.raises(ArithmeticError):
            cg.solve_block(
                *(lambda P: B @ P, np.zeros_like(R), R), target=np.zeros(len(columns)), max_steps=5, refuse=refuse
            )
    assert seen == [-1.0] * 3
    # one that is not active any more is not asked
    cg.solve_block(
        *(lambda P: B @ P, np.zeros((3, 2)), np.eye(3)[:, [0, 2]]),
        target=np.array([0.0, 2.0]),
        max_steps=5,
        refuse=refuse,
    )


@pytest.mark.parametrize(("steps", "n"), [(5, 30), (12, 30), (20, 1000)])
def test_the_bound_of_the_largest_eigenvalue_by_its_formula(steps, n):
    """θ/(1 − ε) with 1.648 √n exp(−√ε (2j − 1)) = 1e-6, and √ε at most 0.9."""
    K = np.linspace(1.0, 10.0, n)
    x = np.random.default_rng(0).standard_normal(n)
    process = LanczosProcess(lambda v, _: K * v, lambda y: (y, y), x, x)
    bound = largest_eigenvalue(process, steps)
    T = np.diag(process.alpha) + np.diag(process.beta[:-1], 1) + np.diag(process.beta[:-1], -1)
    root = min(math.log(1.648 * math.sqrt(n) / 1e-6) / (2 * steps - 1), 0.9)
    assert process.steps == steps
    assert bound == pytest.approx(np.linalg.eigvalsh(T)[-1] / (1 - root**2), rel=1e-9)


@pytest.mark.parametrize("sigma", [-5.0, 0.35, 2.9, 7.0])
@pytest.mark.parametrize("dtype", [float, complex])
def test_gaps_are_to_the_nearest_of_all_others(sigma, dtype):
    """On whichever side it is; those nearest to σ may be far from it, and next to others."""
    values = np.array([-3.0, -1.0, 0.0, 0.5, 2.0, 2.75, 3.0, 4.5, 4.6, 9.0, 20.0, 21.0])
    Q = unitary(np.random.default_rng(0), 12, dtype)
    A = np.asfortranarray((Q * values) @ Q.conj().T)
    for k in (1, 2, 5, 11):
        found = nearest_pairs(A, None, k, sigma)
        order = by_distance(values, sigma)
        exact = np.abs(values[order[:k], None] - values[order[k:]]).min(axis=1)
        np.testing.assert_allclose(found.gaps, exact, atol=1e-10)
        quotients = np.einsum("ij,ij->j", found.vectors.conj(), A @ found.vectors).real
        np.testing.assert_allclose(quotients, values[order[:k]], atol=1e-10)


@pytest.mark.parametrize("largest_first", [True, False])
@pytest.mark.parametrize("n", [8, 60])
def test_gaps_at_an_end(n, largest_first):
    """Of every pair to the first of the others."""
    values = np.cumsum(np.linspace(1.0, 2.0, n))
    Q = unitary(np.random.default_rng(1), n, float)
    A = np.asfortranarray((Q * values) @ Q.T)
    order = np.arange(n)[::-1] if largest_first else np.arange(n)
    for k in (1, 3, n):
        found = extreme_pairs(A.copy(order="F"), None, None, k, largest=largest_first)
        if k == n:
            assert found.gaps == [math.inf] * n
            continue
        exact = np.abs(values[order[:k]] - values[order[k]])
        assert (np.array(found.gaps) <= exact * (1 + 1e-9)).all()
        np.testing.assert_allclose(found.gaps, exact, rtol=1e-3)


def test_a_factor_is_refused_by_its_pivots_relative_to_the_diagonal():
    """Each pivot has its own entry beside it."""
    B = np.asfortranarray(np.diag([1e6, 1e-6]))
    assert lower_factor(B, [1e6, 1e-6], 0.5) is not None
    C = np.asfortranarray([[1.0, 0.9], [0.9, 1.0]])
    assert lower_factor(C, [1.0, 1.0], 0.18) is not None
    assert lower_factor(C, [1.0, 1.0], 0.2) is None
