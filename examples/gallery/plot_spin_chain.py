"""
Ground state of a Heisenberg spin ring
======================================

N spins ½ on a ring, each coupled to its neighbours: ``H = Σ Sᵢ·Sᵢ₊₁``. The matrix grows as 2ᴺ but has at most N + 1
entries in a row, and its factors would be full, so that the smallest eigenvalues are found by products with H alone.
Bethe's exact solution says that the energy per spin tends to ¼ − ln 2.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import splitmerge as sm

# %%
# States are bit patterns. The total spin is conserved, so that patterns with N/2 bits set are enough.


def heisenberg(spins):
    """The matrix of the ring, restricted to the states with as many spins up as down."""
    states = np.arange(1 << spins)
    states = states[np.bitwise_count(states) == spins // 2]
    diagonal, rows, columns = np.zeros(states.size), [], []
    for i in range(spins):
        bits = (1 << i) | (1 << (i + 1) % spins)
        opposite = np.bitwise_count(states & bits) == 1
        diagonal += np.where(opposite, -0.25, 0.25)
        rows.append(np.flatnonzero(opposite))
        columns.append(np.searchsorted(states, states[opposite] ^ bits))
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    flips = sp.coo_array((np.full(rows.size, 0.5), (rows, columns)), shape=(states.size,) * 2)
    return sp.csr_array(flips + sp.diags_array(diagonal))


# %%
# Two levels of rings of growing size, and what they cost.

sizes = np.arange(4, 19, 2)
solutions = [sm.solve(heisenberg(spins), k=2, which="smallest", rng=0) for spins in sizes]
print("  N      n  products   E₀/N         gap        residual  verdict")
for spins, sol in zip(sizes, solutions, strict=True):
    ground, gap = sol.eigenvalues[0], np.ptp(sol.eigenvalues)
    row = f"{spins:3d} {sol.n:6d} {sol.counts.A_products:9d}   {ground / spins:.8f}  {gap:.6f}"
    print(f"{row}  {sol.residuals.max():.1e}   {sol.verdict}")
print(solutions[-1].explain())

# %%
# How the residuals of the largest ring fell; the circles are those that were recomputed at the end.

figure, ax = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
solutions[-1].plot(ax=ax)
plt.show()

# %%
# The energy per spin approaches Bethe's value as 1/N²; the gap closes as 1/N.

levels = np.array([sol.eigenvalues for sol in solutions])
bethe = 0.25 - np.log(2)
figure, (top, bottom) = plt.subplots(2, 1, figsize=(4.8, 5.6), layout="constrained")
top.plot(1 / sizes**2, levels[:, 0] / sizes, "o-", color="#0072B2")
top.plot(0, bethe, "*", color="#D55E00", markersize=14, clip_on=False, zorder=3)
top.annotate("¼ − ln 2 (Bethe, N → ∞)", (0, bethe), (60, 0), textcoords="offset points", color="#B24A00", va="center")
top.set(xlabel="1/N²", ylabel="E₀/N, units of the coupling", title="Ground state energy per spin", ylim=(None, -0.437))
bottom.plot(1 / sizes, levels[:, 1] - levels[:, 0], "s-", color="#0072B2")
bottom.set(xlabel="1/N", ylabel="gap, units of the coupling", xlim=(0, None), ylim=(0, None))
bottom.set_title("Gap to the first excited state")
for ax in (top, bottom):
    ax.grid(alpha=0.3)
plt.show()
