"""`Setup`: what an iteration starts from, with every factorisation made and every measurement taken."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..preconditioners import Prepared
from ..problem.products import Products
from ..problem.target import Target
from ..sparse_direct import Prediction, recount_seconds
from ..sparse_direct.backends.qdldl import QDLDL
from ..sparse_direct.cholesky import SparseFactor
from ..sparse_direct.costs import recount_is_cheap
from ..sparse_direct.ldl import SparseShifted
from ..transforms import ShiftInvert, Transform
from ..typing import Array
from .survey import Survey

# Up to this n two factorisations of any kind cost little.
COUNTED_N = 1000
# Up to this n they cost next to nothing, and sparse ones in a known ordering up to that n.
COUNTED_TWICE_N, COUNTED_TWICE_SPARSE_N = 200, 1500
# Up to this n a sparse factorisation costs less than the solves of a probe.
COUNTED_SPARSE_N = 15_000
# A probe is expected to take this many steps, each a solve and these seconds per unknown.
PROBE_STEPS, PROBE_SECONDS_PER_UNKNOWN = 40, 1.2e-7
# From this n on a product with a sparse matrix costs less than to orthogonalise its result.
CHEAP_PRODUCTS_N = 2000


class Inverse(NamedTuple):
    """±(A − σB)⁻¹ by a factorisation, for vectors and blocks; σ is in the units of the scaled pair."""

    sigma: float
    solve: Callable[[Array], Array]
    takes_blocks: bool = True


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
    # is the start what an interrupted run had, and did that run begin with random vectors?
    continued: bool = False
    trusted: bool = False
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
    # refinement of a start: the factor that corrects it, and that shows that no other eigenvalue is wanted more
    deflated: Any = None
    # is B singular, so that some eigenvalues are infinite?
    semidefinite: bool = False
    # was a count of eigenvalues asked for?
    certify: bool = False
    # does no other candidate follow where this one fails?
    last: bool = True
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
        if transform is not None and hasattr(transform.factor, "negative"):
            return Inverse(transform.sigma, transform.factor.solve, transform.factor.takes_blocks)
        if self.products.pencil.inverse is None:
            return None
        solver = self.products.solver
        return Inverse(
            self.products.pencil.inverse[0],
            lambda b: solver.solve(b, None, None)[0] if b.ndim == 1 else solver.solve_block(b)[0],
        )

    @property
    def counts(self) -> bool:
        """Is completeness to be shown by a count of eigenvalues, as one is asked for or cheaper than a probe?"""
        return self.certify or self._count_is_cheap()

    def _count_is_cheap(self) -> bool:
        products, solver, prediction = self.products, self.products.solver, self.prediction
        if not products.pencil.has_entries:
            return False
        if self.method is not None and self.method.preconditioned:
            return products.n <= COUNTED_N
        if self.k == 1:
            return False
        if self.shift_invert is not None:
            return self._two_counts_are_cheap(self.shift_invert)
        if products.pencil.dense:
            return products.n <= COUNTED_N
        if not isinstance(solver, SparseFactor) or products.A.kind != "sparse" or not solver.serves(products.A.matrix):
            return False
        if prediction is None:
            return products.n <= COUNTED_SPARSE_N and recount_is_cheap(solver.factors, products.n, PROBE_STEPS)
        probe = PROBE_STEPS * (prediction.solve_seconds + PROBE_SECONDS_PER_UNKNOWN * products.n)
        return recount_seconds(products.n, prediction.flops, solver.factors.name) < probe

    def _two_counts_are_cheap(self, transform: ShiftInvert) -> bool:
        """Are counts on both sides of σ cheaper than a second random start?"""
        n, factor = self.products.n, transform.factor
        if n <= COUNTED_TWICE_N:
            return True
        if n > COUNTED_TWICE_SPARSE_N or not (isinstance(factor, SparseShifted) and isinstance(factor.lu, QDLDL)):
            return False
        return recount_is_cheap(factor.lu, n, PROBE_STEPS / 2)

    @property
    def companions(self) -> int:
        """How many random vectors join a random start: with two, a Krylov space shows two copies of an eigenvalue."""
        searched = self.transform is not None and not (self.method is not None and self.method.preconditioned)
        # steps with a single vector are the fastest, beside the product
        return int(self.k > 1 and searched and not self.cheap and not self.given and not self.counts)

    @property
    def cheap(self) -> bool:
        """Do products cost less than to orthogonalise: with a large sparse A and without any solve?"""
        transform = self.transform
        plain = transform is not None and transform.single and transform.direct
        return plain and self.products.A.kind == "sparse" and self.products.n >= CHEAP_PRODUCTS_N

    @property
    def shift_invert(self) -> ShiftInvert | None:
        """The transformation if it is a shift-invert one."""
        return self.transform if isinstance(self.transform, ShiftInvert) else None
