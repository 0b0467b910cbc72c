"""Residuals and error norms of Ritz pairs, recomputed from the given A and B in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..errors import OutOfTime
from ..linalg.cholesky import DenseFactor, singular
from ..linalg.reductions import column_dots, column_forms, column_norms, phases
from ..linalg.rounding import levels_of, relative
from ..methods.setup import Inverse, Setup
from ..preparation.definiteness import has_rank
from ..problem.products import Products
from ..run.iteration import RitzBlock
from ..typing import Array
from .projection import Images, images_of, rayleigh_ritz, swapped_ritz

# Numbers and columns processed at a time, so that their products take less memory than the basis; a share of n columns
# takes little beside dense matrices.
NUMBERS_AT_A_TIME, MIN_COLUMNS_AT_A_TIME, DENSE_SHARE = 2**13, 4, 16
# A Rayleigh quotient may be moved by this fraction of what rounding of A and B may move an eigenvalue by,
# if that takes more than this fraction of the square of a residual above rounding.
ROUNDING_FRACTION, LEAST_REDUCTION = 0.25, 0.75
# Multiple of the rounding of A and B that a condensation in another basis may leave, as a decomposition may.
CONDENSATION_SLACK = 10.0
# A solve that leaves less than this fraction of its right-hand side determines rᴴB⁻¹r.
SOLVED_FRACTION = 2e-5


# The fields of `Pairs` with an entry or a column for each pair, apart from its gaps.
COLUMNS: tuple[str, ...] = (
    *("values", "vectors", "norms", "sizes", "floors", "residuals"),
    *("errors", "deltas", "noise", "offsets", "estimates"),
)


@dataclass
class Pairs:
    """Pairs of the (scaled) pair that was given, B-orthonormal and best first; each value is a Rayleigh quotient.

    `norms`, `sizes` and `floors` are ‖r‖ for r = Au − λBu, |λ|‖Bu‖ and the ‖r‖ that rounding of A and B allows: a row
    in the user's coordinates and, for an equilibrated or condensed pair, one in its own, as the norms of badly scaled
    matrices excuse too much. `residuals` are as `Solution` defines them. Each value is within `deltas` of an
    eigenvalue; `noise` is the part of it that is due to rounding. `gaps` are the distances of the values to the
    eigenvalues that are not among these, as far as they are known; with `sigma`, of 1/(λ − σ), whose residual norms
    relative to it are `errors` and whose Rayleigh quotients differ from it by the fraction `offsets`. Without `sigma`,
    `errors` are residual norms of λ. `estimates` are `deltas` with the rounding of A and B in the user's coordinates
    only: not bounds, but the errors to be expected. `spare` are vectors that would come next. `projected` says that
    they are Ritz pairs, and not of a decomposition. `order` ranks ascending values.
    """

    values: Array
    vectors: Array
    norms: Array
    sizes: Array
    floors: Array
    residuals: Array
    errors: Array
    deltas: Array
    noise: Array
    offsets: Array
    estimates: Array
    gaps: Array | None = None
    spare: Array | None = None
    sigma: float | None = None
    projected: bool = True
    order: Callable[[Array], Array] | None = None

    @property
    def user_noise(self) -> Array:
        """`noise` in the user's coordinates, where an equilibrated pair may have made it larger."""
        return self.estimates - self.deltas + self.noise

    def excess(self, tol: float, *, lenient: bool = False) -> float:
        """The largest ratio of a residual norm to what is allowed: tol |λ|‖Bu‖, or what rounding leaves.

        In the user's coordinates rounding is an excuse only if `lenient`.
        """
        allowed = tol * self.sizes
        allowed[-1] = np.maximum(allowed[-1], self.floors[-1])
        excused = self.norms[-1] <= self.floors[-1]
        if lenient:
            allowed = np.maximum(allowed, self.floors)
        ratios = [list(map(relative, *rows)) for rows in zip(self.norms.tolist(), allowed.tolist(), strict=True)]
        worst = np.max(ratios, axis=0, initial=0.0)
        return float(np.where(excused, np.minimum(worst, 1.0), worst).max(initial=0.0))

    def ordered(self, order: Callable[[Array], Array]) -> Pairs:
        """The same pairs in the order in which `order` ranks ascending values; rounding may have exchanged some."""
        ascending = np.argsort(self.values, kind="stable")
        chosen = ascending[order(self.values[ascending])]
        if (self.values[chosen] == self.values).all():
            return self
        return self.taken(chosen)

    def taken(self, chosen: Array) -> Pairs:
        """The pairs with these indices."""
        columns = {name: getattr(self, name)[..., chosen] for name in COLUMNS}
        return replace(self, **columns, gaps=None if self.gaps is None else self.gaps[chosen])

    def met(self, tol: float) -> bool:
        """Are all residuals within the tolerance, in all coordinates and without regard to rounding?"""
        return self.missed(tol) == 0

    def missed(self, tol: float) -> int:
        """How many residuals are not."""
        return int((~(self.norms <= tol * self.sizes)).sum())


