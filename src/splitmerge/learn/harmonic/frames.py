"""Frames of a record: their covariance, and the sinusoids fitted to the whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Array

# Entries outside have squares that overflow or vanish.
SMALLEST, LARGEST = 1e-140, 1e140
# So many frames are held at a time: the samples of a long record, m times over, would not fit.
FRAMES = 8192


def record(x: Any, name: str) -> Array:
    """A finite 1-D record in double precision, real or complex, that is not zero."""
    found = _numbers(x, name)
    if found.ndim != 1 or found.size < 2:
        raise ValueError(f"{name} has shape {found.shape}; give a record of samples, with one axis")
    largest = float(np.abs(found).max())
    if not SMALLEST < largest < LARGEST:
        what = "zero throughout" if largest == 0 else f"as large as {largest:g}, whose square is no number"
        raise ValueError(f"{name} is {what}; give a signal, in a unit that suits it")
    return found


def given_covariance(noise: Any) -> Array:
    """A finite Hermitian matrix."""
    found = _numbers(noise, "noise")
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise ValueError(f"noise has shape {found.shape}; give a record with one axis, or a square covariance matrix")
    if np.abs(found - found.conj().T).max(initial=0.0) > 1e-8 * np.abs(found).max(initial=0.0):
        raise ValueError("noise is a matrix that is not Hermitian; give a covariance matrix, or a record with one axis")
    return (found + found.conj().T) / 2


def _numbers(x: Any, name: str) -> Array:
    found = np.asarray(x)
    if found.dtype.kind not in "biufc":
        raise ValueError(f"{name} has entries of type {found.dtype}; give numbers")
    found = found.astype(np.result_type(found.dtype, np.float64))
    if not np.isfinite(found).all():
        raise ValueError(f"{name} has entries that are NaN or infinite; fill or remove them")
    return found


def covariance(x: Array, m: int) -> Array:
    """The mean of f fᴴ over all frames f of m samples, forwards and (conjugated) backwards."""
    frames = np.lib.stride_tricks.sliding_window_view(x, m)
    R = np.zeros((m, m), x.dtype)
    for first in range(0, frames.shape[0], FRAMES):
        part = frames[first : first + FRAMES]
        R += part.T @ part.conj() / frames.shape[0]
    R = (R + R[::-1, ::-1].conj()) / 2
    return np.asarray((R + R.conj().T) / 2)


def fit(x: Array, turns: Array) -> Array:
    """Complex amplitudes of the sinusoids at `turns` a sample that fit x best in the least squares."""
    waves = np.exp(2j * np.pi * np.multiply.outer(np.arange(x.size), turns))
    if x.dtype.kind == "c":
        return np.asarray(np.linalg.lstsq(waves, x)[0])
    # Re(a w) = Re a Re w − Im a Im w; at 0 and at ½ a turn Im w is zero, and least norm makes Im a so
    both = np.linalg.lstsq(np.hstack([waves.real, -waves.imag]), x)[0]
    return np.asarray(both[: turns.size] + 1j * both[turns.size :])
