"""From eigenvectors of a pair of covariances to frequencies: root-MUSIC polynomials and ESPRIT rotations.

Frequencies are in cycles per sample (`turns`): z = e^{2πj·turns}.
"""

from __future__ import annotations

import numpy as np

from ...problem.b_policy import positive_part
from ...typing import Array

EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


def polynomial(U: Array) -> Array:
    """Return the coefficients of z^(m−1) s(1/z)ᵀ UUᴴ s(z): the sums along the diagonals of UUᴴ."""
    m = U.shape[0]
    # they are the sums of the autocorrelations of the columns, computed by FFT
    F = np.fft.fft(U, 2 * m, axis=0)
    sums = np.fft.ifft(np.sum(np.abs(F) ** 2, axis=1)).conj()
    found = np.concatenate([sums[-(m - 1) :], sums[:m]]) if m > 1 else sums[:1]
    return np.asarray(found if U.dtype.kind == "c" else found.real)


def on_circle(polynomial: Array, turns: Array) -> Array:
    """Evaluate sᴴUUᴴs ≥ 0 on the unit circle, from the coefficients with that of z⁰ in the middle."""
    m = (polynomial.size + 1) // 2
    powers = np.exp(2j * np.pi * np.multiply.outer(turns, np.arange(m)))
    values = 2 * (powers @ polynomial[m - 1 :]).real - polynomial[m - 1].real
    # at a root the computed value is only rounding
    return np.asarray(np.maximum(values, EPS * abs(polynomial[m - 1])))


def roots_in_pairs(polynomial: Array) -> Array:
    """Return the root inside the unit circle of each pair (z, 1/z̄); a double root on the circle counts once."""
    roots = np.roots(polynomial[::-1])
    roots = roots[roots != 0]
    roots = roots[np.argsort(np.abs(np.log(np.abs(roots))), kind="stable")]
    found = []
    while roots.size > 1:
        z, roots = roots[0], roots[1:]
        partner = int(np.argmin(np.abs(roots - 1 / z.conj())))
        # rounding separates a double root along or across the circle, in opposite directions
        middle = z + roots[partner] if abs(z + roots[partner]) > 0 else z
        radius = min(np.abs(z / roots[partner]), np.abs(roots[partner] / z)) ** 0.5
        found.append(radius * middle / abs(middle))
        roots = np.delete(roots, partner)
    return np.array(found, complex)


def rotations(signal: Array, N: Array | None) -> Array:
    """Return the ESPRIT rotations e^{jω} of N U, whose columns are sinusoids: least squares in the norm of N⁻¹."""
    if N is None:
        return np.linalg.eigvals(np.linalg.lstsq(signal[:-1], signal[1:])[0])
    E = N @ signal
    values, vectors = np.linalg.eigh(N[:-1, :-1])
    Q = positive_part(values, vectors, values.size * EPS * values[-1]).whitening.conj().T
    return np.linalg.eigvals(np.linalg.lstsq(Q @ E[:-1], Q @ E[1:])[0])


def nearest(z: Array, count: int, *, both_signs: bool) -> Array:
    """Return the frequencies of the z nearest to the unit circle, ascending; of a conjugate pair the positive one."""
    turns = np.angle(z) / (2 * np.pi)
    if not both_signs:
        # a real root is its own conjugate
        upper = (z.imag > 0) | (z.imag == 0)
        z, turns = z[upper], np.abs(turns[upper])
    if turns.size < count:
        raise ValueError(f"n_frequencies is {count}, but only {turns.size} frequencies were found in x; give fewer")
    best = np.argsort(np.abs(np.log(np.maximum(np.abs(z), TINY))), kind="stable")
    return np.sort(turns[best[:count]])
