"""
LDA: three wines told apart by two numbers
==========================================

Linear discriminant analysis maximises the variance between classes relative to that within classes. The directions
solve ``A u = λ B u`` with the covariance A of the class means and the covariance B within classes; for c classes only
c − 1 eigenvalues are not zero. The data are 13 chemical measurements of 178 wines from three cultivars.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score

import splitmerge as sm
from splitmerge.learn import LinearDiscriminantAnalysis

wine = load_wine()
X, y = wine.data, wine.target

# %%
# The estimator takes the place of scikit-learn's, in pipelines and in cross-validation.

lda = LinearDiscriminantAnalysis().fit(X, y)
accuracy = cross_val_score(LinearDiscriminantAnalysis(), X, y, cv=5).mean()
print(f"accuracy in 5-fold cross-validation: {accuracy:.1%}")
print("share of the separation:", lda.explained_variance_ratio_.round(3))

# %%
# The pair behind it. The measurements range from 0.1 to 1,700 in their units, and so does diag(B); the solver scales
# the pair by itself.

A, B = sm.gallery.lda_pair(X, y)
sol = sm.solve(A, B, k=2, rng=0)
print("eigenvalues:", sol.eigenvalues.round(4), " share:", (sol.eigenvalues / sol.eigenvalues.sum()).round(3))
print(f"largest residual {sol.residuals.max():.1e}; verdict: {sol.verdict} – {sol.verdict.why}")

# %%
# Every wine in the plane of the two discriminants.

points = lda.transform(X)
figure, ax = plt.subplots(figsize=(4.8, 3.8), layout="constrained")
for name, own, colour, marker in zip("123", range(3), ("#0072B2", "#D55E00", "#009E73"), "o^s", strict=True):
    ax.scatter(*points[y == own].T, c=colour, marker=marker, edgecolor="white", linewidth=0.5, s=40)
    x, top = points[y == own, 0].mean(), points[y == own, 1].max()
    ax.text(x - 0.7, top + 0.4, f"cultivar {name}", ha="center", color=colour, weight="bold")
first, second = lda.explained_variance_ratio_
ax.set(xlabel=f"discriminant 1 ({first:.0%} of the separation)", ylabel=f"discriminant 2 ({second:.0%})", ylim=(-7, 6))
ax.grid(alpha=0.3)
plt.show()

# %%
# What the discriminants measure: their correlations with the original measurements.

correlations = np.array([[np.corrcoef(column, score)[0, 1] for score in points.T] for column in X.T])
order = np.argsort(abs(correlations).max(axis=1))
figure, ax = plt.subplots(figsize=(4.8, 4.6), layout="constrained")
places = np.arange(order.size)
ax.hlines(places, *np.sort(correlations[order], axis=1).T, color="0.8", zorder=0)
for i, (colour, marker) in enumerate([("#0072B2", "o"), ("#D55E00", "D")]):
    ax.plot(correlations[order, i], places, marker, color=colour, markersize=7, label=f"discriminant {i + 1}")
ax.axvline(0, color="k", linewidth=0.8)
names = [name.replace("_", " ").replace("od280/od315 of diluted wines", "OD280/OD315") for name in wine.feature_names]
ax.set(yticks=places, yticklabels=np.array(names)[order], xlim=(-1, 1), xlabel="correlation with the discriminant")
figure.legend(loc="outside upper center", ncols=2)
plt.show()
