"""A response that is even along a hidden direction, against the first directions of SIR, SAVE and PHD."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from splitmerge.learn import PrincipalHessianDirections, SlicedAverageVariance, SlicedInverseRegression

METHODS = {
    "SIR": SlicedInverseRegression(1),
    "SAVE": SlicedAverageVariance(1),
    "PHD": PrincipalHessianDirections(1),
}


def draw(ink: dict[str, str]) -> dict[str, Figure]:
    """The response against the score that each method found."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 8))
    y = (X[:, 0] + X[:, 1]) ** 2 + 0.3 * rng.standard_normal(1000)
    figure = Figure(figsize=(6.4, 2.6), layout="constrained")
    for axes, (name, method) in zip(figure.subplots(1, 3, sharey=True), METHODS.items(), strict=True):
        axes.scatter(method.fit_transform(X, y), y, s=6, color=ink["power"], alpha=0.6, linewidth=0)
        axes.set(title=name, xlabel="score")
    figure.axes[0].set_ylabel("response y")
    return {"": figure}
