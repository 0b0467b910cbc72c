"""Frequencies of sinusoids in coloured noise: the subspace methods of Pisarenko, MUSIC and ESPRIT on a pair (R, N).

R = S P Sᴴ + σ²N for the columns s(ω) = (1, e^{jω}, …) of S, so every u of R u = λ N u with λ = σ² has Sᴴu = 0: no
whitening is needed, and no grid, as the ω are roots of a polynomial.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...checks import real, whole
from ...errors import NotPositiveDefinite
from ...problem.b_policy import POLICIES, mend
from ...solution.solution import Solution
from ...solve import solve
from ...typing import Array
from .frames import covariance, fit, given_covariance, record
from .roots import nearest, polynomial, roots_in_pairs, spread, turned

METHODS = ("music", "esprit", "pisarenko")
# Frames of this length at most are taken unasked: the polynomial has twice as many roots, found at cubic cost.
LONGEST = 128


@dataclass(frozen=True, eq=False)
class Harmonics:
    """Sinusoids found in a record, by ascending frequency.

    frequencies
        In units of `fs`: 0 to fs/2 for a real record, −fs/2 to fs/2 for a complex one.
    amplitudes
        Complex: the record is about Σ a e^{2πjft/fs}, t = 0, 1, …, or the real part of that for a real one.
    eigenvalues
        Of the pair (R, N), descending: one or two for each sinusoid, then those of the noise.
    noise_power
        σ², the mean of the latter: 1 where `noise` tells all of the noise.
    order, method, fs
        The size of R and N, what was made of them, and samples in a unit of time.
    why
        What was done, in words.
    """

    frequencies: Array
    amplitudes: Array
    eigenvalues: Array
    noise_power: float
    order: int
    method: str
    fs: float
    why: str
    complex_record: bool
    noise_polynomial: Array = field(repr=False)
    whole_polynomial: Array = field(repr=False)

    @property
    def powers(self) -> Array:
        """The mean square of each sinusoid."""
        return np.asarray(np.abs(self.amplitudes) ** 2 * (1.0 if self.complex_record else 0.5))

    def spectrum(self, frequencies: Any) -> Array:
        """MUSIC's sᴴN⁻¹s / sᴴUUᴴs at the given frequencies, U the noise's eigenvectors: 1 or more, a peak at a line."""
        turns = np.asarray(frequencies, np.float64) / self.fs
        return np.asarray(spread(self.whole_polynomial, turns) / spread(self.noise_polynomial, turns))


def harmonic_retrieval(
    x: Any,
    n_frequencies: int,
    *,
    noise: Any = None,
    order: int | None = None,
    method: str = "music",
    fs: float = 1.0,
    b_policy: str = "error",
) -> Harmonics:
    """The frequencies of `n_frequencies` sinusoids in the record x, real or complex, in white or coloured noise.

    noise
        A record of the noise alone (1-D), or its covariance matrix (2-D, whose leading part is used); None is white
        noise. The scale does not matter.
    order
        The length of the frames whose covariance is taken, forwards and backwards; more resolves better, fewer average
        better. None is half of the record, or `LONGEST`, or what `noise` has; "pisarenko" has no choice.
    method
        "music" takes the roots nearest to the unit circle of the polynomial of the noise's eigenvectors; "pisarenko" is
        that for one such vector; "esprit" turns the eigenvectors of the sinusoids by one sample.
    fs
        Samples in a unit of time.
    b_policy
        For noise whose covariance is singular, as that of a short record or of a narrow band is: that of `solve`.
        "ridge" keeps the directions without noise, "restrict" drops them.

    A real sinusoid takes two dimensions; a mean that was not taken away is one at frequency 0.

    >>> t = np.arange(60)
    >>> x = 2 * np.cos(2 * np.pi * 0.11 * t) + np.sin(2 * np.pi * 0.12 * t)
    >>> found = harmonic_retrieval(x, 2)
    >>> found.frequencies.round(6), np.abs(found.amplitudes).round(4)
    (array([0.11, 0.12]), array([2., 1.]))
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; give one of {', '.join(map(repr, METHODS))}")
    if b_policy not in POLICIES:
        raise ValueError(f"b_policy is {b_policy!r}; give one of {', '.join(map(repr, POLICIES))}")
    x, fs = record(x, "x"), real(fs, "fs")
    is_complex = x.dtype.kind == "c"
    dimension = whole(n_frequencies, "n_frequencies", 1) * (1 if is_complex else 2)
    noise = None if noise is None else given_covariance(noise) if np.ndim(noise) == 2 else record(noise, "noise")
    if noise is not None and noise.dtype.kind == "c" and not is_complex:
        raise ValueError("noise is complex but x is real; give noise of the same kind")
    m = _order(order, method, x.size, dimension, noise)
    R, N = covariance(x, m), _noise_covariance(noise, m)
    sol = _all_pairs(R, N, dimension, b_policy)
    beyond = polynomial(sol.eigenvectors[:, dimension:])
    z = turned(sol.eigenvectors[:, :dimension], N) if method == "esprit" else roots_in_pairs(beyond)
    turns = nearest(z, n_frequencies, both_signs=is_complex)
    return Harmonics(
        frequencies=fs * turns,
        amplitudes=fit(x, turns),
        eigenvalues=sol.eigenvalues,
        noise_power=float(sol.eigenvalues[dimension:].mean()),
        order=m,
        method=method,
        fs=fs,
        why=_why(x.size, m, dimension, method, noise, sol.b_report),
        complex_record=is_complex,
        noise_polynomial=beyond,
        whole_polynomial=polynomial(sol.eigenvectors),
    )


