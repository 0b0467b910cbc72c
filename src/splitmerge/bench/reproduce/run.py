"""Entry point: `reproduce("all", out)` runs the missing measurements and writes tables, figures and the report."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ... import gallery
from ...checks import whole
from ...system.atomic_file import write_text
from ...system.packages import missing
from ..jobs import Job, Store, carry_out, finite
from ..measure import Trial
from ..provenance import provenance
from ..report import Report, Table, table_as_csv, write
from ..report.csv_file import TRACE_COLUMNS, rows_as_csv, trace
from . import claims, contests, lapla, table1, theory
from .paper import TRIALS
from .results import QUICK_STARTS, Results
from .sections import facts, sections, summary, title

TARGETS = ("table1", "figure1", "figure2", "figure3", "rivals", "claims", "all")


@dataclass(frozen=True)
class Outcome:
    """The measurements, the report with the judged claims, and the files written."""

    results: Results
    report: Report
    files: tuple[Path, ...]

    def to_dict(self) -> dict[str, Any]:
        """The outcome as a dictionary for JSON."""
        judged = [(claim, claim.judged(self.results)) for claim in claims.CLAIMS]
        cells = [
            {"n": n, "kappa_B": kappa, **{name: asdict(stat) for name, stat in stats.items()}}
            for (n, kappa), stats in self.results.cells.items()
        ]
        pairs = {name: {side: asdict(stat) for side, stat in own.items()} for name, own in self.results.pairs.items()}
        found = {
            "provenance": dict(self.report.provenance),
            "claims": [
                {"claim": claim.statement, "place": claim.place, **asdict(word), "beside": claim.beside(self.results)}
                for claim, word in judged
            ],
            "table1": cells,
            "clustered": pairs,
            "factors": dict(self.results.factors),
            "theory": dict(self.results.theory),
            "rivals": list(self.results.contests),
        }
        return dict(finite(found))


def reproduce(
    target: str,
    out: str | os.PathLike[str],
    *,
    trials: int = TRIALS,
    quick: bool = False,
    seed: int = 0,
    processes: int | None = None,
    threads: int = 1,
    sizes: Sequence[int] = gallery.SIZES,
    pairs: Sequence[tuple[str, str]] = (),
    command: str | None = None,
    tell: Callable[[str], None] | None = None,
) -> Outcome:
    """Run the measurements of `target` (one of `TARGETS`) that are not yet in the folder `out`, and write the results.

    `trials` is the number of starts, 100 as in the paper; `quick` uses two. `sizes` selects the n of table 1. `pairs`
    are files of A and B that replace the gallery's clustered pairs. The jobs run in `processes` processes (None: one
    per core) with `threads` BLAS threads each. Without a terminal, `tell` is called with a line for every part.
    """
    _check_request(target, sizes)
    trials = QUICK_STARTS if quick else whole(trials, "trials", 1)
    sources: Sequence[tuple[Any, ...]] = [("files", *pair) for pair in pairs] or lapla.SOURCES
    _check_dependencies(target, sources)
    for source in sources:
        if source[0] == "files":
            lapla.case_of(source, seed)  # report an unreadable file now instead of in a worker
    folder = Path(out)
    origin = {**provenance(command, seed), "threads": threads, "processes": processes or os.cpu_count() or 1}
    settings = {"seed": whole(seed, "seed", 0), "threads": whole(threads, "threads", 1)}
    settings["splitmerge"] = origin["splitmerge"]
    parts = carry_out(
        _jobs(target, sources, trials, sizes, settings),
        Store(folder / "parts"),
        origin,
        processes=whole(origin["processes"], "processes", 1),
        threads=threads,
        title=f"reproduce {target}",
        tell=tell,
    )
    results = Results.of(parts)
    report = Report(
        title(target),
        summary(results),
        tuple(sections(target, results, sources, seed, folder, origin)),
        {**origin, "parts": _origins(parts)},
        facts(results, trials, {**origin, "date": measured(parts, origin)}),
    )
    return Outcome(results, report, _write(Outcome(results, report, ()), parts, folder, origin))


def _check_request(target: str, sizes: Sequence[int]) -> None:
    """Raise an error for an unknown target or size."""
    if target not in TARGETS:
        raise ValueError(f"target is {target!r}; give one of {', '.join(TARGETS)}")
    if not sizes or not set(sizes) <= set(gallery.SIZES):
        raise ValueError(f"sizes are {list(sizes)}; give some of {', '.join(map(str, gallery.SIZES))}")


def _check_dependencies(target: str, sources: Sequence[tuple[Any, ...]]) -> None:
    """Raise an error for missing dependencies before the measurements start."""
    needed = {"matplotlib": target in ("figure1", "figure2", "figure3", "all")}
    needed["skfem"] = target not in ("table1", "rivals") and any(source[0] == "lapla" for source in sources)
    absent = [name for name, wanted in needed.items() if wanted and find_spec(name) is None]
    if absent:
        raise ValueError(missing(target, *absent))


def _jobs(
    target: str,
    sources: Sequence[tuple[Any, ...]],
    trials: int,
    sizes: Sequence[int],
    settings: Mapping[str, Any],
) -> list[Job]:
    everything = target in ("claims", "all")
    jobs: list[Job] = []
    if everything or target == "table1":
        jobs += table1.jobs(trials, settings, sizes)
    if everything or target in ("figure2", "figure3"):
        wanted = {"figure2": ("figure2", "factors"), "figure3": ("figure3",)}.get(target, ("figure", "factors"))
        jobs += [job for job in lapla.jobs(sources, trials, settings) if job.key.startswith(wanted)]
    if everything:
        jobs.append(Job("theory", theory.run_theory, (settings["seed"],), settings, 0.5))
    if target in ("rivals", "all"):
        jobs += contests.jobs([source for source in sources if source[0] == "files"], settings)
    return jobs


def measured(parts: Sequence[Mapping[str, Any]], origin: Mapping[str, Any]) -> str:
    """When the parts were measured, which may have been before this run, or in several."""
    dates = sorted({str(part["provenance"]["date"]) for part in parts}) or [str(origin["date"])]
    return dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"


def _origins(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The runs that the saved jobs come from; several if a run was resumed."""
    runs: dict[str, int] = {}
    for part in parts:
        origin = part["provenance"]
        processes = origin.get("processes", 1)
        name = f"{origin.get('date', '')}, {processes} process{'es' * (processes != 1)}: {origin.get('command', '')}"
        runs[name] = runs.get(name, 0) + 1
    return {f"run {number}": f"{count} parts, {name}" for number, (name, count) in enumerate(runs.items(), 1)}


