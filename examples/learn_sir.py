"""Sliced inverse regression of lean body mass on eight measurements: `python examples/learn_sir.py`.

The data are 202 athletes of the Australian Institute of Sport, if present in `$SPLITMERGE_DATA` or `../shared/data`;
otherwise generated data of the same shape.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from splitmerge.learn import SlicedInverseRegression

HOME = Path(os.environ.get("SPLITMERGE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
NAMES = ["skin folds", "weight", "hemoglobin", "height", "white cells", "red cells", "hematocrit", "ferritin"]
BLUE, ORANGE = "#0072B2", "#D55E00"


def athletes(rng):
    """Logarithms of eight measurements, and the lean body mass in kg."""
    file = HOME / "stats" / "sliced_athletes.csv"
    if file.is_file():
        table = np.loadtxt(file, delimiter=",", skiprows=1)
        return table[:, :8], table[:, 8], "202 athletes"
    X = 0.3 * rng.standard_normal((202, 8)) @ (np.eye(8) + 0.3 * rng.standard_normal((8, 8)))
    return X, 60 * np.exp(X[:, 1] - 0.2 * X[:, 0]) + rng.standard_normal(202), "generated rows"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/learn_sir.png"), help="output figure")
    out = parser.parse_args(argv).out
    X, y, what = athletes(np.random.default_rng(0))
    sir = SlicedInverseRegression(n_components=2).fit(X, y)
    first = sir.transform(X)[:, 0]
    # orient the direction towards larger mass; effects are per standard deviation of each measurement
    sign = np.sign(np.corrcoef(first, y)[0, 1])
    effects = sign * (sir.transform(np.eye(8)) - sir.transform(np.zeros((1, 8))))[:, 0] * X.std(axis=0)
    first = sign * (first - first.mean()) / first.std()
    effects /= np.abs(effects).max()
    curve = np.polynomial.Polynomial.fit(first, y, 3)
    explained = 1 - np.var(y - curve(first)) / np.var(y)
    print(f"{what}: eigenvalues {sir.eigenvalues_.round(4)}")
    print(f"a cubic of the first direction explains {explained:.2%} of the variance of the mass")
    print("\n".join(f"  {name:12s}{effect:+.3f}" for name, effect in zip(NAMES, effects, strict=True)))
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.3, 1))
    left.scatter(first, y, s=22, color=BLUE, edgecolor="white", linewidth=0.5, label=what)
    grid = np.linspace(first.min(), first.max(), 200)
    left.plot(grid, curve(grid), color=ORANGE, linewidth=2, label=f"cubic, {explained:.1%} of the variance")
    left.set(xlabel="first direction (standardised)", ylabel="lean body mass [kg]", title="One direction suffices")
    left.legend()
    left.grid(alpha=0.3)
    order = np.argsort(np.abs(effects))
    colours = [BLUE if effect > 0 else ORANGE for effect in effects[order]]
    right.barh(np.array(NAMES)[order], effects[order], color=colours)
    right.axvline(0, color="k", linewidth=0.8)
    right.set(xlabel="effect of one standard deviation (largest = 1)", xlim=(-1.1, 1.1), xticks=(-1, -0.5, 0, 0.5, 1))
    right.set_title("Weights of the measurements")
    figure.suptitle(f"Sliced inverse regression of lean body mass, {what}")
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=110)
    return {"eigenvalues": sir.eigenvalues_, "explained": explained, "effects": effects}


if __name__ == "__main__":
    main()
