"""
A drum, and modes that come in pairs
====================================

The modes of a circular membrane solve ``K u = λ M u``; their eigenvalues are squares of zeros of Bessel functions. All
modes that depend on the angle are double: a pattern and the same pattern turned. Krylov methods that start from one
vector can return one of the two and miss the other with perfect residuals, which is why a solution has a verdict.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import jn_zeros
from skfem import Basis, ElementTriP2, MeshTri2, condense
from skfem.models.poisson import laplace, mass

import splitmerge as sm

# %%
# Quadratic elements on triangles with curved edges, on the unit disc with a fixed rim.

basis = Basis(MeshTri2.init_circle(4), ElementTriP2())
K, M, _, inside = condense(laplace.assemble(basis), mass.assemble(basis), D=basis.get_dofs())
sol = sm.solve(K, M, k=12, which="smallest", certify=True, rng=0)

# %%
# ``verdict`` tells whether these are the 12 smallest, with all copies; ``verdict.why`` tells how that is known. Values
# that cannot be told apart within their error bounds have the same number in ``clusters``.

print(sol.summary())
print("verdict:", sol.verdict, "–", sol.verdict.why)
print("clusters:", sol.clusters)

exact = sorted(
    (zero**2, m, n + 1) for m in range(6) for n, zero in enumerate(jn_zeros(m, 3)) for _ in range(1 + (m > 0))
)
print("  m n     computed        exact")
for value, (reference, m, n) in zip(sol.eigenvalues, exact, strict=False):
    print(f"  {m} {n} {value:12.6f} {reference:12.6f}")

# %%
# A mesh is not a disc. This one looks the same after a quarter turn, so that pairs of odd m remain double to the last
# digit and share a cluster, while those of even m are split in the sixth digit. Both copies are there in either case.
# ``sol.plot("spectrum")`` gives every cluster a colour.

labels = [(m, n) for _, m, n in exact[:12]]
figure, ax = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
sol.plot("spectrum", ax=ax)
for i, (label, value) in enumerate(zip(labels, sol.eigenvalues, strict=True)):
    if i == labels.index(label):
        ax.annotate("{}, {}".format(*label), (i + 1, value), (0, 7), textcoords="offset points", ha="center")
ax.set(title="Twelve modes m, n of a drum", ylim=(0, 66))
plt.show()

# %%
# Both copies of four double modes, one above the other. The solver returns an M-orthonormal basis of each eigenspace.

figure, axes = plt.subplots(2, 4, figsize=(4.8, 3.3), layout="constrained")
figure.suptitle("Both copies of four modes", fontsize="medium")
corners = basis.mesh.p[:, : basis.mesh.nvertices]
u = np.zeros((basis.N, sol.eigenvalues.size))
u[inside] = sol.eigenvectors
for column, first in zip(axes.T, (1, 3, 6, 8), strict=True):
    for ax, mode in zip(column, (first, first + 1), strict=True):
        height = u[basis.nodal_dofs[0], mode]
        shown = ax.tricontourf(*corners, height / abs(height).max(), levels=np.linspace(-1, 1, 20), cmap="PuOr_r")
        ax.set(aspect="equal", xticks=(), yticks=(), frame_on=False)
    column[0].set_title("m, n = {}, {}".format(*labels[first]), fontsize="medium")
figure.colorbar(shown, ax=axes, orientation="horizontal", label="deflection (largest = 1)", ticks=(-1, 0, 1), aspect=40)
plt.show()
