"""Certificates: do inertia counts show that the pairs are all the wanted eigenvalues?

Every pair must lie beyond τ together with its error interval, and nothing else may. Where the last pairs belong to a
cluster that k cuts in two, as with a multiple eigenvalue, a second τ on the other side of the cluster shows that none
of the eigenvalues beyond the cluster is missing.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ..methods.setup import Setup
from ..problem.target import Target
from ..solvers.estimate import longest_vector, resolution
from ..typing import Array
from .inertia import count_between, nothing_beyond, nothing_in_the_gap
from .residuals import Pairs

# Counts that rounding leaves undecided are repeated further away from the pairs, at these multiples of what rounding of
# A and B needs; up to this one, a count that does not fit shows that an eigenvalue is missing.
WIDENINGS, NEAR_WIDENING = (1.0, 2.0, 4.0, 32.0, 256.0), 4.0
# A cut cluster is at most this fraction of its values wide, or this multiple of the rounding of its pairs in any
# coordinates.
CLUSTER_FRACTION, CLUSTER_NOISE = 1e-6, 64

# Do the counts fit? None: the factorisations do not tell; "unclear": they do, but rounding leaves open what they mean;
# "cut": they do beyond a cluster that k cuts in two.
Fit: TypeAlias = bool | Literal["unclear", "cut"] | None


class Side(NamedTuple):
    """The wanted eigenvalues above τ (below it): `chosen` are the pairs among them, by distance from `centre`."""

    above: bool
    chosen: Array
    centre: float = 0.0


def counted(setup: Setup, pairs: Pairs, following: float | None) -> bool | Literal["cut"] | None:
    """Are the pairs all the wanted ones? None if rounding does not allow the counts to tell.

    "cut": they are, but for which of a cluster of close eigenvalues the last ones are. `following` estimates the next
    eigenvalue of a dense pair, if there is an estimate.
    """
    products, above = setup.given_pair, _one_side(setup)
    nearest = setup.target is Target.MAGNITUDE or setup.target.name == "nearest"
    if not np.isfinite(pairs.deltas).all() or (setup.shift_invert is not None and not nearest):
        return None
    if pairs.values.size == products.n:
        return True
    if above is not None and following is not None and nothing_in_the_gap(setup, pairs, following, above=above):
        return True
    return _fits_at_some_distance(setup, pairs)


def _fits_at_some_distance(setup: Setup, pairs: Pairs) -> bool | Literal["cut"] | None:
    """Do the counts fit at the first distance from the pairs at which rounding leaves them decided?"""
    for widening in WIDENINGS:
        fit = _fits_sides if setup.shift_invert is None else _fits_between
        fits = fit(setup, pairs, widening)
        if fits == "unclear":
            return None
        if fits is not None:
            # far away the next eigenvalue may be counted
            return fits if fits or widening <= NEAR_WIDENING else None
    return None


def _margin(setup: Setup, pairs: Pairs, edge: float) -> float:
    """How far a count must stay from an eigenvalue of the size of `edge`."""
    products = setup.given_pair
    least = resolution(products, longest_vector(products, pairs.vectors), abs(edge))
    return max(least, math.sqrt(float(np.finfo(products.dtype).tiny)))


def _is_narrow(pairs: Pairs, inside: Array, distances: Array, width: float, margin: float) -> Fit:
    """Is a cluster as narrow as each of its values is known? "unclear" if it is wide only because of rounding.

    So it is if some of its values differ by more than their errors: only the margin of the counts has joined them.
    """
    # A = 0 has no rounding errors
    noise = float(np.minimum(pairs.noise, pairs.user_noise)[inside].min())
    known = CLUSTER_NOISE * max(noise, math.sqrt(float(np.finfo(pairs.values.dtype).tiny)))
    close = CLUSTER_FRACTION * float(np.abs(pairs.values[inside]).max())
    allowed = max(close, known)
    order = np.argsort(distances[inside])
    errors, steps = pairs.deltas[inside][order], np.diff(distances[inside][order])
    joined = bool((steps <= np.maximum(errors[1:] + errors[:-1], close)).all())
    if joined and width <= allowed:
        return True
    uncertain = 2 * (margin + float(pairs.noise[inside].max()))
    return "unclear" if width - uncertain <= allowed or margin > allowed else False


def _one_side(setup: Setup) -> bool | None:
    """True if the largest eigenvalues of the given pair are wanted, False for the smallest, None for others."""
    if setup.products.pencil.inverse is not None:
        return setup.products.pencil.inverse[1] < 0
    return True if setup.target is Target.LARGEST and setup.shift_invert is None else None


def _sides(setup: Setup, values: Array) -> list[Side]:
    """The ends of the spectrum at which eigenvalues are wanted."""
    one, every = _one_side(setup), np.ones(values.size, bool)
    if one is not None:
        return [Side(one, every)]
    if setup.target is Target.ENDS:
        high = np.arange(values.size) % 2 == 0
        return [Side(True, high), Side(False, ~high)]
    centre = setup.target.centre
    return [Side(True, values >= centre, centre), Side(False, values < centre, centre)]


def _fits_sides(setup: Setup, pairs: Pairs, widening: float) -> Fit:
    """Is nothing else at the wanted ends of the spectrum?"""
    sides = _sides(setup, pairs.values)
    farthest = setup.target.name == "farthest" and _one_side(setup) is None
    every: Fit = True
    for side in sides:
        sign = 1.0 if side.above else -1.0
        # the least wanted is measured on both sides if distances from a centre are compared
        measured = np.ones(pairs.values.size, bool) if farthest else side.chosen
        if not measured.any():
            continue
        distances = np.abs(pairs.values - side.centre) if farthest else sign * pairs.values
        edge = float(distances[measured].min()) + abs(side.centre)
        margin = widening * _margin(setup, pairs, edge)
        if farthest and not (distances - pairs.deltas - margin > 0).all():
            # the two sides would overlap
            return None
        fits = _fits(setup, pairs, side, distances, measured, margin, widening)
        if fits == "cut":
            every = fits
        elif fits is not True:
            return fits
    return every


def _fits(
    setup: Setup,
    pairs: Pairs,
    side: Side,
    distances: Array,
    measured: Array,
    margin: float,
    widening: float,
) -> Fit:
    """Is nothing but the chosen pairs beyond their least distance, or beyond the cluster that k cuts?"""
    deltas, sign = pairs.deltas, 1.0 if side.above else -1.0
    least = float((distances - deltas)[measured].min()) - margin
    fits = nothing_beyond(setup, pairs, sign * least + side.centre, side.chosen, widening, above=side.above)
    if fits is not False:
        return fits
    # from the least wanted upwards, every pair whose interval reaches the cluster belongs to it
    top, inside = _cluster(distances, deltas + margin, measured)
    narrow = _is_narrow(pairs, inside, distances, top - least, margin)
    if narrow is not True:
        return narrow
    beyond = side.chosen & ~inside
    fits = nothing_beyond(setup, pairs, sign * top + side.centre, beyond, widening, above=side.above)
    return "cut" if fits else fits


def _cluster(distances: Array, widths: Array, measured: Array) -> tuple[float, Array]:
    """Where the cluster of the least wanted pairs ends, and which pairs belong to it."""
    inside = np.zeros(distances.size, bool)
    top = -np.inf
    for i in sorted(np.flatnonzero(measured).tolist(), key=lambda i: distances[i] - widths[i]):
        if inside.any() and distances[i] - widths[i] > top:
            break
        inside[i] = True
        top = max(top, float(distances[i] + widths[i]))
    return top, inside


def _fits_between(setup: Setup, pairs: Pairs, widening: float) -> Fit:
    """Are the pairs all the eigenvalues within some distance from σ?"""
    assert setup.shift_invert is not None
    sigma = setup.shift_invert.sigma - setup.target.centre
    distances = np.abs(pairs.values - sigma)
    margin = widening * _margin(setup, pairs, float(np.abs(pairs.values).max()))
    reach = float((distances + pairs.deltas).max()) + margin
    count = count_between(setup, sigma - reach, sigma + reach, widening)
    if count is None or count == pairs.values.size:
        return None if count is None else True
    top, inside = _cluster(-distances, pairs.deltas + margin, np.ones(distances.size, bool))
    narrow = _is_narrow(pairs, inside, distances, reach + top, margin)
    if count < pairs.values.size or narrow is not True:
        return False if count < pairs.values.size else narrow
    if -top <= 0:
        return "cut" if inside.all() else False
    count = count_between(setup, sigma + top, sigma - top, widening)
    if count is None:
        return None
    return "cut" if count == int((~inside).sum()) else False
