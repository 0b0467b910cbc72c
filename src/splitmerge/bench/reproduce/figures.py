"""The paper's figures, drawn with Matplotlib and saved as PNG and SVG with provenance metadata."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..cases import Case
from ..summary import Stat
from .lapla import CHOLESKY, COLOURS, PCG, SIDES, label

# The colours of the page (report.css) on white; each method has the same one in all figures and on the page.
PALETTE = ("#004f93", "#c43c00", "#008a60", "#8f2f73", "#3a99da", "#c08500", "#1f2328", "#8a8f98")


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def save(figure: Any, path: Path, provenance: Mapping[str, Any]) -> None:
    """Save the figure as PNG and SVG."""
    about = json.dumps(provenance, default=str)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path.with_suffix(".png"), dpi=150, metadata={"Description": about})
    figure.savefig(path.with_suffix(".svg"), metadata={"Description": about, "Date": None})
    _pyplot().close(figure)


def drawn(figure: Any) -> str:
    """The figure as SVG."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    _pyplot().close(figure)
    return text.getvalue()


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


def points(summaries: Mapping[str, Mapping[str, Stat]]) -> Any:
    """Figure 2: products with A, and mean ± standard deviation of the time, with Cholesky and with PCG."""
    plt = _pyplot()
    count = len(summaries)
    figure, axes = plt.subplots(count, 2, figsize=(11, 3.4 * count), layout="constrained", squeeze=False, sharey=True)
    for (left, right), (name, stats) in zip(axes, summaries.items(), strict=True):
        for place, (method, kinds) in enumerate(SIDES.items()):
            for inner in kinds:
                stat = stats.get(label(method, inner))
                if stat is not None and stat.successes:
                    ink = PALETTE[COLOURS[method]]
                    look = {"color": ink, "markerfacecolor": "white" if inner == PCG else ink, "markersize": 8}
                    left.plot(stat.A_products, place, "o", **look)
                    # limit the error bar, which must not reach zero on a logarithmic axis
                    low = 1e3 * min(stat.deviation, 0.9 * stat.seconds)
                    spread = [[low], [1e3 * stat.deviation]]
                    right.errorbar(1e3 * stat.seconds, place, xerr=spread, fmt="o", capsize=3, **look)
        left.set_yticks(range(len(SIDES)), list(SIDES))
        left.invert_yaxis()
        left.set(title=f"{name}: filled {CHOLESKY}, hollow {PCG}", xlabel="products with A")
        right.set(xlabel="milliseconds of iteration, mean ± standard deviation")
        for axis in (left, right):
            axis.set_xscale("log")
            axis.grid(alpha=0.3)
            axis.set_axisbelow(True)
    return figure


def convergence(curves: Mapping[str, Mapping[str, Sequence[float]]], name: str) -> Any:
    """Figure 3: sin θ against time, for the whole run and its beginning; the legend is beside the curves."""
    plt = _pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.6), layout="constrained", sharey=True)
    ends = [curve["seconds"][-1] for side, curve in curves.items() if side.endswith(PCG)]
    for axis in (left, right):
        for side, curve in curves.items():
            method, _, inner = side.partition(", ")
            style = "--" if inner == PCG else "-"
            ink = PALETTE[COLOURS[method]]
            axis.semilogy(1e3 * np.array(curve["seconds"]), curve["sine"], style, color=ink, label=side, linewidth=1.6)
        axis.axhline(1e-5, color="grey", linewidth=0.8)
        axis.grid(alpha=0.3)
        axis.set_xlabel("milliseconds of iteration")
    left.set(ylabel="sin θ", title=f"{name}: solid {CHOLESKY}, dashed {PCG}")
    right.set(xlim=(0, 1.15e3 * float(np.median(ends))), title="the beginning")
    figure.legend(*right.get_legend_handles_labels(), loc="outside right upper", fontsize="small")
    return figure
