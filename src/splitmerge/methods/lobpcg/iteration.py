"""LOBPCG (Knyazev 2001): Rayleigh–Ritz on span{X, preconditioned residuals W, conjugate directions P}."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
from scipy.linalg import eigh

from ...linalg.reductions import column_norms
from ...linalg.rounding import relative
from ...objective.state import State
from ...preconditioners import Prepared
from ...problem.pencil import Pencil
from ...problem.products import Products
from ...problem.start import random_vector
from ...problem.target import Target
from ...solvers.conjugate_gradient import roughly_solved
from ...transforms import BInner
from ...typing import Array
from ..probe import HIDDEN_RESIDUALS
from ..setup import Setup
from ..subspace import Slack, SubspaceIteration
from .span import Span

# Guard vectors beyond the wanted ones: the last wanted pair converges by its gap to the pairs left out.
MIN_GUARDS = 1

# Soft locking: a pair whose residual is below this fraction of its goal contributes no further residual.
LOCKED_FRACTION = 0.5

# A residual below this fraction of its floor is noise.
NOISE_FRACTION = 0.01

# Steps between products computed afresh, as each step adds a rounding error to them.
REFRESH_STEPS = 40

# Steps without a smaller residual after which the iteration ends: at the level of rounding, and above it.
STAGNATION_STEPS_AT_ROUNDING, STAGNATION_STEPS = 20, 1000

# Steps on a coarser pair that improve a random start.
COARSE_STEPS = 5

# Least and largest number of steps of a probe.
MIN_PROBE_STEPS, MAX_PROBE_STEPS = 5, 500


def usual_block(k: int) -> int:
    """The block size for k pairs."""
    return k + max(MIN_GUARDS, math.ceil(k / 5))


class Lobpcg(SubspaceIteration):
    """The k largest pairs of (A, B) from a block of Ritz vectors, its residuals preconditioned by P if there is one."""

    target = Target.LARGEST

    def __init__(self, setup: Setup, block: int | None = None, fixed: tuple[Array, Array] | None = None) -> None:
        super().__init__()
        self.products, self.k, self.P, self.rng = setup.products, setup.k, setup.P, setup.rng
        self.transform = BInner(self.products)
        self.scale = self.products.scale
        room = (self.products.n - (0 if fixed is None else fixed[0].shape[1])) // 3
        self.block_size = max(self.k, min(usual_block(self.k) if block is None else block, room))
        self.span = Span(self.products, self.block_size, fixed)
        self.steps = 0
        self.max_steps = setup.max_products / self.block_size
        self.goal = 0.0
        self.values = self.errors = self.residuals = self.floors = self.levels = np.zeros(0)
        self.gradients = np.zeros((self.products.rows, 0), self.products.dtype)
        self.lowest, self.radius = math.inf if setup.lowest is None else setup.lowest, 0.0
        # the least residual so far, and at which step it was
        self.best = (math.inf, 0)
        self.exhausted = False
        # is the start a random vector?
        self.blind = not setup.given
        # the smallest eigenvectors are smooth, those of a complement need not be
        self.smooth = setup.smooth and fixed is None

    def aim(self, goal: float | None, angle: float | None) -> None:
        """Let this residual be the goal; the residual that belongs to a sine is not known beforehand."""
        self.goal = goal or 0.0

    def neglect(self, tol: float) -> None:
        """Every component of a start is pursued."""

    def launch(self, X: Array) -> None:
        """Begin with the columns of X and as many random ones as there is room for."""
        # a resumed solve may bring more than there is room for
        X = X[:, : 2 * self.block_size]
        more = self.block_size - X.shape[1]
        self.best, self.exhausted, self.steps = (math.inf, 0), False, 0
        if more > 0:
            X = np.hstack([X, self._more(more)])
        self.values = self.span.renew(X)
        self._measure()

    def _more(self, count: int) -> Array:
        """Starting columns: from a coarser pair if the preconditioner has one, otherwise random."""
        coarser = self.P.coarser(self.products.pencil) if self.P is not None and self.smooth else None
        if coarser is not None and coarser[0].n > 4 * count:
            return self._from_coarser(*coarser, count)
        X = np.column_stack([random_vector(self.products, self.rng) for _ in range(count)])
        if self.P is not None:
            # it amplifies the wanted components
            return self.products.solves_P(self.P, X)
        if self.products.B is not None:
            # random vectors hardly have components where B is small, and residuals do not show them
            X[:, -1:] = roughly_solved(self.products, X[:, -1:])[0]
        return X

    def _from_coarser(self, pencil: Pencil, P: Prepared, prolongation: Any, count: int) -> Array:
        setup = Setup(Products(pencil), self.target, count, self.rng, P=P, smooth=True)
        search = Lobpcg(setup, count)
        search.launch(random_vector(pencil, self.rng)[:, None])
        for _ in islice(search.unrecorded(), COARSE_STEPS):
            if search.exhausted:
                break
        return np.asarray(prolongation @ search.vectors(count))

    def advance(self) -> None:
        """One step: precondition the residuals of the pairs that are not locked, then Rayleigh–Ritz."""
        span = self.span
        self.steps += 1
        if self.steps % REFRESH_STEPS == 0:
            span.refresh()
            self._measure()
        moving = np.zeros(self.block_size, bool)
        least = np.maximum(LOCKED_FRACTION * self.goal, NOISE_FRACTION * self.floors)
        moving[: self.residuals.size] = self.residuals > least
        if not moving.any():
            self.exhausted = True
            return
        R = self.gradients[:, moving[: self.values.size]]
        W = R if self.P is None else self.products.solves_P(self.P, R)
        count = span.append(W)
        if count == 0:
            self.exhausted = True
            return
        self.values = span.minimise(count, moving)
        self._measure()
        self._watch()

    def _measure(self) -> None:
        """Relative residuals, their floors, and errors: ‖Ax − λBx‖ ‖x‖ estimates the residual norm in B⁻¹."""
        products, m = self.products, self.values.size
        self.lowest = min(self.lowest, float(self.span.H.diagonal()[: self.span.known].real.min()))
        self.radius = max(self.radius, float(np.abs(self.values).max()), abs(self.lowest))
        scale = self.scale = self.scale.moved(0.0, self.radius)
        # the gradient of f, up to a factor
        R = self.gradients = self.span.AS[:, :m] - self.span.BS[:, :m] * self.values.astype(products.dtype)
        norms, lengths, scales = (
            column_norms(M).astype(np.float64) for M in (R, self.span.S[:, :m], self.span.BS[:, :m])
        )
        sizes = scales * [scale.magnitude(value) for value in self.values.tolist()]
        self.residuals = np.array(list(map(relative, norms.tolist(), sizes.tolist())))
        self.errors = norms * lengths
        self.floors = np.array(list(map(scale.floor, self.values.tolist(), lengths.tolist(), sizes.tolist())))
        self.levels = np.array(list(map(scale.stagnation, lengths.tolist(), sizes.tolist())))

    def _watch(self) -> None:
        """Detect stagnation."""
        worst = int(np.argmax(self.residuals[: self.k]))
        residual = float(self.residuals[worst])
        if residual < 0.9 * self.best[0]:
            self.best = (residual, self.steps)
        idle = self.steps - self.best[1]
        at_rounding = residual <= float(self.levels[worst])
        given_up = self.steps >= self.max_steps
        self.exhausted = given_up or idle >= (STAGNATION_STEPS_AT_ROUNDING if at_rounding else STAGNATION_STEPS)

    def ritz_pair(self, index: int) -> LobpcgPair:
        """The Ritz pair in place `index`."""
        return LobpcgPair(self, index)

    def vectors(self, count: int) -> Array:
        """The `count` leading Ritz vectors."""
        return self.span.S[:, :count].copy()

    def spare(self, *, converged: bool) -> Array | None:
        """The Ritz vectors beyond the k wanted ones."""
        return self.span.S[:, self.k : self.values.size].copy() if self.values.size > self.k else None

    def checkpoint(self) -> Array | None:
        """The block with its guard vectors."""
        return self.vectors(self.values.size) if self.values.size else None

    def renewal(self, X: Array) -> Array:
        """The whole block."""
        return self.vectors(self.values.size)

    def salvage(self) -> bool:
        """After an interrupt: are there Ritz pairs?"""
        return self.values.size > 0

    def gaps(self, count: int) -> Array:
        """How far the first `count` values are from where others may be, if no larger one was missed."""
        found = self.values[:count]
        return np.asarray(found - found.min() - self.errors[:count].max(initial=0.0))

    def look(self, slack: Slack) -> bool | None:
        """Search the complement of the k pairs from random vectors: is there a value larger by over `slack`?

        No, once the best Ritz value of the complement is known to within `slack`, or its sum with its error is smaller.
        That sum is not enough beside a given start: close to it, the vectors that converge last may hide a larger one.
        """
        k = self.k
        if self.products.n <= k + 3:
            return self._look_everywhere(slack)
        edge = float(self.values[:k].min())
        fixed = (self.vectors(k), self.span.BS[:, :k].copy())
        with self._monitored():
            setup = Setup(self.products, self.target, 1, self.rng, P=self.P)
            other = Lobpcg(setup, fixed=fixed)
            other.launch(random_vector(self.products, self.rng)[:, None])
            steps = other.unrecorded()
            for step in range(MAX_PROBE_STEPS):
                top, error = float(other.values[0]), float(other.errors[0])
                if top > edge + slack.high:
                    self.launch(np.hstack([fixed[0], other.vectors(1), self.vectors(self.values.size)[:, k:-1]]))
                    return True
                if self.blind:
                    clear = top + error < edge
                else:
                    clear = error <= self.products.eps**0.5 * abs(top) and top + HIDDEN_RESIDUALS * error < edge
                decided = error <= slack.high or clear
                if other.exhausted or (step >= MIN_PROBE_STEPS and decided):
                    return False
                next(steps)
        return None

    def _look_everywhere(self, slack: Slack) -> bool:
        """`look` where the complement has no room for a block: Rayleigh–Ritz on the whole space."""
        n, k = self.products.n, self.k
        everything = np.eye(n, dtype=np.result_type(self.products.dtype, np.float64))
        AX, BX = self.products.monitoring.in_double(everything)
        values, X = eigh((AX + AX.conj().T) / 2, (BX + BX.conj().T) / 2)
        if not (values[::-1][:k] > self.values[:k] + slack.high).any():
            return False
        with self._monitored():
            self.launch(X[:, ::-1][:, : self.block_size].astype(self.products.dtype))
        return True

    @contextmanager
    def _monitored(self) -> Iterator[None]:
        """Count the products of the block as monitoring."""
        own = self.products
        self.products = self.span.products = own.monitoring
        try:
            yield
        finally:
            self.products = self.span.products = own


class LobpcgPair(State):
    """A Ritz pair of LOBPCG."""

    __slots__ = ("_final", "_floor", "_level")

    def __init__(self, search: Lobpcg, index: int) -> None:
        span = search.span
        x, Ax, Bx = (np.ascontiguousarray(M[:, index]) for M in (span.S, span.AS, span.BS))
        super().__init__(search.products, x, Ax, Bx, search)
        self.scale = search.scale
        self._residual = float(search.residuals[index])
        self._final = search.exhausted
        self._floor, self._level = float(search.floors[index]), float(search.levels[index])

    @property
    def floor(self) -> float:
        """The relative residual below which rounding decides."""
        return self._floor

    @property
    def at_rounding(self) -> bool:
        """Is the residual at a level where the rounding of the iteration may keep it?"""
        return self._residual <= self._level

    @property
    def indefinite(self) -> bool:
        """Rayleigh–Ritz needs no positive semidefinite A."""
        return False

    @property
    def final(self) -> bool:
        """Is no further progress possible?"""
        return self._final
