"""Lookup of methods, inner solvers and preconditioners by name; only the command line uses names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from ..methods.first_order.gradient_descent import GradientDescent
from ..methods.first_order.mirror_descent import MirrorDescent
from ..methods.first_order.power import Power
from ..methods.first_order.split_merge import SplitMerge
from ..methods.krylov.accelerated import Accelerated
from ..methods.krylov.lanczos import Lanczos
from ..methods.lobpcg.locally_optimal import LocallyOptimal
from ..methods.protocol import Method
from ..preconditioners import Diagonal, IncompleteCholesky, MultiGrid, Preconditioner
from ..solvers.cholesky import Cholesky
from ..solvers.conjugate_gradient import ConjugateGradient
from .arguments import Mistake

INNER = ("cholesky", "cg")
PRECONDITIONERS: dict[str, Callable[[], Preconditioner]] = {
    "diagonal": Diagonal,
    "incomplete-cholesky": IncompleteCholesky,
    "multigrid": MultiGrid,
}
# Relative residual of CG solves inside a Krylov method, which needs solves accurate to nearly working precision.
KRYLOV_CG_TOLERANCE = 1e-13


def methods() -> dict[str, Callable[[], Method | None]]:
    """Factories by name: the library's methods and those of `splitmerge.bench.rivals`."""
    from ..bench import rivals

    own = (Accelerated, LocallyOptimal, SplitMerge, Power, MirrorDescent, GradientDescent, Lanczos)
    found: dict[str, Callable[[], Method | None]] = {"default": lambda: None}
    found |= {kebab(cls.__name__): cls for cls in own}
    for name in getattr(rivals, "__all__", ()):
        rival = getattr(rivals, name)
        if isinstance(rival, type) and issubclass(rival, Method):
            found.setdefault(kebab(name), rival)
    return found


def kebab(name: str) -> str:
    """The command line name of a class.

    >>> kebab("SplitMerge"), kebab("LazyEV"), kebab("GenELinK")
    ('split-merge', 'lazy-ev', 'genelink')
    """
    words = re.split(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", name)
    # a name with single capital letters, such as GenELinK, is one word
    return ("" if any(len(word) == 1 for word in words) else "-").join(words).lower()


def look_up(name: str, known: Mapping[str, Any], what: str) -> Any:
    """The entry of that name; raises `Mistake` with all names if there is none."""
    typed = name.lower().replace("_", "-")
    for other in known:
        if typed.replace("-", "") == other.replace("-", ""):
            return known[other]
    near = difflib.get_close_matches(typed, known, 1)
    guess = f" (did you mean {near[0]}?)" if near else ""
    raise Mistake(f"unknown {what} {name!r}{guess}; give one of {', '.join(known)}")


def build(
    method: str | None, inner: str | None, inner_steps: int | None, preconditioner: str | None
) -> tuple[Method | None, Preconditioner | None]:
    """The method, and the preconditioner if it is an argument of `solve` rather than of the method.

    The preconditioner is passed to the conjugate gradient method, to the method itself, or to `solve` by default.
    """
    chosen: Method | None = look_up(method or "default", methods(), "method")()
    P: Preconditioner | None = None
    if preconditioner is not None:
        P = look_up(preconditioner, PRECONDITIONERS, "preconditioner")()
    if P is not None and chosen is not None and any(field.name == "preconditioner" for field in fields(chosen)):
        chosen, P = replace(chosen, preconditioner=P), None  # type: ignore[call-arg]
    if inner_steps is not None and inner != "cg":
        raise Mistake("--inner-steps is for --inner cg only; omit it, or give both")
    if inner is not None:
        return _with_inner(chosen, inner, inner_steps, P), None
    if P is None or chosen is None or isinstance(chosen, Accelerated):
        return chosen, P
    raise Mistake(f"--preconditioner: {method} does not use a preconditioner; add --inner cg, or omit it")


def _with_inner(method: Method | None, inner: str, steps: int | None, P: Preconditioner | None) -> Method:
    """The method with the given inner solver for B."""
    method = method or Accelerated()
    if not method.solves:
        raise Mistake(f"--inner {inner}: {kebab(type(method).__name__)} never solves with B; omit the option")
    if inner == "cg":
        # a Krylov method needs accurate solves; for the other methods the paper uses at most 30 CG steps
        krylov = isinstance(method, Accelerated)
        accurate = ConjugateGradient(steps, P, tol=KRYLOV_CG_TOLERANCE)
        return replace(method, inner=accurate if krylov else _paper(steps, P))
    if P is not None:
        raise Mistake("--preconditioner does not apply to --inner cholesky, which is exact; omit one of them")
    return replace(method, inner=Cholesky())


def _paper(steps: int | None, P: Preconditioner | None) -> ConjugateGradient:
    return ConjugateGradient(preconditioner=P) if steps is None else ConjugateGradient(steps, P)
