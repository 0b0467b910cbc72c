"""Records: checks, the covariance of their frames, and least-squares amplitudes of sinusoids."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Array

# Limits of the largest magnitude of a record; squares overflow or underflow outside.
MIN_MAGNITUDE, MAX_MAGNITUDE = 1e-140, 1e140
# Relative asymmetry up to which a matrix is accepted as Hermitian.
HERMITIAN_TOL = 1e-8
# Number of frames of m samples that are held in memory at a time.
BLOCK_FRAMES = 8192


def noise_of(noise: Any) -> Array:
    """Return a record of noise, or its covariance matrix."""
    found = _numbers(noise, "noise")
    return given_covariance(found) if found.ndim == 2 else record(found, "noise")


def record(x: Any, name: str) -> Array:
    """Return x as a finite 1-D array in double precision, real or complex, that is not zero."""
    found = _numbers(x, name)
    if found.ndim != 1 or found.size < 2:
        raise ValueError(f"{name} has shape {found.shape}; give a 1-D record of at least two samples")
    largest = float(np.abs(found).max())
    if largest == 0:
        raise ValueError(f"{name} is zero; give a record of a signal")
    if not MIN_MAGNITUDE < largest < MAX_MAGNITUDE:
        raise ValueError(
            f"the largest entry of {name} is {largest:g}: its square overflows or underflows; rescale {name}"
        )
    return found


def given_covariance(noise: Any) -> Array:
    """Return the noise covariance as a finite Hermitian matrix."""
    found = _numbers(noise, "noise")
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise ValueError(f"noise has shape {found.shape}; give a 1-D record or a square covariance matrix")
    if np.abs(found - found.conj().T).max(initial=0.0) > HERMITIAN_TOL * np.abs(found).max(initial=0.0):
        raise ValueError("noise is a matrix that is not Hermitian; give a covariance matrix or a 1-D record")
    return (found + found.conj().T) / 2


def _numbers(x: Any, name: str) -> Array:
    try:
        found = np.asarray(x)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths; give a 1-D record") from None
    if found.dtype.kind not in "biufc":
        raise ValueError(f"{name} has entries of type {found.dtype}; give real or complex numbers")
    found = found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)
    if not np.isfinite(found).all():
        raise ValueError(f"{name} contains NaN or infinity; impute or remove these samples")
    return found


def covariance(x: Array, m: int) -> Array:
    """Return the forward–backward mean of f fᴴ over all frames f of m samples."""
    frames = np.lib.stride_tricks.sliding_window_view(x, m)
    R = np.zeros((m, m), x.dtype)
    for first in range(0, frames.shape[0], BLOCK_FRAMES):
        part = frames[first : first + BLOCK_FRAMES]
        R += part.T @ part.conj() / frames.shape[0]
    R = (R + R[::-1, ::-1].conj()) / 2
    return np.asarray((R + R.conj().T) / 2)


def fit(x: Array, turns: Array) -> Array:
    """Return the least-squares complex amplitudes of sinusoids at frequencies of `turns` cycles per sample."""
    waves = np.exp(2j * np.pi * np.multiply.outer(np.arange(x.size), turns))
    if x.dtype.kind == "c":
        return np.asarray(np.linalg.lstsq(waves, x)[0])
    # Re(a w) = Re a Re w − Im a Im w; at frequencies 0 and ½ Im w is zero, and the minimum norm makes Im a zero
    both = np.linalg.lstsq(np.hstack([waves.real, -waves.imag]), x)[0]
    return np.asarray(both[: turns.size] + 1j * both[turns.size :])
