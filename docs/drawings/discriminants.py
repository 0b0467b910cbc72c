"""Wines of three cultivars: the two directions of largest variance beside the two discriminative directions."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA

from splitmerge.learn import LinearDiscriminantAnalysis


def draw(ink: dict[str, str]) -> dict[str, Figure]:
    """The scores of both."""
    X, y = load_wine(return_X_y=True)
    scores = {
        "principal components": PCA(2).fit_transform((X - X.mean(axis=0)) / X.std(axis=0)),
        "discriminative directions": LinearDiscriminantAnalysis().fit(X, y).transform(X),
    }
    figure = Figure(figsize=(6.4, 2.9), layout="constrained")
    for axes, (name, Z) in zip(figure.subplots(1, 2), scores.items(), strict=True):
        for label, colour in zip(np.unique(y), ("power", "gradient", "default"), strict=True):
            axes.scatter(*Z[y == label].T, s=9, color=ink[colour], linewidth=0, label=f"cultivar {label}")
        axes.set(title=name, xlabel="first score", ylabel="second score")
    figure.axes[1].legend(fontsize="small")
    return {"": figure}
