"""A bad option, start or parameter is refused by a ValueError that names it."""

import numpy as np
import pytest
import scipy.linalg

import splitmerge as sm
from checking import each_route, refuse
from pairs import N, pair


class TestOptions:
    @pytest.mark.parametrize("k", [0, -1, N + 1, 10**30])
    def test_k_out_of_range(self, k):
        refuse(rf"^k is {k}.*{N}", *pair(), k)

    @pytest.mark.parametrize("k", [1.5, 2.0, True, np.True_, "2", None, [1], np.array([1, 2]), 1j, np.nan])
    def test_k_not_a_whole_number(self, k):
        refuse(r"^k is ", *pair(), k)

    @pytest.mark.parametrize(
        "tol", [0, 0.0, -1, np.nan, np.inf, -np.inf, "x", None, True, 1j, [1e-8], np.array([1e-8]), np.complex128(1)]
    )
    def test_tol(self, tol):
        refuse(r"^tol is ", *pair(), tol=tol)

    @pytest.mark.parametrize("which", ["middle", "LM", "", None, 1, ["largest"], np.array(["largest", "smallest"])])
    def test_which(self, which):
        refuse(r"^which is ", *pair(), which=which)

    @pytest.mark.parametrize("method", ["power", "", sm.Power, sm.SplitMerge, 1, object(), sm.Cholesky()])
    def test_method(self, method):
        refuse(r"^method is ", *pair(), method=method)

    @pytest.mark.parametrize("stop", ["x", 1e-8, sm.Residual, object(), [sm.Residual()], False])
    def test_stop(self, stop):
        refuse(r"^stop is ", *pair(), stop=stop)

    @pytest.mark.parametrize("max_steps", [0, -1, 1.5, "10", np.nan, np.inf, True, [3]])
    def test_max_steps(self, max_steps):
        refuse(r"^(max_)?steps is ", *pair(), max_steps=max_steps)

    @pytest.mark.parametrize("rng", ["seed", -1, 1.5, object()])
    def test_rng(self, rng):
        with pytest.raises((ValueError, TypeError)):
            sm.solve(*pair(), rng=rng)

    @pytest.mark.parametrize("callback", [1, "x", object()])
    def test_callback(self, callback):
        refuse(r"^callback is ", *pair(), callback=callback)

    @pytest.mark.parametrize("inner", ["cholesky", sm.Cholesky, 1, np.linalg.solve])
    @pytest.mark.parametrize("method", [sm.Accelerated, sm.Power])
    def test_inner(self, method, inner):
        with pytest.raises(ValueError, match=r"inner"):
            sm.solve(*pair(), method=method(inner=inner))


class TestStart:
    @pytest.mark.parametrize(
        "x0",
        [
            np.ones(N - 1),
            np.ones(N + 1),
            np.ones((1, N)),
            np.ones((N, 3)),
            np.ones((N, 0)),
            np.ones((N, 1, 1)),
            np.float64(1.0),
            [],
        ],
        ids=["short", "long", "row", "too many columns", "no columns", "3-D", "scalar", "empty list"],
    )
    def test_shape(self, x0):
        refuse(r"^x0 has shape", *pair(), 2, x0=x0)

    def test_zero(self):
        refuse(r"^x0\b.*zero", *pair(), x0=np.zeros(N))
        refuse(r"^x0\b.*zero", *pair(), 2, x0=np.column_stack([np.ones(N), np.zeros(N)]))

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_not_finite(self, value):
        x0 = np.ones(N)
        x0[3] = value
        refuse(r"^x0\b.*(NaN|infinity)", *pair(), x0=x0)

    def test_complex_for_a_real_pair(self):
        refuse(r"^x0\b.*complex", *pair(), x0=np.ones(N) + 1j)

    @pytest.mark.parametrize("x0", ["start", ["a"] * N, np.full(N, None), {"x": 1}, [[1.0]] * 3 + [[1.0, 2.0]] * 3])
    def test_not_numbers(self, x0):
        refuse(r"^x0\b", *pair(), x0=x0)

    def test_masked(self):
        refuse(r"^x0\b.*mask", *pair(), x0=np.ma.masked_array(np.ones(N), mask=np.arange(N) == 2))

    @each_route
    def test_linearly_dependent_columns(self, method):
        """Two equal starts are poor advice, not an error: the second is projected to nothing."""
        x = np.arange(1.0, N + 1)
        A, B = pair()
        sol = sm.solve(A, B, 2, x0=np.column_stack([x, x]), method=method, rng=0)
        np.testing.assert_allclose(sol.eigenvalues, scipy.linalg.eigh(A, B, eigvals_only=True)[::-1][:2], rtol=1e-8)


