"""What is asked of the library: the arguments of `solve`, chosen at random, and what they promise."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import splitmerge as sm

from .disguises import Disguise
from .families import Problem
from .matching import solve_order
from .matrices import Rng
from .oracle import Reference
from .precise import Array, double
from .recipes import method as random_method
from .recipes import preconditioner as random_preconditioner

INTERVALS = "interval" in inspect.signature(sm.solve).parameters
STEPS_OF_FIRST_ORDER, STEPS_OF_A_SUBSPACE, STEPS_OF_A_RULE = 1500, 300, 1000


@dataclass
class Request:
    """A call. `refusable`: the documentation allows a refusal; `nonsense`: it demands one."""

    call: str
    options: dict[str, Any] = field(default_factory=dict)
    refusable: str = ""
    nonsense: str = ""
    default: bool = False
    tol: float | None = 1e-8
    exact: bool = True
    timed: bool = False

    @property
    def k(self) -> int:
        """How many pairs."""
        return int(self.options.get("k", 6 if self.call == "eigsh" else 1))

    @property
    def sigma(self) -> float | None:
        """The shift."""
        return self.options.get("sigma")

    @property
    def which(self) -> str:
        """The part of the spectrum."""
        return str(self.options.get("which", "LM" if self.call == "eigsh" else "largest"))


def random_k(rng: Rng, n: int) -> int:
    """Mostly few, sometimes all or all but one."""
    choices = [1, 1, 1, 2, 3, 4, 6, 10, max(1, n // 2), n - 1, n]
    return int(min(max(1, rng.choice(choices)), n))


def random_sigma(rng: Rng, reference: Reference | None) -> float:
    """Inside the spectrum, exactly at an eigenvalue, far outside, or zero."""
    values = np.array([-1.0, 1.0]) if reference is None else double(reference.values)
    low, high = values[0], values[-1]
    inside = float(low + rng.random() * (high - low))
    outside = float(high + (high - low + 1e-3 * abs(high)) * 10.0 ** rng.uniform(-1, 1))
    return [inside, inside, float(rng.choice(values)), outside, -outside, 0.0][int(rng.integers(6))]


def _start(rng: Rng, problem: Problem, reference: Reference | None) -> Array:
    n, kind = problem.n, rng.random()
    shape = n if kind < 0.4 else (n, int(rng.integers(1, min(n, 5) + 1)))
    if kind < 0.6 or reference is None:
        return rng.normal(size=shape)
    vectors = double(reference.vectors)
    vectors = vectors / np.linalg.norm(vectors, axis=0)
    return vectors[:, int(rng.integers(vectors.shape[1]))].copy() if kind < 0.8 else vectors[:, :2].copy()


def _stop(rng: Rng, request: Request, reference: Reference | None) -> tuple[Any, float | None, bool]:
    """A rule, the residual that its success promises (None: nothing), and whether it depends on the clock."""
    a, b = 10.0 ** -rng.uniform(2, 10, 2)
    residual = sm.Residual(float(a))
    kind = int(rng.integers(7))
    known = reference is not None and "interval" not in request.options and request.k <= reference.values.size
    if kind == 6 and known:
        assert reference is not None
        wanted, _ = solve_order(reference.values, request.which, request.sigma, request.k)
        return sm.SineAngle(double(reference.vectors[:, wanted]), 1e-5), None, False
    rules: list[tuple[Any, float | None, bool]] = [
        (residual, a, False),
        (residual | sm.MaxSteps(int(rng.integers(1, 200))), a, False),
        (residual | sm.MaxSeconds(5.0), a, True),
        (residual & sm.Residual(float(b)), min(a, b), False),
        (residual | sm.Residual(float(b)), max(a, b), False),
        ((residual & sm.MaxSteps(3)) | sm.Stagnation(50), None, False),
    ]
    return rules[kind % 6]


def _nonsense(rng: Rng, n: int) -> tuple[str, Any]:
    bad: list[tuple[str, Any]] = [
        ("k", 0),
        ("k", n + 1),
        ("k", -1),
        ("k", 1.5),
        ("tol", -1e-8),
        ("tol", float("nan")),
        ("tol", "fine"),
        ("sigma", float("nan")),
        ("sigma", float("inf")),
        ("sigma", 1j),
        ("which", "middle"),
        ("which", None),
        ("x0", np.zeros(n)),
        ("x0", np.ones(n + 1)),
        ("x0", np.full(n, np.nan)),
        ("rng", "seed"),
        ("b_policy", "hope"),
        ("method", "lanczos"),
        ("stop", 1e-8),
        ("max_steps", 0),
        ("preconditioner", np.ones((n + 1, n + 1))),
    ]
    return bad[int(rng.integers(len(bad)))]


def _target(rng: Rng, request: Request, reference: Reference | None, *, any_target: bool) -> None:
    chance = rng.random()
    if not any_target:
        request.options["which"] = str(rng.choice(["largest", "smallest"]))
    elif chance < 0.15:
        request.options["sigma"] = random_sigma(rng, reference)
    elif INTERVALS and chance < 0.25:
        ends = sorted(random_sigma(rng, reference) for _ in range(2))
        request.options["interval"] = (ends[0], ends[1])
        request.options.pop("k")
    else:
        names = ["largest", "largest", "smallest", "smallest", "ends", "both_ends", "magnitude", "largest_magnitude"]
        request.options["which"] = str(rng.choice(names))


def _extras(rng: Rng, request: Request, problem: Problem, reference: Reference | None, d: tuple[Disguise, ...]) -> None:
    options = request.options
    if rng.random() < 0.15:
        start = _start(rng, problem, reference)
        # an interval has no start
        options |= {} if "interval" in options else {"x0": start}
    if rng.random() < 0.06:
        options["stop"], request.tol, request.timed = _stop(rng, request, reference)
        options.setdefault("max_steps", STEPS_OF_A_RULE)
        request.default = False
    if rng.random() < 0.06:
        options["max_steps"] = int(rng.choice([1, 10, 20_000]))
        request.default &= options["max_steps"] > 10
    if rng.random() < 0.05:
        stopping = bool(rng.random() < 0.3)
        options["callback"] = _stopping if stopping else _silent
        request.default &= not stopping
    if rng.random() < 0.06 and "method" not in options:
        options["preconditioner"] = random_preconditioner(rng, problem, options.get("which") == "smallest")
        request.default = request.exact = False
    if rng.random() < 0.1 and not d[0].entries and "preconditioner" not in options:
        smallest = options.get("which") == "smallest" or problem.B is None
        M = problem.A if smallest else problem.B
        options["diagonal"] = np.diagonal(M).real.copy()
        request.default = request.exact = False
    if rng.random() < 0.15:
        options["certify"] = True


def _stopping(state: Any) -> bool:
    return bool(state.step >= 3)


def _silent(state: Any) -> None:
    return None


def _limits(request: Request, given: tuple[Disguise, ...], problem: Problem) -> None:
    """Note what the documentation excludes."""
    options = request.options
    whole = all(each.entries for each in given)
    if not whole and (options.get("certify") or "sigma" in options or "interval" in options):
        request.refusable = "needs the entries of A and B"
    if options.get("b_policy", "error") != "error" and not given[-1].entries:
        request.refusable = "a policy needs the entries of B"
    if any(each.undocumented for each in given):
        request.refusable = "an undocumented form"
    if len(given) > 1 and not given[1].entries:
        request.exact = False
    if "preconditioner" in options or "diagonal" in options or "method" in options:
        request.refusable = request.refusable or "a combination that may not exist"
    if np.ndim(options.get("x0")) == 2 or np.iscomplexobj(options.get("x0", 0.0)) != np.iscomplexobj(problem.A):
        request.refusable = request.refusable or "a start that may not fit"


def solve_request(rng: Rng, problem: Problem, reference: Reference | None, given: tuple[Disguise, ...]) -> Request:
    """The arguments of `sm.solve`."""
    options: dict[str, Any] = {"k": random_k(rng, problem.n), "rng": int(rng.integers(1000))}
    request = Request("solve", options, default=True)
    if rng.random() < 0.6:
        options["tol"] = request.tol = float(10.0 ** -rng.integers(1, 14))
    first_order = accelerated = False
    if rng.random() < 0.35:
        options["method"], request.exact, first_order = random_method(rng, problem)
        accelerated = isinstance(options["method"], sm.Accelerated)
        request.default = False
    if first_order:
        options["k"] = min(options["k"], 3)
    _target(rng, request, reference, any_target="method" not in options or accelerated)
    _extras(rng, request, problem, reference, given)
    if "method" in options:
        # 20,000 steps of a method that were asked for take their time
        most = STEPS_OF_FIRST_ORDER if first_order else STEPS_OF_A_SUBSPACE
        options["max_steps"] = min(options.get("max_steps", most), most)
    if problem.rank is not None or rng.random() < 0.03:
        options["b_policy"] = str(rng.choice(["error", "ridge", "restrict"]))
    _limits(request, given, problem)
    if rng.random() < 0.03:
        name, value = _nonsense(rng, problem.n)
        options[name], request.nonsense = value, f"{name}={value!r:.40}"
        request.default = False
    return request
