"""The set-up of the modes of `eigsh`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..planning.costs import MAX_DENSE_N
from ..problem.factorise import is_definite
from ..problem.pencil import Pencil
from ..problem.products import Products
from ..problem.target import Target
from ..solvers.shifted import Minres, UserInverse
from ..transforms import SemidefiniteShiftInvert, ShiftInvert
from ..transforms.modes import Reduced
from ..transforms.shift_invert import root_of
from ..typing import Array
from .shift_invert import factorised_near

# Below this rank of a singular B, or below this many times k, LAPACK serves: a Krylov space would fill the range of B.
SMALL_RANK, SMALL_RANK_PER_PAIR = 40, 6


def mode_transform(
    reduced: Reduced, products: Products, k: int, given: Callable[[Array], Any] | None
) -> tuple[Target, ShiftInvert] | None:
    """The target and the inverse at τ, by the caller's function `given` if possible; None where LAPACK should do it.

    That is where eigenvalues far from τ are wanted beside the near ones, or where B has a small rank.
    """
    pencil: Pencil = products.pencil
    shift = reduced.shift / pencil.unit
    if given is not None and reduced.factor is not None:
        inverse = UserInverse(pencil, given, reduced.factor)
        return reduced.target(shift), ShiftInvert(products, shift, inverse, reduced.sign)
    if not pencil.has_entries:
        return reduced.target(shift), ShiftInvert(products, shift, Minres(products, shift), reduced.sign)
    if pencil.B is None or is_definite(pencil.B):
        return _factorised(reduced, products, k, 0, ShiftInvert)
    root, rank = root_of(products, reduced.weight)
    if rank >= max(SMALL_RANK, SMALL_RANK_PER_PAIR * k):
        return _factorised(reduced, products, k, pencil.n - rank, partial(SemidefiniteShiftInvert, L=root))
    if pencil.n > MAX_DENSE_N:
        raise ValueError(f"{reduced.weight} has rank {rank}, too little to search for k = {k} pairs; restrict the pair")
    return None


def _factorised(
    reduced: Reduced, products: Products, k: int, nullity: int, kind: Callable[..., ShiftInvert]
) -> tuple[Target, ShiftInvert] | None:
    """The target and the inverse by a factorisation; None where too few eigenvalues are on the wanted side of τ.

    Or where τ had to be moved, maybe past eigenvalues, and one side is wanted.
    """
    n, asked = products.n, reduced.shift / products.pencil.unit
    shift, factor = factorised_near(products, asked, k)
    if n <= MAX_DENSE_N and shift != asked and reduced.which != "LM":
        return None
    negative = factor.negative
    if n <= MAX_DENSE_N and negative is not None and not reduced.enough(n, negative, k, nullity):
        return None
    return reduced.target(shift), kind(products, shift, factor, reduced.sign)