def _order(order: int | None, method: str, samples: int, dimension: int, noise: Array | None) -> int:
    """The length of frames: enough for the sinusoids and one vector of noise, with frames enough to tell them apart."""
    least = dimension + 1
    # forwards and backwards, each frame counts twice
    most = samples + 1 - (dimension + 1) // 2
    if most < least:
        raise ValueError(f"x has {samples} samples, too few for n_frequencies; {least + dimension // 2} would do")
    if noise is not None and noise.shape[0] < least:
        raise ValueError(f"noise has {noise.shape[0]} samples, too few for n_frequencies; give at least {least}")
    most = most if noise is None else min(most, noise.shape[0])
    if method == "pisarenko":
        if order not in (None, least):
            raise ValueError(f"order is {order!r}, but 'pisarenko' has {least} here; leave it out, or take 'music'")
        return least
    if order is not None:
        return whole(order, "order", least, most)
    # a covariance from fewer frames than it has rows is singular
    regular = LONGEST if noise is None or noise.ndim == 2 else noise.size // 2
    return min(most, max(least, min(samples // 2, LONGEST, regular)))


def _noise_covariance(noise: Array | None, m: int) -> Array | None:
    if noise is None:
        return None
    return noise[:m, :m] if noise.ndim == 2 else covariance(noise, m)


def _all_pairs(R: Array, N: Array | None, dimension: int, b_policy: str) -> Solution:
    """Every pair that (R, N) has after the policy, more than `dimension` of them."""
    try:
        report = mend(R, N, b_policy).report
        pairs = R.shape[0] if report is None else report.rank
        if pairs <= dimension:
            raise ValueError(f"the covariance of noise has rank {pairs}; the sinusoids need {dimension} and more")
        return solve(R, N, pairs, rng=0, b_policy=b_policy)
    except NotPositiveDefinite as error:
        raise NotPositiveDefinite(
            f"the covariance of noise is singular; give a longer record of it, a smaller order, or b_policy='ridge' or "
            f"'restrict' ({error})"
        ) from error


def _why(samples: int, m: int, dimension: int, method: str, noise: Array | None, report: Any) -> str:
    about = (
        "white noise was assumed"
        if noise is None
        else f"the noise is that of {'a covariance matrix' if noise.ndim == 2 else f'a record of {noise.size} samples'}"
    )
    told = f"{method} on {samples + 1 - m} frames of {m} samples, {dimension} dimensions for the sinusoids; {about}."
    return f"{told} {report}" if report is not None else told
