"""
Buckling of a column
====================

A slender column under a growing axial load P stays straight until it bends sideways. With the bending stiffness K and
the geometric stiffness G of a unit load, the critical loads solve ``K u = P G u``, and the smallest one limits what the
column can carry. Euler's four cases differ only in how the ends are held.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import splitmerge as sm

# %%
# Cubic beam elements, with deflection and slope at each node. Their matrices are known in closed form.

length, bending = 3.0, 210e9 * 1.71e-6  # m; Young's modulus × second moment of area of a small I-beam, N m²
elements = 60
h = length / elements
k = (
    bending
    / h**3
    * np.array(
        [
            [12, 6 * h, -12, 6 * h],
            [6 * h, 4 * h**2, -6 * h, 2 * h**2],
            [-12, -6 * h, 12, -6 * h],
            [6 * h, 2 * h**2, -6 * h, 4 * h**2],
        ]
    )
)
g = (
    1
    / (30 * h)
    * np.array(
        [
            [36, 3 * h, -36, 3 * h],
            [3 * h, 4 * h**2, -3 * h, -(h**2)],
            [-36, -3 * h, 36, -3 * h],
            [3 * h, -(h**2), -3 * h, 4 * h**2],
        ]
    )
)


def assembled(block):
    """The sum of the blocks of all elements; element i has the unknowns 2i to 2i + 3."""
    places = 2 * np.arange(elements)[:, None] + np.arange(4)
    rows, columns = np.repeat(places, 4, axis=1), np.tile(places, 4)
    return sp.coo_array((np.tile(block.ravel(), elements), (rows.ravel(), columns.ravel()))).tocsr()


K, G = assembled(k), assembled(g)

# %%
# The ends are held by removing unknowns: 0 and 1 are deflection and slope at the foot, −2 and −1 those at the head.
# Each pair is solved for three critical loads, and the first is compared with Euler's formula π²EI/(βL)².

cases = {
    "clamped,\nfree": ([0, 1], 2),
    "pinned,\npinned": ([0, -2], 1),
    "clamped,\npinned": ([0, 1, -2], 0.699156),
    "clamped,\nclamped": ([0, 1, -2, -1], 0.5),
}
found = {}
for name, (held, beta) in cases.items():
    free = np.delete(np.arange(K.shape[0]), held)
    sol = sm.solve(K[free][:, free], G[free][:, free], k=3, which="smallest", rng=0)
    shapes = np.zeros((K.shape[0], 3))
    shapes[free] = sol.eigenvectors
    found[name] = sol.eigenvalues, shapes[::2]
    euler = np.pi**2 * bending / (beta * length) ** 2
    print(
        f"{name.replace(chr(10), ' '):16s} {sol.eigenvalues[0] / 1e3:8.2f} kN, Euler {euler / 1e3:8.2f} kN, "
        f"residual {sol.residuals.max():.1e}, {sol.verdict}"
    )

# %%
# The shapes of the three lowest modes. Mode 1 decides; the others appear only if supports in between suppress it.

figure, axes = plt.subplots(1, 4, figsize=(4.8, 4.6), sharey=True, layout="constrained")
height = np.linspace(0, length, elements + 1)
styles = [("#0072B2", "-", 2.5), ("#D55E00", "--", 1.5), ("#009E73", ":", 1.8)]
for ax, (name, (loads, shapes)) in zip(axes, found.items(), strict=True):
    for mode, (colour, style, width) in enumerate(styles):
        shape = shapes[:, mode] / abs(shapes[:, mode]).max()
        ax.plot(shape, height, style, color=colour, linewidth=width, label=f"mode {mode + 1}")
    ax.axvline(0, color="0.7", linewidth=0.8, zorder=0)
    ax.set(title=name, xlabel=f"{loads[0] / 1e3:.0f} kN", xticks=(), xlim=(-1.3, 1.3))
axes[0].set(ylabel="height [m]")
figure.supxlabel("deflection (no scale); load at which mode 1 buckles", fontsize="medium")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
plt.show()
