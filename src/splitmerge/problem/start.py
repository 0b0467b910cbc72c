"""Starting vectors: random ones, or those that the user gives."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..linalg import reductions
from ..linalg.blas import Kernels
from ..linalg.reductions import column_sizes
from ..system.processes import agreed, everywhere
from ..typing import Array
from .pencil import Pencil
from .products import Counts, Products

# Relative residual of a start above which it is no better than a random vector.
POOR_RESIDUAL = 0.05


class Space(Protocol):
    """Anything that has vectors: a pencil, its products, a transformation."""

    @property
    def n(self) -> int:
        """The length of its vectors."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Their dtype."""


@dataclass(frozen=True)
class Spent:
    """What an interrupted solve, and those before it, had cost."""

    steps: int
    counts: Counts
    seconds: float


@dataclass(frozen=True)
class Warm:
    """The start of a resumed solve: the vectors of an earlier solution or of a checkpoint, best first, and its shift.

    Unlike `x0` of the user, it may hold more than k vectors. A checkpoint tells what the interrupted solve had `spent`;
    `trusted` says that its vectors stem from random ones, for the same end of the spectrum.
    """

    vectors: Any
    shift: float = 0.0
    spent: Spent | None = None
    trusted: bool = False


def random_vector(space: Space, rng: np.random.Generator) -> Array:
    """A normally distributed vector in the dtype of `space`."""
    return reductions.random_vector(space.n, space.dtype, rng)


def generator(rng: Any, start: Any = None) -> np.random.Generator:
    """A generator of our own for a seed, a generator or None, and for a start of the user's.

    Its numbers have nothing to do with those that the same seed gives elsewhere: a start, a matrix or an earlier
    solution may have been made from them, and a probe must not begin with a vector that they contain.
    """
    try:
        theirs = np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise ValueError(f"rng is {rng!r}; give a seed (a whole number, not negative), a Generator or None") from error
    seed = theirs.integers(2**32, size=4).tolist()
    if start is not None:
        seed.append(zlib.crc32(np.ascontiguousarray(start).data))
    return np.random.default_rng(agreed(seed))


def columns(given: Any, name: str, pencil: Pencil) -> Array:
    """`given` as columns in the coordinates and dtype of the pencil, with largest entry 1, after checking it."""
    X = _numbers(given, name, pencil)
    X = X.reshape(pencil.rows, -1)
    sizes = column_sizes(X)
    if (sizes == 0).any():
        raise ValueError(f"{name} is zero; give a vector that is not")
    X = pencil.from_vectors(X / sizes)
    return np.asarray(X / column_sizes(X)).astype(pencil.dtype)


def _numbers(given: Any, name: str, pencil: Pencil) -> Array:
    """`given` as an array of finite numbers with n rows, real where the pencil is."""
    if np.ma.isMaskedArray(given) and np.ma.getmaskarray(given).any():
        raise ValueError(f"{name} has masked entries; fill them first")
    try:
        X = np.asarray(given)
    except ValueError:
        raise ValueError(f"{name} is ragged; give a vector of length {pencil.n}, or columns of that length") from None
    if X.dtype.kind not in "biufc":
        raise ValueError(f"{name} has dtype {X.dtype}; give numbers")
    if X.ndim not in (1, 2) or X.shape[0] != pencil.rows or X.shape[1:] == (0,):
        raise ValueError(
            f"{name} has shape {X.shape}; give a vector of length {pencil.rows}, or columns of that length"
        )
    if X.dtype.kind == "c" and pencil.dtype.kind != "c":
        if X.imag.any():
            raise ValueError(f"{name} is complex but A and B are real; give real numbers")
        X = X.real
    if not everywhere(bool(np.isfinite(X).all())):
        raise ValueError(f"{name} contains NaN or infinity; clean it first")
    return X


def given_block(x0: Any, k: int, pencil: Pencil, dual: Any) -> Array | None:
    """The starting vectors that are given as columns, at most one per wanted pair; None where none is given.

    `dual` maps vectors of the user to those of a restricted pair (see `b_policy`).
    """
    if x0 is None:
        return None
    given = x0.vectors if isinstance(x0, Warm) else x0
    if dual is not None and np.shape(given)[:1] == dual.shape[:1]:
        given = dual.conj().T @ np.asarray(given)
    X = columns(given, "the start of a resumed solve" if isinstance(x0, Warm) else "x0", pencil)
    if X.shape[1] > k and not isinstance(x0, Warm):
        raise ValueError(f"x0 has shape {np.shape(given)}; give at most one column for each of the k = {k} pairs")
    if _vanishes(pencil, X):
        raise ValueError("x0 has a column in the null space of B, where all eigenvalues are infinite; give another one")
    return X


def _vanishes(pencil: Pencil, X: Array) -> bool:
    """Is B x rounding for a column x of X, as with massless unknowns only?"""
    if pencil.B is None or pencil.B.matrix is None:
        return False
    small = pencil.eps * pencil.B.size * reductions.norms(X)
    return bool((reductions.norms(pencil.B.times_block(X)) <= small).any())


def is_poor(x: Array, products: Products) -> bool:
    """Is a start far from every eigenvector, as a random vector is? Takes a product with A and one with B."""
    Bx = products.apply_B(x)
    return is_far(x, products.apply_A(x, Bx), Bx, products.kernels)


def is_far(x: Array, Ax: Array, Bx: Array, call: Kernels) -> bool:
    """The same, for given products."""
    square = call.dot(x, Bx)
    if not square > 0:
        return True
    value = call.dot(x, Ax) / square
    return not call.norm(Ax - value * Bx) <= POOR_RESIDUAL * call.norm(Ax)
