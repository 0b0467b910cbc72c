"""Starts of the user's: a poor one is replaced by a random vector, the others are left to the pipeline."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from splitmerge.express.start import is_replaced
from splitmerge.planning.decision import Choice


def pair_and_vectors(n, dtype=float):
    rng = np.random.default_rng(n)
    A, B = sm.gallery.synthetic_pair(n, 10, rng=n)
    if np.dtype(dtype).kind == "c":
        phases = np.exp(1j * rng.uniform(0, 6, n))
        A, B = (M * phases[:, None] * phases.conj() for M in (A, B))
    return A, B, scipy.linalg.eigh(A, B)[1]


@pytest.mark.parametrize("n", [30, 256])
@pytest.mark.parametrize("dtype", [float, complex])
class TestIsReplaced:
    def test_a_random_vector(self, n, dtype):
        A, B, _ = pair_and_vectors(n, dtype)
        x = np.random.default_rng(0).standard_normal(n).astype(dtype)
        for start in (x, x[:, None], 1e200 * x, 1e-200 * x):
            assert is_replaced(start, A, B)
            assert is_replaced(start, sp.csr_array(A), sp.csr_array(B))

    @pytest.mark.parametrize("error", [0, 1e-9, 1e-6])
    def test_not_one_near_an_eigenvector(self, n, dtype, error):
        """Whichever it is."""
        A, B, U = pair_and_vectors(n, dtype)
        noise = error * np.random.default_rng(0).standard_normal(n)
        for u in (U[:, -1], U[:, -2], U[:, n // 2]):
            assert not is_replaced(u + noise * np.linalg.norm(u), A, B)

    def test_not_what_the_pipeline_checks(self, n, dtype):
        A, B, _ = pair_and_vectors(n, dtype)
        x = np.random.default_rng(0).standard_normal(n).astype(dtype)
        bad = np.where(np.arange(n) == 3, np.nan, x)
        for start in (0 * x, bad, x[1:], x[None], np.stack([x, x], axis=1), x.tolist(), x.astype(np.complex64)):
            assert not is_replaced(start, A, B)
        assert not is_replaced(x, aslinearoperator(A), B)


@pytest.mark.parametrize("n", [30, 256, 400])
def test_the_result_is_that_of_a_random_start(n):
    A, B, U = pair_and_vectors(n)
    x0 = np.random.default_rng(1).standard_normal(n)
    kept = x0.copy()
    sol = sm.solve(A, B, x0=x0, rng=0)
    assert abs(np.vdot(U[:, -1], B @ sol.eigenvectors[:, 0])) == pytest.approx(1)
    # what the comparison with an eigenvector took
    assert (sol.counts.setup.A_products, sol.counts.setup.B_products) == (1, 1)
    assert any(decision.choice in (Choice.LAPACK, Choice.ITERATION) for decision in sol.decisions)
    np.testing.assert_array_equal(x0, kept)
    np.testing.assert_array_equal(sol.eigenvectors, sm.solve(A, B, x0=x0, rng=0).eigenvectors)


@pytest.mark.parametrize("start", [np.zeros(256), np.full(256, np.nan), np.ones(255), "x" * 256], ids=str)
def test_bad_starts_are_refused(start):
    A, B, _ = pair_and_vectors(256)
    with pytest.raises(ValueError, match="x0"):
        sm.solve(A, B, x0=start)


def test_a_start_on_the_second_eigenvector_leads_to_the_first():
    A, B, U = pair_and_vectors(256)
    for x0 in (U[:, -2], U[:, -2] + 1e-3 * U[:, 3], U[:, 0]):
        sol = sm.solve(A, B, x0=x0)
        assert abs(np.vdot(U[:, -1], B @ sol.eigenvectors[:, 0])) == pytest.approx(1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e308])
@pytest.mark.parametrize("place", ["A", "B"])
def test_bad_matrices_are_left_to_the_pipeline_without_a_warning(place, bad):
    A, B, _ = pair_and_vectors(30)
    spoilt = {"A": A, "B": B, place: np.full((30, 30), bad)}
    with pytest.raises(ValueError, match=place):
        sm.solve(spoilt["A"], spoilt["B"], x0=np.random.default_rng(0).standard_normal(30))
