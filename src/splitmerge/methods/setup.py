"""`Setup`: what an iteration starts from, with every factorisation made and every measurement taken."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..preconditioners import Prepared
from ..problem.products import Products
from ..problem.target import Target
from ..sparse_direct import Prediction
from ..transforms import ShiftInvert, Transform
from .survey import Survey


class Setup(NamedTuple):
    """The factors of one candidate of the plan, and the counted products that use them.

    `method` is what runs on it (None for LAPACK). `transform` is the spectral transformation (None for LAPACK and for
    deflation), and the `k` pairs sought are those of its operator that `target` ranks first. `given` says that the
    start is not a random vector and `width` how many columns it has. `lowest` is a least Rayleigh quotient that is
    known beforehand.
    """

    products: Products
    target: Target
    k: int
    rng: np.random.Generator
    method: Any = None
    transform: Transform | None = None
    given: bool = False
    width: int = 1
    lowest: float | None = None
    # LOBPCG: the preconditioner, and whether residuals are relative to |λ| without a shift
    P: Prepared | None = None
    unshifted: bool = False
    # deflation: the survey of the spectrum and the memory of the method's states
    survey: Survey | None = None
    memory: Any = None
    # LAPACK: all pairs with values in this interval, whatever k is
    window: tuple[float, float] | None = None
    # the predicted cost of the factorisation that was made, if it was asked for
    prediction: Prediction | None = None
    # mixed precision: the pair in single precision, whose factor of B also serves the error bounds in double
    single: Products | None = None

    @property
    def shift_invert(self) -> ShiftInvert | None:
        """The transformation if it is a shift-invert one."""
        return self.transform if isinstance(self.transform, ShiftInvert) else None
