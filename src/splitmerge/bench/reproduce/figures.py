"""The paper's figures, drawn with Matplotlib and saved as PNG and SVG with provenance metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..cases import Case
from ..summary import Stat
from .lapla import CHOLESKY, PCG, SIDES, label

# Colour-blind safe palette (Okabe and Ito); each method has the same colour in all figures.
COLOURS = {
    "GD": "#999999",
    "Power": "#0072B2",
    "PMD": "#E69F00",
    "PMD adaptive": "#D55E00",
    "Lanczos": "#009E73",
    "Lanczos reorthogonalised": "#56B4E9",
    "Split-Merge": "#CC79A7",
}


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def save(figure: Any, path: Path, provenance: Mapping[str, Any]) -> str:
    """Save the figure as PNG and SVG, and return the SVG."""
    about = json.dumps(provenance, default=str)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path.with_suffix(".png"), dpi=150, metadata={"Description": about})
    figure.savefig(path.with_suffix(".svg"), metadata={"Description": about, "Date": None})
    _pyplot().close(figure)
    return path.with_suffix(".svg").read_text(encoding="utf-8")


def patterns(cases: Sequence[Case]) -> Any:
    """Figure 1: the sparsity patterns of A and B."""
    plt = _pyplot()
    figure, axes = plt.subplots(
        1, 2 * len(cases), figsize=(3.2 * 2 * len(cases), 3.6), layout="constrained", squeeze=False
    )
    for place, case in enumerate(cases):
        for offset, (letter, matrix) in enumerate((("A", case.A), ("B", case.B))):
            axis = axes[0, 2 * place + offset]
            pattern = _density(matrix)
            axis.imshow(pattern, cmap="Blues", vmin=0, extent=(0, case.n, case.n, 0), interpolation="nearest")
            axis.set_title(f"{case.name}, {letter}", fontsize="medium")
            axis.set_xlabel(f"n = {case.n:,}, nnz = {sp.csr_array(matrix).nnz:,}")
    return figure


def _density(matrix: Any, bins: int = 200) -> Any:
    """The logarithmic number of nonzeros in each of bins × bins boxes; individual markers would overlap."""
    entries = sp.coo_array(matrix)
    counts, _, _ = np.histogram2d(entries.row, entries.col, bins=bins, range=[[0, matrix.shape[0]]] * 2)
    return np.log1p(counts)


def bars(summaries: Mapping[str, Mapping[str, Stat]]) -> Any:
    """Figure 2: mean ± standard deviation of the time with Cholesky and with PCG, on a logarithmic scale."""
    plt = _pyplot()
    count = len(summaries)
    figure, axes = plt.subplots(1, count, figsize=(6.4 * count, 4.4), layout="constrained", squeeze=False)
    for axis, (name, stats) in zip(axes[0], summaries.items(), strict=True):
        for place, (method, kinds) in enumerate(SIDES.items()):
            for side, inner in enumerate(kinds):
                stat = stats.get(label(method, inner))
                if stat is None or not stat.successes:
                    continue
                x = place + (0.0 if len(kinds) == 1 else 0.4 * side - 0.2)
                # limit the error bar, which must not reach zero on a logarithmic axis
                low = min(stat.deviation, 0.9 * stat.seconds)
                axis.bar(
                    x,
                    stat.seconds,
                    0.38,
                    yerr=[[low], [stat.deviation]],
                    color=COLOURS[method],
                    hatch="//" if inner == PCG else None,
                    edgecolor="white",
                    capsize=3,
                )
        axis.set_yscale("log")
        axis.set_xticks(range(len(SIDES)), [method.replace(" ", "\n") for method in SIDES], fontsize="small")
        axis.set(title=f"{name}: plain bars {CHOLESKY}, hatched {PCG}", ylabel="seconds of iteration, mean ± std")
        axis.grid(axis="y", alpha=0.3)
        axis.set_axisbelow(True)
    return figure


def convergence(curves: Mapping[str, Mapping[str, Sequence[float]]], name: str) -> Any:
    """Figure 3: sin θ against time, for the whole run and its beginning."""
    plt = _pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", sharey=True)
    ends = [curve["seconds"][-1] for side, curve in curves.items() if side.endswith(PCG)]
    for axis in (left, right):
        for side, curve in curves.items():
            method, _, inner = side.partition(", ")
            style = "--" if inner == PCG else "-"
            axis.semilogy(curve["seconds"], curve["sine"], style, color=COLOURS[method], label=side, linewidth=1.6)
        axis.axhline(1e-5, color="grey", linewidth=0.8)
        axis.grid(alpha=0.3)
        axis.set_xlabel("seconds of iteration")
    left.set(ylabel="sin θ", title=f"{name}: solid {CHOLESKY}, dashed {PCG}")
    right.set(xlim=(0, 1.15 * float(np.median(ends))), title="the beginning")
    right.legend(fontsize="x-small")
    return figure