def measured(setup: Setup, block: RitzBlock) -> Pairs:
    """The pairs of a Ritz block with residuals recomputed from the given pair."""
    products, X = setup.given_pair, block.vectors
    order = _order(setup) if setup.products.pencil.inverse is not None else block.order
    infinite = setup.semidefinite and _holds_infinite(products, X)
    projects = not block.projected or setup.original is not None
    refined = ritz_block(setup, X, order) if projects else None
    pairs = measured_columns(products, X if refined is None else refined, setup.inverse)
    if infinite or (projects and refined is None):
        # dependent vectors are no pairs, however small their residuals
        pairs.norms = np.full_like(pairs.norms, math.inf)
    pairs.gaps, pairs.projected, pairs.order = block.gaps, projects, order
    return pairs.ordered(order)


def _holds_infinite(products: Products, X: Array) -> bool:
    """Are there columns in the null space of a singular B? It is an error if there cannot be enough others."""
    BX = products.monitoring.products_B(X)
    level = products.n * products.eps * products.scale.B_norm
    infinite = int((column_dots(X, BX) <= level * column_dots(X, X)).sum())
    if infinite and not has_rank(products.B, X.shape[1]):
        raise ValueError(
            f"k is {X.shape[1]}, but B is singular and only {X.shape[1] - infinite} of these eigenvalues are finite; "
            f"ask for fewer"
        )
    return infinite > 0


def _order(setup: Setup) -> Callable[[Array], Array]:
    """The order of ascending values of (A, B) for the pairs of (B, ±(A − σB)): the nearest to σ first."""
    inverse = setup.products.pencil.inverse
    assert inverse is not None
    sign = inverse[1]
    return lambda values: np.arange(values.size)[::sign]


def ritz_block(setup: Setup, X: Array, order: Callable[[Array], Array]) -> Images | None:
    """Ritz vectors of the given pair on the span of X; None where they are dependent or B is not definite on it."""
    try:
        if setup.products.pencil.inverse is None:
            return rayleigh_ritz(setup.given_pair, X, order)
        return swapped_ritz(setup.given_pair, X, *setup.products.pencil.inverse)
    except np.linalg.LinAlgError:
        return None


