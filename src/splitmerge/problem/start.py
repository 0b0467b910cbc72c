"""Starting vectors: random or given by the user."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..problem.pencil import Pencil
from ..typing import Array


class Space(Protocol):
    """Anything that has vectors: a pencil, a domain."""

    n: int
    dtype: np.dtype[Any]


def random_vector(pencil: Space, rng: np.random.Generator) -> Array:
    """A normally distributed start in the pencil's dtype."""
    x = rng.standard_normal(pencil.n)
    if pencil.dtype.kind == "c":
        x = x + 1j * rng.standard_normal(pencil.n)
    return x.astype(pencil.dtype)


def columns(given: Any, name: str, pencil: Pencil) -> Array:
    """`given` as columns in the pencil's coordinates and dtype, of size 1, after checking that it can be."""
    if np.ma.isMaskedArray(given) and np.ma.getmaskarray(given).any():
        raise ValueError(f"{name} has masked entries; fill them first")
    try:
        X = np.asarray(given)
    except ValueError:
        raise ValueError(f"{name} is ragged; give a vector of length {pencil.n}, or columns of that length") from None
    if X.dtype.kind not in "biufc":
        raise ValueError(f"{name} has dtype {X.dtype}; give numbers")
    if X.ndim not in (1, 2) or X.shape[0] != pencil.n or X.size == 0:
        raise ValueError(f"{name} has shape {X.shape}; give a vector of length {pencil.n}, or columns of that length")
    if X.dtype.kind == "c" and pencil.dtype.kind != "c":
        raise ValueError(f"{name} is complex but A and B are real; give real numbers")
    if not np.isfinite(X).all():
        raise ValueError(f"{name} contains NaN or infinity; clean it first")
    X = X.reshape(pencil.n, -1)
    sizes = np.abs(X).max(axis=0)
    if (sizes == 0).any():
        raise ValueError(f"{name} is zero; give a vector that is not")
    X = pencil.from_vectors(X / sizes)
    return np.asarray(X / np.abs(X).max(axis=0)).astype(pencil.dtype)


def generator(rng: Any) -> np.random.Generator:
    """NumPy's generator for a seed, a generator or None."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise ValueError(f"rng is {rng!r}; give a seed (a whole number, not negative), a Generator or None") from error
