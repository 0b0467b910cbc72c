"""Shifts far beyond the spectrum: the nearest eigenvalues are those at an end."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from plain_matrices import chain, rotated


class TestFarShift:
    """Rounding makes all distances from a far σ equal; ties went to the smallest eigenvalue, "certified"."""

    @pytest.mark.parametrize("sigma", [1e13, 1e14, 1e17, 1e100])
    @pytest.mark.parametrize("n", [3, 30, 250, 600])
    def test_the_nearest_are_at_the_end(self, n, sigma):
        A = chain(n)
        values = np.linalg.eigvalsh(A.toarray())
        np.testing.assert_allclose(sm.solve(A, k=2, sigma=sigma).eigenvalues, values[:-3:-1], rtol=0, atol=1e-10)
        np.testing.assert_allclose(sm.solve(A, k=2, sigma=-sigma).eigenvalues, values[:2], rtol=0, atol=1e-10)
        w = sm.eigsh(A, k=2, sigma=sigma, return_eigenvectors=False)
        np.testing.assert_allclose(w, values[-2:], rtol=0, atol=1e-10)

    @pytest.mark.parametrize("method", [None, sm.Accelerated()])
    def test_beyond_what_can_be_squared(self, method):
        sol = sm.solve(chain(600), k=2, sigma=1e308, method=method)
        np.testing.assert_allclose(sol.eigenvalues, sm.solve(chain(600), k=2).eigenvalues, rtol=1e-9)

    @pytest.mark.parametrize("A", [np.zeros((450, 450)), np.diag(np.repeat(np.arange(-10.0, 12), 22))])
    def test_a_shift_that_is_as_good_as_zero(self, A):
        sol = sm.solve(sp.csr_array(A), k=4, sigma=-1e-300)
        np.testing.assert_allclose(sol.eigenvalues, 0, atol=1e-12)


class TestShiftBeyondTheSpectrum:
    """Far from the spectrum the distances |λ − σ| differ by less than rounding: the pairs are those at its end."""

    values = np.arange(7.0) - 3

    @pytest.mark.parametrize("start", [None, np.eye(7)[2]], ids=["random", "another eigenvector"])
    @pytest.mark.parametrize(
        ("dtype", "distance"), [(np.float32, 1e5), (np.float32, 1e9), (float, 1e14), (float, 1e16), (float, 1e200)]
    )
    @pytest.mark.parametrize("k", [1, 3])
    def test_the_end(self, dtype, distance, start, k):
        A = np.diag(self.values).astype(dtype)
        low = sm.solve(A, k=k, sigma=-distance, x0=start, rng=0)
        high = sm.solve(A, k=k, sigma=distance, x0=start, rng=0)
        np.testing.assert_allclose(low.eigenvalues, self.values[:k], atol=1e-5)
        np.testing.assert_allclose(high.eigenvalues, self.values[::-1][:k], atol=1e-5)

    def test_the_question_is_kept(self):
        sol = sm.solve(chain(300), k=2, sigma=-1e12)
        assert sol.problem.sigma == -1e12
        np.testing.assert_allclose(sol.resume(k=3).eigenvalues[:2], sol.eigenvalues, rtol=1e-7)

    @pytest.mark.parametrize("sign", [1, -1])
    def test_a_spectrum_that_extends_beyond(self, sign):
        """Of an ill-conditioned B with a moderate diagonal, the sizes of A and B do not tell."""
        B = rotated(np.geomspace(1e-12, 1, 30))
        A = sign * rotated(np.linspace(0.5, 1, 30), seed=1)
        true = scipy.linalg.eigvalsh(A, B)
        end = true[-1] if sign > 0 else true[0]
        sol = sm.solve(A, B, sigma=0.9 * end, method=sm.Accelerated())
        assert abs(sol.eigenvalues[0] - end) < 1e-3 * abs(end)

    @pytest.mark.parametrize("sign", [1, -1])
    @pytest.mark.parametrize("far", [1e8, 1e10, 1e12])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_one_eigenvalue_that_is_farther_away(self, kind, far, sign):
        """σ is beyond all others: not what is at that end of the spectrum is nearest, but they are."""
        n = 300
        A, B = np.diag(np.arange(1.0, n + 1)), np.eye(n)
        A[:2, :2], B[0, 1], B[1, 0] = [[0, 1], [1, 0]], 1 - 1 / far, 1 - 1 / far
        sol = sm.solve(kind(sign * A), kind(B), k=1, sigma=-sign * far / 8, rng=0)
        # the others are from 0.5 to n
        assert 0.4 < sign * sol.eigenvalues[0] < n + 1

    def test_a_singular_B(self):
        """The finite ones, of a B without largest ones."""
        B = np.diag(np.r_[np.ones(6), 0.0])
        sol = sm.solve(np.diag(self.values), B, k=2, sigma=-1e12)
        np.testing.assert_allclose(sol.eigenvalues, [-3, -2], rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n", [150, 264])
def test_an_entry_beside_which_all_others_are_rounding(kind, n):
    """The squares of (A - σB)⁻¹x overflow."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, n))
    A = A + A.T
    exact = np.abs(np.linalg.eigvalsh(A[1:, 1:])).min()
    A[0, 0] = 1e200
    sol = sm.solve(kind(A), k=1, sigma=0.0, rng=1)
    assert abs(abs(sol.eigenvalues[0]) - exact) <= sol.error_bounds[0]


@pytest.mark.parametrize("seed", range(4))
def test_pairs_that_are_hardly_known_are_left_to_the_next_candidate(seed):
    """A search left a value known to 70; inverse iteration made it any eigenvalue within that, "probed"."""
    n, almost = 300, 1 - 1e-10
    A, B = np.diag(np.arange(1.0, n + 1)), np.eye(n)
    A[:2, :2], B[:2, :2] = [[0, 1], [1, 0]], [[1, almost], [almost, 1]]
    solution = sm.solve(A, B, k=1, sigma=-1.25e9, rng=seed)
    assert solution.eigenvalues[0] == pytest.approx(0.5, abs=1e-6)
