"""Canonical correlations between two descriptions of the same digits: `python examples/learn_cca.py`.

The views are Fourier coefficients and Zernike moments of 2000 handwritten numerals (UCI multiple features), if present
in `$SPLITMERGE_DATA` or `../shared/data`; otherwise two generated views of ten clusters.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from splitmerge.learn import CCA

# Paul Tol's muted, colour-blind safe palette; the markers are the digits themselves.
COLOURS = ["#CC6677", "#332288", "#999933", "#117733", "#44AACC", "#882255", "#44AA99", "#DDAA33", "#AA4499", "#666666"]
HOME = Path(os.environ.get("SPLITMERGE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def views(rng):
    """X, Y, labels, and their names."""
    file = HOME / "stats" / "uci_mfeat.npz"
    if file.is_file():
        with np.load(file) as data:
            return data["fou"], data["zer"], data["y"], ("Fourier coefficients", "Zernike moments")
    y = np.repeat(np.arange(10), 100)
    common = rng.standard_normal((10, 4))[y] + 0.4 * rng.standard_normal((y.size, 4))
    X, Y = (common @ rng.standard_normal((4, p)) + 2 * rng.standard_normal((y.size, p)) for p in (30, 20))
    return X, Y, y, ("generated view 1", "generated view 2")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/learn_cca.png"), help="output figure")
    out = parser.parse_args(argv).out
    X, Y, y, names = views(np.random.default_rng(0))
    k = 8
    cca = CCA(n_components=k).fit(X, Y)
    # fit on one half of the rows, evaluate on the other half
    half = np.random.default_rng(1).permutation(y.size) % 2 == 0
    new = CCA(n_components=k).fit(X[half], Y[half]).transform(X[~half], Y[~half])
    kept = np.array([np.corrcoef(u, v)[0, 1] for u, v in zip(new[0].T, new[1].T, strict=True)])
    print(f"{names[0]} and {names[1]}, {X.shape[0]} rows of {X.shape[1]} + {Y.shape[1]}")
    print(f"canonical correlations: {cca.correlations_.round(5)}")
    print(f"fitted on half of the rows, evaluated on the other half: {kept.round(3)}")
    figure = Figure(figsize=(11, 5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.4, 1))
    U, V = cca.transform(X, Y)
    for digit, colour in enumerate(COLOURS):
        rows = np.flatnonzero(y == digit)[::2]
        left.scatter(U[rows, 0], V[rows, 0], marker=f"${digit}$", color=colour, s=45, linewidth=0.4)
    left.set(xlabel=names[0], ylabel=names[1], title=f"First variates: correlation {cca.correlations_[0]:.3f}")
    left.grid(alpha=0.3)
    places = np.arange(1, k + 1)
    right.bar(places - 0.2, cca.correlations_, 0.4, color="#332288", label="all rows")
    right.bar(places + 0.2, kept, 0.4, color="#DDAA33", label="fitted on half, evaluated on the other half")
    right.set(xlabel="pair of variates", ylabel="correlation", ylim=(0, 1.12), xticks=places)
    right.set_title("Generalisation to new rows")
    right.legend(loc="upper right")
    figure.suptitle(f"Canonical correlations of two views: {names[0]} and {names[1]}")
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=110)
    return {"correlations": cca.correlations_, "kept": kept}


if __name__ == "__main__":
    main()