def _write(
    outcome: Outcome, parts: Sequence[Mapping[str, Any]], folder: Path, origin: Mapping[str, Any]
) -> tuple[Path, ...]:
    """Write the report, its tables and all trials as CSV, and all results as JSON."""
    files = {"results.json": json.dumps(outcome.to_dict(), indent=1)}
    tables = [block for section in outcome.report.sections for block in section.blocks if isinstance(block, Table)]
    files |= {f"{table.name}.csv": table_as_csv(table, origin) for table in tables if table.name}
    trials = _every_trial(parts)
    if trials:
        files["trials.csv"] = trials
    for name, text in files.items():
        write_text(folder / name, text)
    write(outcome.report, folder / "report.html")
    drawn = sorted(path for path in folder.glob("figure?.*") if path.suffix in (".png", ".svg"))
    return (folder / "report.html", *(folder / name for name in files), *drawn)


def _every_trial(parts: Sequence[Mapping[str, Any]]) -> str:
    """All trials as CSV, one line per start and method."""
    names = list(Trial.__dataclass_fields__)
    rows = [
        [
            part["key"],
            part["data"]["pair"],
            *(trial[name] for name in names),
            *trace({**part["provenance"], **part["data"]}),
        ]
        for part in parts
        for trial in part["data"].get("trials", ())
    ]
    return rows_as_csv(["part", "pair", *names, *TRACE_COLUMNS], rows) if rows else ""
