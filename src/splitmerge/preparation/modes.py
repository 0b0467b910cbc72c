"""The set-up of the modes of `eigsh`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import NotPositiveDefinite
from ..planning.costs import MAX_DENSE_N
from ..problem.factorise import is_definite
from ..problem.pencil import Pencil
from ..problem.products import Products
from ..problem.target import Target
from ..solvers.shifted import Minres, UserInverse
from ..transforms import SemidefiniteShiftInvert, ShiftInvert
from ..transforms.modes import Reduced
from ..typing import Array
from .shift_invert import factorised_near


def mode_transform(
    reduced: Reduced, products: Products, k: int, given: Callable[[Array], Any] | None
) -> tuple[Target, ShiftInvert] | None:
    """The target and the inverse at τ, by the caller's function `given` if possible; None where LAPACK should do it.

    That is where eigenvalues far from τ are wanted beside the near ones.
    """
    pencil: Pencil = products.pencil
    shift = reduced.shift / pencil.unit
    factor: Any
    kind = ShiftInvert
    if given is not None and reduced.factor is not None:
        factor = UserInverse(pencil, given, reduced.factor)
    elif not pencil.has_entries:
        factor = Minres(products, shift)
    else:
        shift, factor = factorised_near(products, shift, k)
        singular = pencil.B is not None and not is_definite(pencil.B)
        if singular and reduced.reciprocal:
            raise NotPositiveDefinite("A is not positive definite, which buckling mode needs")
        negative = factor.negative
        if pencil.n <= MAX_DENSE_N and negative is not None and not reduced.enough(pencil.n, negative, k):
            return None
        kind = SemidefiniteShiftInvert if singular else ShiftInvert
    return reduced.target(shift), kind(products, shift, factor, reduced.sign)
