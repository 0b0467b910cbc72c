"""The sweep over the slices: each is set up, run and held to the tolerance and to its count before the next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import OutOfTime
from ..methods.setup import Setup
from ..planning.costs import MEMORY_FRACTION
from ..planning.plan import Candidate, Engine
from ..preparation.prepare import bind, prepare
from ..preparation.workspace import Workspace
from ..problem.start import random_vector
from ..problem.target import Target
from ..run.loop import Monitor, Run
from ..run.reason import Reason
from ..run.rules import Rule
from ..sparse_direct.ldl import SparseShifted
from ..system.memory import free_memory
from ..typing import Array
from ..verification.confirm import confirmed_from
from ..verification.residuals import Pairs
from .cuts import Counter
from .ends import Ends
from .parts import Part, bounded, orthogonalised, taken
from .slices import Slice, slices

# Eigenvalues that one shift serves.
SLICE_PAIRS = 64
# A slice is solved at least to this residual, as its pairs must be told apart from those beyond its borders; one of
# several slices to this fraction of the tolerance, as their vectors must be orthogonal.
MAX_SLICE_TOL, SEVERAL_TIGHTENING = 1e-8, 1e-2
# Starts of a slice: a random vector, then the pairs found and as many random vectors as pairs are missing.
STARTS = 4
# Solves after which another shift is tried: this many per unknown, and a few more.
PRODUCTS_PER_UNKNOWN, MORE_PRODUCTS = 2, 1000
# Columns of a thick-restart basis per pair, when it starts with that many vectors.
BASIS_COLUMNS_PER_PAIR = 5


class Sweep:
    """The pairs `found` so far, part by part, and the `reason` why the sweep ended."""

    def __init__(self, workspace: Workspace, monitor: Monitor, counter: Counter) -> None:
        self.workspace, self.monitor, self.counter = workspace, monitor, counter
        self.found: list[Part] = []
        self.reason = Reason.RESIDUAL
        # is there more than one slice, whose vectors must be orthogonal to each other?
        self.several = False
        self.setup = workspace.setup(workspace.products(), Target.LARGEST)
        self.backend: str | None = None
        # the number of eigenvalues and the shift of each slice
        self.shifts: list[tuple[int, float]] = []
        self.opening = len(workspace.decisions)

    def over(self, ends: Ends) -> None:
        """Solve slice after slice, until one fails, the time is over or Ctrl-C is pressed."""
        _check_memory(self.workspace, ends.count)
        self.several = ends.count > SLICE_PAIRS
        try:
            for part in slices(self.counter, ends.low.border, ends.high.border, SLICE_PAIRS):
                self.workspace.budget.check()
                self._solve(part)
                if not self.reason.converged:
                    return
        except KeyboardInterrupt:
            if not self.found:
                raise
            self.reason = Reason.INTERRUPTED
        except OutOfTime:
            self.reason = Reason.MAX_SECONDS
        if not self.found:
            # nothing to iterate
            self.workspace.budget.begin()

    def _solve(self, part: Slice) -> None:
        """Find the pairs of a slice."""
        _check_memory(self.workspace, BASIS_COLUMNS_PER_PAIR * part.count)
        for sigma, centre in part.shifts:
            setup = self._prepared(part, sigma, centre)
            reason, pairs = self._run(setup, part)
            if not reason.failed:
                break
        if reason.converged and self.found:
            pairs = orthogonalised(pairs, setup, self.found)
            reason = self._judged(pairs, reason)
        self.reason = reason if self.reason is Reason.RESIDUAL or not reason.converged else self.reason
        self.found.append(bounded(pairs, setup, part))
        assert setup.shift_invert is not None
        self.shifts.append((part.count, setup.shift_invert.sigma * self.workspace.pencil.unit))
        self.monitor.before += pairs.values.size
        # the factor is not needed any more
        self.setup = setup._replace(transform=None)

    def _prepared(self, part: Slice, sigma: float, centre: float) -> Setup:
        """The set-up with a shift σ for the eigenvalues of the slice, those nearest to the centre."""
        workspace = self.workspace
        workspace.problem = replace(workspace.problem, k=part.count)
        limit = PRODUCTS_PER_UNKNOWN * workspace.pencil.n + MORE_PRODUCTS
        setup = prepare(Candidate(Engine.SHIFT_INVERT, sigma=sigma, max_products=limit), workspace)
        assert setup is not None
        transform = setup.shift_invert
        assert transform is not None
        # all slices are told together
        del workspace.decisions[self.opening :]
        self.backend = transform.factor.name if isinstance(transform.factor, SparseShifted) else None
        if not self.found:
            workspace.budget.begin()
        self.counter.factorisations += 1
        return setup._replace(target=Target.nearest(transform.sigma - centre))

    def _run(self, setup: Setup, part: Slice) -> tuple[Reason, Pairs]:
        """The pairs that lie in the slice, and why their run ended.

        A Krylov space shows one copy of a multiple eigenvalue: where pairs are missing, it is run again from those
        found and random vectors.
        """
        workspace = self.workspace
        rule = workspace.problem.rule
        tightening = SEVERAL_TIGHTENING if self.several else 1.0
        if rule.residual_tol is not None:
            tightening *= slice_tolerance(rule) / rule.residual_tol
        X = random_vector(workspace.pencil, workspace.rng)[:, None]
        for _ in range(STARTS):
            reason, pairs = ran(setup, rule, self.monitor, X, tightening)
            pairs = taken(pairs, np.flatnonzero((pairs.values > part.low.tau) & (pairs.values < part.high.tau)))
            if reason is Reason.UNCONFIRMED and pairs.values.size:
                # it was a pair outside of the slice that missed the tolerance
                reason = self._judged(pairs, Reason.RESIDUAL)
            missing = part.count - pairs.values.size
            if missing == 0 or not reason.converged:
                return reason, pairs
            fresh = [random_vector(workspace.pencil, workspace.rng) for _ in range(missing)]
            X = np.column_stack([pairs.vectors.astype(workspace.pencil.dtype), *fresh])
            setup = setup._replace(given=True, width=X.shape[1])
        return Reason.MISCOUNTED, pairs

    def _judged(self, pairs: Pairs, reason: Reason) -> Reason:
        """The reason, unless residuals that were measured again miss the tolerance and the level of rounding."""
        tol = self.workspace.problem.rule.residual_tol
        if tol is None or pairs.met(tol):
            return reason
        return Reason.PRECISION if pairs.excess(tol, lenient=True) <= 1 else Reason.UNCONFIRMED

    def figures(self) -> dict[str, Any]:
        """What `explain` tells."""
        factorisations = self.counter.factorisations
        return {"slices": tuple(self.shifts), "factorisations": factorisations, "backend": self.backend}


def ran(setup: Setup, rule: Rule, monitor: Monitor, X: Array, tightening: float = 1.0) -> tuple[Reason, Pairs]:
    """Run a set-up from the columns X, to `tightening` times the tolerance of the rule."""
    run = Run(bind(setup), rule, monitor)
    if tightening < 1:
        run.tighten(tightening)
    return confirmed_from(run, setup, X)


def slice_tolerance(rule: Rule) -> float:
    """The relative residual to which a slice is solved."""
    return MAX_SLICE_TOL if rule.residual_tol is None else min(rule.residual_tol, MAX_SLICE_TOL)


def _check_memory(workspace: Workspace, columns: int) -> None:
    """Refuse an interval with more vectors than fit into memory."""
    needed = columns * workspace.pencil.n * workspace.pencil.dtype.itemsize
    if needed > MEMORY_FRACTION * free_memory():
        raise MemoryError(
            f"interval needs {columns} vectors, which take {needed / 2**30:.2g} GiB, and "
            f"{free_memory() / 2**30:.2g} GiB are free; give a narrower one"
        )
