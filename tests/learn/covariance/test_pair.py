"""The pair of covariances of several views."""

import numpy as np
import pytest
import scipy.linalg

import splitmerge as sm
from splitmerge.learn import view_pair
from splitmerge.learn.covariance.pair import ridges_of
from splitmerge.learn.data.inputs import check_weights
from two_views import RNG, WEIGHTS, X, Y, explicit


@pytest.mark.parametrize("solver", ["formed", "operators"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_solve_on_the_pair(solver, weights):
    pair = view_pair([X, Y], weights=weights, ridge=(0.1, 0.2), solver=solver)
    assert pair.formed == (solver == "formed")
    assert solver in pair.reason
    Zx, Zy = explicit(X, weights, False), explicit(Y, weights, False)
    A = scipy.linalg.block_diag(Zx.T @ Zx, Zy.T @ Zy)
    A = np.hstack([Zx, Zy]).T @ np.hstack([Zx, Zy]) - A
    B = scipy.linalg.block_diag(Zx.T @ Zx + 0.1 * np.eye(5), Zy.T @ Zy + 0.2 * np.eye(3))
    assert np.allclose(pair.diagonal, B.diagonal())
    assert np.allclose(pair.A @ np.eye(8), A)
    assert np.allclose(pair.B @ np.eye(8), B)
    sol = sm.solve(pair.A, pair.B, 2, diagonal=None if pair.formed else pair.diagonal, rng=0)
    assert np.allclose(sol.eigenvalues, scipy.linalg.eigh(A, B)[0][::-1][:2], atol=1e-12)
    assert [piece.shape for piece in pair.split(sol.eigenvectors)] == [(5, 2), (3, 2)]


def test_three_views():
    views = [X, Y, RNG.standard_normal((60, 2)) + Y[:, :2]]
    formed, products = (view_pair(views, ridge=0.1, scale=True, solver=solver) for solver in ("formed", "operators"))
    for name in ("A", "B"):
        assert np.allclose(getattr(formed, name), getattr(products, name) @ np.eye(10), atol=1e-12)


def test_bad_arguments():
    with pytest.raises(ValueError, match="solver is 'dense'"):
        view_pair([X, Y], solver="dense")
    with pytest.raises(ValueError, match="ridge has 3 numbers for 2 views"):
        view_pair([X, Y], ridge=[1, 2, 3])
    with pytest.raises(ValueError, match="ridge is -1"):
        ridges_of(-1, 2)
    with pytest.raises(ValueError, match="at least two are needed"):
        view_pair([X])
    with pytest.raises(ValueError, match=r"different numbers of rows \(views\[0\] 60, views\[1\] 59\)"):
        view_pair([X, Y[:-1]])
    with pytest.raises(ValueError, match=r"views\[1\] contains NaN"):
        view_pair([X, np.where(Y > 0, Y, np.nan)])
    with pytest.raises(ValueError, match=r"views\[1\] contains .* values whose squares overflow"):
        view_pair([X, Y * 1e200])
    with pytest.raises(ValueError, match="must be a real matrix"):
        view_pair([X, Y * 1j])
    for weights, word in (
        (np.zeros(60), "zero"),
        (-WEIGHTS, "Negative values"),
        (np.ones(3), "shape"),
        ([np.nan] * 60, "NaN"),
    ):
        with pytest.raises(ValueError, match=word):
            check_weights(weights, 60)
