"""`Setup`: what an iteration starts from, with every factorisation made and every measurement taken."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..linalg.ldl import DenseShifted
from ..preconditioners import Prepared
from ..problem.products import Products
from ..problem.target import Target
from ..sparse_direct import Prediction
from ..sparse_direct.ldl import SparseShifted
from ..transforms import ShiftInvert, Transform
from ..typing import Array
from .survey import Survey


class Inverse(NamedTuple):
    """±(A − σB)⁻¹ by a factorisation; σ is in the units of the scaled pair."""

    sigma: float
    solve: Callable[[Array], Array]


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
    # products after which a search is given up, and whether it is as soon as it is expected to take more
    max_products: float = math.inf
    provisional: bool = False
    # LOBPCG: the preconditioner, and whether the wanted vectors are expected to be smooth
    P: Prepared | None = None
    smooth: bool = False
    # deflation: the survey of the spectrum and the memory of the method's states
    survey: Survey | None = None
    memory: Any = None
    # LAPACK: all pairs with values in this interval, whatever k is
    window: tuple[float, float] | None = None
    # the predicted cost of the factorisation that was made, if it was asked for
    prediction: Prediction | None = None
    # mixed precision: the pair in single precision, whose factor of B also serves the error bounds in double
    single: Products | None = None

    # is B singular, so that some eigenvalues are infinite?
    semidefinite: bool = False
    # the pair that was given, when `products` are those of another one
    original: Products | None = None

    @property
    def given_pair(self) -> Products:
        """Products with the pair that was given, up to its scaling: verification uses these only."""
        return self.products if self.original is None else self.original

    @property
    def inverse(self) -> Inverse | None:
        """The inverse of A − σB, if that was factorised."""
        transform = self.shift_invert
        if transform is not None and isinstance(transform.factor, (DenseShifted, SparseShifted)):
            return Inverse(transform.sigma, transform.factor.solve)
        if self.products.pencil.inverse is None:
            return None
        solver = self.products.solver
        return Inverse(self.products.pencil.inverse[0], lambda b: solver.solve(b, None, None)[0])

    @property
    def shift_invert(self) -> ShiftInvert | None:
        """The transformation if it is a shift-invert one."""
        return self.transform if isinstance(self.transform, ShiftInvert) else None
