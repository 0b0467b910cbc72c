"""One search without solves: a step minimises f over the Ritz vectors, preconditioned gradients and what moved last."""

from __future__ import annotations

import math

import numpy as np

from ...linalg.reductions import column_norms
from ...objective.state import State, excusable, magnitude, rounding_level
from ...problem.pencil import Pencil, PSolver
from ...problem.start import random_vector
from ...problem.target import Wanted
from ...transforms.standard import Paired
from ...typing import Array
from .span import Span

# Pairs beyond the wanted ones that take part: the last wanted converges as fast as it is far from those left out.
GUARDS = 1

# A pair whose residual is this part of its goal needs no further gradients.
SETTLED = 0.5

# A residual that is this part of what rounding may leave is noise.
NOISE = 0.01

# The products are computed afresh after so many steps, as each adds a rounding error to them.
REFRESH = 40

# So many steps without a better residual mean that there will be none: at the level of rounding, and elsewhere.
PATIENCE, FAR = 20, 1000

# A start is improved on a smaller pair by so many steps.
COARSE_STEPS = 5

# A probe takes no fewer and no more steps than these.
LOOKS, LONGEST = 5, 500


def usual_block(k: int) -> int:
    """How many vectors take part when k are wanted."""
    return k + max(GUARDS, math.ceil(k / 5))


