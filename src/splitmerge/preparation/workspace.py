"""What the set-up of one solve works with and records."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..methods.krylov.accelerated import Accelerated
from ..methods.setup import Setup
from ..planning.costs import with_solves
from ..planning.decision import Choice, Decision, decided
from ..planning.plan import Plan
from ..problem.pencil import Pencil
from ..problem.problem import Problem
from ..problem.products import BSolver, Counts, Products
from ..problem.start import Warm
from ..problem.target import Target
from ..sparse_direct.costs import solve_seconds
from ..system.budget import Budget
from ..typing import Array


@dataclass
class Workspace:
    """The problem and its pencil, the counts and the clock of the solve, and the decisions taken so far.

    `X` are the starting vectors, if they are known. `pencil` is replaced when the entries of an operator are computed.
    `semidefinite` says whether B is singular, once that is known, and `max_products` and `provisional` when to give a
    search up.
    """

    problem: Problem
    pencil: Pencil
    plan: Plan
    rng: np.random.Generator
    X: Array | None = None
    counts: Counts = field(default_factory=Counts)
    budget: Budget = field(default_factory=Budget)
    decisions: list[Decision] = field(default_factory=list)
    max_products: float = math.inf
    provisional: bool = False
    semidefinite: bool | None = None
    # A − σB factorised, by σ
    shifted: dict[float, Any] = field(default_factory=dict)
    # the sparse factors of ±(A − σB) that were made last, whose ordering serves other σ
    last_factors: Any = None
    checked_shift: bool = False

    def __post_init__(self) -> None:
        # as the user gave it, before entries of operators are computed
        self.original = self.pencil

    @property
    def formed_A(self) -> bool:
        """Were the entries of an operator A computed?"""
        return self.original.A.matrix is None and self.pencil.A.matrix is not None

    def products(self, pencil: Pencil | None = None, solver: BSolver | None = None) -> Products:
        """Products with the pencil (or one with the same A and B up to signs), counted for this solve."""
        return Products(self.pencil if pencil is None else pencil, self.counts, self.budget, solver)

    def decide(self, choice: Choice, **figures: Any) -> None:
        """Record a decision."""
        self.decisions.append(decided(choice, **figures))

    def setup(self, products: Products, target: Target, **parts: Any) -> Setup:
        """The set-up for the problem's k pairs."""
        problem, pencil = self.problem, products.pencil
        if isinstance(problem.x0, Warm):
            parts |= {"continued": problem.x0.spent is not None, "trusted": problem.x0.trusted}
        if isinstance(problem.x0, Warm) and pencil.inverse is None:
            parts["lowest"] = -problem.x0.shift / abs(pencil.unit)
        if pencil.inverse is not None:
            parts["original"] = self.products()
        parts |= {"semidefinite": bool(self.semidefinite), "certify": problem.certify}
        width = 1 if self.X is None else self.X.shape[1]
        parts |= {"max_products": self.max_products, "provisional": self.provisional}
        return Setup(products, target, problem.k, self.rng, given=problem.given, width=width, **parts)

    def krylov(self, products: Products, target: Target, **parts: Any) -> Setup:
        """The set-up for the problem's subspace method, by default thick-restart Lanczos."""
        method = self.problem.method
        method = Accelerated() if method is None else method
        setup = self.setup(products, target, method=method, **parts)
        if self.problem.interval is not None:
            return setup
        shifted = setup.shift_invert
        factors = getattr(products.solver, "factors", None) if shifted is None else getattr(shifted.factor, "lu", None)
        seconds = solve_seconds(factors, products.n)
        return setup._replace(max_products=with_solves(setup.max_products, self.pencil, self.problem.k, seconds))

    def form(self, *, A: bool = False, B: bool = False) -> None:
        """Compute the entries of an operator A or B by its products with the columns of the identity."""
        n, pencil = self.pencil.n, self.pencil
        self.counts.setup.A_products += n * (A and pencil.A.matrix is None)
        self.counts.setup.B_products += n * (B and pencil.B is not None and pencil.B.matrix is None)
        self.pencil = pencil.formed(A=A, B=B)
