"""Going on from a solution: for more pairs, fewer, a smaller tolerance, or after it was stopped."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from checking import check, choices
from resuming import PROBLEMS, N, close, dense_pair, each_problem, laplacian, sparse_pair


def products(sol):
    """What the iteration cost: products with A, or solves with A − σB where those take their place."""
    return max(sol.counts.A_products if sol.counts.K_solves == 0 else 0, sol.counts.K_solves)


def interrupt():
    raise KeyboardInterrupt


class TestResume:
    @each_problem
    @pytest.mark.parametrize("k", [1, 5])
    def test_same_again_costs_next_to_nothing(self, name, k):
        A, B, options = PROBLEMS[name]
        sol = sm.solve(A, B, k, rng=0, **options)
        again = sol.resume(rng=1)
        close(again, sol)
        assert again.steps == 0
        assert products(again) <= k + 2
        assert again.shift == pytest.approx(sol.shift, rel=0.5)

    @each_problem
    def test_more_pairs(self, name):
        A, B, options = PROBLEMS[name]
        sol = sm.solve(A, B, 4, rng=0, **options)
        cold = sm.solve(A, B, 7, rng=0, **options)
        warm = sol.resume(k=7, rng=1)
        close(warm, cold)
        assert warm.eigenvectors.shape == (A.shape[0], 7)
        if warm.steps and cold.steps:
            # where factorising A leaves little to iterate, there is little to save
            assert products(warm) < (0.8 * products(cold) if products(cold) > 40 else products(cold) + 7)
        if options.get("which", "largest") in ("largest", "smallest") and "sigma" not in options:
            check(warm, A, B, 7, options.get("which", "largest"))

    @pytest.mark.parametrize("before", [{"which": "ends"}, {"sigma": 3.5}, {"interval": (2.5, 5.5)}], ids=str)
    @pytest.mark.parametrize("after", [{"which": "smallest"}, {"sigma": 7.2}, {"interval": (6.5, 9.5)}], ids=str)
    def test_other_pairs(self, before, after):
        """What is wanted now takes the place of what was wanted before, in whichever argument."""
        A = np.diag(np.arange(1.0, 41.0))
        known = sm.solve(A, k=1 if "interval" in before else 3, rng=0, **before)
        again = known.resume(k=None if "interval" in after else 2, rng=1, **after)
        expected = sm.solve(A, k=1 if "interval" in after else 2, rng=0, **after)
        np.testing.assert_allclose(again.eigenvalues, expected.eigenvalues, rtol=1e-9)

    @each_problem
    def test_fewer_pairs(self, name):
        A, B, options = PROBLEMS[name]
        sol = sm.solve(A, B, 5, rng=0, **options)
        fewer = sol.resume(k=2, rng=1)
        close(fewer, sm.solve(A, B, 2, rng=0, **options))
        assert products(fewer) <= 4

    @each_problem
    def test_smaller_tolerance(self, name):
        A, B, options = PROBLEMS[name]
        rough = sm.solve(A, B, 4, tol=1e-3, rng=0, **options)
        fine = rough.resume(tol=1e-10, rng=1)
        assert fine.reason is sm.Reason.PRECISION or (fine.residuals <= 1e-10).all()
        cold = sm.solve(A, B, 4, tol=1e-10, rng=0, **options)
        close(fine, cold, 1e-10)
        # without a solve for the small end, the few vectors of a rough answer save nothing, but cost nothing, either
        share = 1.05 if name == "smallest of an operator" else 1.0
        assert products(fine) < share * products(cold)

    @each_problem
    def test_after_it_was_stopped(self, name):
        A, B, options = PROBLEMS[name]
        stopped = sm.solve(A, B, 4, callback=lambda state: state.step == 1 and interrupt(), rng=0, **options)
        assert not stopped.converged
        close(stopped.resume(rng=1), sm.solve(A, B, 4, rng=0, **options))

    @each_problem
    def test_in_rounds(self, name):
        """Each round has the limit of the first, and goes on where the one before stopped."""
        A, B, options = PROBLEMS[name]
        rounds = 1
        try:
            sol = sm.solve(A, B, 3, max_steps=8, rng=0, **options)
        except sm.NotConverged as error:
            sol = error.solution
        while not sol.converged:
            rounds += 1
            assert rounds < 60
            try:
                sol = sol.resume(rng=rounds)
            except sm.NotConverged as error:
                sol = error.solution
        close(sol, sm.solve(A, B, 3, rng=0, **options))

    def test_after_an_interrupt(self):
        A, B, _ = PROBLEMS["sparse"]

        def callback(state):
            if state.step == 3:
                raise KeyboardInterrupt

        sol = sm.solve(A, B, 4, rng=0, callback=callback)
        assert sol.reason is sm.Reason.INTERRUPTED
        check(sol.resume(rng=0), A, B, 4)

    @pytest.mark.parametrize("dtype", [np.float32, np.complex64])
    def test_single_precision(self, dtype):
        A, B = dense_pair(dtype)
        sol = sm.solve(A, B, 4, method=sm.Accelerated(), rng=0)
        again, more = sol.resume(rng=1), sol.resume(k=6, rng=1)
        assert again.eigenvectors.dtype == more.eigenvectors.dtype == dtype
        assert again.counts.A_products <= 6
        check(more, A, B, 6, values=1e-5, orthonormal=1e-4)
        assert more.counts.A_products < sm.solve(A, B, 6, method=sm.Accelerated(), rng=0).counts.A_products

    @pytest.mark.parametrize("method", [sm.SplitMerge(), sm.Power(), sm.Lanczos()], ids=lambda m: type(m).__name__)
    def test_methods_of_the_paper(self, method):
        A, B = sm.gallery.synthetic_pair(40, kappa_B=10, rng=0)
        sol = sm.solve(A, B, 2, method=method, rng=0)
        again, more = sol.resume(rng=1), sol.resume(k=3, rng=1)
        assert again.method is more.method is method
        assert again.counts.A_products <= 4
        check(more, A, B, 3)
        assert more.counts.A_products < sm.solve(A, B, 3, method=method, rng=0).counts.A_products

    def test_fewer_pairs_found_than_asked_for(self):
        A = np.diag([64.0, 32.0, 1.0, 0.999, 0.998, 0.5, 0.25, 0.1])
        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(A, None, 4, method=sm.Power(), max_steps=100, rng=0)
        stopped = caught.value.solution
        assert stopped.eigenvalues.size < 4
        check(stopped.resume(max_steps=None, method=None, rng=0), A, None, 4)

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
    @pytest.mark.parametrize("n", [80, N])
    def test_restricted_to_the_range_of_B(self, kind, n):
        """The vectors are the user's, of full length; the restricted pair is shorter."""
        A = laplacian(n).toarray()
        B = np.diag(np.r_[np.zeros(10), np.linspace(1, 2, n - 10)])
        sol = sm.solve(kind(A), kind(B), 3, b_policy="restrict", rng=0)
        assert sol.b_report.dropped == 10
        again, more = sol.resume(rng=1), sol.resume(k=5, rng=1)
        close(again, sol)
        assert again.counts.A_products <= 5
        close(more, sm.solve(kind(A), kind(B), 5, b_policy="restrict", rng=0))
        np.testing.assert_allclose(more.eigenvectors.T @ B @ more.eigenvectors, np.eye(5), atol=1e-10)
        given = sm.solve(kind(A), kind(B), 3, b_policy="restrict", rng=0, x0=sol.eigenvectors)
        assert given.counts.A_products <= 5

    def test_ridge(self):
        A, B = laplacian(N), sp.csr_array(np.diag(np.r_[0.0, np.ones(N - 1)]))
        sol = sm.solve(A, B, 3, b_policy="ridge", rng=0)
        again = sol.resume(rng=1)
        assert again.b_report == sol.b_report
        # rounding beside the 1/ε of the massless unknown
        np.testing.assert_allclose(again.eigenvalues, sol.eigenvalues, atol=1e-15 * sol.eigenvalues[0])

    def test_lapack_stays_lapack(self):
        A, B = sm.gallery.synthetic_pair(50, kappa_B=10, rng=0)
        sol = sm.solve(A, B, 2)
        more = sol.resume(k=4)
        assert more.method is None
        assert more.verdict == "certified"
        check(more, A, B, 4)

    def test_badly_scaled_unknowns(self):
        A, B = dense_pair()
        d = np.geomspace(1, 1e6, N)
        A, B = A * d * d[:, None], B * d * d[:, None]
        sol = sm.solve(A, B, 3, rng=0)
        again = sol.resume(rng=1)
        assert again.counts.A_products <= 5
        np.testing.assert_allclose(again.eigenvalues, sol.eigenvalues, rtol=1e-10)

    def test_what_is_given_anew_counts(self):
        A, B, _ = PROBLEMS["sparse"]
        sol = sm.solve(A, B, 3, rng=0)
        low = sol.resume(which="smallest", rng=0)
        check(low, A, B, 3, "smallest")
        assert low.problem.which == "smallest"
        moved = sol.resume(A=A + 1e-3 * sp.eye_array(N), rng=0)
        check(moved, A + 1e-3 * sp.eye_array(N), B, 3)
        assert moved.counts.A_products < sol.counts.A_products
        assert sol.resume(k=2, certify=True, rng=0).verdict == "certified"

    @pytest.mark.parametrize("kind", [sp.csr_array, aslinearoperator], ids=["sparse", "operator"])
    @pytest.mark.parametrize("ends", [("largest", "smallest"), ("smallest", "largest")], ids=str)
    def test_the_shift_is_that_of_the_new_question(self, ends, kind):
        """What makes A positive semidefinite has another size than what makes −A so."""
        A = kind(sp.csr_array(sp.diags_array(np.r_[-2.0, np.linspace(-1, 1, 1298), 70.0])))
        sol = sm.solve(A, None, 1, which=ends[0], method=sm.Accelerated(), tol=1e-6, rng=0)
        needed = {"largest": 2.0, "smallest": 70.0}[ends[1]]
        assert 0 < sol.resume(which=ends[1], rng=1).shift <= 1.5 * needed

    def test_a_tolerance_replaces_the_rule(self):
        A, B, _ = PROBLEMS["sparse"]
        sol = sm.solve(A, B, 2, stop=sm.Residual(1e-3) | sm.MaxSeconds(60), rng=0)
        assert (sol.resume(rng=0).residuals <= 1e-3).all()
        assert (sol.resume(tol=1e-9, rng=0).residuals <= 1e-9).all()
        assert (sol.resume(stop=sm.Residual(1e-6), rng=0).residuals <= 1e-6).all()

    def test_story(self):
        sol = sm.solve(*sparse_pair(), 2, rng=0)
        assert "WARM_START" not in choices(sol)
        assert "WARM_START" in choices(sol.resume(rng=0))

    def test_refused(self):
        A, B, _ = PROBLEMS["sparse"]
        sol = sm.solve(A, B, 2, rng=0)
        with pytest.raises(ValueError, match="k is 0"):
            sol.resume(k=0)
        for tol in (-1, "small", np.nan):
            with pytest.raises(ValueError, match="tol is"):
                sol.resume(tol=tol)
        with pytest.raises(ValueError, match="does not know the problem"):
            dataclasses.replace(sol, problem=None).resume()
        with pytest.raises(TypeError, match="colour"):
            sol.resume(colour="red")


def test_options_that_are_numbers_of_numpy(tmp_path):
    A = sp.diags_array(np.arange(1.0, 400), format="csr")
    sol = sm.solve(A, method=sm.Accelerated(max_basis=np.int64(30)), tol=1e-4, rng=0)
    sol.save(tmp_path / "s.npz")
    loaded = sm.load(tmp_path / "s.npz")
    assert loaded.method == sm.Accelerated(max_basis=30)
    assert loaded.resume(tol=1e-8).converged
