"""Handwritten digits of 64 pixels, projected to the plane of best class separation: `python examples/learn_lda.py`."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from splitmerge.learn import LinearDiscriminantAnalysis

# Paul Tol's muted, colour-blind safe palette; the markers are the digits themselves.
COLOURS = ["#CC6677", "#332288", "#999933", "#117733", "#44AACC", "#882255", "#44AA99", "#DDAA33", "#AA4499", "#666666"]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/learn_lda.png"), help="output figure")
    out = parser.parse_args(argv).out
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    # some pixels are constant, so that the within-class covariance is singular without shrinkage
    lda = LinearDiscriminantAnalysis(shrinkage="auto").fit(train, y_train)
    score = lda.score(test, y_test)
    scores = np.array([[np.mean(lda.predict(test[y_test == i]) == j) for j in range(10)] for i in range(10)])
    worst = np.unravel_index(np.argmax(scores - np.eye(10)), scores.shape)
    share = lda.explained_variance_ratio_
    print(
        f"accuracy {score:.1%} on {y_test.size} new digits; the first two of nine discriminants explain "
        f"{share[:2].sum():.0%} of the separation"
    )
    print(f"most frequent confusion: {worst[0]} as {worst[1]}, {scores[worst]:.0%}")
    figure = Figure(figsize=(12, 5.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.5, 1))
    axes = left.subplots()
    points = lda.transform(test)
    for digit, colour in enumerate(COLOURS):
        own = points[y_test == digit]
        axes.scatter(own[:, 0], own[:, 1], marker=f"${digit}$", color=colour, s=45, linewidth=0.4)
    axes.set(xlabel=f"discriminant 1 ({share[0]:.0%} of the separation)", ylabel=f"discriminant 2 ({share[1]:.0%})")
    axes.set_title(f"New digits, classified with an accuracy of {score:.1%}")
    # weight of each pixel in a discriminant, scaled by the standard deviation of the pixel
    images = (lda.transform(np.eye(64)) - lda.transform(np.zeros((1, 64)))) * train.std(axis=0)[:, None]
    for i, axes in enumerate(right.subplots(2, 2).flat):
        size = abs(images[:, i]).max()
        shown = axes.imshow(images[:, i].reshape(8, 8) / size, cmap="PuOr_r", vmin=-1, vmax=1)
        axes.set(title=f"discriminant {i + 1}", xticks=(), yticks=())
    right.colorbar(shown, ax=right.axes, shrink=0.7, label="weight of a pixel (largest = ±1)", ticks=(-1, 0, 1))
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=110)
    return {"score": score, "share": share, "worst": worst}


if __name__ == "__main__":
    main()
