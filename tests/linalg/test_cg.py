"""Conjugate gradients over callables: solutions, residuals, and when they stop."""

import numpy as np
import pytest

from splitmerge.linalg import cg
from splitmerge.linalg.blas import kernels
from splitmerge.linalg.reductions import column_norms


class Indefinite(Exception):
    pass


def refuse(curvature):
    raise Indefinite(curvature)


def matrix(n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, n)).astype(dtype)
    if np.dtype(dtype).kind == "c":
        M = M + 1j * rng.standard_normal((n, n))
    return (M @ M.conj().T / n + np.eye(n)).astype(dtype), M[:, :3].copy()


def tools(dtype):
    found = kernels(np.dtype(dtype))
    return {"dot": found.dot, "norm": found.norm, "axpy": found.axpy, "refuse": refuse}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_vector_and_block_solve_the_system(dtype, preconditioned):
    B, R = matrix(30, dtype)
    tol = 50 * np.finfo(dtype).eps
    diagonal = B.diagonal().real.astype(dtype)
    targets = tol * column_norms(R)
    by_block = {"precondition": lambda r: r / diagonal[:, None]} if preconditioned else {}
    by_vector = {"precondition": lambda r: r / diagonal} if preconditioned else {}
    W, left = cg.solve_block(
        lambda P: B @ P, np.zeros_like(R), R, target=targets, max_steps=200, refuse=refuse, **by_block
    )
    assert (column_norms(left) <= targets).all()
    np.testing.assert_allclose(B @ W, R - left, atol=100 * tol)
    for j in range(3):
        b = R[:, j].copy()
        w, r = cg.solve(lambda p: B @ p, 0 * b, b.copy(), target=targets[j], max_steps=200, **tools(dtype), **by_vector)
        assert np.linalg.norm(r) <= targets[j] * 1.01
        np.testing.assert_allclose(w, W[:, j], atol=100 * tol)


def test_the_residual_belongs_to_the_guess():
    B, R = matrix(20, np.float64)
    b, guess = R[:, 0].copy(), np.linspace(0, 1, 20)
    w, r = cg.solve(lambda p: B @ p, guess.copy(), b - B @ guess, target=0.0, max_steps=5, **tools(np.float64))
    np.testing.assert_allclose(r, b - B @ w, atol=1e-12)


def test_a_column_that_has_converged_stays():
    B = np.diag(np.arange(1.0, 9.0))
    R = np.stack([np.eye(8)[0], np.ones(8), np.zeros(8)], axis=1)
    seen = []

    def multiply(P):
        seen.append(P.shape[1])
        return B @ P

    W, left = cg.solve_block(multiply, np.zeros_like(R), R, target=1e-12 * column_norms(R), max_steps=20, refuse=refuse)
    np.testing.assert_array_equal(W[:, 0], np.eye(8)[0])
    np.testing.assert_array_equal(W[:, 2], 0.0)
    assert np.isfinite(W).all()
    np.testing.assert_allclose(B @ W, R, atol=1e-11)
    assert seen == [3] * len(seen)
    assert np.isfinite(left).all()


def test_negative_curvature_is_refused():
    B, b = np.diag([1.0, -2.0]), np.array([1.0, 1.0])
    with pytest.raises(Indefinite):
        cg.solve(lambda p: B @ p, 0 * b, b.copy(), target=0.0, max_steps=5, **tools(np.float64))
    with pytest.raises(Indefinite):
        cg.solve_block(lambda P: B @ P, np.zeros((2, 1)), b[:, None], target=np.zeros(1), max_steps=5, refuse=refuse)


def test_polls_and_observes():
    B, R = matrix(200, np.float64)
    B -= 0.999 * np.eye(200)
    b, polls, sizes = R[:, 0].copy(), [], []

    def observe(size):
        sizes.append(size)
        return len(sizes) == 45

    def poll():
        polls.append(len(sizes))

    options = {"target": 0.0, "max_steps": 100, "poll": poll}
    cg.solve(lambda p: B @ p, 0 * b, b.copy(), observe=observe, **options, **tools(np.float64))
    assert len(sizes) == 45
    assert polls == [19, 39]
    np.testing.assert_allclose(sizes[0], b @ b)
    polls.clear()
    cg.solve_block(lambda P: B @ P, np.zeros_like(R), R, **{**options, "target": np.zeros(3)}, refuse=refuse)
    assert len(polls) == 5