class TestObjects:
    """The parameters of rules, steps, solvers and preconditioners are checked when the object is made."""

    @pytest.mark.parametrize("tol", [0, -1, np.nan, np.inf, "x", None, True])
    def test_residual(self, tol):
        with pytest.raises(ValueError, match=r"^tol is "):
            sm.Residual(tol)
        with pytest.raises(ValueError, match=r"^tol is "):
            sm.SineAngle(np.ones(N), tol)

    @pytest.mark.parametrize("steps", [0, -3, 1.5, np.nan, "x", None, True])
    @pytest.mark.parametrize("rule", [sm.MaxSteps, sm.Stagnation])
    def test_steps(self, rule, steps):
        with pytest.raises(ValueError, match=r"^steps is "):
            rule(steps)

    @pytest.mark.parametrize("seconds", [0, -1.0, np.nan, "x", None])
    def test_seconds(self, seconds):
        with pytest.raises(ValueError, match=r"^seconds is "):
            sm.MaxSeconds(seconds)

    @pytest.mark.parametrize("alpha", [0, -1.0, np.nan, np.inf, "x", None])
    def test_fixed(self, alpha):
        with pytest.raises(ValueError, match=r"^alpha is "):
            sm.Fixed(alpha)

    @pytest.mark.parametrize(
        "low_high", [(0, 0.5), (0.5, 1), (0.9, 0.8), (-1, 0.5), (np.nan, 0.5), (0.5, np.nan), ("a", "b")]
    )
    def test_sampled(self, low_high):
        with pytest.raises(ValueError, match=r"low|high|inside"):
            sm.Sampled(*low_high)

    @pytest.mark.parametrize("relaxation", [0, -0.1, 1.1, np.nan, "x", None])
    def test_adaptive(self, relaxation):
        with pytest.raises(ValueError, match=r"^relaxation is "):
            sm.Adaptive(relaxation)

    @pytest.mark.parametrize("stepsize", ["fast", None, 0.0, -1.0, np.nan])
    @pytest.mark.parametrize("method", [sm.GradientDescent, sm.MirrorDescent])
    def test_stepsize_of_a_method(self, method, stepsize):
        with pytest.raises(ValueError, match=r"alpha|stepsize"):
            sm.solve(*pair(), method=method(stepsize=stepsize), rng=0)

    @pytest.mark.parametrize("preconditioner", ["ilu", None, sm.Exact, 3])
    def test_preconditioner_of_mirror_descent(self, preconditioner):
        with pytest.raises(ValueError, match="preconditioner"):
            sm.solve(*pair(), method=sm.MirrorDescent(preconditioner=preconditioner), rng=0)

    @pytest.mark.parametrize("max_steps", [0, -1, 1.5, np.nan, "x"])
    def test_conjugate_gradient_steps(self, max_steps):
        with pytest.raises(ValueError, match=r"^max_steps is "):
            sm.ConjugateGradient(max_steps=max_steps)

    @pytest.mark.parametrize("tol", [0, -1, 1, 2.0, np.nan, np.inf, "x", None])
    def test_conjugate_gradient_tol(self, tol):
        with pytest.raises(ValueError, match=r"^tol is "):
            sm.ConjugateGradient(tol=tol)

    @pytest.mark.parametrize("drop_tol", [-1e-3, 1, np.nan, "x", None])
    def test_incomplete_cholesky_drop_tol(self, drop_tol):
        with pytest.raises(ValueError, match=r"^drop_tol is "):
            sm.IncompleteCholesky(drop_tol=drop_tol)

    @pytest.mark.parametrize("fill", [0, 0.5, np.nan, np.inf, "x", None])
    def test_incomplete_cholesky_fill(self, fill):
        with pytest.raises(ValueError, match=r"^fill is "):
            sm.IncompleteCholesky(fill=fill)

    @pytest.mark.parametrize("rank", [0, -1, 1.5, np.nan, "x", None])
    def test_low_rank(self, rank):
        with pytest.raises(ValueError, match=r"^rank is "):
            sm.LowRank(rank=rank)

    @pytest.mark.parametrize("max_basis", [1, 0, -1, 2.5, np.nan, "x", None])
    def test_lanczos(self, max_basis):
        with pytest.raises(ValueError, match=r"^max_basis is "):
            sm.Lanczos(max_basis=max_basis)

    @pytest.mark.parametrize("max_basis", [3, 1, 0, -1, 2.5, np.nan, "x", True])
    def test_accelerated(self, max_basis):
        with pytest.raises(ValueError, match=r"^max_basis is "):
            sm.Accelerated(max_basis=max_basis)

    @pytest.mark.parametrize("steps", [0, -1, 1.5, "x"])
    def test_lanczos_bound(self, steps):
        with pytest.raises(ValueError, match=r"^steps is "):
            sm.LanczosBound(steps=steps)

    @pytest.mark.parametrize("other", [1e-8, "x", None])
    def test_combining_a_rule_with_something_else(self, other):
        with pytest.raises((TypeError, ValueError)):
            sm.Residual() | other
        with pytest.raises((TypeError, ValueError)):
            sm.Residual() & other
