"""
Chladni figures of a free plate
===============================

Sand on a vibrating plate collects where the plate does not move: along the nodal lines of a mode. The modes solve
``K u = ω² M u``, with the bending stiffness K and the mass M of a Kirchhoff plate, here assembled by scikit-fem.
Nothing holds the plate, so that K is singular: the first three modes are rigid motions of frequency zero.
"""

import matplotlib.pyplot as plt
import numpy as np
from skfem import Basis, BilinearForm, ElementQuadBFS, MeshQuad
from skfem.helpers import dd, ddot, trace

import splitmerge as sm

# %%
# An aluminium plate of 24 cm × 24 cm × 1 mm. Bogner–Fox–Schmit elements have continuous slopes, which the second
# derivatives in the bending energy require.

side, thickness = 0.24, 1e-3  # m
young, poisson, density = 70e9, 0.3, 2700.0  # Pa, –, kg/m³
rigidity = young * thickness**3 / (12 * (1 - poisson**2))


@BilinearForm
def bending(w, v, _):
    return rigidity * ((1 - poisson) * ddot(dd(w), dd(v)) + poisson * trace(dd(w)) * trace(dd(v)))


@BilinearForm
def inertia(w, v, _):
    return density * thickness * w * v


points = np.linspace(0, side, 26)
basis = Basis(MeshQuad.init_tensor(points, points), ElementQuadBFS())
K, M = bending.assemble(basis), inertia.assemble(basis)

# %%
# The twelve smallest eigenvalues. The inertia count behind ``certify=True`` proves that none was passed over, the
# copies of double eigenvalues included.

sol = sm.solve(K, M, k=12, which="smallest", certify=True, rng=0)
frequencies = np.sqrt(np.maximum(sol.eigenvalues, 0)) / (2 * np.pi)
print("frequencies [Hz]:", frequencies.round(2))
print("largest residual:", sol.residuals.max())
print("verdict:", sol.verdict, "–", sol.verdict.why)

# %%
# Leissa's table has ω a² √(ρh/D) = 13.49, 19.79, 24.43, 35.02, 35.02, 61.53 for the first elastic modes of this plate,
# computed in 1973 with few trial functions: upper bounds, which ours should undercut by about a percent.

scaled = 2 * np.pi * frequencies[3:9] * side**2 * np.sqrt(density * thickness / rigidity)
print("ω a² √(ρh/D):", scaled.round(3))

# %%
# The figures of six modes. The modes at a double eigenvalue are not unique: any mixture of the two is a mode as well.

figure, axes = plt.subplots(2, 3, figsize=(4.8, 3.9), layout="constrained")
grid = np.linspace(0, side, 80)
at_grid = basis.probes(np.array(np.meshgrid(grid, grid)).reshape(2, -1))
for ax, mode in zip(axes.flat, (3, 4, 5, 6, 7, 8), strict=True):
    w = (at_grid @ sol.eigenvectors[:, mode]).reshape(grid.size, -1)
    shown = ax.contourf(100 * grid, 100 * grid, w / abs(w).max(), levels=np.linspace(-1, 1, 20), cmap="PuOr_r")
    ax.contour(100 * grid, 100 * grid, w, levels=[0], colors="k", linewidths=2)
    ax.set(title=f"{frequencies[mode]:.1f} Hz", aspect="equal", xticks=(0, 12, 24), yticks=(0, 12, 24))
    ax.label_outer()
axes[1, 1].set(xlabel="x [cm]")
figure.supylabel("y [cm]", fontsize="medium")
figure.colorbar(shown, ax=axes, orientation="horizontal", label="deflection (largest = 1)", ticks=(-1, 0, 1), aspect=40)
plt.show()
