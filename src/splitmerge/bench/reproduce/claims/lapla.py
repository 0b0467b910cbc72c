"""The paper's claims about the clustered pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...summary import Stat, milliseconds
from ..lapla import CHOLESKY, PCG, label
from ..paper import LAPLA_SIZES, PCG_GAINS
from ..results import Results
from ..table1 import RANKED
from .judgement import Claim, Judgement, by_share

# A gain counts as reproduced if it is at least the paper's divided by this ratio.
MATCHING_GAIN_RATIO = 1.5


def _settings(results: Results) -> Iterator[tuple[str, str, dict[str, Stat]]]:
    """For each pair and inner solver, the statistics of the paper's five methods; GD uses no inner solver."""
    for name, stats in results.pairs.items():
        for inner in (CHOLESKY, PCG):
            sides = {method: stats.get(label(method, inner)) or stats.get(method) for method in RANKED}
            yield name, inner, {method: stat for method, stat in sides.items() if stat is not None}


def _best_on_clustered(results: Results) -> Judgement:
    figures, winners = [], []
    for name, inner, sides in _settings(results):
        best = min(sides, key=lambda method: sides[method].seconds)
        winners.append(best)
        figures.append(
            f"{name}, {inner}: {best} {milliseconds(sides[best].seconds)} ms, Split-Merge "
            f"{milliseconds(sides['Split-Merge'].seconds)} ms"
        )
    good = winners.count("Split-Merge")
    return Judgement(
        by_share(good, len(winners)) if good else "not reproduced",
        "; ".join(figures),
        "Lanczos needs a fraction of the products, even without reorthogonalisation" if "Lanczos" in winners else "",
    )


def _gain_from_pcg(results: Results) -> Judgement:
    figures, gains, reached = [], [], []
    for name, stats in results.pairs.items():
        factor, cg = stats[label("Split-Merge", CHOLESKY)], stats[label("Split-Merge", PCG)]
        gains.append(factor.seconds / cg.seconds)
        size = results.factors.get(name, {}).get("n")
        paper = next((PCG_GAINS[which] for which, sizes in LAPLA_SIZES.items() if sizes[0] == size), None)
        reached.append(gains[-1] >= (paper or max(PCG_GAINS.values())) / MATCHING_GAIN_RATIO)
        text = f"{name}: {gains[-1]:.2f} times as fast by iteration, {factor.whole / cg.whole:.2f} with the set-up"
        figures.append(text if paper is None else f"{text} (paper: {paper:g})")
    return Judgement(
        "reproduced" if all(reached) else "partly" if max(gains) > 1 else "not reproduced",
        "; ".join(figures),
        _why_no_gain(results.factors),
    )


def _why_no_gain(factors: Mapping[str, Mapping[str, Any]]) -> str:
    solves = [
        f"{name}: {times[CHOLESKY]:.1f} ms by the sparse factor, {times[PCG]:.1f} ms by {PCG} from zero"
        + (f", {times['full']:.0f} ms by a dense Cholesky factor" if times.get("full") else "")
        for name, times in factors.items()
    ]
    return (
        "a sparse Cholesky factor with a fill-reducing ordering solves faster than PCG; the paper's gain would "
        f"need a dense or nearly dense factor. One solve takes: {'; '.join(solves)}"
    )


def _spread(results: Results) -> Judgement:
    figures, widest = [], []
    for name, inner, sides in _settings(results):
        spread = {method: stat.deviation / stat.seconds for method, stat in sides.items() if stat.successes > 1}
        if not spread:
            continue
        widest.append(max(spread, key=spread.__getitem__))
        figures.append(
            f"{name}, {inner}: {widest[-1]} {spread[widest[-1]]:.0%}, Lanczos {spread.get('Lanczos', np.nan):.0%}"
        )
    if not widest:
        return Judgement("not measured")
    good = widest.count("Lanczos")
    starts = min(stat.count for stats in results.pairs.values() for stat in stats.values())
    return Judgement(
        by_share(good, len(widest)) if good else "not reproduced",
        f"standard deviation over mean of {starts} starts, the widest and Lanczos: {'; '.join(figures)}",
        "Lanczos has the shortest runs, so that other load on the machine affects it most" if good else "",
    )


def _lanczos_flattens(results: Results) -> Judgement:
    figures, failed = [], []
    for name, inner, sides in _settings(results):
        share = sides["Lanczos"].share
        failed.append(share < 1)
        curves = results.curves.get(name, {}).get("curves", {})
        least = f", sin θ decreases to {min(curves[label('Lanczos', inner)]['sine']):.0e}" if curves else ""
        figures.append(f"{name}, {inner}: {share:.0%} of the starts converge{least}")
    return Judgement(
        by_share(sum(failed), len(failed)) if any(failed) else "not reproduced",
        "; ".join(figures),
        "inexact solves invalidate the recurrence" if any(failed) else "plain Lanczos reaches the tolerance",
    )


CLAIMS = (
    Claim("On the clustered pairs Split-Merge beats all others.", "5.2, figure 2", "pairs", _best_on_clustered),
    Claim("PCG makes Split-Merge 17 and 11 times as fast as Cholesky.", "5.2, figure 2", "pairs", _gain_from_pcg),
    Claim("Lanczos has the widest spread of times.", "5.2, figure 2", "pairs", _spread),
    Claim("The curve of Lanczos flattens before it has converged.", "5.2, figure 3", "pairs", _lanczos_flattens),
)
