"""The competing methods that the paper names, on five of its cells, a chain with known spectrum, and user files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..cases import Case, from_files, mikota, synthetic
from ..contest import Challenge, Entry, contest, table
from ..jobs import Job
from ..report import Block, Text

CELLS = ((256, 3), (256, 10), (256, 100), (512, 5), (512, 50))
SOURCES: tuple[tuple[Any, ...], ...] = (*(("synthetic", *cell) for cell in CELLS), ("mikota", 100))
MAX_SECONDS_PER_METHOD = 30.0


def jobs(files: Sequence[tuple[Any, ...]], settings: Mapping[str, Any]) -> list[Job]:
    """One job per pair."""
    return [
        Job(f"rivals-{place}", run_contest, (source, settings["seed"]), {**settings, "source": list(source)}, 4.0)
        for place, source in enumerate((*SOURCES, *files))
    ]


def _case(source: tuple[Any, ...], seed: int) -> Case:
    kind, *rest = source
    build: dict[str, Callable[..., Case]] = {"synthetic": synthetic, "mikota": mikota, "files": from_files}
    return build[kind](*rest, seed)


def run_contest(source: tuple[Any, ...], seed: int) -> dict[str, Any]:
    """Run all methods on one pair, for the largest eigenvalue."""
    case = _case(source, seed)
    task = Challenge(case.A, case.B, seed=seed, max_seconds=MAX_SECONDS_PER_METHOD)
    entries = [entry.to_dict() for entry in contest(task)]
    return {"case": case.name, "n": case.n, "pair": case.made, "seed": seed, "entries": entries}


def blocks(contests: Sequence[Mapping[str, Any]]) -> list[Block]:
    """One table per pair."""
    text = Text(
        (
            "The leading eigenpair to a relative residual of 1e-8, each method from a random start of the same seed, "
            f"within {MAX_SECONDS_PER_METHOD:.0f} s. The competing methods are implemented from their publications "
            "and run in the same driver, which counts their products. External solvers run at the loosest tolerance "
            "that reaches the residual. Factorisations are not counted: Rayleigh quotient iteration and Newton's "
            "method compute one for every change of the shift.",
        )
    )
    tables = [
        table(
            [entry_of(entry) for entry in found["entries"]],
            f"{found['case']}: {found['pair']}",
            f"rivals-{found['case']}",
        )
        for found in contests
    ]
    return [text, *tables]


def entry_of(kept: Mapping[str, Any]) -> Entry:
    """The entry from its saved form, where JSON has None for NaN."""
    numbers: dict[str, Any] = {name: float("nan") if value is None else value for name, value in kept.items()}
    return Entry(**numbers)