def measured_columns(products: Products, columns: Array | Images, inverse: Inverse | None) -> Pairs:
    """Rayleigh quotients, residual norms and error norms of these vectors, whose products may be known."""
    known = columns if isinstance(columns, Images) and columns.X.dtype == products.dtype else None
    given = columns.X if isinstance(columns, Images) else columns
    if products.dtype.char == "F":
        # a change of phase after the rounding would be rounded again
        given = given * phases(products.pencil.vectors_of(given))
    # the result may be rounded to single precision, so the rounded vectors are verified
    vectors = given.astype(products.dtype, copy=False).astype(np.result_type(products.dtype, np.float64), copy=False)
    count, pencil = vectors.shape[1], products.pencil
    table = np.zeros((count, 9))
    share = products.n // DENSE_SHARE if pencil.dense else 0
    step = max(NUMBERS_AT_A_TIME // products.n, MIN_COLUMNS_AT_A_TIME, share)
    for i in range(0, count, step):
        some = slice(i, i + step)
        block = Images(*(M[:, some] for M in known)) if known else images_of(products, vectors[:, some])
        table[some] = _figures(products, block, inverse)
    figures = table.T.tolist()
    values, errors = figures[:2]
    # the user's coordinates and those of the pencil
    scales = (pencil.norms, (products.scale.A_norm, products.scale.B_norm))[: pencil.coordinates]
    sigma = None if inverse is None else inverse.sigma
    levels = [
        levels_of(values, errors, figures[3 + 3 * i : 6 + 3 * i], norms, products.eps, sigma, products.scale.units)
        for i, norms in enumerate(scales)
    ]
    judged, own = levels, levels[-1]
    if pencil.condensed is not None:
        # the condensation has rounded A and B, and its result is rounded itself
        own = levels[0].wider(levels[1])
        # rounding in another basis is no excuse for residuals of (A, B)
        judged = [levels[0].excused(CONDENSATION_SLACK)] if pencil.B is None else levels
    return Pairs(
        table[:, 0],
        vectors,
        table.T[3::3][: len(judged)],
        np.array([level.sizes for level in judged]),
        np.array([level.floors for level in judged]),
        np.array(levels[0].residuals),
        table[:, 1],
        np.array(own.deltas),
        np.array(own.noise),
        table[:, 2],
        np.array(own.expected(levels[0])),
        sigma=sigma,
    )


def _figures(products: Products, block: Images, inverse: Inverse | None) -> Array:
    """λ, its error norm and offset, and ‖r‖, ‖x‖ and ‖Bx‖ in the coordinates of the user and of the pencil.

    The error norm is √(rᴴB⁻¹r), or for an inverse ‖w‖_B with w = (A − σB)⁻¹r: the residual norm of 1/(λ − σ) relative
    to it; the offset is then |xᴴBw|.
    """
    pencil, monitoring = products.pencil, products.monitoring
    X, R, BX = block
    squares = column_forms(X, BX)
    if ((squares <= 0) & (column_dots(X, X) > 0)).any():
        raise singular(f"xᴴBx = {squares.min():.3g} for an eigenvector x")
    squares = np.maximum(squares, np.finfo(float).tiny)
    values = column_forms(X, R) / squares
    if products.dtype.char in "fF":
        # residuals are those of the values that are returned
        values = values.astype(np.float32).astype(np.float64)
    R = R - BX * values
    if products.dtype.char in "dD":
        shifts = _shifts(products, values, squares, X, R, BX)
        values, R = values + shifts, R - BX * shifts
    figures = np.zeros((values.size, 9))
    figures[:, 0] = values
    for column, M in enumerate(pencil.user_figures(R, X, BX, values), start=3):
        figures[:, column] = column_norms(M)
    if pencil.coordinates == 2:
        for column, M in enumerate((R, X, BX), start=6):
            figures[:, column] = column_norms(M)
    R = R.astype(products.dtype, copy=False)
    if inverse is not None:
        figures[:, 1:3] = _inverse_norms(products, R, BX, inverse) / np.sqrt(squares)[:, None]
    elif isinstance(products.solver, DenseFactor):
        monitoring.tally.B_solves += values.size
        figures[:, 1] = products.solver.dual_norms(R) / np.sqrt(squares)
    else:
        figures[:, 1] = _dual_norms(monitoring, R) / np.sqrt(squares)
    return figures


def _shifts(products: Products, values: Array, squares: Array, X: Array, R: Array, BX: Array) -> Array:
    """The distances of Rayleigh quotients to the values with the least residuals, where rounding explains them.

    For an ill-conditioned B, x is long, and xᴴ multiplies the rounding errors of Ax: the quotient is off by more than
    the residual allows.
    """
    scale, images = products.scale, np.maximum(column_dots(BX, BX), np.finfo(float).tiny)
    shifts, lengths, errors = column_dots(BX, R) / images, column_dots(X, X), column_dots(R, R)
    noise = scale.perturbation(values, np.sqrt(lengths / squares))
    floors = scale.perturbation(values, np.sqrt(np.sqrt(lengths)))
    explained = (np.abs(shifts) <= ROUNDING_FRACTION * noise) & (errors > floors**2)
    return np.where(explained & (shifts**2 * images > LEAST_REDUCTION * errors), shifts, 0.0)


def _inverse_norms(products: Products, R: Array, BX: Array, inverse: Inverse) -> Array:
    """‖w‖_B and |xᴴBw| for w = (A − σB)⁻¹r."""
    monitoring = products.monitoring
    W = monitoring.solves_K(inverse, np.asfortranarray(R))
    BW = monitoring.B_in_double(W.astype(BX.dtype))
    return np.column_stack([np.sqrt(np.maximum(column_dots(W, BW), 0.0)), np.abs(column_dots(BX, W))])


def _dual_norms(products: Products, R: Array) -> Array:
    """√(rᴴB⁻¹r) for columns; infinite where conjugate gradients do not converge, as they approach it from below."""
    if products.B is not None and products.solver is None:
        return np.full(R.shape[1], math.inf)
    try:
        products.budget.check()
        W, BW = products.solves_B(R)
    except OutOfTime:
        return np.full(R.shape[1], math.inf)
    squares = column_dots(R, W).astype(np.float64)
    left, sizes = column_norms(R - BW), column_norms(R)
    solved = left <= SOLVED_FRACTION * sizes + 100 * products.eps * column_norms(BW)
    return np.where(solved, np.sqrt(np.maximum(squares, 0.0)), math.inf)
