"""What a ridge does to canonical correlations: of the rows of the fit, and of rows that the fit has not seen."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import splitmerge as sm
from splitmerge.learn import CCA


def draw(ink: dict[str, str]) -> dict[str, Figure]:
    """The correlation of the first pair of scores against the ridge, for 80 rows of 40 + 30 columns."""
    X, Y = sm.gallery.two_views(2000, 40, 30, [0.9], rng=0)
    seen, new = slice(0, 80), slice(80, None)
    ridges = np.logspace(-3, 2, 40)
    fits = [CCA(n_components=1, ridge=ridge).fit(X[seen], Y[seen]) for ridge in ridges]
    figure = Figure(figsize=(6.4, 3.0), layout="constrained")
    axes = figure.subplots()
    for label, rows, colour in (("80 rows of the fit", seen, "power"), ("1920 new rows", new, "default")):
        axes.semilogx(ridges, [cca.correlations(X[rows], Y[rows])[0] for cca in fits], color=ink[colour], label=label)
    axes.axhline(0.9, color=ink["faint"], linestyle="--", linewidth=1)
    axes.text(ridges[0], 0.89, "of the population", color=ink["text"], fontsize=8, verticalalignment="top")
    axes.set(xlabel="ridge", ylabel="correlation of the first scores", ylim=(0, 1.02))
    axes.legend(fontsize=9)
    return {"": figure}
