"""The rule that stops at an angle to a known vector or span."""

import numpy as np
import pytest
import scipy.linalg

import splitmerge as sm
from checking import METHODS, each_method, each_route, partial, short
from pairs import EASY, shifted_pair
from splitmerge import Reason, SineAngle


class TestSineAngle:
    @staticmethod
    def sine(u, U, B):
        """Independently, with the B-orthonormal basis from Cholesky and QR."""
        L = np.linalg.cholesky(B)
        Q = np.linalg.qr(L.T @ U.reshape(len(B), -1))[0]
        y = L.T @ u
        y = y / np.linalg.norm(y)
        return np.linalg.norm(y - Q @ (Q.T @ y))

    @each_method
    @pytest.mark.parametrize("tol", [1e-2, 1e-5])
    def test_reached(self, method, tol):
        A, B = EASY
        u = scipy.linalg.eigh(A, B)[1][:, -1]
        sol = sm.solve(A, B, method=method, stop=SineAngle(u, tol), rng=0)
        assert sol.reason is Reason.ANGLE
        assert sol.converged
        assert self.sine(sol.eigenvectors[:, 0], u, B) <= tol * (1 + 1e-6)
        before = partial(Reason.MAX_STEPS, A, B, method=method, stop=SineAngle(u, tol), max_steps=sol.steps - 1)
        assert self.sine(before.eigenvectors[:, 0], u, B) > tol * (1 - 1e-6)

    @pytest.mark.parametrize("scale", [-1.0, 1e-100, 1e100, 7.0])
    @each_route
    def test_length_and_sign_of_the_reference_do_not_matter(self, method, scale):
        A, B = EASY
        u = scipy.linalg.eigh(A, B)[1][:, -1]
        sol = sm.solve(A, B, method=method, stop=SineAngle(scale * u), rng=0)
        assert sol.steps == sm.solve(A, B, method=method, stop=SineAngle(u), rng=0).steps

    @each_route
    def test_span_of_columns(self, method):
        """λ₁ = λ₂: no single vector is the answer, the plane is."""
        A, B = np.diag([2.0, 2.0, 1.0, 0.5, 0.25]), np.eye(5)
        for basis in (np.eye(5)[:, :2], np.array([[1.0, 1, 0, 0, 0], [3.0, 4, 0, 0, 0]]).T):
            sol = sm.solve(A, B, method=method, stop=SineAngle(basis, 1e-6), rng=0)
            assert sol.reason is Reason.ANGLE
            assert self.sine(sol.eigenvectors[:, 0], basis, B) <= 1e-6

    @each_route
    def test_span_for_every_pair(self, method):
        A, B = EASY
        U = scipy.linalg.eigh(A, B)[1][:, ::-1][:, :3]
        sol = sm.solve(A, B, 3, method=method, stop=SineAngle(U, 1e-6), rng=0)
        assert sol.reason is Reason.ANGLE
        for u in sol.eigenvectors.T:
            assert self.sine(u, U, B) <= 2e-6

    @each_route
    @pytest.mark.parametrize("pair", [EASY, shifted_pair()], ids=["positive", "indefinite"])
    def test_smallest(self, method, pair):
        A, B = pair
        u = scipy.linalg.eigh(A, B)[1][:, 0]
        sol = sm.solve(A, B, which="smallest", method=method, stop=SineAngle(u, 1e-4), rng=0)
        assert sol.reason is Reason.ANGLE
        assert self.sine(sol.eigenvectors[:, 0], u, B) <= 1e-4 * (1 + 1e-6)

    @each_route
    def test_columns_of_different_length(self, method):
        A, B = EASY
        U = scipy.linalg.eigh(A, B)[1][:, ::-1][:, :3] * np.array([1e-8, 1.0, 1e8])
        assert sm.solve(A, B, method=method, stop=SineAngle(U, 1e-6), rng=0).reason is Reason.ANGLE

    @each_route
    def test_complex(self, method):
        A = np.array([[2, 1j, 0], [-1j, 2, 0.5], [0, 0.5, 1]])
        u = np.linalg.eigh(A)[1][:, -1]
        sol = sm.solve(A, method=method, stop=SineAngle(u * 1j, 1e-8), rng=0)
        assert sol.reason is Reason.ANGLE
        assert abs(abs(np.vdot(u, sol.eigenvectors[:, 0])) - 1) <= 1e-12

    @pytest.mark.parametrize(
        "reference",
        [
            np.ones(39),
            np.ones((1, 40)),
            np.ones((40, 0)),
            np.ones((40, 1, 1)),
            1.0,
            np.zeros(40),
            np.full(40, np.nan),
            np.full(40, np.inf),
            np.ones((40, 2)),
            np.eye(40, 3) * [1.0, 1.0, 0.0],
            "x",
            None,
            np.ones(40) * 1j,
        ],
        ids=[
            "short",
            "row",
            "no columns",
            "3-D",
            "scalar",
            "zero",
            "nan",
            "inf",
            "dependent",
            "zero column",
            "str",
            "None",
            "complex",
        ],
    )
    @each_route
    def test_bad_reference(self, method, reference):
        rule = SineAngle(reference, 1e-6)
        with pytest.raises(ValueError, match="reference"):
            sm.solve(*EASY, method=method, stop=rule, rng=0, callback=lambda s: pytest.fail("a step was taken"))

    @each_route
    def test_reference_is_left_alone(self, method):
        u = scipy.linalg.eigh(*EASY)[1][:, -1] * 3
        before = u.copy()
        sm.solve(*EASY, method=method, stop=SineAngle(u), rng=0)
        assert np.array_equal(before, u)

    @pytest.mark.parametrize("method", [method for method in METHODS if not method.subspace], ids=short)
    def test_an_angle_that_is_met_needs_no_small_residual(self, method):
        """Of two rules joined by `|` the one that is met first ends the iteration for one pair."""
        u = scipy.linalg.eigh(*EASY)[1][:, -1]
        rules = SineAngle(u, 1e-2) | sm.Residual(1e-12), SineAngle(u, 1e-2)
        sol, alone = (sm.solve(*EASY, method=method, stop=rule, rng=0) for rule in rules)
        assert sol.reason is alone.reason is Reason.ANGLE
        assert sol.steps == alone.steps
        np.testing.assert_array_equal(sol.eigenvectors, alone.eigenvectors)

    @pytest.mark.parametrize("method", [None, sm.Accelerated(), sm.Lanczos()], ids=short)
    def test_a_residual_at_rounding_alone_does_not_meet_both(self, method):
        """A random vector is no eigenvector: the search ends in the whole space."""
        A, u = np.diag(np.arange(1.0, 301)), np.random.default_rng(0).normal(size=300)
        rules = SineAngle(u, 1e-5) & sm.Residual(1e-6), sm.Residual(1e-6) & SineAngle(u, 1e-5)
        for rule in rules:
            with pytest.raises(sm.NotConverged) as error:
                sm.solve(A, stop=rule, method=method, rng=0)
            assert error.value.solution.reason is Reason.EXHAUSTED
        assert sm.solve(A, stop=rules[0] | sm.Residual(1e-6), method=method, rng=0).converged

    def test_limits_beside_a_residual_are_no_goals(self):
        A = np.diag(np.arange(1.0, 301))
        for rule in (sm.Residual(1e-300) & sm.MaxSteps(1), sm.MaxSteps(1) & sm.Residual(1e-300)):
            assert sm.solve(A, stop=rule, method=sm.Accelerated(), rng=0).reason is Reason.PRECISION
