"""Left- or right-hand movement by common spatial patterns of simulated EEG: `python examples/learn_csp.py`."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.interpolate import RBFInterpolator
from scipy.signal import butter, sosfiltfilt
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from splitmerge.learn import CSP

NAMES = np.array(["left hand", "right hand"])
# Source positions C4 and C3, attenuated by movements of the left and of the right hand.
AREAS = np.array([[0.45, 0.0], [-0.45, 0.0]])
RATE, SAMPLES, TRIALS = 100, 200, 100
# Electrodes: the centre of the head and three rings around it.
ON_RINGS = np.concatenate([0.3 * (i + 1) * np.exp(2j * np.pi * np.arange(4 + 6 * i) / (4 + 6 * i)) for i in range(3)])
PLACES = np.column_stack([np.append(0, ON_RINGS.real), np.append(0, ON_RINGS.imag)])


def trials(rng):
    """Trials × channels × samples, band-pass filtered at 8–13 Hz with average reference, and labels."""
    y = np.arange(TRIALS) % 2
    sources = np.concatenate([AREAS, rng.uniform(-0.8, 0.8, (30, 2))])
    mixing = np.exp(-np.sum((PLACES[:, None] - sources) ** 2, axis=2) / 0.35**2)
    band = butter(4, (8, 13), "bandpass", fs=RATE, output="sos")
    activity = sosfiltfilt(band, rng.standard_normal((TRIALS, len(sources), SAMPLES)))
    activity[np.arange(TRIALS), y] *= 0.3
    X = mixing @ activity + 0.05 * rng.standard_normal((TRIALS, len(PLACES), SAMPLES))
    return X - X.mean(axis=1, keepdims=True), NAMES[y]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/learn_csp.png"), help="output figure")
    out = parser.parse_args(argv).out
    X, y = trials(np.random.default_rng(7))
    csp, classifier = CSP(n_components=2, component_order="alternate").fit(X, y), LinearDiscriminantAnalysis()
    by_csp = cross_val_score(make_pipeline(csp, classifier), X, y, cv=5).mean()
    by_channels = cross_val_score(classifier, np.log(X.var(axis=2)), y, cv=5).mean()
    print(f"the covariance has rank {csp.rank_} of {X.shape[1]}: the average reference removes one dimension")
    print(f"share of the {NAMES[0]} in the power of the filtered signals: {csp.eigenvalues_[:2].round(4)}")
    print(f"accuracy on new trials: {by_csp:.0%} with CSP, {by_channels:.0%} with the power of every channel")
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.6, 1), wspace=0.05)
    maps, features = left.subplots(1, 2), right.subplots()
    for axes, pattern, share in zip(maps, csp.patterns_, csp.eigenvalues_, strict=False):
        shown = scalp(axes, pattern, f"{share:.0%} of its power with the {NAMES[0]}")
    bar = left.colorbar(shown, ax=maps, orientation="horizontal", shrink=0.6, label="pattern (largest = ±1)")
    bar.set_ticks((-1, -0.5, 0, 0.5, 1))
    for name, colour, marker in zip(NAMES, ("#0072B2", "#D55E00"), "o^", strict=True):
        features.scatter(*csp.transform(X[y == name]).T, c=colour, marker=marker, label=name, edgecolor="white")
    features.set(xlabel="log-power of filter 1", ylabel="log-power of filter 2", title="Two features per trial")
    features.legend()
    figure.suptitle("Common spatial patterns of simulated EEG (crosses: true positions of the hand areas)")
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=110)
    return {"rank": csp.rank_, "eigenvalues": csp.eigenvalues_[:2], "by_csp": by_csp, "by_channels": by_channels}


def scalp(axes, pattern, title):
    """Draw a pattern as a topographic map of the head, seen from above."""
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 150)] * 2), axis=-1)
    height = RBFInterpolator(PLACES, pattern)(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    height[np.hypot(*grid.T) > 1] = np.nan
    # between electrodes the interpolant is larger than at any of them; an even number of levels has zero inside a band
    height /= np.nanmax(abs(height))
    shown = axes.contourf(*np.moveaxis(grid, -1, 0), height, levels=np.linspace(-1, 1, 22), cmap="PuOr_r")
    turn = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.append(np.sin(turn), (-0.1, 0, 0.1)), np.append(np.cos(turn), (0.995, 1.12, 0.995)), "k")
    axes.plot(*PLACES.T, "k.", markersize=4)
    axes.plot(*AREAS.T, "kx", markersize=10, markeredgewidth=2.5)
    axes.set(title=title, aspect="equal", xlim=(-1.05, 1.05), ylim=(-1.05, 1.2), xticks=(), yticks=(), frame_on=False)
    return shown


if __name__ == "__main__":
    main()
