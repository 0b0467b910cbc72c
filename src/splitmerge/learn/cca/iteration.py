"""Canonical vectors by an iteration with products with the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...errors import NotPositiveDefinite
from ...solve import solve
from ...typing import Array
from ..covariance.choice import Forming
from ..covariance.definite import Sample, singular, varying
from ..covariance.pair import operators, refuse_singular
from ..data.inputs import check_finite
from ..data.joint import Joint
from .decomposition import check_count
from .request import Analysis, Regularised, Request, warn_of_constant_view, warn_of_dropped

# Lengths of the views' parts of a vector that differ by more than this from 1 belong to a correlation of zero.
MAX_LENGTH_ERROR = 0.1


def iterate(joint: Joint, regularised: Sequence[Regularised], choice: Forming, request: Request) -> Analysis:
    """Solve the pair of the views without forming it; constant columns can be left out, dependent ones cannot."""
    samples, ridges = request.samples(joint.samples), [each.ridge for each in regularised]
    with np.errstate(over="ignore", invalid="ignore"):
        variances = joint.variances()
    for part, name in zip(joint.parts, request.names, strict=True):
        check_finite(joint.mean[part], variances[part], name)
    variances = np.where(varying(variances, joint.mean / joint.spread, joint.samples), variances, 0.0)
    ranks = _ranks(joint, variances, ridges, request, samples)
    check_count(request.k, ranks, samples)
    pair = operators(joint, ridges, choice, shares=[each.share for each in regularised], mend=request.warns)
    start = request.start if request.start is not None and len(request.start) == joint.columns else None
    try:
        solution = solve(pair.A, pair.B, request.k, tol=request.tol, x0=start, rng=request.seed, diagonal=pair.diagonal)
    except NotPositiveDefinite as error:
        names = " or ".join(request.names) if len(request.names) == 2 else "a view"
        raise NotPositiveDefinite(
            f"columns of {names} are linearly dependent to working precision, so its covariance is singular; "
            f"give a ridge > 0 (such as ridge=1e-3), or remove columns ({error})"
        ) from error
    vectors = pair.split(solution.eigenvectors * len(joint.sizes) ** 0.5)
    own = joint.split(joint.own(np.concatenate(vectors)))
    if len(vectors) == 2:
        drawn = np.random.default_rng(request.seed).standard_normal((joint.columns, request.k))
        # constant columns without a ridge take no part
        drawn[(variances == 0) & (np.repeat(ridges, joint.sizes) == 0)] = 0
        vectors, own = _normalised(joint, vectors, own, regularised, drawn)
    others = joint.split(joint.others(np.concatenate(vectors)))
    route = f"{choice.reason}\n{solution.explain()}"
    # the problem refers to the data, which an estimator must not keep
    solution = replace(solution, problem=None)
    parts = joint.split(variances)
    return Analysis(solution.eigenvalues, vectors, own, others, parts, [None] * len(vectors), route, solution)


def _ranks(
    joint: Joint, variances: Array, ridges: Sequence[float], request: Request, samples: Sequence[Sample]
) -> list[int]:
    """Return the numbers of columns that take part; raise for a covariance that is known to be singular, or warn."""
    if not request.warns:
        refuse_singular(joint, variances, ridges, samples)
    ranks = []
    for part, ridge, sample in zip(joint.parts, ridges, samples, strict=True):
        if ridge:
            warn_of_constant_view(variances[part], sample)
            ranks.append(part.stop - part.start)
            continue
        constant = int(np.count_nonzero(variances[part] == 0))
        ranks.append(part.stop - part.start - constant)
        if not ranks[-1] or ranks[-1] >= sample.rows:
            raise singular(variances[part], sample)
        if constant:
            warn_of_dropped(variances[part], sample, constant)
    return ranks


def _normalised(
    joint: Joint,
    vectors: list[Array],
    own: list[Array],
    regularised: Sequence[Regularised],
    drawn: Array,
) -> tuple[list[Array], list[Array]]:
    """Scale each view's part to length 1 in the norm of B; an iteration reaches that up to its tolerance.

    A vector of correlation zero may be divided between the views in any proportion, even be zero in one of them: there
    each view gets a vector, made of a random one in `drawn`, that is orthogonal to its others.
    """
    U, CU = np.concatenate(vectors), np.concatenate(own)
    share, ridge = (
        np.repeat([getattr(each, name) for each in regularised], joint.sizes)[:, None] for name in ("share", "ridge")
    )

    def lengths(V: Array, CV: Array) -> Array:
        squares = np.add.reduceat(V * (share * CV + ridge * V), [part.start for part in joint.parts], axis=0)
        return np.repeat(np.sqrt(np.maximum(squares, 0.0)), joint.sizes, axis=0)

    sizes = lengths(U, CU)
    free = np.flatnonzero((np.abs(sizes - 1) > MAX_LENGTH_ERROR).any(axis=0))
    sizes[:, free], U[:, free], CU[:, free] = 1.0, 0.0, 0.0
    U, CU = U / sizes, CU / sizes
    for j in free:
        x = drawn[:, [j]]
        for _ in range(2):
            for part in joint.parts:
                x[part] -= U[part] @ ((share * CU + ridge * U)[part].T @ x[part])
        Cx = joint.own(x)
        size = lengths(x, Cx)
        U[:, [j]], CU[:, [j]] = x / size, Cx / size
    return joint.split(U), joint.split(CU)
