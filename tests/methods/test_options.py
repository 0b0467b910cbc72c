"""Each option of a method changes what it says, in steps whose formula is known; what is counted was made."""

import itertools
import math

import numpy as np
import pytest
import scipy.linalg

import splitmerge as sm
from checking import operator_of
from pairs import indefinite, pair_of, well_separated
from splitmerge.methods.first_order.stepsize import Adaptive
from splitmerge.objective.merging import MergeCoefficients

N = 16
EVERY = np.linspace(0.5, 4.0, N)
X0 = np.cos(np.arange(N)) + 1.5


def states(A, B, method, steps, x0=X0, **options):
    return list(itertools.islice(sm.iterates(A, B, method=method, x0=x0, **options), steps + 1))


def step_length(before, after, d):
    """α of a step to a multiple of x − αd."""
    (c, minus), *_ = np.linalg.lstsq(np.column_stack([before.vector, d]), after.vector)
    return float((-minus / c).real)


def gradient(state, A, B):
    x = state.vector
    return 2 * (B @ x) - A @ x / math.sqrt(np.vdot(x, A @ x).real)


@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize(("low", "high"), [(0.1, 0.1), (0.1, 0.2), (0.5, 0.6), (0.9, 0.99)])
def test_a_sampled_step_is_in_its_range(low, high, mass):
    """Of 1/λ₁(B), whatever the unit of B is; for a preconditioner, of 1/λ₁ of the preconditioned B."""
    A, B = pair_of(EVERY, condition=50.0)
    for P in (None, sm.Diagonal()):
        d = np.ones(N) if P is None else mass * np.diag(B)
        top = np.linalg.eigvalsh(mass * B / np.sqrt(np.outer(d, d)))[-1]
        found = []
        for seed in range(4):
            stepsize = sm.Sampled(low, high)
            method = sm.GradientDescent(stepsize) if P is None else sm.MirrorDescent(P, stepsize)
            before, after = states(A, mass * B, method, 1, rng=seed)
            found.append(top * step_length(before, after, gradient(before, A, mass * B) / d))
        assert min(found) >= 0.97 * low
        assert max(found) <= 1.0001 * high
        assert low == high or np.ptp(found) > 0.01 * (high - low)


@pytest.mark.parametrize("method", [sm.GradientDescent, sm.MirrorDescent])
def test_the_bound_of_the_curvature_is_the_one_that_was_given(method):
    """A trace takes no product, and shortens the step by trace(B)/λ₁(B)."""
    A, B = pair_of(EVERY, condition=50.0)
    options = {"stepsize": sm.Sampled(0.5, 0.5), "curvature": sm.TraceBound()}
    if method is sm.MirrorDescent:
        with pytest.raises(ValueError, match="TraceBound bounds λ₁"):
            sm.solve(A, B, method=sm.MirrorDescent(sm.Diagonal(), **options), rng=0)
        return
    pencil = sm.Pencil(A, B)
    before, after = itertools.islice(sm.iterates(pencil, method=method(**options), x0=X0, rng=0), 2)
    # the pencil may be in other units; the step is not
    assert step_length(before, after, gradient(before, A, B)) == pytest.approx(0.5 / np.trace(B), rel=1e-9)

    class Seven:
        def largest(self, pencil, P, rng):
            return 7.0 / pencil.B.scale

    options["curvature"] = Seven()
    before, after = states(A, B, method(**options), 1)
    assert step_length(before, after, gradient(before, A, B)) == pytest.approx(0.5 / 7, rel=1e-9)


@pytest.mark.parametrize("dtype", [float, complex])
def test_every_step_of_split_merge_is_the_published_one(dtype):
    """Each from the multiple of x that is the published iterate, also after the first step."""
    A, B = pair_of(EVERY, dtype=dtype, condition=10.0)
    x = None
    for before, after in itertools.pairwise(states(A, B, sm.SplitMerge(), 6, x0=X0.astype(dtype))):
        x = before.vector.copy() if x is None else x
        Ax = A @ x
        Tx = np.linalg.solve(B, Ax)
        ATx = A @ Tx
        TTx = np.linalg.solve(B, ATx)
        x = MergeCoefficients.of(x, Ax, Tx, ATx, TTx).step(Tx, TTx)
        direction = after.vector / np.linalg.norm(after.vector)
        np.testing.assert_allclose(direction, x / np.linalg.norm(x), atol=1e-9)
        # the multiple of least f
        assert 2 * math.sqrt(after.s) == pytest.approx(after.s / after.b, rel=1e-9)


@pytest.mark.parametrize("rho", [0.5, 0.999])
def test_a_rho_below_one_is_refused(rho):
    """Also where it is above t, so that σ is positive."""
    A = np.diag([4.0, 3.9, 3.8])
    x = np.array([3.0, 2.0, 1.0])
    images = x, A @ x, A @ x, A @ A @ x, A @ A @ x
    assert MergeCoefficients.of(*images).t < 0.5
    assert MergeCoefficients.of(*images, rho=1.0).rho == 1
    with pytest.raises(ValueError, match="rho"):
        MergeCoefficients.of(*images, rho=rho)


