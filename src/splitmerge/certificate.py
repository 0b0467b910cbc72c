"""How far off can the answer be, and is anything missing? Residual and gap bounds, and counts of eigenvalues.

The count rests on Sylvester's law: A − τB has as many negative eigenvalues as (A, B) has eigenvalues below τ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from .adapt import plus
from .factor import DenseFactor, shifted_factor
from .kernels import Array
from .pairs import Pairs
from .pencil import Pencil


@dataclass(frozen=True)
class Bounds:
    """For each pair: |λ − λ̂| at most `values`; sin of the angle to the eigenspace of its cluster at most `angles`.

    Pairs with the same number in `clusters` are nearer to each other than their errors can tell apart: the angle is
    then between a vector and the invariant subspace of them all.
    """

    values: Array
    angles: Array
    clusters: Array


def bound(values: Array, errors: Array, noise: Array, gaps: Array) -> Bounds:
    """Bounds from the residual norms `errors` (in the norm of B⁻¹, `noise` included) and the gaps between the values.

    λ̂ is within its error e of an eigenvalue, and within e²/gap where the gap to all others is larger (Kato, Temple);
    the sine of the angle is at most e/gap (Davis, Kahan). `gaps` are to the eigenvalues that are not among these.
    """
    clusters = _clusters(values, errors)
    bounds, angles = errors.copy(), np.ones_like(errors)
    for label in np.unique(clusters):
        inside = clusters == label
        # what matters for a cluster is its distance to the rest, and its residuals together
        distances = np.abs(values[inside][:, None] - values[~inside]) - errors[~inside]
        gap = min(float(distances.min(initial=math.inf)), float(gaps[inside].min()))
        together = float(np.linalg.norm(errors[inside]))
        if gap > together:
            angles[inside] = np.minimum(together / gap, 1.0)
            # the squares of the residuals, but never less than rounding allows one to see
            bounds[inside] = np.minimum(errors[inside], together**2 / gap + noise[inside])
    return Bounds(bounds, angles, clusters)


def _clusters(values: Array, errors: Array) -> Array:
    """Number the groups of values whose intervals overlap."""
    labels = np.zeros(values.size, int)
    order = np.argsort(values, kind="stable")
    label, edge = -1, -math.inf
    for i in order:
        if values[i] - errors[i] > edge:
            label += 1
        edge = max(edge, values[i] + errors[i])
        labels[i] = label
    return np.asarray(labels)


def resolution(pencil: Pencil, pairs: Pairs, size: float) -> float:
    """How far from an eigenvalue a τ of this size must be for rounding in A − τB not to change the count.

    As for `Pencil.rounding_of`, but with the longest of all vectors of B-norm 1: ‖B⁻¹‖, by a few steps of iteration.
    """
    longest = float(np.linalg.norm(pairs.vectors, axis=0).max())
    if pencil.B is not None and pencil.solver is not None:
        x = np.random.default_rng(0).standard_normal(pencil.n).astype(pencil.dtype)
        with pencil.counting(pencil.counts.monitoring):
            for _ in range(3):
                x, _ = pencil.solve_B(x / np.linalg.norm(x))
        longest = max(longest, float(np.linalg.norm(x)) ** 0.5)
    return 4 * float(pencil.rounding_of(np.array([size, abs(pairs.sigma or 0.0)]), np.full(1, longest)).max())


def counts_fit(pencil: Pencil, pairs: Pairs, low: float, high: float) -> bool | None:
    """Are the pairs above `high` or below `low` all the eigenvalues that there are? None: cannot tell."""
    for tau, above in ((high, True), (low, False)):
        if not math.isfinite(tau):
            continue
        beyond = pairs.values > tau if above else pairs.values < tau
        fit = _fits(pencil, pairs, tau, beyond, above)
        if fit is None or not fit:
            return fit
    return True


def _fits(pencil: Pencil, pairs: Pairs, tau: float, beyond: Array, above: bool) -> bool | None:
    if pencil.dense:
        return _definite_without(pencil, pairs.vectors[:, beyond], pairs.values[beyond], tau, above)
    below = count_below(pencil, tau)
    if below is None:
        return None
    return (pencil.n - below if above else below) == int(beyond.sum())


def count_below(pencil: Pencil, tau: float) -> int | None:
    """How many eigenvalues of (A, B) lie below τ; None when the factorisation could not tell."""
    try:
        return shifted_factor(plus(pencil.A, -tau, pencil.B)).negative
    except ZeroDivisionError:
        return None


def count_between(pencil: Pencil, low: float, high: float) -> int | None:
    """How many eigenvalues of (A, B) lie between the two; None when a factorisation could not tell."""
    below, above = count_below(pencil, low), count_below(pencil, high)
    return None if below is None or above is None else above - below


def _definite_without(pencil: Pencil, X: Array, values: Array, tau: float, above: bool) -> bool:
    """Is τB − A (A − τB for those below) positive definite once the found vectors X are moved to the other side?

    One Cholesky factorisation, where counting would take an indefinite one: it succeeds just if nothing else is there.
    """
    sign = 1.0 if above else -1.0
    M = _combination(pencil, sign, tau)
    if X.shape[1]:
        X = X.astype(pencil.dtype, copy=False)
        G = np.array(X if pencil.B is None else pencil.B.matrix @ X, order="F")
        # τ − λ < 0 becomes as large as the values are
        weights = np.abs(values - tau) + np.abs(values).max()
        G *= np.sqrt(weights).astype(pencil.dtype)
        (rank_k,) = get_blas_funcs(("herk" if pencil.dtype.kind == "c" else "syrk",), dtype=pencil.dtype)
        M = rank_k(1.0, G, beta=1.0, c=M, overwrite_c=1, lower=0)
    potrf: Any = get_lapack_funcs("potrf", dtype=pencil.dtype)
    _, info = potrf(M, lower=0, clean=0, overwrite_a=1)
    return bool(info == 0)


def _combination(pencil: Pencil, sign: float, tau: float) -> Array:
    """sign (τB − A), in the array of the factor of B, whose solver is spent by that."""
    if pencil.B is None:
        M = np.multiply(pencil.A.matrix, -sign, order="F")
        M.flat[:: pencil.n + 1] += sign * tau
        return np.asarray(M)
    assert isinstance(pencil.solver, DenseFactor)
    M = np.multiply(pencil.B.matrix, sign * tau, out=pencil.solver.U)
    (np.subtract if sign > 0 else np.add)(M, pencil.A.matrix, out=M)
    return np.asarray(M)
