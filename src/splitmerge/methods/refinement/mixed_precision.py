"""Mixed precision: search in single precision, then Rayleigh–Ritz corrections in double.

Products and factorisations take half the time in single precision. What it finds is perturbed by its rounding in all
directions alike. `SearchCorrector` knows from the search which eigenvectors are close to the wanted one, and takes the
mean of the spectrum for all others.
"""

from __future__ import annotations

import numpy as np

from ...linalg.cholesky import DenseFactor
from ...linalg.multiply import product
from ...linalg.reductions import gram, norm
from ...objective.state import State
from ...problem.products import shifted
from ...problem.start import random_vector
from ...run.iteration import Iteration, Retry, RitzBlock
from ...run.reason import Reason
from ...run.rules import Check, Rule
from ...transforms import standard
from ...typing import Array
from ..krylov.thick_restart import ThickRestart
from ..setup import Setup
from .polish import Polished, first_polished, polish

# Ritz vectors beyond the wanted one that a correction resolves.
RESOLVED_VECTORS = 8
# The search is to reach this fraction of the tolerance; the rest allows for the rounding of single precision.
SEARCH_FRACTION = 0.5
# Ritz values that differ by less than this many units of rounding are not resolved in single precision.
RESOLVED_UNITS = 100
# Columns of the basis: twice those of double precision, in the same memory.
BASIS_COLUMNS = 72
# Stop the search at this fraction of the angle tolerance (estimate: residual / gap), which rounding may keep it above.
ANGLE_FRACTION = 0.6


class SearchCorrector:
    """d ≈ (λB − A)⁻¹r for the residual r of the nearly exact first pair, from a search in single precision."""

    def __init__(self, search: ThickRestart) -> None:
        basis, size = search.basis, search.basis.size
        count = min(1 + RESOLVED_VECTORS, size)
        values, S, _ = basis.ritz(count)
        self.values, self.Y = values[1:count], basis.vectors(S[:, 1:count])
        rest = float(basis.H[:size, :size].trace().real) - float(values[:count].sum())
        self.mean = rest / (size - count) if size > count else 0.0
        self.factor = search.products.solver
        self.target = search.target

    def __call__(self, value: float, r: Array) -> Array:
        """The correction, in double precision and of any length."""
        z = (r / norm(r)).astype(self.Y.dtype)[:, None]
        if isinstance(self.factor, DenseFactor):
            z = self.factor.half_solve(z)
        c = gram(self.Y, z)
        distances = value - self.values[:, None]
        # closer ones are left to Rayleigh–Ritz
        least = max(1e-4 * abs(value), float(np.finfo(z.dtype).tiny))
        near = product(self.Y, (c / np.where(np.abs(distances) < least, least, distances)).astype(z.dtype))
        far = value - self.mean
        z = (z - product(self.Y, c)) * (1 / far if abs(far) > least else 1 / least) + near
        if isinstance(self.factor, DenseFactor):
            z = self.factor.unwhiten(z)
        return np.asarray(z[:, 0].astype(r.dtype))


