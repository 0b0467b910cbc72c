"""From the eigenvectors of a pair of covariances to frequencies: polynomials, their roots, turns of one sample."""

from __future__ import annotations

import numpy as np

from ...typing import Array

EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


def polynomial(U: Array) -> Array:
    """The coefficients of z^(m−1) s(1/z)ᵀ UUᴴ s(z): sums along the diagonals of UUᴴ."""
    m = U.shape[0]
    # the autocorrelations of the columns: those of UUᴴ, without the matrix
    F = np.fft.fft(U, 2 * m, axis=0)
    sums = np.fft.ifft(np.sum(np.abs(F) ** 2, axis=1)).conj()
    found = np.concatenate([sums[-(m - 1) :], sums[:m]]) if m > 1 else sums[:1]
    return np.asarray(found if U.dtype.kind == "c" else found.real)


def spread(polynomial: Array, turns: Array) -> Array:
    """The values on the unit circle of a polynomial whose middle coefficient belongs to z⁰: real, not negative."""
    m = (polynomial.size + 1) // 2
    powers = np.exp(2j * np.pi * np.multiply.outer(turns, np.arange(m)))
    values = 2 * (powers @ polynomial[m - 1 :]).real - polynomial[m - 1].real
    # what is left of a zero is rounding
    return np.asarray(np.maximum(values, EPS * abs(polynomial[m - 1])))


def roots_in_pairs(polynomial: Array) -> Array:
    """One root of each pair (z, 1/z̄), that inside: a double root on the circle would otherwise count as two."""
    roots = np.roots(polynomial[::-1])
    roots = roots[roots != 0]
    roots = roots[np.argsort(np.abs(np.log(np.abs(roots))), kind="stable")]
    found = []
    while roots.size > 1:
        z, roots = roots[0], roots[1:]
        partner = int(np.argmin(np.abs(roots - 1 / z.conj())))
        # rounding drives the two apart along the circle or across it, in opposite directions
        middle = z + roots[partner] if abs(z + roots[partner]) > 0 else z
        radius = min(np.abs(z / roots[partner]), np.abs(roots[partner] / z)) ** 0.5
        found.append(radius * middle / abs(middle))
        roots = np.delete(roots, partner)
    return np.array(found, complex)


def turned(signal: Array, N: Array | None) -> Array:
    """The e^{jω} by which N U, whose columns are sinusoids, turns in one sample: least squares in the noise's norm."""
    if N is None:
        return np.linalg.eigvals(np.linalg.lstsq(signal[:-1], signal[1:])[0])
    E = N @ signal
    values, vectors = np.linalg.eigh(N[:-1, :-1])
    keep = values > values.size * EPS * values[-1]
    Q = (vectors[:, keep] / np.sqrt(values[keep])).conj().T
    return np.linalg.eigvals(np.linalg.lstsq(Q @ E[:-1], Q @ E[1:])[0])


def nearest(z: Array, count: int, *, both_signs: bool) -> Array:
    """The turns of those z that are nearest to the unit circle, ascending; of a conjugate pair the upper one."""
    turns = np.angle(z) / (2 * np.pi)
    if not both_signs:
        # a real root has no partner below
        upper = (z.imag > 0) | (z.imag == 0)
        z, turns = z[upper], np.abs(turns[upper])
    if turns.size < count:
        raise ValueError(f"n_frequencies is {count}, but x shows no more than {turns.size}; ask for fewer")
    best = np.argsort(np.abs(np.log(np.maximum(np.abs(z), TINY))), kind="stable")
    return np.sort(turns[best[:count]])
