"""Timed and counted runs of a method from one start to sin θ ≤ tol, verified afterwards by independent code."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from scipy.sparse.linalg import ArpackError, eigsh

from ..errors import NotConverged
from ..iterates import stepped
from ..methods.first_order.gradient_descent import GradientDescent
from ..methods.first_order.mirror_descent import MirrorDescent
from ..methods.protocol import Method
from ..objective.curvature import CurvatureBound
from ..preparation.solver import attached
from ..problem.pencil import Pencil
from ..problem.products import Products, PSolver, Tally
from ..run.rules import MaxSeconds, SineAngle
from ..solve import solve
from ..typing import Array
from .cases import Case
from .external import TOLERANCE_LADDER

# Stopping criteria of the paper: sin θ and the maximum number of steps.
SINE_TOLERANCE, MAX_STEPS = 1e-5, 100_000
# Runs shorter than this are timed repeatedly, because other load on the machine easily doubles their time.
SHORT_RUN_SECONDS = 0.1
# Factor by which the recomputed sin θ of a successful run may exceed the tolerance, to allow for rounding.
SINE_SLACK_FACTOR = 1.001


@dataclass(frozen=True)
class Trial:
    """The cost of one run. `seconds` is the time of the iteration, `setup` that of factorisation and step sizes.

    For a solver that is timed as a whole, `seconds` is the total time and `setup` is 0.
    """

    method: str
    start: int
    success: bool
    reason: str
    sine: float
    steps: int
    seconds: float
    setup: float
    A_products: int
    B_products: int
    B_solves: int
    P_solves: int
    K_solves: int

    def to_dict(self) -> dict[str, Any]:
        """The trial as a dictionary for JSON."""
        return asdict(self)


class Side(Protocol):
    """A method that can be run from numbered starts."""

    def trial(self, number: int) -> Trial:
        """Run from start `number`."""


def timed(side: Side, number: int, repeats: int) -> Trial:
    """A trial; a short one is run `repeats` times and the fastest run is returned."""
    first = side.trial(number)
    again = repeats - 1 if first.seconds < SHORT_RUN_SECONDS else 0
    return min([first, *(side.trial(number) for _ in range(again))], key=lambda trial: trial.seconds)


COUNTS = tuple(field.name for field in fields(Tally))


@dataclass
class Remembered:
    """A cached bound of λ₁(B̃), computed once for all starts from a fixed random vector."""

    bound: CurvatureBound
    value: float | None = None

    def largest(self, pencil: Pencil | Products, P: PSolver | None, rng: np.random.Generator) -> float:
        """The bound computed by the first call."""
        if self.value is None:
            self.value = self.bound.largest(pencil, P, np.random.default_rng(0))
        return self.value


class Iteration:
    """A method on a case, set up once and run from many starts; B is factorised beforehand, as in the paper."""

    def __init__(self, case: Case, name: str, method: Method, *, max_steps: int = MAX_STEPS) -> None:
        if isinstance(method, (GradientDescent, MirrorDescent)):
            method = replace(method, curvature=Remembered(method.curvature))
        self.case, self.name, self.method, self.max_steps = case, name, method, max_steps
        begin = time.perf_counter()
        products = Pencil(case.A, case.B).products
        self.products = products.solving(attached(products, method.inner)[1])
        method.setup(self.products.setup, case.generator(0))
        self.check = SineAngle(case.leading[1], SINE_TOLERANCE).begin(self.products)
        self.setup = time.perf_counter() - begin

    def trial(self, number: int) -> Trial:
        """Run from start `number`; the method's own random numbers follow those of the start."""
        products, counts, rng = self.products, self.products.counts, self.case.generator(number)
        x = rng.standard_normal(self.case.n).astype(products.dtype)
        begin = time.perf_counter()
        memory = self.method.setup(products.setup, rng)
        before = [getattr(counts, name) for name in COUNTS]
        ready = time.perf_counter()
        for state in stepped(self.method, products, x, memory):
            if self.check(state) is not None:
                reason = "angle"
                break
            if not state.finite or state.step >= self.max_steps:
                reason = "steps" if state.finite else "diverged"
                break
        else:
            reason = "exhausted"
        done = time.perf_counter()
        taken = {name: getattr(counts, name) - had for name, had in zip(COUNTS, before, strict=True)}
        sine = self.case.sine(state.x) if state.finite else math.inf
        return Trial(
            self.name,
            number,
            success=reason == "angle" and sine <= SINE_SLACK_FACTOR * SINE_TOLERANCE,
            reason=reason,
            sine=sine,
            steps=state.step,
            seconds=done - ready,
            setup=self.setup + ready - begin,
            **taken,
        )


class Default:
    """`splitmerge.solve` timed as a whole, from the plain matrices to the verified solution."""

    def __init__(self, case: Case, name: str, method: Method | None = None, *, max_seconds: float = math.inf) -> None:
        self.case, self.name, self.method = case, name, method
        self.rule = SineAngle(case.leading[1], SINE_TOLERANCE)
        self.stop = self.rule if max_seconds == math.inf else self.rule | MaxSeconds(max_seconds)

    def trial(self, number: int) -> Trial:
        """Run from start `number`, which `solve` draws first from the generator."""
        case = self.case
        begin = time.perf_counter()
        try:
            found = solve(case.A, case.B, method=self.method, stop=self.stop, rng=case.generator(number))
        except NotConverged as failure:
            found = failure.solution
        seconds = time.perf_counter() - begin
        sine = case.sine(found.eigenvectors[:, 0])
        return Trial(
            self.name,
            number,
            success=found.converged and sine <= SINE_SLACK_FACTOR * SINE_TOLERANCE,
            reason=found.reason.name.lower(),
            sine=sine,
            steps=found.steps,
            seconds=seconds,
            setup=0.0,
            **{name: getattr(found.counts, name) for name in COUNTS},
        )


class Arpack:
    """SciPy's `eigsh(A, M=B)` timed as a whole, at the loosest tolerance that reaches the angle from three starts."""

    def __init__(self, case: Case, name: str) -> None:
        self.case, self.name = case, name
        self.tol = next(
            (tol for tol in TOLERANCE_LADDER if all(self._sine(tol, start) <= SINE_TOLERANCE for start in range(3))),
            TOLERANCE_LADDER[-1],
        )

    def _sine(self, tol: float, start: int) -> float:
        return self.case.sine(self._vector(tol, self.case.start(start)))

    def _vector(self, tol: float, x: Array) -> Array:
        return np.asarray(eigsh(self.case.A, 1, M=self.case.B, which="LA", v0=x, tol=tol)[1][:, 0])

    def trial(self, number: int) -> Trial:
        """Run from start `number`; ARPACK's products are not counted here."""
        x = self.case.start(number)
        begin = time.perf_counter()
        try:
            vector, reason = self._vector(self.tol, x), f"tol={self.tol:g}"
        except ArpackError as error:
            vector, reason = x, str(error)
        seconds = time.perf_counter() - begin
        sine = self.case.sine(vector)
        none = dict.fromkeys(COUNTS, 0)
        return Trial(
            self.name, number, sine <= SINE_SLACK_FACTOR * SINE_TOLERANCE, reason, sine, 0, seconds, 0.0, **none
        )
