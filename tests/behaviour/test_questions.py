"""What is asked of `solve`: the limits of its arguments from both sides, and what they exclude."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from checking import operator_of, partial, refuse
from pairs import EASY, HARD, pair
from splitmerge import Reason
from splitmerge.arguments import stopping_rule

D = np.diag(np.arange(1.0, 21.0))
ACCELERATED, OPTIMAL, POWER = sm.Accelerated(), sm.LocallyOptimal(), sm.Power()


class TestIntervals:
    @pytest.mark.parametrize(
        ("interval", "values"),
        [
            ((2.5, 4.5), [3, 4]),
            ((3, 4), [3, 4]),
            ((3.0, 3.0), [3]),
            ([3, np.float32(3)], [3]),
            (np.array([3, 5]), [3, 4, 5]),
            ((3.5, 3.5), []),
            ((-np.inf, 2.5), [1, 2]),
            ((18.5, np.inf), [19, 20]),
            ((-np.inf, np.inf), range(1, 21)),
            ((np.float64(-np.inf), np.int64(2)), [1, 2]),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
    def test_ends(self, interval, values, kind):
        """They belong to it, and may be equal or infinite."""
        sol = sm.solve(kind(D), interval=interval)
        np.testing.assert_allclose(sol.eigenvalues, list(values), rtol=1e-12)
        assert sol.eigenvectors.shape == (20, len(list(values)))

    @pytest.mark.parametrize(
        "interval",
        [(2, 1), (np.inf, np.inf), (-np.inf, -np.inf), (np.inf, -np.inf), (1, -np.inf), (np.inf, 3)],
        ids=str,
    )
    def test_nothing_is_between(self, interval):
        refuse(r"^interval is \(.*; give the lower end first", D, interval=interval)

    @pytest.mark.parametrize("interval", [3, (1,), (1, 2, 3), "x", sm.Residual(), {}], ids=str)
    def test_two_ends(self, interval):
        refuse(r"^(interval is .*; give its two ends|an end of interval is )", D, interval=interval)

    @pytest.mark.parametrize("end", [np.nan, "1", None, True, 1j])
    def test_ends_are_numbers(self, end):
        refuse(r"^an end of interval is .*; give a finite real number", D, interval=(end, 5))
        refuse(r"^an end of interval is .*; give a finite real number", D, interval=(5, end))

    @pytest.mark.parametrize(
        ("name", "given"), [("k", 2), ("which", "smallest"), ("sigma", 1.0), ("x0", np.ones(20)), ("checkpoint", "x")]
    )
    def test_nothing_else_says_which(self, name, given):
        refuse(rf"^{name} and interval are both given; .*leave {name} out", D, interval=(1, 2), **{name: given})

    def test_one_pair_is_no_question(self):
        assert sm.solve(D, k=1, which="largest", interval=(2.5, 4.5)).eigenvalues.size == 2


class TestSigma:
    @pytest.mark.parametrize("which", ["smallest", "magnitude", "ends", "both_ends", "largest_magnitude"])
    def test_it_asks_for_the_nearest(self, which):
        refuse(
            r"^which is .* and sigma is 2\.5; sigma asks for the nearest: leave which out", D, which=which, sigma=2.5
        )
        assert sm.solve(D, which="largest", sigma=2.4).eigenvalues[0] == pytest.approx(2)

    @pytest.mark.parametrize("sigma", [np.nan, np.inf, -np.inf, "1", 1j, True, [1.0]])
    def test_numbers(self, sigma):
        refuse(r"^sigma is .*; give a finite real number", D, sigma=sigma)

    @pytest.mark.parametrize(
        ("sigma", "value"),
        [(-3, 1), (0, 1), (0.0, 1), (np.float32(2.25), 2), (np.int8(7), 7), (1e300, 20), (-1e300, 1)],
    )
    def test_any_number(self, sigma, value):
        assert sm.solve(D, sigma=sigma).eigenvalues[0] == pytest.approx(value)


@pytest.mark.parametrize("n", [30, 450])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("sigma", [1e13, -1e13])
def test_far_from_the_finite_eigenvalues_of_a_singular_B(n, kind, sigma):
    """Whose largest are infinite, so that the nearest to a far σ above are not those at the end."""
    A, B = np.diag(np.arange(1.0, n + 1)), np.diag(np.r_[0.0, np.ones(n - 1)])
    sol = sm.solve(kind(A), kind(B), 2, sigma=sigma, rng=0)
    np.testing.assert_allclose(np.sort(sol.eigenvalues), [n - 1, n] if sigma > 0 else [2, 3], rtol=1e-7)


@pytest.mark.parametrize(
    ("alias", "which", "values"),
    [("largest_magnitude", "magnitude", [-30, 19, 20]), ("both_ends", "ends", [-30, 19, 20])],
)
@pytest.mark.parametrize("method", [None, ACCELERATED])
def test_other_names(alias, which, values, method):
    A = D.copy()
    A[1, 1] = -30
    for name in (alias, which):
        sol = sm.solve(A, k=3, which=name, method=method, rng=0)
        assert sol.problem.which == which
        np.testing.assert_allclose(np.sort(sol.eigenvalues), values, rtol=1e-7)


class TestMethods:
    """Which of them can do what."""

    INTERIOR = ({"which": "ends"}, {"which": "magnitude"}, {"sigma": 2.4}, {"interval": (2.5, 4.5)})

    @pytest.mark.parametrize("asked", INTERIOR, ids=str)
    @pytest.mark.parametrize("method", [POWER, sm.SplitMerge(), sm.Lanczos(), sm.MirrorDescent(), OPTIMAL], ids=str)
    def test_not_inside(self, asked, method):
        (name, value), *_ = asked.items()
        told = {"which": f"which='{value}'", "sigma": "sigma=2.4", "interval": "interval"}[name]
        refuse(rf"^{told}: (only the default|LocallyOptimal finds)", D, method=method, **asked)

    @pytest.mark.parametrize("asked", INTERIOR, ids=str)
    @pytest.mark.parametrize("method", [None, ACCELERATED], ids=str)
    def test_inside(self, asked, method):
        assert sm.solve(D, method=method, rng=0, **asked).converged

    @pytest.mark.parametrize("method", [POWER, sm.SplitMerge(), sm.Lanczos(), sm.GradientDescent()], ids=str)
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_no_proof(self, method, which):
        refuse(r"^certify: only the default method and Accelerated", D, method=method, certify=True, which=which)

    @pytest.mark.parametrize("method", [None, ACCELERATED, OPTIMAL], ids=str)
    def test_a_proof(self, method):
        assert sm.solve(*EASY, method=method, certify=True, rng=0).verdict == "certified"

    def test_a_proof_needs_entries(self):
        refuse(r"^certify=True needs the entries", operator_of(HARD[0]), HARD[1], certify=True, method=ACCELERATED)
        refuse(r"^certify=True needs the entries", HARD[0], operator_of(HARD[1]), certify=True, method=ACCELERATED)


HINTS = {
    "object": {"preconditioner": sm.Diagonal()},
    "matrix": {"preconditioner": np.eye(20)},
    "function": {"preconditioner": lambda r: r},
    "diagonal": {"diagonal": np.ones(20)},
}


@pytest.mark.parametrize("hint", HINTS.values(), ids=HINTS)
class TestHints:
    @pytest.mark.parametrize(
        "asked",
        [
            {"sigma": 2.4},
            {"interval": (1, 2)},
            {"method": POWER},
            {"method": sm.SplitMerge()},
            {"method": sm.Lanczos()},
            {"method": ACCELERATED, "sigma": 2.4},
        ],
        ids=str,
    )
    def test_nothing_to_do(self, hint, asked):
        refuse("^preconditioner and diagonal are for Accelerated and LocallyOptimal without sigma", D, **hint, **asked)

    def test_twice(self, hint):
        method = sm.LocallyOptimal(sm.Diagonal())
        refuse(r"^preconditioner is given twice, as the method is LocallyOptimal\(", D, method=method, **hint)
        inner = sm.ConjugateGradient(5)
        method = sm.Accelerated(inner=inner)
        refuse(r"^preconditioner has nothing to do beside inner=ConjugateGradient\(", D, method=method, **hint)
        other = {"diagonal": np.ones(20)} if "preconditioner" in hint else {"preconditioner": sm.Diagonal()}
        refuse("^preconditioner and diagonal are both given", D, **hint, **other)

    def test_A_is_factorised(self, hint):
        refuse("^preconditioner with which='smallest' is for Loc", D, which="smallest", method=ACCELERATED, **hint)

    @pytest.mark.parametrize("method", [None, OPTIMAL])
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_taken(self, hint, method, which):
        sol = sm.solve(D, method=method, which=which, rng=0, **hint)
        assert sol.eigenvalues[0] == pytest.approx(20 if which == "largest" else 1)

    @pytest.mark.parametrize("n", [19, 21])
    def test_of_another_size(self, hint, n):
        """Whether it would be used or not."""
        if "diagonal" in hint:
            refuse(rf"^diagonal has {n} entries, but n is 20", D, diagonal=np.ones(n))
        else:
            refuse(rf"^preconditioner has shape \({n}, {n}\), but n is 20", D, preconditioner=np.eye(n))


class TestRules:
    def test_what_tol_stop_and_max_steps_amount_to(self):
        """`stop` takes the place of `tol`; a limit of steps holds beside either."""
        rule, seconds = stopping_rule, sm.MaxSeconds(5.0)
        assert rule(None, 1e-5, None) == sm.Residual(1e-5) | sm.MaxSteps(100_000)
        assert rule(None, 1e-5, 7) == sm.Residual(1e-5) | sm.MaxSteps(7)
        assert rule(seconds, 1e-5, None) == seconds | sm.MaxSteps(100_000)
        assert rule(seconds, 1e-5, 7) == seconds | sm.MaxSteps(7)

    @pytest.mark.parametrize("stop", [None, sm.Residual(1e-14), sm.Residual(1e-14) | sm.MaxSteps(50)], ids=str)
    @pytest.mark.parametrize("steps", [1, 4])
    def test_a_limit_of_steps_holds_beside_stop(self, stop, steps):
        sol = partial(Reason.MAX_STEPS, *HARD, method=POWER, stop=stop, tol=1e-14, max_steps=steps)
        assert sol.steps == steps

    def test_a_tolerance_beside_a_rule_is_checked_and_not_used(self):
        refuse("^tol is -1", *pair(), tol=-1, stop=sm.Residual(1e-3))
        sol = sm.solve(*EASY, method=POWER, tol=1e-12, stop=sm.Residual(1e-2), rng=0)
        assert 1e-6 < sol.residuals[0] <= 1e-2


class TestStarts:
    @pytest.mark.parametrize("x0", [np.ones(300), np.random.default_rng(9).standard_normal(300)], ids=["ones", "noise"])
    def test_a_poor_start_is_replaced(self, x0):
        """One vector for the largest, far from every eigenvector: what is checked of a start is not checked then."""
        A, B = sm.gallery.synthetic_pair(300, 10.0, rng=0)
        ours, random = (sm.solve(A, B, x0=start, b_policy="ridge", rng=0) for start in (x0, None))
        np.testing.assert_allclose(ours.eigenvalues, random.eigenvalues, rtol=1e-9)
        assert ours.counts.monitoring == random.counts.monitoring
        assert ours.verdict.why == random.verdict.why
        # to see how poor it is takes products, which are the set-up's
        assert ours.counts.setup.A_products > random.counts.setup.A_products

    @pytest.mark.parametrize("method", [POWER, sm.SplitMerge(), sm.GradientDescent()], ids=str)
    def test_a_poor_start_is_taken_by_a_method_that_is_given(self, method):
        A, B = HARD
        low = sm.solve(A, B, which="smallest")
        sol = partial(Reason.MAX_STEPS, A, B, x0=low.eigenvectors[:, 0], method=method, max_steps=1, tol=1e-14)
        assert sol.history.value[0] == pytest.approx(low.eigenvalues[0], rel=1e-6)

    @pytest.mark.parametrize("rng", [0, 7, np.int64(3), [1, 2], np.random.SeedSequence(4), np.random.PCG64(5)])
    def test_seeds(self, rng):
        for method in (None, ACCELERATED):
            assert sm.solve(*EASY, method=method, rng=rng).converged
