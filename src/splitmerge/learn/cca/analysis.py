"""From views to canonical vectors, by matrices or by products with the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...linalg.reductions import phases
from ...typing import Array
from ..covariance.choice import choose_forming, wide_views
from ..covariance.definite import without_constants
from ..covariance.pair import refuse_singular
from ..data.inputs import check_finite
from ..data.joint import Joint, parts_of
from ..moments.moments import Comoments
from .coordinates import reduce_wide
from .decomposition import correlate
from .iteration import iterate
from .request import Analysis, Regularised, Request, warn_of_constant_view, warn_of_dropped


def analyse(joint: Joint, request: Request) -> Analysis:
    """Analyse views."""
    request.check()
    regularised = request.regularised()
    choice = choose_forming(joint, request.k, solver=request.solver, policy=request.joint_policy)
    if not choice.formed:
        return _oriented(iterate(joint, regularised, choice, request))
    if choice.reduced:
        return _oriented(_reduced(joint, regularised, request, choice.reason))
    C = without_constants(_covariance(joint, request), joint.mean / joint.spread, joint.samples)
    return _oriented(_decompose(C, joint.sizes, regularised, request, joint.samples, choice.reason, joint.gram))


def _covariance(joint: Joint, request: Request) -> Array:
    """Return the joint covariance; raise if squares overflow: without `scale`, no deviations have shown that before."""
    with np.errstate(over="ignore", invalid="ignore"):
        C = joint.gram()
    for part, name in zip(joint.parts, request.names, strict=True):
        check_finite(joint.mean[part], C.diagonal()[part], name)
    return C


def analyse_moments(
    moments: Comoments, sizes: Sequence[int], request: Request, *, scale: bool
) -> tuple[Analysis, Array]:
    """Analyse the co-moments of partial fits; return the divisors of the columns, too."""
    request.check()
    C, spread = moments.covariance(scale=scale)
    C = without_constants(C, moments.mean / spread, moments.samples)
    route = "The covariances were accumulated by partial_fit."
    return _oriented(_decompose(C, sizes, request.regularised(), request, moments.samples, route, None)), spread


def _is_regression(sizes: Sequence[int]) -> bool:
    """Whether a view has a single column: this is least squares, which has a minimum-norm solution."""
    return len(sizes) == 2 and min(sizes) == 1


def _decompose(
    C: Array,
    sizes: Sequence[int],
    regularised: Sequence[Regularised],
    request: Request,
    rows: int,
    route: str,
    gram: Any,
) -> Analysis:
    regression, samples = _is_regression(sizes), request.samples(rows)
    policy = "restrict" if request.policy == "error" and regression else request.formed_policy
    found = correlate(C, sizes, regularised, request.k, policy=policy, samples=samples, trim=request.warns, gram=gram)
    parts, vectors = parts_of(sizes), found.vectors
    for part, sample, report in zip(parts, samples, found.reports, strict=True):
        warn_of_constant_view(C.diagonal()[part], sample)
        if request.warns and not regression and report is not None and report.dropped:
            warn_of_dropped(C.diagonal()[part], sample, report.dropped)
    own = [C[part, part] @ V for part, V in zip(parts, vectors, strict=True)]
    pairs = list(zip(parts, vectors, strict=True))
    others = [np.add.reduce([C[part, p] @ V for p, V in pairs if p != part]) for part in parts]
    variances = [C.diagonal()[part] for part in parts]
    return Analysis(found.values, vectors, own, others, variances, found.reports, route, covariance=C)


def _reduced(joint: Joint, regularised: Sequence[Regularised], request: Request, route: str) -> Analysis:
    samples, ridges = request.samples(joint.samples), [each.ridge for each in regularised]
    if request.policy == "error" and not _is_regression(joint.sizes):
        refuse_singular(joint, joint.variances(), ridges, samples)
    coordinates = reduce_wide(joint)
    views = coordinates.joint
    C = without_constants(_covariance(views, request), views.mean / views.spread, views.samples)
    found = _decompose(C, views.sizes, regularised, request, joint.samples, route, views.gram)
    if request.warns and not _is_regression(joint.sizes):
        for view, size, wide, ridge, sample in zip(
            joint.views, views.sizes, wide_views(joint), ridges, samples, strict=True
        ):
            if wide and not ridge:
                # the columns are told apart by variances only if they are constant, which is not the reason here
                warn_of_dropped(np.ones(view.columns), sample, view.columns - size)
    return replace(
        found,
        vectors=coordinates.expand(found.vectors),
        own=coordinates.expand(found.own),
        others=coordinates.expand(found.others),
        variances=[view.variances() for view in joint.views],
        covariance=None,
    )


def _oriented(found: Analysis) -> Analysis:
    """Fix the signs: the entry of largest magnitude in each vector of the first view is positive."""
    signs = phases(found.vectors[0])
    vectors, own, others = ([V * signs for V in each] for each in (found.vectors, found.own, found.others))
    return replace(found, vectors=vectors, own=own, others=others)
