"""
CSP: filters that hear which hand moves
=======================================

When a hand moves, a rhythm over the opposite side of the head fades. Common spatial patterns finds the channel weights
w with the most different power in two conditions: ``C₁ w = λ (C₁ + C₂) w``. λ is the share of the first condition in
the power of the filtered signal, and both ends of the spectrum are wanted.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import splitmerge as sm
from splitmerge.learn import CSP

# %%
# Sixteen electrodes on the line from ear to ear, 120 simulated trials. Each electrode sees all sources within some
# centimetres; those at −5 cm and 5 cm fade with the right and with the left hand.

rng = np.random.default_rng(3)
electrodes = np.linspace(-9, 9, 16)  # cm
sources = np.array([-5.0, 5.0, *rng.uniform(-9, 9, 12)])
mixing = np.exp(-((electrodes[:, None] - sources) ** 2) / (2 * 2.5**2))
hand = np.arange(120) % 2
activity = rng.standard_normal((120, sources.size, 150))
activity[hand == 1, 0] *= 0.4
activity[hand == 0, 1] *= 0.4
X = mixing @ activity + 0.1 * rng.standard_normal((120, 16, 150))
y = np.array(["left hand", "right hand"])[hand]

# %%
# The estimator, and how well its two features classify new trials, beside the power of all sixteen channels.

csp = CSP(n_components=2, component_order="alternate").fit(X, y)
classifier = LinearDiscriminantAnalysis()
by_csp = cross_val_score(make_pipeline(csp, classifier), X, y, cv=5).mean()
by_power = cross_val_score(classifier, np.log(X.var(axis=2)), y, cv=5).mean()
print(f"accuracy on new trials: {by_csp:.0%} with two filters, {by_power:.0%} with the power of all channels")

# %%
# The pair behind it: the covariances of the channels in all samples of either condition. ``which="both_ends"`` asks for
# the largest and the smallest eigenvalues at once.

moments = X @ X.transpose(0, 2, 1)
C1, C2 = moments[hand == 0].sum(axis=0), moments[hand == 1].sum(axis=0)
sol = sm.solve(C1, C1 + C2, k=2, which="both_ends", rng=0)
print("eigenvalues:", sol.eigenvalues.round(4), " estimator:", csp.eigenvalues_[:2].round(4))
print(f"largest residual {sol.residuals.max():.1e}; verdict: {sol.verdict} – {sol.verdict.why}")

# %%
# A pattern shows how the source behind a filter reaches the electrodes. Each trial becomes a point of two features.

figure, (top, bottom) = plt.subplots(2, 1, figsize=(4.8, 6.2), layout="constrained")
styles = [("#0072B2", "o-", "filter 1"), ("#D55E00", "^--", "filter 2")]
for pattern, share, (colour, style, name) in zip(csp.patterns_, csp.eigenvalues_, styles, strict=False):
    pattern = pattern / pattern[np.argmax(abs(pattern))]
    top.plot(electrodes, pattern, style, color=colour, label=f"{name}: {share:.0%} with the left hand")
top.vlines(sources[:2], 0, 1.15, color="k", linestyle=":")
top.text(0, 0.55, "dotted:\ntrue\nsources", ha="center")
top.set(xlabel="position, left to right ear [cm]", ylabel="pattern (largest = 1)", ylim=(None, 1.65))
top.legend(loc="upper center")
for name, colour, marker in zip(("left hand", "right hand"), ("#009E73", "#CC79A7"), "os", strict=True):
    bottom.scatter(*csp.transform(X[y == name]).T, c=colour, marker=marker, edgecolor="white", label=name, s=40)
bottom.set(xlabel="log-power of filter 1", ylabel="log-power of filter 2")
bottom.legend()
for ax in (top, bottom):
    ax.grid(alpha=0.3)
plt.show()
