"""A case is a function of one integer: the problem, what it looks like, and what is asked."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .disguises import Disguise, disguise, lying
from .families import FAMILIES, Problem
from .matrices import Rng
from .oracle import Indefinite, Reference, condensed, reference
from .precise import Array
from .requests import Request, solve_request
from .scipy_like import eigsh_request

LYING, EIGSH, ITERATES, ALARMED = 0.06, 0.22, 0.03, 0.01
# What must be refused wherever the library sees the entries.
FORBIDDEN = ("nonsymmetric", "nan", "inf", "triangle", "antisymmetric", "indefinite B")


@dataclass
class Case:
    """Everything about a case; `alarm` is the delay of a SIGINT in seconds."""

    number: int
    problem: Problem
    reference: Reference | None
    A: Disguise
    B: Disguise | None
    request: Request
    alarm: float | None = None

    @property
    def given(self) -> tuple[Disguise, ...]:
        """A and B as they are given."""
        return (self.A,) if self.B is None else (self.A, self.B)

    @property
    def lie(self) -> str:
        """What the operator A does, if it lies."""
        return self.A.lie

    @property
    def counts(self) -> bool:
        """Does it count towards the rate of giving up?"""
        fine = self.reference is not None and self.reference.kappa <= 1e8 and not self.problem.hostile
        request = self.request
        return fine and request.default and not (request.refusable or request.nonsense or self.lie or self.alarm)

    def describe(self) -> str:
        """The case in a few words."""
        options = ", ".join(f"{name}={_short(value)}" for name, value in self.request.options.items())
        B = "None" if self.B is None else f"{self.B.kind} {_type(self.problem.B)}"
        hostile = f" [{self.problem.hostile}]" if self.problem.hostile else ""
        pair = f"n={self.problem.n}{hostile} A: {self.A.kind} {self.problem.A.dtype}, B: {B}"
        return f"{self.problem.family} {pair}; {self.request.call}({options})"


def _type(M: Array | None) -> str:
    return "" if M is None else str(M.dtype)


def _short(value: Any) -> str:
    return f"array{value.shape}" if isinstance(value, np.ndarray) else f"{value!r:.90}"


def family_of(number: int) -> tuple[Rng, str]:
    """The generator of a case and its family, which is drawn first."""
    rng = np.random.default_rng(number)
    weights = np.array([weight for weight, _ in FAMILIES.values()])
    return rng, str(rng.choice(list(FAMILIES), p=weights / weights.sum()))


def refer(problem: Problem) -> tuple[Problem, Reference | None]:
    """The reference, and the problem marked where its B turns out not to be definite."""
    if problem.hostile in FORBIDDEN:
        return problem, None
    if problem.rank is not None and problem.B is not None:
        found = condensed(problem.A, problem.B, problem.rank, problem.eps)
        return (problem, found) if found else (replace(problem, hostile="singular pencil"), None)
    try:
        return problem, reference(problem.A, problem.B, problem.eps)
    except Indefinite:
        return replace(problem, hostile="indefinite to rounding"), None


def build(number: int) -> Case:
    """The case of this number."""
    rng, family = family_of(number)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = FAMILIES[family][1](rng)
        lies = not problem.hostile and problem.A.dtype.kind in "fc" and rng.random() < LYING
        if lies:
            A, truth = lying(rng, problem.A)
            problem = replace(problem, A=truth, hostile="nonsymmetric" if A.lie == "nonsymmetric" else "")
        else:
            A = disguise(rng, problem.A)
        B = None if problem.B is None else disguise(rng, problem.B, lumped=True)
        problem, found = refer(problem)
        given = (A,) if B is None else (A, B)
        chance = rng.random()
        if chance < ITERATES and not problem.hostile and not lies:
            request = Request("iterates", {"rng": int(rng.integers(1000))})
        elif chance < ITERATES + EIGSH:
            request = eigsh_request(rng, problem, found, given)
        else:
            request = solve_request(rng, problem, found, given)
        alarm = float(rng.uniform(1e-4, 0.02)) if rng.random() < ALARMED else None
    return Case(number, problem, found, A, B, request, alarm)
