"""Options objects in the header of a file: by name, with their options, and refused when these are of a wrong type."""

from __future__ import annotations

import types
import typing
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from ...methods.first_order.gradient_descent import GradientDescent
from ...methods.first_order.mirror_descent import MirrorDescent
from ...methods.first_order.power import Power
from ...methods.first_order.split_merge import SplitMerge
from ...methods.first_order.stepsize import Adaptive, Fixed, Sampled
from ...methods.krylov.accelerated import Accelerated
from ...methods.krylov.lanczos import Lanczos
from ...methods.lobpcg.locally_optimal import LocallyOptimal
from ...objective.curvature import CurvatureBound, LanczosBound, TraceBound
from ...preconditioners import Diagonal, Exact, IncompleteCholesky, LowRank, MultiGrid, SquareRoot
from ...run.rules import MaxSeconds, MaxSteps, Residual, Stagnation, _Both, _Either
from ...solvers.cholesky import Cholesky
from ...solvers.conjugate_gradient import ConjugateGradient
from ...solvers.protocol import InnerSolver
from ..solution import Absent
from .guard import UnreadableFile, quoted

# the options objects that a file can hold: their options are numbers, words, and each other
PLAIN: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(Accelerated, GradientDescent, Lanczos, LocallyOptimal, MirrorDescent, Power, SplitMerge),
        *(Cholesky, ConjugateGradient),
        *(Diagonal, Exact, IncompleteCholesky, LowRank, MultiGrid, SquareRoot),
        *(Adaptive, Fixed, Sampled, LanczosBound, TraceBound),
        *(MaxSeconds, MaxSteps, Residual, Stagnation, _Both, _Either),
    )
}
# protocols cannot be asked for by isinstance: what of ours follows them
FOLLOWERS: dict[Any, tuple[type, ...]] = {
    InnerSolver: (Cholesky, ConjugateGradient),
    CurvatureBound: (LanczosBound, TraceBound),
}
# characters that describe what a file cannot hold
MAX_WORDS = 10_000
# deeper than any rule or method that a person writes
MAX_DEPTH = 50


def encoded(value: Any) -> Any:
    """An options object as its name and options, or a note that it was there."""
    try:
        return _plain(value)
    except TypeError:
        return {"absent": value.what if isinstance(value, Absent) else repr(value)[:MAX_WORDS]}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if is_dataclass(value) and PLAIN.get(type(value).__name__) is type(value):
        return {"is": type(value).__name__} | {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    raise TypeError(f"{value!r} is more than numbers and words")


def decoded(said: Any, name: str, kind: type) -> Any:
    """The options object in the header, what stands for one that could not be stored, or None."""
    if said is None:
        return None
    if isinstance(said, dict) and said.keys() == {"absent"} and isinstance(said["absent"], str):
        return Absent(said["absent"])
    value = _object(said, name, 0)
    if not isinstance(value, kind):
        raise UnreadableFile(f"its {name} is a {type(value).__name__}; a {kind.__name__} is needed")
    return value


def _object(said: Any, name: str, depth: int) -> Any:
    """A number or a word as it is, an options object from its name and options."""
    if said is None or isinstance(said, (bool, int, float, str)):
        return said
    if depth > MAX_DEPTH:
        raise UnreadableFile(f"its {name} is nested more than {MAX_DEPTH} deep")
    if not isinstance(said, dict) or not isinstance(said.get("is"), str):
        raise UnreadableFile(f"its {name} is {quoted(repr(said))}, which does not name an options object")
    kind = PLAIN.get(said["is"])
    if kind is None:
        raise UnreadableFile(f"it names {quoted(said['is'])!r}, which this library does not have")
    options = {key: _object(value, key, depth + 1) for key, value in said.items() if key != "is"}
    known = _types(kind)
    for key, value in options.items():
        if key not in known:
            raise UnreadableFile(f"its {kind.__name__} has an option {quoted(key)!r}, which this library does not have")
        _check_type(value, known[key], f"{kind.__name__}({key}=…)")
    try:
        return kind(**options)
    except (ValueError, TypeError) as error:
        raise UnreadableFile(f"its {kind.__name__} cannot be made: {quoted(str(error))}") from error


@cache
def _types(kind: Any) -> dict[str, tuple[Any, ...]]:
    """The types that each option may have."""
    hints = typing.get_type_hints(kind)
    names = [field.name for field in fields(kind) if field.init]
    unions = (typing.Union, types.UnionType)
    return {
        name: typing.get_args(hints[name]) if typing.get_origin(hints[name]) in unions else (hints[name],)
        for name in names
    }


def _check_type(value: Any, wanted: tuple[Any, ...], name: str) -> None:
    if value is None:
        # an option of any type is an array, which no file holds, or None
        fits = type(None) in wanted or Any in wanted
    elif isinstance(value, (bool, str)):
        fits = type(value) in wanted
    elif isinstance(value, (int, float)):
        fits = type(value) in wanted or (float in wanted and isinstance(value, int))
    else:
        kinds = tuple(kind for entry in wanted for kind in FOLLOWERS.get(entry, (entry,)))
        fits = isinstance(value, tuple(kind for kind in kinds if isinstance(kind, type) and kind is not Any))
    if not fits:
        raise UnreadableFile(f"its {name} is {quoted(repr(value))}, which is not of the right type")
