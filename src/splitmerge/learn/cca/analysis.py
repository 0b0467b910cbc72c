"""From views to canonical vectors, by matrices or by products with the data."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import NotPositiveDefinite
from ...problem.b_policy import BReport, check_policy
from ...solution.solution import Solution
from ...solve import solve
from ...typing import Array
from ..covariance.choice import Forming, choose_forming
from ..covariance.definite import Sample, without_constants
from ..covariance.pair import operators, refuse_singular, ridges_of
from ..data.joint import Joint, parts_of
from ..moments.moments import Comoments
from .coordinates import reduce_wide
from .decomposition import check_count, correlate

# Lengths of the views' parts of a vector that differ by more than this from 1 belong to a correlation of zero.
MAX_LENGTH_ERROR = 0.1


@dataclass(frozen=True)
class Request:
    """The parameters of an estimator; `start` are the initial vectors of an iteration."""

    k: int
    ridge: Any
    tol: float
    policy: str
    solver: str
    seed: int
    names: Sequence[str]
    start: Array | None = None


@dataclass(frozen=True, eq=False)
class Analysis:
    """Eigenvalues, the vectors Vᵢ of each view, `own` = CᵢᵢVᵢ, and `second_from_first` = C₂₁V₁.

    `route` tells in words how they were computed; `solution` is that of an iteration, and `covariance` the joint
    covariance matrix, if there is one.
    """

    values: Array
    vectors: list[Array]
    own: list[Array]
    second_from_first: Array
    reports: list[BReport | None]
    route: str
    solution: Solution | None = None
    covariance: Array | None = None


def analyse(joint: Joint, request: Request) -> Analysis:
    """Analyse views."""
    ridges, samples = ridges_of(request.ridge, len(joint.views)), _samples(request, joint.samples)
    choice = choose_forming(joint, request.k, solver=request.solver, policy=request.policy)
    if not choice.formed:
        return _iterate(joint, ridges, choice, request, samples)
    if choice.reduced:
        if request.policy == "error" and min(joint.sizes) > 1:
            refuse_singular(joint, joint.variances(), ridges, samples)
        return _reduced(joint, ridges, request, samples, choice.reason)
    C = without_constants(joint.gram(), joint.mean / joint.spread, joint.samples)
    return _oriented(_decompose(C, joint.sizes, ridges, request, samples, choice.reason, joint.gram))


def analyse_moments(
    moments: Comoments, sizes: Sequence[int], request: Request, *, scale: bool
) -> tuple[Analysis, Array]:
    """Analyse the co-moments of partial fits; return the divisors of the columns, too."""
    check_policy(request.policy)
    C, spread = moments.covariance(scale=scale)
    C = without_constants(C, moments.mean / spread, moments.samples)
    ridges, samples = ridges_of(request.ridge, len(sizes)), _samples(request, moments.samples)
    route = "The covariances were accumulated by partial_fit."
    return _oriented(_decompose(C, sizes, ridges, request, samples, route, None)), spread


def _samples(request: Request, rows: int) -> list[Sample]:
    return [Sample(name, rows) for name in request.names]


def _decompose(
    C: Array,
    sizes: Sequence[int],
    ridges: Sequence[float],
    request: Request,
    samples: Sequence[Sample],
    route: str,
    gram: Any,
) -> Analysis:
    # with a single column this is least squares, which has a minimum-norm solution
    policy = "restrict" if request.policy == "error" and min(sizes) == 1 and len(sizes) == 2 else request.policy
    found = correlate(C, sizes, ridges, request.k, policy=policy, samples=samples, gram=gram)
    parts, vectors = parts_of(sizes), found.vectors
    _warn_of_constants(C.diagonal(), parts, samples)
    own = [C[part, part] @ V for part, V in zip(parts, vectors, strict=True)]
    second = C[parts[1], parts[0]] @ vectors[0]
    return Analysis(found.values, vectors, own, second, found.reports, route, covariance=C)


def _reduced(
    joint: Joint, ridges: Sequence[float], request: Request, samples: Sequence[Sample], route: str
) -> Analysis:
    coordinates = reduce_wide(joint)
    views = coordinates.joint
    C = without_constants(views.gram(), views.mean / views.spread, views.samples)
    found = _decompose(C, views.sizes, ridges, request, samples, route, views.gram)
    second = coordinates.expand([found.vectors[0], found.second_from_first, *found.vectors[2:]])[1]
    return _oriented(
        replace(
            found,
            vectors=coordinates.expand(found.vectors),
            own=coordinates.expand(found.own),
            second_from_first=second,
            covariance=None,
        )
    )


def _iterate(
    joint: Joint, ridges: Sequence[float], choice: Forming, request: Request, samples: Sequence[Sample]
) -> Analysis:
    pair = operators(joint, ridges, choice)
    refuse_singular(joint, pair.diagonal, ridges, samples)
    check_count(request.k, joint.sizes, samples)
    start = request.start if request.start is not None and len(request.start) == joint.columns else None
    try:
        solution = solve(pair.A, pair.B, request.k, tol=request.tol, x0=start, rng=request.seed, diagonal=pair.diagonal)
    except NotPositiveDefinite as error:
        names = " or ".join(request.names) if len(request.names) == 2 else "a view"
        raise NotPositiveDefinite(
            f"columns of {names} are linearly dependent to working precision, so its covariance is singular; "
            f"give a ridge > 0 (such as ridge=1e-3), or remove columns ({error})"
        ) from error
    _warn_of_constants(pair.diagonal - np.repeat(ridges, joint.sizes), joint.parts, samples)
    vectors = pair.split(solution.eigenvectors * len(joint.sizes) ** 0.5)
    own = joint.split(joint.own(np.concatenate(vectors)))
    if len(vectors) == 2:
        vectors, own = _normalised(joint, vectors, own, ridges, np.random.default_rng(request.seed))
    first_only = np.zeros((joint.columns, request.k))
    first_only[joint.parts[0]] = vectors[0]
    second = joint.split(joint.others(first_only))[1]
    route = f"{choice.reason}\n{solution.explain()}"
    # the problem refers to the data, which an estimator must not keep
    solution = replace(solution, problem=None)
    return _oriented(Analysis(solution.eigenvalues, vectors, own, second, [None] * len(vectors), route, solution))


def _warn_of_constants(variances: Array, parts: Sequence[slice], samples: Sequence[Sample]) -> None:
    """Warn of a view that is constant, which only a ridge makes positive definite."""
    for part, sample in zip(parts, samples, strict=True):
        if not variances[part].any():
            warnings.warn(
                f"{sample.name} is constant: it has no correlation with anything, and its directions are arbitrary",
                stacklevel=2,
            )


def _normalised(
    joint: Joint, vectors: list[Array], own: list[Array], ridges: Sequence[float], rng: np.random.Generator
) -> tuple[list[Array], list[Array]]:
    """Scale each view's part to length 1 in the norm of C + ridge I; an iteration reaches that up to its tolerance.

    A vector of correlation zero may be divided between the views in any proportion, even be zero in one of them: there
    each view gets a vector that is orthogonal to its others.
    """
    U, CU = np.concatenate(vectors), np.concatenate(own)
    ridge = np.repeat(np.asarray(ridges, np.float64), joint.sizes)[:, None]

    def lengths(V: Array, CV: Array) -> Array:
        squares = np.add.reduceat(V * (CV + ridge * V), [part.start for part in joint.parts], axis=0)
        return np.repeat(np.sqrt(np.maximum(squares, 0.0)), joint.sizes, axis=0)

    sizes = lengths(U, CU)
    free = np.flatnonzero((np.abs(sizes - 1) > MAX_LENGTH_ERROR).any(axis=0))
    sizes[:, free], U[:, free], CU[:, free] = 1.0, 0.0, 0.0
    U, CU = U / sizes, CU / sizes
    for j in free:
        x = rng.standard_normal((joint.columns, 1))
        for _ in range(2):
            for part in joint.parts:
                x[part] -= U[part] @ ((CU + ridge * U)[part].T @ x[part])
        Cx = joint.own(x)
        size = lengths(x, Cx)
        U[:, [j]], CU[:, [j]] = x / size, Cx / size
    return joint.split(U), joint.split(CU)


def _oriented(found: Analysis) -> Analysis:
    """Fix the signs: the entry of largest magnitude in each vector of the first view is positive."""
    leading = found.vectors[0]
    at = np.abs(leading).argmax(axis=0)
    signs = np.where(leading[at, np.arange(leading.shape[1])] < 0, -1.0, 1.0)
    vectors, own = [V * signs for V in found.vectors], [V * signs for V in found.own]
    return replace(found, vectors=vectors, own=own, second_from_first=found.second_from_first * signs)
