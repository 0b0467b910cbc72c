"""
CCA: what two halves of a picture know of each other
====================================================

Canonical correlation analysis finds directions in two sets of measurements whose scores correlate most. It is the pair
``A = [[0, Cxy], [Cyx, 0]]``, ``B = diag(Cxx, Cyy)`` of covariances, with the correlations as eigenvalues. The views
here are the upper and the lower half of 1,797 handwritten digits of 8 × 8 pixels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import splitmerge as sm
from splitmerge.learn import CCA

pixels, digits = load_digits(return_X_y=True)
X, Y = pixels[:, :32], pixels[:, 32:]

# %%
# Some pixels are always blank, so that the covariances are singular; without a ridge they would be left out with a
# warning. The estimator has scikit-learn's conventions; correlations on rows that it has not seen tell what is more
# than chance.

train = np.random.default_rng(0).permutation(len(X)) % 2 == 0
cca = CCA(n_components=6, ridge=1.0, scale=False).fit(X[train], Y[train])
kept = cca.correlations(X[~train], Y[~train])
print("correlations, rows of the fit:", cca.correlations_.round(3))
print("correlations, new rows:       ", kept.round(3))
print(cca.route_)

# %%
# The same pair, solved directly, with residuals and verdict.

A, B = sm.gallery.cca_pair(X[train], Y[train], ridge=1.0)
sol = sm.solve(A, B, k=6, rng=0)
print("eigenvalues:", sol.eigenvalues.round(3))
print(f"largest residual {sol.residuals.max():.1e}; verdict: {sol.verdict} – {sol.verdict.why}")

# %%
# Scores of the new rows, drawn as the digits that they belong to.

colours = ["#CC6677", "#332288", "#999933", "#117733", "#44AACC", "#882255", "#44AA99", "#DDAA33", "#AA4499", "#666666"]
u, v = (scores[:, 0] for scores in cca.transform(X[~train], Y[~train]))
figure, ax = plt.subplots(figsize=(4.8, 4.2), layout="constrained")
for digit, colour in enumerate(colours):
    rows = np.flatnonzero(digits[~train] == digit)[::2]
    ax.scatter(u[rows], v[rows], marker=f"${digit}$", color=colour, s=40, linewidth=0.4)
ax.set(xlabel="first score of the upper half", ylabel="first score of the lower half")
ax.set_title(f"New digits: correlation {kept[0]:.2f}")
ax.grid(alpha=0.3)
plt.show()

# %%
# The patterns behind three pairs of scores: the covariance of each pixel with the score of its half. Each pattern
# continues from one half into the other.

figure, axes = plt.subplots(1, 3, figsize=(4.8, 2.7), layout="constrained")
scores = cca.transform(X, Y)
for i, ax in enumerate(axes):
    halves = [(view - view.mean(axis=0)).T @ score[:, i] for view, score in zip((X, Y), scores, strict=True)]
    pattern = np.concatenate(halves).reshape(8, 8)
    shown = ax.imshow(pattern / abs(pattern).max(), cmap="PuOr_r", vmin=-1, vmax=1)
    ax.axhline(3.5, color="k", linewidth=1.5)
    ax.set(title=f"pair {i + 1}: {kept[i]:.2f}", xticks=(), yticks=())
figure.colorbar(
    shown,
    ax=axes,
    orientation="horizontal",
    label="covariance with the score (largest = ±1)",
    ticks=(-1, 0, 1),
    aspect=40,
)
plt.show()
