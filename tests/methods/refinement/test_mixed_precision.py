"""A search in single precision, polished in double: the answer is as good as any, and where it cannot be, not tried."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

import splitmerge as sm
from checking import choices, partial
from pairs import make_pair, spectrum
from splitmerge.methods.krylov.thick_restart import ThickRestart
from splitmerge.methods.refinement import mixed_precision as narrow
from splitmerge.methods.refinement import polish
from splitmerge.methods.setup import Setup
from splitmerge.preparation.single_precision import in_single
from splitmerge.problem.target import Target
from splitmerge.transforms import standard

N = 600


def taken(sol: sm.Solution) -> bool:
    return "MIXED_PRECISION" in choices(sol)


def check(sol: sm.Solution, A: np.ndarray, B: np.ndarray, tol: float) -> None:
    """Judged by hand, in double precision."""
    u, value = sol.eigenvectors[:, 0], sol.eigenvalues[0]
    shifted = abs(value) + sol.shift
    assert np.linalg.norm(A @ u - value * (B @ u)) <= tol * shifted * np.linalg.norm(B @ u)
    np.testing.assert_allclose(np.vdot(u, B @ u).real, 1, rtol=1e-13)
    assert sol.eigenvectors.dtype == np.result_type(A, B)
    assert sol.residuals[0] <= tol


class TestAnswer:
    @pytest.mark.parametrize("dtype", [float, complex])
    @pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-8])
    def test_as_good_as_asked(self, dtype: type, tol: float) -> None:
        pair = make_pair(spectrum(N), seed=1, dtype=dtype, kappa_B=50.0)
        sol = sm.solve(pair.A, pair.B, tol=tol, rng=0)
        assert taken(sol)
        check(sol, pair.A, pair.B, tol)
        assert abs(sol.eigenvalues[0] - 1) <= max(sol.error_bounds[0], 1e-13)
        assert sol.counts.A_products > 0
        assert sol.counts.setup.A_products == 0

    @given(seed=st.integers(0, 10**6), log_kappa=st.floats(0, 4), tol=st.sampled_from([1e-3, 1e-6, 1e-8]))
    @settings(max_examples=10, deadline=None)
    def test_random(self, seed: int, log_kappa: float, tol: float) -> None:
        values = np.sort(np.random.default_rng(seed).uniform(-1, 1, N))[::-1]
        pair = make_pair(values, seed=seed, kappa_B=10**log_kappa)
        sol = sm.solve(pair.A, pair.B, tol=tol, rng=seed)
        check(sol, pair.A, pair.B, tol)
        # a residual of 1e-3 is as large as the gaps, and does not tell neighbours apart
        near = values if tol == 1e-3 else values[:1]
        assert np.abs(sol.eigenvalues[0] - near).min() <= sol.error_bounds[0] + 1e-12

    def test_double_eigenvalue(self) -> None:
        pair = make_pair(np.concatenate([[1.0, 1.0], np.linspace(0.9, 0.1, N - 2)]), seed=3)
        sol = sm.solve(pair.A, pair.B, rng=0)
        assert taken(sol)
        check(sol, pair.A, pair.B, 1e-8)
        np.testing.assert_allclose(sol.eigenvalues, [1.0], rtol=1e-12)

    @pytest.mark.parametrize("which", ["magnitude", "ends"])
    @pytest.mark.parametrize("sign", [1, -1])
    def test_other_ends(self, which: str, sign: int) -> None:
        pair = make_pair(sign * spectrum(N), seed=2)
        sol = sm.solve(pair.A, pair.B, which=which, rng=0)
        # from the other end the next value is so near that polishing may pay or not
        outlying = which == "magnitude" or sign > 0
        assert taken(sol) or not outlying
        expected = sign * 1.0 if outlying else 0.5
        np.testing.assert_allclose(sol.eigenvalues, [expected], rtol=1e-12)

    def test_identity(self) -> None:
        pair = make_pair(spectrum(N), seed=4)
        A = (pair.A + pair.A.T) / 2
        sol = sm.solve(A, rng=0)
        assert taken(sol)
        check(sol, A, np.eye(N), 1e-8)
        np.testing.assert_allclose(sol.eigenvalues, scipy.linalg.eigvalsh(A)[-1:], rtol=1e-13)

    @pytest.mark.parametrize("tol", [1e-3, 1e-5, 1e-6])
    def test_angle(self, tol: float) -> None:
        pair = make_pair(spectrum(N), seed=5)
        u = pair.vectors[:, 0]
        sol = sm.solve(pair.A, pair.B, stop=sm.SineAngle(u, tol), rng=0)
        assert taken(sol)
        assert sol.reason is sm.Reason.ANGLE
        x = sol.eigenvectors[:, 0]
        rest = x - u * (u @ (pair.B @ x))
        assert np.sqrt(rest @ (pair.B @ rest)) <= tol

    def test_same_bits(self) -> None:
        pair = make_pair(spectrum(N), seed=6)
        first, second = (sm.solve(pair.A, pair.B, rng=9) for _ in range(2))
        np.testing.assert_array_equal(first.eigenvectors, second.eigenvectors)

    def test_resume(self) -> None:
        pair = make_pair(spectrum(N), seed=6)
        sol = sm.solve(pair.A, pair.B, rng=0).resume(tol=1e-12)
        check(sol, pair.A, pair.B, 1e-12)


class TestNotTried:
    @pytest.mark.parametrize("options", [{"tol": 1e-12}, {"certify": True}, {"which": "smallest"}, {"k": 2}])
    def test_asked_for_more(self, options: dict) -> None:
        pair = make_pair(spectrum(N), seed=7)
        assert not taken(sm.solve(pair.A, pair.B, rng=0, **options))

    def test_starts(self) -> None:
        """A start near an eigenvector is followed in double precision; a poor one is as good as a random vector."""
        pair = make_pair(spectrum(N), seed=7)
        near = sm.solve(pair.A, pair.B, rng=0).eigenvectors[:, 0] + 1e-6
        assert not taken(sm.solve(pair.A, pair.B, rng=0, x0=near))
        assert taken(sm.solve(pair.A, pair.B, rng=0, x0=np.ones(N)))

    def test_small(self) -> None:
        pair = make_pair(spectrum(300), seed=7)
        assert not taken(sm.solve(pair.A, pair.B, rng=0, method=sm.Accelerated()))

    def test_already_single(self) -> None:
        pair = make_pair(spectrum(N), seed=7)
        sol = sm.solve(pair.A.astype(np.float32), pair.B.astype(np.float32), rng=0, tol=1e-4)
        assert not taken(sol)
        assert sol.eigenvectors.dtype == np.float32

    @pytest.mark.parametrize("kappa", [1e6, 1e9])
    def test_bad_condition(self, kappa: float) -> None:
        pair = make_pair(spectrum(N), seed=8, kappa_B=kappa)
        sol = sm.solve(pair.A, pair.B, rng=0)
        assert not taken(sol)
        assert sol.converged

    @pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20, 1e150])
    def test_extreme_sizes(self, scale: float) -> None:
        pair = make_pair(spectrum(N), seed=8)
        sol = sm.solve(pair.A * scale, pair.B, rng=0)
        np.testing.assert_allclose(sol.eigenvalues, [scale], rtol=1e-12)

    def test_indefinite_B(self) -> None:
        pair = make_pair(spectrum(N), seed=8)
        values, Q = np.linalg.eigh(pair.B)
        values[0] = -1e-9
        with pytest.raises(sm.NotPositiveDefinite, match="pivot"):
            sm.solve(pair.A, (Q * values) @ Q.T, rng=0)


class TestEnds:
    def test_fails_over_to_double(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(polish, "MAX_POLISH_STEPS", 1)
        pair = make_pair(spectrum(N), seed=9)
        sol = sm.solve(pair.A, pair.B, rng=0)
        assert not taken(sol)
        check(sol, pair.A, pair.B, 1e-8)

    @pytest.mark.parametrize("place", [0, 2, -2])
    def test_callback_and_interrupt(self, place: int) -> None:
        """While it searches, and while it polishes."""
        pair = make_pair(spectrum(N), seed=9)
        whole = sm.solve(pair.A, pair.B, rng=0)
        at = whole.history.step[place]
        assert whole.steps == whole.history.step[-1] > at
        sol = partial(sm.Reason.CALLBACK, pair.A, pair.B, callback=lambda state: state.step == at)
        assert sol.steps == at

        def interrupt(state: sm.State) -> None:
            if state.step == at:
                raise KeyboardInterrupt

        sol = sm.solve(pair.A, pair.B, rng=0, callback=interrupt)
        assert sol.reason is sm.Reason.INTERRUPTED
        assert sol.verdict == "unchecked"
        u, value = sol.eigenvectors[:, 0], sol.eigenvalues[0]
        error = np.linalg.norm(pair.A @ u - value * (pair.B @ u)) / np.linalg.norm(pair.B @ u)
        np.testing.assert_allclose(sol.residuals[0], error / (abs(value) + sol.shift), rtol=1e-4)

    @pytest.mark.parametrize("steps", [1, 3, 6])
    def test_max_steps(self, steps: int) -> None:
        pair = make_pair(spectrum(N), seed=9)
        sol = partial(sm.Reason.MAX_STEPS, pair.A, pair.B, max_steps=steps)
        assert sol.steps == steps

    def test_seconds_run_from_the_end_of_the_set_up(self) -> None:
        pair = make_pair(spectrum(N), seed=9)
        sol = sm.solve(pair.A, pair.B, rng=0)
        assert taken(sol)
        assert (np.diff(sol.history.seconds) >= 0).all()
        assert sol.history.seconds[-1] <= sol.seconds.iteration

    def test_angle_to_another_vector(self) -> None:
        """That rounding is reached does not make up for an angle that is not."""
        pair = make_pair(spectrum(N), seed=9)
        rule = sm.SineAngle(pair.vectors[:, 3], 1e-5)
        partial(sm.Reason.MAX_STEPS, pair.A, pair.B, stop=rule, max_steps=60)

    def test_max_seconds(self) -> None:
        pair = make_pair(spectrum(N), seed=9)
        partial(sm.Reason.MAX_SECONDS, pair.A, pair.B, stop=sm.Residual(1e-8) | sm.MaxSeconds(1e-9))


def test_polishing_never_lowers_the_quotient() -> None:
    """Each step minimises f over a span that holds the vector before it."""
    pair = make_pair(spectrum(N), seed=10, kappa_B=30.0)
    pencil = sm.Pencil(pair.A, pair.B)
    single = in_single(pencil.products)
    assert single is not None
    setup = Setup(single, Target.LARGEST, 1, np.random.default_rng(0), transform=standard(single), given=True)
    search = ThickRestart(setup)
    search.launch(np.random.default_rng(0).standard_normal((N, 1)))
    for _ in range(12):
        search.advance()
    correct, x = narrow.SearchCorrector(search), search.ritz_pair(0).x.astype(float)
    first = state = polish.first_polished(pencil.products, pencil.products.scale, x)
    for _ in range(8):
        before, state = state, polish.polish(state, correct)
        assert state.value >= before.value * (1 - 1e-14)
        np.testing.assert_allclose(state.Ax, pair.A @ state.x, atol=1e-13)
        np.testing.assert_allclose(state.Bx, pair.B @ state.x, atol=1e-13)
    assert state.residual < 0.1 * first.residual


@pytest.mark.parametrize("size", [20, None])
def test_the_size_of_the_basis_is_that_of_the_method(size):
    A = np.diag(np.linspace(1, 50, 500))
    products = {
        m: sm.solve(A, method=sm.Accelerated(max_basis=m), tol=1e-7, rng=0).counts.A_products for m in (6, size)
    }
    assert products[6] > 2 * products[size]


@pytest.mark.parametrize("apart", [1e-2, 1e-3, 1e-4, 1e-6])
def test_a_start_next_to_another_eigenvector_leads_to_the_first(apart: float) -> None:
    """From a vector without a component along the wanted one a search ends before rounding has brought it in."""
    x0 = np.zeros(500)
    x0[[1, 5, 9]] = 1, apart, apart
    sol = sm.solve(np.diag(np.r_[1.0, 0.9, np.linspace(0.5, -0.5, 498)]), x0=x0, rng=0)
    assert taken(sol)
    np.testing.assert_allclose(sol.eigenvalues, 1.0, rtol=1e-12)
