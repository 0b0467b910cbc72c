"""A pair of size 2, whose f can be drawn, and the steps of the methods on it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from splitmerge.objective.merging import MergeCoefficients

# A has the eigenvalues 4 and 1.6 with respect to B
B = np.array([[1.0, 0.45], [0.45, 0.8]])
FACTOR = np.linalg.cholesky(B)
TURN = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
A = FACTOR @ TURN @ np.diag([4.0, 1.6]) @ TURN.T @ FACTOR.T


def f(x: Any, y: Any) -> Any:
    """f at the points with these coordinates."""
    points = np.stack([x, y])
    quadratic = np.einsum("i...,ij,j...->...", points, B, points)
    return quadratic - np.sqrt(np.einsum("i...,ij,j...->...", points, A, points))


def stationary() -> tuple[Any, Any]:
    """The eigenvalues, ascending, and as columns the multiples of their eigenvectors where ∇f is zero."""
    values, vectors = scipy.linalg.eigh(A, B)
    return values, vectors * np.sqrt(values) / 2


class Steps(NamedTuple):
    """One step of each method from x, and the Hessians of the surrogates that they minimise."""

    x: Any
    slope: Any
    ends: dict[str, Any]
    hessians: dict[str, Any]


def steps(x: Any) -> Steps:
    """The steps from x, which must not be an eigenvector."""
    Ax = A @ x
    r = np.sqrt(x @ Ax)
    slope = 2 * B @ x - Ax / r
    Tx = np.linalg.solve(B, Ax)
    ATx = A @ Tx
    TTx = np.linalg.solve(B, ATx)
    coefficients = MergeCoefficients.of(x, Ax, Tx, ATx, TTx)
    curvature = 2 * np.linalg.eigvalsh(B)[-1]
    F = np.linalg.cholesky(A).T
    v = F @ Tx - (F @ x) * ((F @ x) @ (F @ Tx)) / ((F @ x) @ (F @ x))
    v /= np.linalg.norm(v) * np.sqrt(coefficients.rho)
    split = 2 * B - np.outer(F.T @ v, F.T @ v) / r
    hessians = {"gradient": curvature * np.eye(2), "power": 2 * B, "Split-Merge": split}
    ends = {name: x - np.linalg.solve(hessian, slope) for name, hessian in hessians.items()}
    np.testing.assert_allclose(ends["Split-Merge"], coefficients.step(Tx, TTx))
    np.testing.assert_allclose(ends["power"], Tx / (2 * r))
    return Steps(x, slope, ends, hessians)
