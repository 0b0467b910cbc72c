"""The header of a checkpoint: what was asked for and what it had cost so far; built and parsed without any file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...problem.adapt import shape_of
from ...problem.problem import Problem
from ...problem.start import Spent
from ..solution import Absent
from ..store.guard import UnreadableFile, foreign, quoted
from ..store.header import checked, counts_of, is_real, is_whole, named, question
from ..store.writing import options_of
from .layout import DTYPES, Layout

FORMAT = "splitmerge checkpoint"
VERSION = 1
ENTRIES = (
    *("format", "version", "n", "columns", "dtype", "problem", "steps", "counts", "seconds", "shift", "trusted"),
    "generator",
)
GENERATORS: dict[str, Any] = {"PCG64": np.random.PCG64, "PCG64DXSM": np.random.PCG64DXSM}


@dataclass(frozen=True)
class Header:
    """What a checkpoint says beside its vectors; `problem` has no matrices, but says what they were.

    `spent` is what the interrupted solve and those before it had cost. `generator` is the state of the random numbers.
    `shift` and `trusted` are those of a `Warm` start.
    """

    n: int
    columns: int
    dtype: str
    problem: Problem
    spent: Spent
    shift: float
    trusted: bool
    generator: dict[str, Any]

    def layout(self, head_bytes: int) -> Layout:
        """Where the vectors are behind a head of this many bytes."""
        return Layout(head_bytes, self.n, self.columns, np.dtype(self.dtype))

    def said(self) -> dict[str, Any]:
        """The entries, ready for JSON."""
        spent = self.spent
        return {
            "format": FORMAT,
            "version": VERSION,
            "n": self.n,
            "columns": self.columns,
            "dtype": self.dtype,
            "problem": options_of(self.problem)
            | {name: _described(getattr(self.problem, name)) for name in ("A", "B")},
            "steps": spent.steps,
            "counts": asdict(spent.counts),
            "seconds": spent.seconds,
            "shift": self.shift,
            "trusted": self.trusted,
            "generator": self.generator,
        }


def parsed(text: bytes) -> Header:
    """The header, every entry of which is checked for its type and its range."""
    said = named(text, FORMAT, VERSION, ENTRIES)
    n = checked(said, "n", lambda n: is_whole(n, 1))
    columns = checked(said, "columns", lambda columns: is_whole(columns, 1))
    asked = question(said["problem"], n)
    A, B = (_absent(said["problem"][name], name) for name in ("A", "B"))
    if A is None:
        raise UnreadableFile("its problem has no A")
    seconds = float(checked(said, "seconds", lambda seconds: is_real(seconds) and seconds >= 0))
    spent = Spent(checked(said, "steps", is_whole), counts_of(said["counts"]), seconds)
    header = Header(
        n,
        columns,
        checked(said, "dtype", lambda dtype: isinstance(dtype, str) and dtype in DTYPES),
        Problem(A, B, **asked),
        spent,
        float(checked(said, "shift", is_real)),
        checked(said, "trusted", lambda trusted: isinstance(trusted, bool)),
        checked(said, "generator", lambda state: isinstance(state, dict)),
    )
    restored(header.generator)
    return header


def restored(state: Any) -> np.random.Generator:
    """The generator in this state."""
    with foreign("the state of its random numbers is damaged"):
        bits = GENERATORS[state["bit_generator"]]()
        bits.state = state
        return np.random.Generator(bits)


def _described(M: Any) -> dict[str, str] | None:
    """What stands for a matrix, whose entries are not in the file; None for the identity."""
    if M is None or isinstance(M, Absent):
        return None if M is None else {"absent": M.what}
    return {"absent": f"a {type(M).__name__} of shape {shape_of(M)}"}


def _absent(said: Any, name: str) -> Absent | None:
    if said is None:
        return None
    if not (isinstance(said, dict) and said.keys() == {"absent"} and isinstance(said["absent"], str)):
        raise UnreadableFile(f"its {name} is {quoted(repr(said))}, which does not describe a matrix")
    return Absent(said["absent"])