class MixedPrecision(Iteration):
    """One pair: thick-restart Lanczos in single precision, then polishing steps in double."""

    retry = Retry(attempts=0)

    def __init__(self, setup: Setup, max_basis: int | None) -> None:
        assert setup.single is not None
        self.products, self.given, self.rng = setup.products, setup.given, setup.rng
        transform = standard(setup.single)
        single = Setup(setup.single, setup.target, 1, setup.rng, transform=transform, max_products=setup.max_products)
        self.search = ThickRestart(single, max_basis or BASIS_COLUMNS)
        self.corrector: SearchCorrector | None = None
        self.latest: State | None = None
        self.reason: Reason | None = None
        self.tol: float | None = None

    @property
    def shift(self) -> float:  # type: ignore[override]
        """That of the search."""
        return self.search.shift

    def begin(self, rule: Rule) -> Check:
        """The check of both phases: the search has a tighter goal, or ends where rounding may keep it above."""
        tight = rule.tightened(SEARCH_FRACTION)
        self.search.aim(tight.residual_tol, tight.angle_tol)
        self.tol = rule.residual_tol
        searching, polishing, angle = tight.begin(self.search.products), rule.begin(self.products), tight.angle_tol
        single = float(np.finfo(self.search.basis.V.dtype).eps)

        def check(state: State) -> Reason | None:
            if self.corrector is not None:
                return polishing(state)
            reason = searching(state)
            if reason is None and float(self.search.errors[0]) <= single * self.search.basis.radius:
                # polishing goes on where single precision has to stop
                return Reason.PRECISION
            if reason is None and angle is not None and self.search.values.size > 1:
                gap = abs(float(self.search.values[0] - self.search.values[1]))
                return Reason.PRECISION if float(self.search.errors[0]) <= ANGLE_FRACTION * angle * gap else None
            return reason

        return check

    def start(self, X: Array) -> State:
        """The first state of the search; a random vector replaces a given one, so that no probe is needed."""
        self.search.launch(random_vector(self.products, self.rng)[:, None] if self.given else X)
        return self._kept(self.search.ritz_pair(0))

    def step(self, state: State) -> State:
        """Advance the search, or polish."""
        if isinstance(state, Polished):
            assert self.corrector is not None
            return self._kept(polish(state, self.corrector))
        self.search.advance()
        return self._kept(self.search.ritz_pair(0))

    def _kept(self, state: State) -> State:
        self.latest = state
        return state

    def accept(self, state: State, reason: Reason, check: Check) -> State | Reason:
        """Go over to double precision; what polishing does not reach is left to a search in double precision."""
        if self.corrector is None and reason.converged and not self._resolved():
            self.reason = Reason.UNCONFIRMED
            return self.reason
        if self.corrector is None and reason.converged:
            x = state.x.astype(self.products.dtype)
            self.corrector = SearchCorrector(self.search)
            self.search.keep_given()
            self.search.basis.release()
            scale = self.search.scale
            polished = first_polished(shifted(self.products, scale.shift), scale, x)
            polished.step = state.step + 1
            return self._kept(polished)
        self.latest = state
        # that rounding is reached says nothing about an angle
        unreached = self.tol is None and reason in (Reason.RESIDUAL, Reason.PRECISION)
        self.reason = Reason.UNCONFIRMED if unreached or reason is Reason.EXHAUSTED else reason
        return self.reason

    def _resolved(self) -> bool:
        """Is the wanted value apart from the next one by more than rounding in single precision?"""
        basis = self.search.basis
        values = basis.ritz(2)[0]
        unit = RESOLVED_UNITS * float(np.finfo(basis.V.dtype).eps) * basis.radius
        return values.size > 1 and abs(float(values[0] - values[1])) > unit

    def checkpoint(self) -> Array | None:
        """The present vector: the rounding of single precision perturbs the others of the search in all directions."""
        return None if self.latest is None else self.latest.x[:, None]

    def interrupted(self, reason: Reason) -> Reason:
        """Keep the latest state."""
        if self.latest is None:
            if not self.search.salvage():
                raise KeyboardInterrupt
            self.latest = self.search.ritz_pair(0)
        self.reason = reason
        return reason

    def block(self) -> RitzBlock:
        """The pair; one that did not converge may still be in single precision and is projected again."""
        state, scale = self.latest, self.search.scale
        assert state is not None
        done = self.reason is not None and self.reason.converged
        x = (state.x / state.b**0.5)[:, None] if done else state.x[:, None]
        value = np.array([state.value - scale.shift])
        return RitzBlock(value, x, self.search.target.order, self.search.gaps(1), projected=done)

    def spare(self, *, converged: bool) -> Array | None:
        """Some Ritz vectors beyond the first, unless polishing has freed them."""
        return self.search.spare(converged=False)