def test_the_relaxed_line_search_takes_a_descent_step_only():
    """α of the largest quotient on the ray, by a search over many."""
    A, B = pair_of(EVERY, condition=10.0)
    before, after = states(A, B, sm.GradientDescent(Adaptive(1.0)), 1)
    x, d = before.vector, gradient(before, A, B)

    def quotient(alpha):
        y = x - alpha * d
        return (y @ A @ y) / (y @ B @ y)

    best = step_length(before, after, d)
    assert all(quotient(best) >= quotient(best * factor) for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0))


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("method", [sm.Power(), sm.SplitMerge(), sm.Lanczos()], ids=repr)
@pytest.mark.parametrize("start", ["random", "given"])
def test_what_a_second_look_takes_is_monitoring(start, method, k):
    """The counts of the iteration are those of its history, whatever is run again to confirm a given start."""
    A, B = pair_of(2.0 ** -np.arange(12))
    x0 = None if start == "random" else np.cos(np.arange(12.0))
    sol = sm.solve(A, B, k, method=method, tol=1e-6, x0=x0, rng=0)
    assert sol.counts.products == sol.history.products[-1]
    # each state takes a product, a step of Split-Merge two
    each = 2 if isinstance(method, sm.SplitMerge) else 1
    steps = [int(sol.history.step[sol.history.pair == i].max()) for i in range(k)]
    assert sol.counts.A_products <= each * sum(steps) + k
    assert sol.counts.monitoring.A_products >= k


@pytest.mark.parametrize("block", [None, 3, 5])
def test_the_block_of_lobpcg_is_as_large_as_asked(block):
    """Every step multiplies its residuals: with a larger block there are more products for as many steps."""
    A = np.diag(np.linspace(1, 2, 60) ** 3)
    search = sm.LocallyOptimal(block=block)
    with pytest.raises(sm.NotConverged) as caught:
        sm.solve(A, k=2, method=search, stop=sm.Residual(1e-15) | sm.MaxSteps(3), rng=0)
    assert caught.value.solution.counts.A_products == 4 * (3 if block is None else block)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("method", [sm.Accelerated(), sm.Lanczos(), sm.SplitMerge(), sm.Power()], ids=repr)
@pytest.mark.parametrize("kind", [np.asarray, operator_of], ids=["entries", "operators"])
def test_states_tell_the_user_s_eigenvalues(kind, method, dtype):
    """Those of (A, B), though an indefinite A is shifted, with B factorised or not."""
    A, B = indefinite(10, dtype=dtype)
    # a Krylov search estimates it at first
    rough = 0.5 if isinstance(method, sm.Accelerated) else 1e-5
    for unit in (1e-6, 1.0, 1e6):
        for state in itertools.islice(sm.iterates(kind(unit * A), kind(B), method=method, rng=0), 1, 6):
            u = state.vector
            quotient = np.vdot(u, unit * A @ u).real / np.vdot(u, B @ u).real
            assert state.eigenvalue == pytest.approx(quotient, rel=1e-6, abs=1e-9 * unit)
            r = unit * A @ u - quotient * (B @ u)
            residual = np.linalg.norm(r) / (abs(quotient) * np.linalg.norm(B @ u))
            # relative to the eigenvalue that is not shifted
            assert state.residual == pytest.approx(residual, rel=rough, abs=1e-7)


@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("lowest", [-3.0, -0.01, 0.5])
def test_the_shift_makes_A_definite_and_no_more(lowest, which):
    """sol.shift is zero for a definite pair, and otherwise at least what an indefinite one needs on the basis."""
    values = np.linspace(lowest, 2.0, 40)
    A, B = pair_of(values)
    sol = sm.solve(A, B, which=which, method=sm.Accelerated(), rng=0)
    exact = scipy.linalg.eigvalsh(A, B)
    if which == "largest" and lowest == -3.0:
        assert 0 < sol.shift <= 3.0 * (1 + 1e-9)
    if which == "largest":
        # f = −(λ + η)/4 at the end
        assert sol.history.f[-1] == pytest.approx(-(exact[-1] + sol.shift) / 4, rel=1e-6)
        assert (sol.shift > 0) == (lowest == -3.0) or lowest == -0.01


def test_a_pair_whose_values_are_far_apart_needs_few_steps():
    """The second vector is deflated from the first, not from a multiple of it, in any unit of B."""
    A, B = well_separated(10)
    for mass in (1e-6, 1e6):
        sol = sm.solve(A, mass * B, 3, method=sm.SplitMerge(), tol=1e-9, rng=0)
        np.testing.assert_allclose(sol.eigenvalues, 2.0 ** -np.arange(3) / mass, rtol=1e-9)
        assert sol.steps < 60
