"""What rounding allows: backward errors, thresholds for pivots, and the scale that residuals are relative to."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..typing import Array

# A residual within this many units of rounding of A and B is as small as they determine it; an iteration aims at fewer,
# and may stagnate at more.
ROUNDING_UNITS, AIMED_UNITS, STAGNATION_UNITS = 32, 2, 128
# Sums of terms that are alike lose a unit with each term; a fraction of that with the several sums of BLAS, and with
# the one of sparse rows.
TERMS_PER_UNIT_DENSE, TERMS_PER_UNIT_SPARSE = 12, 3
# A stagnating residual above the backward error counts as rounding of the iteration up to this power of eps: 5e-7 in
# double, 2e-3 in single precision.
STAGNATION_EXPONENT = 0.4


class Scale(NamedTuple):
    """What the residual of an iterate of (A + ηB, B) is relative to, and the levels that rounding leaves.

    `shift` is η, `radius` an estimate Λ of the largest |λ| of (A, B), `n` and `eps` belong to the pencil, `A_norm`,
    `B_norm` are the 1-norms, and `units` the units of rounding that products with A and B leave. Values are those of
    the shifted pencil; a residual is relative to max(|λ|, √eps Λ) for the eigenvalue λ of (A, B) itself.
    """

    shift: float
    radius: float
    n: int
    eps: float
    A_norm: float
    B_norm: float
    units: float = ROUNDING_UNITS

    def moved(self, shift: float, radius: float) -> Scale:
        """The scale of the same pencil with another shift and radius."""
        return Scale(shift, radius, self.n, self.eps, self.A_norm, self.B_norm, self.units)

    @property
    def shifted_radius(self) -> float:
        """A bound on the largest |λ + η|."""
        return self.radius + abs(self.shift)

    def magnitude(self, value: float) -> float:
        """max(|λ|, √eps Λ): an eigenvalue that is lost in the rounding of the largest one counts as zero."""
        return max(abs(value - self.shift), math.sqrt(self.eps) * self.radius)

    def floor(self, value: float, length: float, scale: float) -> float:
        """The residual that an iteration need not go below for a vector of norm `length`, relative to `scale`."""
        size = self.A_norm + abs(value - self.shift) * self.B_norm
        return relative(AIMED_UNITS * self.eps * size * length, scale)

    def stagnation(self, length: float, scale: float) -> float:
        """The residual at which an iteration may stagnate: it rounds at the largest eigenvalue and at the shift."""
        size = self.A_norm + self.shifted_radius * self.B_norm
        level = relative(STAGNATION_UNITS * self.eps * size * length, scale)
        return min(level, float(self.eps**STAGNATION_EXPONENT))

    def perturbation(self, values: Array, lengths: Array) -> Array:
        """How far rounding may move eigenvalues of (A, B) whose B-normalised vectors have these Euclidean norms.

        A perturbation E of A or λB moves λ by uᴴEu.
        """
        sizes = self.A_norm + np.abs(values) * self.B_norm
        return np.asarray(self.units * self.eps * sizes * lengths**2)


def by_distance(values: Array, centre: float) -> Array:
    """Indices that sort values by their distance from the centre.

    Where rounding makes distances equal, the values on one side of the centre tell themselves.
    """
    return np.lexsort((np.where(values < centre, -values, values), np.abs(values - centre)))


def attainable_residual(n: int, eps: float) -> float:
    """4 √n eps, the relative residual that the rounding of one product leaves."""
    return 4 * math.sqrt(n) * eps


def relative(error: float, size: float) -> float:
    """error / size, with 0/0 = 0."""
    if error == 0:
        return 0.0
    return error / size if size > 0 else math.inf


def pivot_threshold(n: int, dtype: np.dtype[Any]) -> float:
    """A pivot smaller than this fraction of its diagonal entry is not distinguishable from zero."""
    return 10 * math.sqrt(n) * precision(dtype)


def narrowed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of single precision, real or complex as this one."""
    return np.dtype(np.complex64 if dtype.kind == "c" else np.float32)


@lru_cache
def precision(dtype: np.dtype[Any]) -> float:
    """The distance of 1 to the next number of this dtype."""
    return float(np.finfo(dtype).eps)


class Levels(NamedTuple):
    """What residual norms are compared with in one system of coordinates, for each pair.

    `sizes` are |λ|‖Bu‖ and `floors` what rounding of A and B allows; `residuals` are relative. Each value is within
    `deltas` of an eigenvalue, of which `noise` is due to rounding.
    """

    sizes: list[float]
    floors: list[float]
    residuals: list[float]
    deltas: list[float]
    noise: list[float]

    def wider(self, other: Levels) -> Levels:
        """The larger of the deltas, and of the noise, of two systems of coordinates."""
        return self._replace(
            deltas=list(map(max, self.deltas, other.deltas)), noise=list(map(max, self.noise, other.noise))
        )

    def excused(self, factor: float) -> Levels:
        """The same where rounding is larger by this factor."""
        return self._replace(floors=[factor * floor for floor in self.floors])

    def expected(self, given: Levels) -> list[float]:
        """The deltas with the noise of another system of coordinates in place of their own."""
        errors = zip(self.deltas, self.noise, given.noise, strict=True)
        return [delta - noise + other if math.isfinite(delta) else delta for delta, noise, other in errors]


def levels_of(
    values: list[float],
    errors: list[float],
    figures: list[list[float]],
    scales: tuple[float, float],
    eps: float,
    sigma: float | None,
    units: float = ROUNDING_UNITS,
) -> Levels:
    """What residual norms are compared with, from ‖r‖, ‖x‖ and ‖Bx‖ and the 1-norms of A and B.

    In plain floats: for a few pairs they are several times as fast as arrays.
    """
    A_norm, B_norm = scales
    root, unit = math.sqrt(eps), units * eps
    levels = Levels([], [], [], [], [])
    for value, error, norm, length, image in zip(values, errors, *figures, strict=True):
        size = image * abs(value)
        level = A_norm + abs(value) * B_norm
        # how far rounding may move λ: a perturbation E of A or λB moves it by uᴴEu
        noise = unit * level * length * length
        if sigma is not None:
            error = abs(value - sigma) * error / (1 - error) if error < 1 else math.inf
        levels.sizes.append(size)
        # rounding does not excuse a vector whose product with B is rounding: it belongs to an infinite eigenvalue
        levels.floors.append(unit * level * length if image > unit * B_norm * length else 0.0)
        levels.residuals.append(relative(norm, max(size, root * level * length)))
        levels.deltas.append(error + noise)
        levels.noise.append(noise)
    return levels
