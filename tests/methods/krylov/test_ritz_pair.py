"""The states of the thick-restart iteration."""

import itertools

import numpy as np
import pytest

import splitmerge as sm


def test_the_eigenvalue_is_the_quotient_of_the_vector_after_inexact_solves() -> None:
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    B = (Q * np.logspace(0, -3, 40)) @ Q.T
    A = rng.standard_normal((40, 40))
    A, B = A + A.T, (B + B.T) / 2
    method = sm.Accelerated(inner=sm.ConjugateGradient(3))
    for state in itertools.islice(sm.iterates(A, B, method=method, rng=0), 6):
        u = state.vector
        assert state.eigenvalue == pytest.approx(u @ A @ u / (u @ B @ u), rel=1e-10)


class Overwriting:
    """It begins to overwrite what it multiplies after some products."""

    shape, dtype, products = (60, 60), np.dtype(float), 0

    def __matmul__(self, x):
        self.products += 1
        y = np.arange(1.0, 61) * x
        if self.products > 20:
            x[:] = 0
        return y


def test_a_vector_that_was_overwritten_has_no_quotient() -> None:
    """Without a warning; the loop sees a value that is not finite, or residuals are recomputed."""
    B = 2 * np.eye(60) + np.diag(np.ones(59), 1) / 2 + np.diag(np.ones(59), -1) / 2
    method = sm.Accelerated(inner=sm.ConjugateGradient())
    with pytest.raises((sm.NotConverged, ValueError)):
        sm.solve(Overwriting(), B, 3, method=method, rng=0)
