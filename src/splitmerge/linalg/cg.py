"""Preconditioned conjugate gradients (Hestenes and Stiefel 1952) for a vector and for a block of columns.

Both functions only know B through callables, so that a pencil can count its products and a data set can stay unformed.
They return the iterate and the recurrence residual r: B w = b − r needs no further product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from ..typing import Array
from .reductions import column_dots, column_norms

# Steps between two calls of `poll`, which may raise when a time budget is exhausted.
POLL_STEPS = 20

Multiply = Callable[[Array], Array]


def solve(
    multiply: Multiply,
    w: Array,
    r: Array,
    *,
    target: float,
    max_steps: int,
    dot: Callable[[Array, Array], float],
    norm: Callable[[Array], float],
    axpy: Callable[..., Array],
    refuse: Callable[[float], NoReturn],
    precondition: Multiply | None = None,
    poll: Callable[[], None] | None = None,
    observe: Callable[[float], bool] | None = None,
) -> tuple[Array, Array]:
    """Return w and the residual r after at most `max_steps` steps, or as soon as ‖r‖ ≤ `target`.

    w, r
        The initial guess and its residual b − B w. Both are overwritten.
    dot, norm, axpy
        The kernels of the dtype: `axpy(x, y, a=a)` returns y + a x and may overwrite y.
    refuse
        Called with the curvature pᴴBp when it is not positive; it must raise.
    poll
        Called every POLL_STEPS steps.
    observe
        Called with rᴴP⁻¹r in each step; the iteration stops when it returns True.

    The iteration also stops when rᴴP⁻¹r is not positive.

    >>> from splitmerge.linalg.blas import kernels
    >>> B, b = np.diag([1.0, 2.0, 4.0]), np.ones(3)
    >>> dot, norm, *_, axpy = kernels(B.dtype)
    >>> def refuse(curvature):
    ...     raise ValueError("B is not positive definite")
    >>> tools = {"dot": dot, "norm": norm, "axpy": axpy, "refuse": refuse}
    >>> w, r = solve(lambda p: B @ p, np.zeros(3), b.copy(), target=1e-12, max_steps=3, **tools)
    >>> w.round(12)
    array([1.  , 0.5 , 0.25])
    """
    p, rz = r, 0.0
    for step in range(max_steps):
        if norm(r) <= target:
            break
        if poll is not None and step % POLL_STEPS == POLL_STEPS - 1:
            poll()
        z = r if precondition is None else precondition(r)
        rz, last = dot(r, z), rz
        if (observe is not None and observe(rz)) or not rz > 0:
            break
        p = z.copy() if step == 0 else axpy(p, z.copy(), a=rz / last)
        Bp = multiply(p)
        curvature = dot(p, Bp)
        if not curvature > 0:
            refuse(curvature)
        alpha = rz / curvature
        w = axpy(p, w, a=alpha)
        r = axpy(Bp, r, a=-alpha)
    return w, r


@np.errstate(over="ignore", invalid="ignore")
def solve_block(
    multiply: Multiply,
    W: Array,
    R: Array,
    *,
    target: Array,
    max_steps: int,
    refuse: Callable[[float], NoReturn],
    precondition: Multiply | None = None,
    poll: Callable[[], None] | None = None,
) -> tuple[Array, Array]:
    """Return W and the residuals R, like `solve` for every column: own step lengths, one product for all columns.

    A column whose residual norm has reached its `target` does not change any more. W is overwritten, R is not.

    >>> B, R = np.diag([1.0, 2.0, 4.0]), np.eye(3)[:, :2]
    >>> def refuse(curvature):
    ...     raise ValueError("B is not positive definite")
    >>> W, _ = solve_block(lambda P: B @ P, np.zeros((3, 2)), R, target=np.full(2, 1e-12), max_steps=3, refuse=refuse)
    >>> W.T
    array([[1. , 0. , 0. ],
           [0. , 0.5, 0. ]])
    """
    p, rz = R, np.ones(R.shape[1])
    for step in range(max_steps):
        active = column_norms(R) > target
        if not active.any():
            break
        if poll is not None and step % POLL_STEPS == POLL_STEPS - 1:
            poll()
        z = R if precondition is None else precondition(R)
        rz, last = column_dots(R, z), rz
        p = z if step == 0 else z + p * (rz / last).astype(z.dtype)
        Bp = multiply(p)
        curvature = column_dots(p, Bp)
        if not (curvature[active] > 0).all():
            refuse(float(curvature[active].min()))
        alpha = np.where(active, rz / np.where(active, curvature, 1.0), 0.0).astype(p.dtype)
        W += p * alpha
        R = R - Bp * alpha
        # the ratio of a column that has converged to zero must stay finite
        rz = np.where(rz > 0, rz, 1.0)
    return W, R
