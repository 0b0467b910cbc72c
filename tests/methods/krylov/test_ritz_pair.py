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
