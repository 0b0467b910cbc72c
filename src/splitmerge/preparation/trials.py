"""Trials of preconditioners by conjugate gradients: convergence is measured, seconds follow from operation counts."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ..errors import NotPositiveDefinite
from ..linalg import cg
from ..linalg.reductions import vdot
from ..preconditioners import Diagonal, Exact, IncompleteCholesky, MultiGrid, Preconditioner, Prepared
from ..problem.products import Products

# Conjugate gradients are tried for this many steps, or until the residual has fallen by this factor.
TRIAL_STEPS, TRIAL_REDUCTION = 25, 1e-5
# While every preconditioner so far reduces the error per step by less than this factor, another one is tried.
POOR_RATE = 0.7


@dataclass(frozen=True)
class Trial:
    """One preconditioner: a step reduces the error by `rate` and takes `work` multiplications.

    `setup` and `step` are measured seconds, for information only.
    """

    preconditioner: Preconditioner
    prepared: Prepared
    rate: float
    work: float
    setup: float
    step: float

    def figures(self) -> dict[str, Any]:
        """The figures of the trial, without the preconditioner that was set up."""
        return {"preconditioner": repr(self.preconditioner), "rate": self.rate, "setup": self.setup, "step": self.step}

    def steps(self, digits: float) -> float:
        """Steps for this many digits."""
        return digits * math.log(10) / -math.log(min(max(self.rate, 1e-3), 0.9999))


def trials_of(products: Products) -> list[Trial]:
    """Trials of preconditioners of B; none if B proves not to be positive definite."""
    trials: list[Trial] = []
    assert products.B is not None
    candidates = (MultiGrid(), IncompleteCholesky()) if products.B.kind == "sparse" else (Exact(),)
    for preconditioner in (Diagonal(), *candidates):
        if trials and min(trial.rate for trial in trials) < POOR_RATE:
            break
        try:
            trial = attempt(products, preconditioner)
        except NotPositiveDefinite:
            trial = None
        if trial is None:
            return []
        trials.append(trial)
    return trials


def attempt(products: Products, preconditioner: Preconditioner) -> Trial | None:
    """Set the preconditioner of B up and try it on a random right-hand side; None if B is not positive definite."""
    began = time.perf_counter()
    prepared = preconditioner.prepare(products)
    ready = time.perf_counter()
    # a right-hand side in the range of B, which may be singular
    r = products.apply_B(np.random.default_rng(0).standard_normal(products.n).astype(products.dtype))
    sizes: list[float] = []

    def observe(size: float) -> bool:
        sizes.append(size)
        return size <= TRIAL_REDUCTION**2 * sizes[0]

    try:
        cg.solve(
            products.apply_B,
            np.zeros_like(r),
            r,
            # only the reduction of rᴴP⁻¹r ends a trial
            target=0.0,
            max_steps=TRIAL_STEPS,
            dot=lambda x, y: float(vdot(x, y).real),
            norm=lambda _: 1.0,
            axpy=lambda x, y, a: y + a * x,
            refuse=_refuse,
            precondition=lambda residual: products.solve_P(prepared, residual),
            observe=observe,
        )
    except NotPositiveDefinite:
        return None
    if not (sizes[0] > 0 and sizes[-1] >= 0):
        return None
    half = (len(sizes) - 1) // 2
    # a random residual falls fast at first, whatever comes later; an exact preconditioner leaves none
    rate = (sizes[-1] / sizes[half]) ** (0.5 / max(len(sizes) - 1 - half, 1)) if sizes[-1] else 0.0
    step_seconds = (time.perf_counter() - ready) / len(sizes)
    return Trial(preconditioner, prepared, min(rate, 0.9999), prepared.work, ready - began, step_seconds)


def _refuse(curvature: float) -> NoReturn:
    raise NotPositiveDefinite(f"a trial met pᴴBp = {curvature:.3g}")
