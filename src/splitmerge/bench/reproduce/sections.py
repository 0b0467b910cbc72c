"""The report of a reproduction: its head, its sections, and the figures that are drawn for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..measure import SINE_TOLERANCE
from ..report import Block, Picture, Plot, Section, Series, Text
from . import claims, contests, figures, lapla, table1
from .paper import ARXIV, AUTHORS, TITLE, TRIALS
from .results import Results


def title(target: str) -> str:
    """The title of the report of a target."""
    return "Split-Merge revisited, reproduced" if target == "all" else f"Split-Merge revisited, reproduced: {target}"


def summary(results: Results) -> tuple[str, ...]:
    """What the report shows, and how many claims were judged how."""
    words = [claim.judged(results).word for claim in claims.CLAIMS]
    counted = [f"{words.count(word)} {word}" for word in dict.fromkeys(words) if word != "not measured"]
    lines = ["The evaluation of “Split-Merge Revisited” (X. Liu and Y. Xia), reproduced next to the paper's numbers."]
    if counted:
        lines.append(f"Of {len(words) - words.count('not measured')} claims: {', '.join(counted)}.")
    if results.quick:
        lines.append("This is a quick run: its times are examples, and it supports no verdict on times or on shares.")
    return tuple(lines)


def facts(results: Results, trials: int, origin: Mapping[str, Any]) -> dict[str, str]:
    """The head of the report: the paper, the number of starts, the machine and the date."""
    quick = ", a quick run" if results.quick else ""
    machine = f"{origin['processor']}, {origin['cores']} cores, {origin['platform']}"
    processes, threads = origin["processes"], origin["threads"]
    return {
        "Paper": f"{AUTHORS}: {TITLE}, {ARXIV}",
        "Starts": f"{trials} per problem{quick}; the paper has {TRIALS}",
        "Machine": machine,
        "Run by": f"{processes} process{'es' * (processes != 1)} of {threads} BLAS thread{'s' * (threads != 1)}, "
        f"{origin['blas']}; the paper used MATLAB R2021b on an i7-12700H",
        "Date": str(origin["date"]),
        "Version": f"splitmerge {origin['splitmerge']}, NumPy {origin['numpy']}, SciPy {origin['scipy']}",
    }


def sections(
    target: str,
    results: Results,
    sources: Sequence[tuple[Any, ...]],
    seed: int,
    folder: Path,
    origin: Mapping[str, Any],
) -> list[Section]:
    """The sections of the report for `target`; also draws and saves the figures."""
    found = []
    judged = claims.table(results, every=target in ("claims", "all"))
    if judged.rows:
        found.append(Section("Claims", (judged,)))
    if results.cells:
        found.append(Section("Table 1: synthetic pairs", tuple(table1.blocks(results.cells))))
    if target in ("figure1", "all"):
        found.append(Section("Figure 1: sparsity", tuple(_sparsity(sources, seed, folder, origin))))
    if results.pairs and target in ("figure2", "all"):
        figures.save(figures.points(results.pairs), folder / "figure2", origin)
        blocks: list[Block] = [dots for name, stats in results.pairs.items() for dots in lapla.points(name, stats)]
        found.append(Section("Figure 2: Cholesky against PCG", (*blocks, lapla.table(results.pairs))))
    if results.curves and target in ("figure3", "all"):
        last = list(results.curves)[-1]
        figures.save(figures.convergence(results.curves[last]["curves"], last), folder / "figure3", origin)
        found.append(Section("Figure 3: convergence", tuple(_convergence(results))))
    if results.contests:
        found.append(Section("Rivals", tuple(contests.blocks(results.contests))))
    return found


def _sparsity(sources: Sequence[tuple[Any, ...]], seed: int, folder: Path, origin: Mapping[str, Any]) -> list[Block]:
    """A picture per pair, which stays readable on a narrow screen, and one file for all."""
    cases = [lapla.case_of(source, seed) for source in sources]
    figures.save(figures.patterns(cases), folder / "figure1", origin)
    blocks: list[Block] = []
    for case in cases:
        caption = f"{case.name}: sparsity of A and B; the stronger the colour, the more nonzeros"
        size = f"n = {case.n:,}, {case.A.nnz:,} and {case.B.nnz:,} nonzeros"
        blocks.append(Picture(caption, figures.drawn(figures.patterns([case])), size))
    sizes = "; ".join(f"{case.name}: n = {case.n:,}, {case.A.nnz:,} and {case.B.nnz:,} nonzeros" for case in cases)
    return [*blocks, Text((sizes + ".",))]


def _convergence(results: Results) -> list[Block]:
    """For each pair sin θ against products with A, which no machine changes, and against time."""
    blocks: list[Block] = []
    for name, data in results.curves.items():
        # results of an older run know the seconds only
        counted = all("A_products" in curve for curve in data["curves"].values())
        axes = [("A_products", "products with A", 1.0)] * counted + [("seconds", "milliseconds", 1e3)]
        for key, unit, factor in axes:
            series = tuple(
                Series(
                    side,
                    factor * np.array(curve[key]),
                    np.array(curve["sine"]),
                    dashed=side.endswith(lapla.PCG),
                    colour=lapla.COLOURS[side.partition(",")[0]],
                )
                for side, curve in data["curves"].items()
            )
            caption = f"{name}: sin θ against {unit}, from one start; {lapla.PCG} dashed"
            blocks.append(Plot(caption, unit, "sin θ", series, log_x=True, line=SINE_TOLERANCE))
    return blocks
