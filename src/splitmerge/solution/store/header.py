"""The JSON header of a saved solution, every entry of which is checked for its type and its range."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from typing import Any

from ...methods.protocol import Method
from ...preconditioners import Preconditioner
from ...problem.b_policy import POLICIES, BReport
from ...problem.problem import ALIASES, WHICH
from ...problem.products import Counts, Tally
from ...run.reason import Reason
from ...run.rules import Rule
from ...verification.verdict import Verdict
from ..solution import Seconds
from .guard import UnreadableFile, foreign, quoted
from .options import decoded
from .parts import FORMAT, OPTIONS, VERSION, WORDS

VERDICTS = ("certified", "probed", "unchecked")
KINDS: dict[str, type] = {"method": Method, "stop": Rule, "preconditioner": Preconditioner}
ENTRIES = {
    *("format", "version", "converged", "steps", "shift", "story", "reason", "verdict", "counts", "seconds"),
    *("method", "b_report", "problem"),
}


def parsed(text: bytes) -> dict[str, Any]:
    """The entries of the header of a solution."""
    return named(text, FORMAT, VERSION, ENTRIES)


def named(text: bytes, form: str, version: int, names: Collection[str]) -> dict[str, Any]:
    """The entries of a header, of this format and version, none missing and none too many."""
    with foreign("its header is not JSON"):
        said = json.loads(text)
    if not isinstance(said, dict) or said.get("format") != form:
        raise UnreadableFile(f"it is not a {form.rpartition(' ')[2]} of splitmerge")
    if "version" not in said:
        raise UnreadableFile("it has no 'version'")
    if not is_whole(said["version"]) or said["version"] != version:
        shown = quoted(repr(said["version"]))
        raise UnreadableFile(f"it is of version {shown}, and this library reads version {version}; solve again")
    return entries_of(said, names, "header")


def is_whole(value: Any, least: int = 0) -> bool:
    """Is it a whole number of at least `least`? A bool is none; what an int64 cannot hold is refused as well."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63


def is_real(value: Any) -> bool:
    """Is it a finite number?"""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < 2**63
    return isinstance(value, float) and math.isfinite(value)


def facts(said: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `Solution` that the header holds, except the problem."""
    reason = checked(said, "reason", lambda name: isinstance(name, str) and name in Reason.__members__)
    story = checked(said, "story", lambda lines: isinstance(lines, list) and all(isinstance(x, str) for x in lines))
    return {
        "converged": checked(said, "converged", lambda value: isinstance(value, bool)),
        "reason": Reason[reason],
        "steps": checked(said, "steps", is_whole),
        "counts": counts_of(said["counts"]),
        "seconds": Seconds(**_numbers(said["seconds"], Seconds, "seconds", lambda x: is_real(x) and x >= 0)),
        "verdict": _verdict(said["verdict"]),
        "shift": float(checked(said, "shift", is_real)),
        "method": decoded(said["method"], "method", Method),
        "b_report": None if said["b_report"] is None else _b_report(said["b_report"]),
        "told": tuple(story),
    }


def question(said: Any, n: int) -> dict[str, Any]:
    """The fields of a `Problem` that the header holds, except A and B."""
    # a file of an earlier version has neither preconditioner nor interval
    said = {"preconditioner": None, "interval": None, **said} if isinstance(said, dict) else said
    said = entries_of(said, {"A", "B", *WORDS, *OPTIONS}, "problem")
    interval = checked(said, "interval", lambda ends: ends is None or _is_interval(ends))
    checked(said, "k", lambda k: is_whole(k, 1 if interval is None else 0) and k <= n)
    checked(said, "which", lambda which: _is_word(which, (*WHICH, *ALIASES)))
    checked(said, "sigma", lambda sigma: sigma is None or is_real(sigma))
    checked(said, "tol", lambda tol: is_real(tol) and tol > 0)
    checked(said, "max_steps", lambda steps: steps is None or is_whole(steps, 1))
    checked(said, "b_policy", lambda policy: _is_word(policy, POLICIES))
    checked(said, "certify", lambda certify: isinstance(certify, bool))
    options = {name: decoded(said[name], name, KINDS[name]) for name in OPTIONS}
    words = {name: said[name] for name in WORDS}
    return words | {"interval": None if interval is None else (float(interval[0]), float(interval[1]))} | options


def _is_interval(ends: Any) -> bool:
    """Are these two real numbers, possibly infinite?"""
    return isinstance(ends, list) and len(ends) == 2 and all(is_real(end) or abs(end) == math.inf for end in ends)


def _is_word(value: Any, words: Collection[str]) -> bool:
    return isinstance(value, str) and value in words


def checked(said: Mapping[str, Any], name: str, fits: Callable[[Any], bool]) -> Any:
    """The entry of that name, if it fits."""
    value = said[name]
    if not fits(value):
        raise UnreadableFile(f"its {name} is {quoted(repr(value))}, which is of a wrong type or out of range")
    return value


def entries_of(said: Any, names: Collection[str], what: str) -> dict[str, Any]:
    """The entries, if they are exactly those of these names."""
    if not isinstance(said, dict):
        raise UnreadableFile(f"its {what} is {quoted(repr(said))}; named entries are needed")
    for name in sorted(names):
        if name not in said:
            raise UnreadableFile(f"it has no {name!r} in its {what}")
    for name in said:
        if name not in names:
            raise UnreadableFile(f"it has an unknown entry {quoted(name)!r} in its {what}")
    return said


def _numbers(said: Any, kind: Any, what: str, fits: Callable[[Any], bool]) -> dict[str, Any]:
    said = entries_of(said, [field.name for field in fields(kind)], what)
    return {name: checked(said, name, fits) for name in said}


def counts_of(said: Any) -> Counts:
    """The counts, all of them whole numbers."""
    said = entries_of(said, [field.name for field in fields(Counts)], "counts")
    phases: dict[str, Any] = {
        name: Tally(**_numbers(said[name], Tally, f"counts of {name}", is_whole)) for name in ("setup", "monitoring")
    }
    own = {name: value for name, value in said.items() if name not in phases}
    return Counts(**_numbers(own, Tally, "counts", is_whole), **phases)


def _verdict(said: Any) -> Verdict:
    if not (isinstance(said, list) and len(said) == 2 and _is_word(said[0], VERDICTS) and isinstance(said[1], str)):
        raise UnreadableFile(
            f"its verdict is {quoted(repr(said))}; one of {', '.join(VERDICTS)} with a reason is needed"
        )
    return Verdict(*said)


def _b_report(said: Any) -> BReport:
    said = entries_of(said, [field.name for field in fields(BReport)], "b_report")
    checked(said, "policy", lambda policy: _is_word(policy, POLICIES))
    checked(said, "ridge", lambda ridge: is_real(ridge) and ridge >= 0)
    checked(said, "rank", is_whole)
    checked(said, "dropped", is_whole)
    return BReport(**said)
