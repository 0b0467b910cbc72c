"""
Two hundred thousand unknowns, and a million
============================================

The fundamental mode of a vibrating cube, ``K u = λ M u``, on meshes of growing size. In three dimensions the factors
are much larger than K and M, so that ``preconditioner=sm.MultiGrid()`` asks for LOBPCG with algebraic multigrid:
nothing is factorised, the number of steps hardly depends on the mesh, and time and memory grow in proportion to n.
"""

import matplotlib.pyplot as plt
import numpy as np

import splitmerge as sm

# %%
# Linear elements on tetrahedra. The largest pair has 205,379 unknowns and 15 entries per row in M.

solutions = []
print("       n  steps  seconds          λ   residual  verdict")
for cells in (16, 25, 39, 60):
    K, M = sm.gallery.stencil_cube(cells)
    sol = sm.solve(K, M, k=1, which="smallest", preconditioner=sm.MultiGrid(), rng=0)
    solutions.append(sol)
    row = f"{sol.n:8d} {sol.steps:6d} {sol.seconds.total:8.2f} {sol.eigenvalues[0]:10.6f}"
    print(f"{row}    {sol.residuals[0]:.1e}  {sol.verdict}")

# %%
# Why so many unknowns? Linear elements converge as h², the square of the cell size: ten times the accuracy takes thirty
# times the unknowns. Two meshes and that rate give a much better value (Richardson extrapolation).

sizes = np.array([sol.n for sol in solutions])
values = np.array([sol.eigenvalues[0] for sol in solutions])
seconds = np.array([sol.seconds.total for sol in solutions])
squares = 1 / np.array([39, 60]) ** 2
extrapolated = values[3] - squares[1] * (values[2] - values[3]) / (squares[0] - squares[1])
print(f"exact 3π² = {3 * np.pi**2:.6f}, finest mesh {values[3]:.6f}, extrapolated {extrapolated:.6f}")

# %%
# A million unknowns are ``sm.gallery.stencil_cube(101)`` in the same call: about five times the time and the memory of
# the largest mesh here. ``progress=True`` shows where such a run is, and ``checkpoint="run.ckpt"`` lets it go on after
# a crash.

figure, (top, bottom) = plt.subplots(2, 1, figsize=(4.8, 5.8), sharex=True, layout="constrained")
top.loglog(sizes, values / (3 * np.pi**2) - 1, "o-", color="#0072B2")
top.loglog(sizes, 0.02 * (sizes / sizes[0]) ** (-2 / 3), ":", color="k")
top.text(sizes[1], 0.022 * (sizes[1] / sizes[0]) ** (-2 / 3), "slope of h²", va="bottom")
top.set(ylabel="relative error of λ", title="Discretisation error")
bottom.loglog(sizes, seconds, "o-", color="#0072B2", label="measured")
million = np.array([sizes[-1], 1e6])
bottom.loglog(
    million, seconds[-1] * million / million[0], "--", color="#D55E00", label="extrapolated, proportional to n"
)
bottom.set(xlabel="unknowns n", ylabel="time [s]", title="Time, set-up and verdict included")
bottom.legend()
for ax in (top, bottom):
    ax.grid(alpha=0.3, which="both")
plt.show()
