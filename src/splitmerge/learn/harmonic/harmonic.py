"""Frequencies of sinusoids in coloured noise: the subspace methods Pisarenko, MUSIC and ESPRIT on a pair (R, N).

R = S P Sᴴ + σ²N with the columns s(ω) = (1, e^{jω}, …) of S, so that each eigenvector u of R u = λ N u with λ = σ² has
Sᴴu = 0. The record is not prewhitened, and there is no frequency grid: the ω are roots of a polynomial.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...checks import real, whole
from ...errors import NotConverged, NotPositiveDefinite
from ...problem.b_policy import BReport, check_policy, mend
from ...solve import solve
from ...typing import Array
from .frames import covariance, fit, noise_of, record
from .roots import nearest, on_circle, polynomial, roots_in_pairs, rotations

METHODS = ("music", "esprit", "pisarenko")
# Largest default order; the roots of the polynomial of twice this degree are computed at cubic cost.
MAX_DEFAULT_ORDER = 128


@dataclass(frozen=True, eq=False)
class Harmonics:
    """Sinusoids in a record, in ascending order of frequency.

    frequencies
        In the units of `fs`: 0 to fs/2 for a real record, −fs/2 to fs/2 for a complex one.
    amplitudes
        Complex amplitudes a: the record is approximately Σ a e^{2πjft/fs}, t = 0, 1, …, or the real part of that.
    eigenvalues
        Of the pair (R, N), descending: one (complex record) or two (real record) per sinusoid, then those of the noise.
    noise_power
        σ², the mean of the noise eigenvalues; 1 if `noise` has the scale of the noise in the record.
    order, method, fs
        The size of R and N, the method, and the sampling frequency.
    why
        A description of the computation.
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
        """The mean square of each sinusoid; a constant, and a change of sign from sample to sample, have no half."""
        alone = np.isin(np.abs(self.frequencies), (0.0, self.fs / 2))
        return np.asarray(np.abs(self.amplitudes) ** 2 * np.where(self.complex_record | alone, 1.0, 0.5))

    def spectrum(self, frequencies: Any) -> Array:
        """Return the MUSIC pseudospectrum sᴴN⁻¹s / sᴴUUᴴs ≥ 1, with the noise eigenvectors U, at the frequencies."""
        turns = np.asarray(frequencies, np.float64) / self.fs
        return np.asarray(on_circle(self.whole_polynomial, turns) / on_circle(self.noise_polynomial, turns))


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
    """Estimate the frequencies of `n_frequencies` sinusoids in the record x, real or complex, in coloured noise.

    noise
        A record of the noise alone (1-D), or its covariance matrix (2-D, of which the leading block is used). None is
        white noise. The scale does not matter.
    order
        The length of the frames of the forward–backward covariance. A larger order has a higher resolution, a smaller
        one averages over more frames. The default is half of the record, at most 128 and at most what `noise` allows;
        "pisarenko" determines the order.
    method
        "music" takes the roots of the polynomial of the noise eigenvectors that are nearest to the unit circle
        (root-MUSIC); "pisarenko" is the same with one noise eigenvector; "esprit" uses the rotation of the signal
        eigenvectors by one sample.
    fs
        Sampling frequency.
    b_policy
        For a singular noise covariance (a short record or narrow-band noise), as in `solve`: "ridge" keeps the
        directions without noise, "restrict" drops them.

    A real sinusoid takes two dimensions. A mean that was not subtracted is a sinusoid of frequency 0.

    >>> t = np.arange(60)
    >>> x = 2 * np.cos(2 * np.pi * 0.11 * t) + np.sin(2 * np.pi * 0.12 * t)
    >>> found = harmonic_retrieval(x, 2)
    >>> found.frequencies.round(6), np.abs(found.amplitudes).round(4)
    (array([0.11, 0.12]), array([2., 1.]))
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; give one of {', '.join(map(repr, METHODS))}")
    check_policy(b_policy)
    x, fs = record(x, "x"), real(fs, "fs")
    is_complex = x.dtype.kind == "c"
    dimension = whole(n_frequencies, "n_frequencies", 1) * (1 if is_complex else 2)
    noise = None if noise is None else noise_of(noise)
    if noise is not None and noise.dtype.kind == "c" and not is_complex:
        raise ValueError("noise is complex but x is real; give real noise")
    m = _order(order, method, x.size, dimension, noise)
    R, N = covariance(x, m), _noise_covariance(noise, m)
    sol = _all_pairs(R, N, dimension, b_policy)
    of_noise = polynomial(sol.eigenvectors[:, dimension:])
    z = rotations(sol.eigenvectors[:, :dimension], N) if method == "esprit" else roots_in_pairs(of_noise)
    turns = nearest(z, n_frequencies, both_signs=is_complex)
    return Harmonics(
        frequencies=fs * turns,
        amplitudes=fit(x, turns),
        eigenvalues=sol.eigenvalues,
        noise_power=float(sol.eigenvalues[dimension:].mean()),
        order=m,
        method=method,
        fs=fs,
        why=_describe(x.size, m, dimension, method, noise, sol.b_report),
        complex_record=is_complex,
        noise_polynomial=of_noise,
        whole_polynomial=polynomial(sol.eigenvectors),
    )


def _order(order: int | None, method: str, samples: int, dimension: int, noise: Array | None) -> int:
    """Return the length of the frames: one noise dimension at least, and enough frames to separate the sinusoids."""
    least = dimension + 1
    # each frame counts twice, forward and backward
    most = samples + 1 - (dimension + 1) // 2
    if most < least:
        raise ValueError(
            f"x has {samples} samples, too few for n_frequencies; give at least {least + dimension // 2} samples"
        )
    if noise is not None and noise.shape[0] < least:
        raise ValueError(f"noise has {noise.shape[0]} samples, too few for n_frequencies; give at least {least}")
    most = most if noise is None else min(most, noise.shape[0])
    if method == "pisarenko":
        if order not in (None, least):
            raise ValueError(f"order is {order!r}, but method='pisarenko' needs {least}; give None, or method='music'")
        return least
    if order is not None:
        return whole(order, "order", least, most)
    # a covariance of fewer frames than its order is singular
    regular = MAX_DEFAULT_ORDER if noise is None or noise.ndim == 2 else noise.size // 2
    return min(most, max(least, min(samples // 2, MAX_DEFAULT_ORDER, regular)))


def _noise_covariance(noise: Array | None, m: int) -> Array | None:
    if noise is None:
        return None
    return noise[:m, :m] if noise.ndim == 2 else covariance(noise, m)


class _Pairs(NamedTuple):
    """All eigenpairs, the largest first, and what was done to the covariance of the noise."""

    eigenvalues: Array
    eigenvectors: Array
    b_report: BReport | None


def _all_pairs(R: Array, N: Array | None, dimension: int, b_policy: str) -> _Pairs:
    """Return all eigenpairs of (R, N) under the policy; there must be more than `dimension`."""
    try:
        report = mend(R, N, b_policy).report
        pairs = R.shape[0] if report is None else report.rank
        if pairs <= dimension:
            raise ValueError(
                f"the covariance of noise has rank {pairs}, but it must exceed {dimension}; give other noise"
            )
        if report is not None and report.ridge:
            # next to the largest, which live where N is nothing but the ridge, the others would be lost
            sol = solve(R, N, pairs, which="smallest", rng=0, b_policy=b_policy)
            return _Pairs(sol.eigenvalues[::-1], sol.eigenvectors[:, ::-1], sol.b_report)
        sol = solve(R, N, pairs, rng=0, b_policy=b_policy)
        return _Pairs(sol.eigenvalues, sol.eigenvectors, sol.b_report)
    except NotPositiveDefinite as error:
        raise NotPositiveDefinite(
            f"the covariance of noise is singular; give a longer record of noise, a smaller order, or b_policy='ridge' "
            f"or 'restrict' ({error})"
        ) from error
    except NotConverged as error:
        raise NotPositiveDefinite(
            "the covariance of noise has hardly any direction but one, for which a ridge is too small; give other noise"
        ) from error


def _describe(samples: int, m: int, dimension: int, method: str, noise: Array | None, report: BReport | None) -> str:
    if noise is None:
        kind = "white noise"
    else:
        source = "a given matrix" if noise.ndim == 2 else f"a record of {noise.size} samples"
        kind = f"noise with the covariance of {source}"
    told = f"{method} on {samples + 1 - m} frames of {m} samples, signal dimension {dimension}, {kind}."
    return f"{told} {report}" if report is not None else told
