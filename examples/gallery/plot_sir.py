"""
SIR: the one direction that a response depends on
=================================================

A response may be a nonlinear function of few directions among many measurements. Sliced inverse regression cuts the
sorted response into slices, and finds the directions along which the means of the slices vary most: ``A u = λ B u``
with the covariance A of the slice means and the covariance B of all rows. It needs no model of the response.
"""

import matplotlib.pyplot as plt
import numpy as np

import splitmerge as sm
from splitmerge.learn import SlicedInverseRegression

# %%
# Twelve correlated measurements, and a response that saturates along one hidden direction.

rng = np.random.default_rng(0)
X = rng.standard_normal((600, 12)) @ (np.eye(12) + 0.4 * rng.standard_normal((12, 12)))
hidden = np.zeros(12)
hidden[[1, 4, 7]] = 1.0, -0.8, 0.5
hidden /= (X @ hidden).std()
y = np.tanh(1.5 * X @ hidden) + 0.1 * rng.standard_normal(600)

sir = SlicedInverseRegression(n_components=2, n_slices=12).fit(X, y)
found = sir.directions_[0] * np.sign(sir.directions_[0] @ hidden)
print("eigenvalues:", sir.eigenvalues_.round(3))
print(f"correlation with the hidden score: {np.corrcoef(X @ hidden, X @ found)[0, 1]:.4f}")

# %%
# The pair behind it, written out. Every eigenvalue is the share of the variance of a score that the slices explain.

slices = np.array_split(np.argsort(y), 12)
means = np.array([X[rows].mean(axis=0) for rows in slices]) - X.mean(axis=0)
A, B = means.T @ means / 12, np.cov(X.T, bias=True)
sol = sm.solve(A, B, k=2, rng=0)
print("solved directly:", sol.eigenvalues.round(3))
print(f"largest residual {sol.residuals.max():.1e}; verdict: {sol.verdict} – {sol.verdict.why}")

# %%
# The first principal component, which knows nothing of the response, and the direction that was found.

principal = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][0]
figure, axes = plt.subplots(2, 1, figsize=(4.8, 5.6), sharey=True, layout="constrained")
for ax, direction, title in zip(
    axes, (principal, found), ("First principal component", "First direction of SIR"), strict=True
):
    score = (X - X.mean(axis=0)) @ direction
    ax.scatter(score / score.std(), y, s=12, color="#0072B2", alpha=0.6, linewidth=0)
    ax.set(ylabel="response y", title=title)
    ax.grid(alpha=0.3)
axes[1].set(xlabel="score [standard deviations]")
plt.show()

# %%
# The coefficients, each for one standard deviation of its measurement.

figure, ax = plt.subplots(figsize=(4.8, 3.2), layout="constrained")
places = np.arange(1, 13)
ax.bar(places - 0.2, hidden * X.std(axis=0), 0.4, color="#999999", label="hidden")
ax.bar(places + 0.2, found / (X @ found).std() * X.std(axis=0), 0.4, color="#D55E00", label="found")
ax.axhline(0, color="k", linewidth=0.8)
ax.set(xlabel="measurement", ylabel="coefficient", xticks=places, title="One standard deviation of each measurement")
ax.legend()
plt.show()