class LocalSearch:
    """The k largest of (A, B) from a block of Ritz vectors, its gradients preconditioned by `P` (None: not at all)."""

    wanted = Wanted.LARGEST

    def __init__(
        self,
        pencil: Pencil,
        k: int,
        P: PSolver | None,
        rng: np.random.Generator,
        *,
        block: int | None = None,
        itself: bool = False,
        fixed: tuple[Array, Array] | None = None,
    ) -> None:
        self.pencil, self.k, self.P, self.rng, self.itself = pencil, k, P, rng, itself
        self.domain = Paired(pencil)
        room = (pencil.n - (0 if fixed is None else fixed[0].shape[1])) // 3
        self.block = max(k, min(usual_block(k) if block is None else block, room))
        self.span = Span(pencil, self.block, fixed)
        self.index = self.steps = 0
        self.goal = 0.0
        self.values = self.errors = self.residuals = self.levels = np.zeros(0)
        self.gradients = np.zeros((pencil.n, 0), pencil.dtype)
        self.lowest, self.radius = math.inf, 0.0
        # the least residual of the pair in view so far, and at which step it was
        self.best = (math.inf, 0)
        self.exhausted = False
        # only the smallest are smooth; and a search of the complement of others starts from nothing but chance
        self.smooth = itself and fixed is None

    def aim(self, goal: float | None, angle: float | None) -> None:
        """Let this residual be what is to be reached; what residual a sine takes is not known before."""
        self.goal = goal or 0.0

    def neglect(self, tol: float) -> None:
        """Every part of a start is pursued here."""

    def known(self, lowest: float) -> None:
        """A least Rayleigh quotient that is known from before, to which residuals stay relative."""
        self.lowest = min(self.lowest, lowest)

    def start(self, X: Array) -> None:
        """Begin with the columns of X and as many random ones as there is room for."""
        # who goes on may bring more than there is room for
        X = X[:, : 2 * self.block]
        more = self.block - X.shape[1]
        self.best, self.exhausted, self.steps = (math.inf, 0), False, 0
        if more > 0:
            X = np.hstack([X, self._more(more)])
        self.values = self.span.renew(X)
        self._measure()

    def _more(self, count: int) -> Array:
        """Columns to start from: from a smaller pair that the preconditioner may know of, or else at random."""
        smaller = self.P.coarser(self.pencil) if self.P is not None and self.smooth else None
        if smaller is not None and smaller[0].n > 4 * count:
            pencil, P, back = smaller
            search = LocalSearch(pencil, count, P, self.rng, block=count, itself=self.itself)
            search.start(random_vector(pencil, self.rng)[:, None])
            while search.steps < COARSE_STEPS and not search.exhausted:
                search.advance()
            return np.asarray(back @ search.vectors(count))
        X = np.column_stack([random_vector(self.pencil, self.rng) for _ in range(count)])
        # what the preconditioner makes large is what is wanted
        return X if self.P is None else self.pencil.solves_P(self.P, X)

    def advance(self) -> None:
        """One step: the gradients of the pairs that are not settled, preconditioned, and the minimum over all."""
        span = self.span
        self.steps += 1
        if self.steps % REFRESH == 0:
            span.refresh()
            self._measure()
        moving = np.zeros(self.block, bool)
        # what is left of a gradient well below the level of rounding leads nowhere
        noise = [NOISE * excusable(self.pencil, level) for level in self.levels.tolist()]
        moving[: self.residuals.size] = self.residuals > np.maximum(SETTLED * self.goal, noise)
        if not moving.any():
            self.exhausted = True
            return
        R = self.gradients[:, moving[: self.values.size]]
        W = R if self.P is None else self.pencil.solves_P(self.P, R)
        count = span.append(W)
        if count == 0:
            self.exhausted = True
            return
        self.values = span.minimise(count, moving)
        self._measure()
        self._watch()

    def _measure(self) -> None:
        """Residuals as the user has them, and errors: ‖Ax − λBx‖ in the norm of B⁻¹, as the length of x lets guess."""
        pencil, m = self.pencil, self.values.size
        self.lowest = min(self.lowest, float(self.span.H.diagonal()[: self.span.known].real.min()))
        self.radius = max(self.radius, float(np.abs(self.values).max()), abs(self.lowest))
        shift = 0.0 if self.itself else max(0.0, -self.lowest)
        pencil.transform(shift=shift, found=pencil.found, B_found=pencil.B_found, radius=self.radius + shift)
        # of f, up to a factor
        R = self.gradients = self.span.AS[:, :m] - self.span.BS[:, :m] * self.values.astype(pencil.dtype)
        norms, lengths, scales = (
            column_norms(M).astype(np.float64) for M in (R, self.span.S[:, :m], self.span.BS[:, :m])
        )
        sizes = np.array([magnitude(pencil, value + shift) for value in self.values.tolist()])
        self.residuals = norms / np.maximum(sizes * scales, 1e-300)
        self.errors = norms * lengths
        self.levels = np.array(
            [
                rounding_level(pencil, *triple)
                for triple in zip(self.values + shift, lengths, sizes * scales, strict=True)
            ]
        )

    def _watch(self) -> None:
        """Has it come to where rounding ends it, or to a standstill?"""
        worst = int(np.argmax(self.residuals[: self.k]))
        residual = float(self.residuals[worst])
        if residual < 0.9 * self.best[0]:
            self.best = (residual, self.steps)
        idle = self.steps - self.best[1]
        at_rounding = residual <= excusable(self.pencil, float(self.levels[worst]))
        self.exhausted = idle >= (PATIENCE if at_rounding else FAR)

    def pair(self, index: int) -> LocalPair:
        """The Ritz pair in place `index`."""
        return LocalPair(self, index)

    def vectors(self, count: int) -> Array:
        """The `count` leading Ritz vectors."""
        return self.span.S[:, :count].copy()

    def spare(self, *, converged: bool) -> Array | None:
        """The Ritz vectors that come after the k wanted ones."""
        return self.span.S[:, self.k : self.values.size].copy() if self.values.size > self.k else None

    def renewal(self) -> Array:
        """The vectors to begin anew with."""
        return self.vectors(self.values.size)

    def keep_given(self) -> None:
        """States have vectors of their own here."""

    def salvage(self) -> bool:
        """After an interrupt: is there anything to return?"""
        return self.values.size > 0

    def gaps(self, count: int) -> Array:
        """How far the first `count` values are from where others may be, if none that is larger was passed over."""
        found = self.values[:count]
        return np.asarray(found - found.min() - self.errors[:count].max(initial=0.0))

    def probe(self, slack: float) -> bool | None:
        """Look at the complement of the k pairs from random starts: is there anything larger in it?

        Decided once the best Ritz value there, with its error, is not; or is, by more than `slack`.
        """
        k = self.k
        if self.pencil.n <= k + 3:
            return None
        edge = float(self.values[:k].min())
        fixed = (self.vectors(k), self.span.BS[:, :k].copy())
        other = LocalSearch(self.pencil, 1, self.P, self.rng, itself=self.itself, fixed=fixed)
        other.start(random_vector(self.pencil, self.rng)[:, None])
        for step in range(LONGEST):
            top, error = float(other.values[0]), float(other.errors[0])
            if top > edge + slack:
                self.start(np.hstack([fixed[0], other.vectors(1), self.vectors(self.values.size)[:, k:-1]]))
                return True
            if other.exhausted or (step >= LOOKS and (top + error < edge or error <= slack)):
                return False
            other.advance()
        return None


class LocalPair(State):
    """A Ritz pair of a local search."""

    __slots__ = ("_final", "_level")

    def __init__(self, search: LocalSearch, index: int) -> None:
        pencil, span = search.pencil, search.span
        x, Ax, Bx = (np.ascontiguousarray(M[:, index]) for M in (span.S, span.AS, span.BS))
        super().__init__(pencil, x, Ax + pencil.shift * Bx if pencil.shift else Ax, Bx, search)
        self._residual = float(search.residuals[index])
        self._final, self._level = search.exhausted, float(search.levels[index])

    @property
    def rounding(self) -> float:
        """The residual that rounding alone may leave."""
        return self._level

    @property
    def indefinite(self) -> bool:
        """Never in the way: Rayleigh–Ritz needs no positive semidefinite A."""
        return False

    @property
    def final(self) -> bool:
        """Will more steps bring nothing?"""
        return self._final
