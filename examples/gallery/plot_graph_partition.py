"""
Cutting a graph in two
======================

The cheapest cut of a graph into two parts of similar weight is hard to find, but a relaxation is an eigenvalue problem:
``L u = λ D u``, with the Laplacian L and the diagonal D of the degrees. The smallest eigenvalue is 0 and belongs to the
constant vector; the next vector, named after Fiedler, changes its sign where the graph is thin.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from matplotlib.collections import LineCollection
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

import splitmerge as sm

# %%
# A geometric graph: points in two rooms with a door between them, and edges between points that are near to each other.

rng = np.random.default_rng(4)
points = rng.uniform((0, 0), (2, 1), (4000, 2))
wall = (abs(points[:, 0] - 1.2) < 0.07) & (abs(points[:, 1] - 0.35) > 0.12)
points = points[~wall]
edges = KDTree(points).query_pairs(0.045, output_type="ndarray")
n = len(points)
adjacency = sp.coo_array((np.ones(len(edges)), tuple(edges.T)), shape=(n, n))
adjacency = sp.csr_array(adjacency + adjacency.T)
assert connected_components(adjacency)[0] == 1

# %%
# A vector stands for the diagonal matrix B.

degrees = adjacency.sum(axis=0)
L = sp.csr_array(sp.diags_array(degrees) - adjacency)
sol = sm.solve(L, degrees, k=3, which="smallest", rng=0)
print("eigenvalues:", sol.eigenvalues)
print("residuals:", sol.residuals)
print("verdict:", sol.verdict, "–", sol.verdict.why)

# %%
# Cheeger's inequality bounds the conductance of the best cut by λ₂/2 from below. Of all cuts at a threshold of the
# Fiedler vector take the best: the conductance is the number of cut edges over the degrees on the smaller side.

fiedler = sol.eigenvectors[:, 1]
order = np.argsort(fiedler)
place = np.argsort(order)
ends = np.sort(place[edges], axis=1)
crossing = np.cumsum(np.bincount(ends[:, 0], minlength=n) - np.bincount(ends[:, 1], minlength=n))[:-1]
volume = np.cumsum(degrees[order])[:-1]
conductance = crossing / np.minimum(volume, degrees.sum() - volume)
best = np.argmin(conductance)
side = place > best
cut = edges[side[edges[:, 0]] != side[edges[:, 1]]]
print(f"{len(cut)} of {len(edges)} edges cut, parts of {np.sum(~side)} and {np.sum(side)} nodes")
print(f"conductance {conductance[best]:.5f}, lower bound {sol.eigenvalues[1] / 2:.5f}")

figure, (top, bottom) = plt.subplots(2, 1, figsize=(4.8, 5.4), height_ratios=(1.25, 1), layout="constrained")
shown = top.scatter(*points.T, c=fiedler / abs(fiedler).max(), s=5, cmap="PuOr_r", vmin=-1, vmax=1)
top.add_collection(LineCollection(points[cut], colors="k", linewidths=1.2))
top.set(aspect="equal", xlabel="x", ylabel="y", title=f"Fiedler vector, and the {len(cut)} edges of the cut")
figure.colorbar(shown, ax=top, orientation="horizontal", label="entry (largest = ±1)", ticks=(-1, 0, 1), aspect=40)
bottom.semilogy(np.arange(1, n), conductance, color="#0072B2")
bottom.plot(best + 1, conductance[best], "o", color="#D55E00")
bottom.annotate(
    "best cut", (best + 1, conductance[best]), (-10, -4), textcoords="offset points", ha="right", color="#B24A00"
)
bottom.axhline(sol.eigenvalues[1] / 2, color="k", linestyle=":")
bottom.text(n / 4, sol.eigenvalues[1] / 2 * 1.15, "λ₂/2: no cut is better", ha="center", va="bottom")
bottom.set(xlabel="nodes on one side", ylabel="conductance", title="All thresholds of the vector")
bottom.grid(alpha=0.3)
plt.show()
