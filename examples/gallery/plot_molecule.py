"""
Orbitals of a ring of six hydrogen atoms
========================================

The Roothaan equations of Hartree–Fock theory are ``F C = S C ε``: F is the Fock matrix, S the overlap of the atomic
orbitals, which are not orthogonal to each other. F depends on the occupied orbitals, so that the pair is solved again
and again until nothing changes. With s-type Gaussians (STO-3G) all integrals have closed forms that fit on a page.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import erf

import splitmerge as sm

# %%
# Six protons on a circle, neighbours 1.8 bohr apart. Each carries a contraction of three Gaussians exp(−α|r − R|²).

exponents = np.array([3.42525091, 0.62391373, 0.16885540])
coefficients = np.array([0.15432897, 0.53532814, 0.44463454]) * (2 * exponents / np.pi) ** 0.75
angles = np.pi / 3 * np.arange(6)
atoms = 1.8 * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])  # bohr


def boys(t):
    """∫ exp(−t x²) dx over [0, 1]."""
    safe = np.maximum(t, 1e-12)
    return np.where(t < 1e-12, 1.0, 0.5 * np.sqrt(np.pi / safe) * erf(np.sqrt(safe)))


def integrals(atoms):
    """Overlap, kinetic energy + attraction by the nuclei, repulsion (ij|kl) and repulsion of the nuclei."""
    n = len(atoms)
    alpha, centre = np.tile(exponents, n), np.repeat(atoms, 3, axis=0)
    contraction = np.kron(np.eye(n), coefficients[:, None])
    total = alpha[:, None] + alpha
    reduced = alpha[:, None] * alpha / total
    distance2 = ((centre[:, None] - centre) ** 2).sum(axis=2)
    middle = (alpha[:, None, None] * centre[:, None] + alpha[:, None] * centre) / total[..., None]
    overlap = (np.pi / total) ** 1.5 * np.exp(-reduced * distance2)
    kinetic = reduced * (3 - 2 * reduced * distance2) * overlap
    to_nuclei = ((middle[:, :, None] - atoms) ** 2).sum(axis=3)
    attraction = -2 * np.sqrt(total / np.pi) * overlap * boys(total[..., None] * to_nuclei).sum(axis=2)
    p, q = total.reshape(-1, 1), total.reshape(1, -1)
    between = ((middle.reshape(-1, 1, 3) - middle.reshape(1, -1, 3)) ** 2).sum(axis=2)
    repulsion = 2 * np.sqrt(p * q / (np.pi * (p + q))) * boys(p * q / (p + q) * between)
    repulsion *= overlap.reshape(-1, 1) * overlap.reshape(1, -1)
    pairs = np.kron(contraction, contraction)
    two = (pairs.T @ repulsion @ pairs).reshape(n, n, n, n)
    apart = np.sqrt(((atoms[:, None] - atoms) ** 2).sum(axis=2))[np.triu_indices(n, 1)]
    S, H = (contraction.T @ matrix @ contraction for matrix in (overlap, kinetic + attraction))
    return S, H, two, (1 / apart).sum()


# %%
# The self-consistent field: solve for the occupied orbitals, build the density and the next Fock matrix.


def hartree_fock(atoms, steps=50):
    """Total energy [hartree], Fock matrix, overlap matrix and the number of steps."""
    S, H, two, nuclei = integrals(atoms)
    F, energy = H, np.inf
    for step in range(1, steps + 1):
        C = sm.solve(F, S, k=len(atoms) // 2, which="smallest", rng=0).eigenvectors
        density = 2 * C @ C.T
        F = H + np.einsum("ijkl,kl->ij", two, density) - 0.5 * np.einsum("ikjl,kl->ij", two, density)
        last, energy = energy, 0.5 * np.sum(density * (H + F)) + nuclei
        if abs(last - energy) < 1e-10:
            return energy, F, S, step
    raise RuntimeError(f"not self-consistent after {steps} steps")


energy, F, S, steps = hartree_fock(atoms)
sol = sm.solve(F, S, k=6, which="smallest", rng=0)
print(f"H₆: {energy:.6f} hartree after {steps} steps")
print("orbital energies [hartree]:", sol.eigenvalues.round(5))
print(f"largest residual {sol.residuals.max():.1e}; verdict: {sol.verdict} – {sol.verdict.why}")

# %%
# The symmetry of the ring determines its occupied orbitals, so that the second Fock matrix is the last. A chain of six
# atoms takes more steps. The energy of H₂ is known from Szabo and Ostlund's book: −1.1167 hartree.

chain = hartree_fock(1.8 * np.arange(6)[:, None] * np.eye(1, 3))
molecule = hartree_fock(1.4 * np.arange(2)[:, None] * np.eye(1, 3))
print(f"chain of six: {chain[0]:.6f} hartree after {chain[3]} steps")
print(f"H₂ at 1.4 bohr: {molecule[0]:.4f} hartree")

# %%
# The levels show the pattern of aromatic rings: one, two, two, one. ``clusters`` numbers the levels, and equal numbers
# belong to one eigenvalue.

print("clusters:", sol.clusters)
figure, ax = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
for i, value in enumerate(sol.eigenvalues):
    level = np.flatnonzero(sol.clusters == sol.clusters[i])
    place = np.flatnonzero(level == i)[0] - (level.size - 1) / 2
    ax.hlines(value, place - 0.4, place + 0.4, color="#0072B2" if i < 3 else "#D55E00", linewidth=3)
    if i < 3:
        ax.text(place, value, "↑↓", ha="center", va="center", fontsize=16)
ax.axhline(0, color="0.6", linewidth=0.8, linestyle=":")
ax.text(1.05, -0.45, "occupied", color="#0072B2", ha="left")
ax.text(1.05, 0.45, "empty", color="#D55E00", ha="left")
ax.set(xlim=(-1.2, 1.9), xticks=(), ylabel="orbital energy [hartree]", title="Levels of H₆")
plt.show()

# %%
# The orbitals in the plane of the ring. The number of nodal lines grows with the energy.

grid = np.linspace(-4, 4, 121)
x, y = np.meshgrid(grid, grid)
squares = (x[..., None] - atoms[:, 0]) ** 2 + (y[..., None] - atoms[:, 1]) ** 2
basis = np.exp(-squares[..., None] * exponents) @ coefficients
figure, axes = plt.subplots(2, 3, figsize=(4.8, 4.1), sharex=True, sharey=True, layout="constrained")
for ax, value, orbital in zip(axes.flat, sol.eigenvalues, sol.eigenvectors.T, strict=True):
    psi = basis @ orbital
    shown = ax.contourf(x, y, psi / abs(psi).max(), levels=np.linspace(-1, 1, 20), cmap="PuOr_r")
    ax.plot(*atoms[:, :2].T, "k.", markersize=5)
    ax.set(title=f"{value:.3f}".replace("-", "−"), aspect="equal", xticks=(-3, 0, 3), yticks=(-3, 0, 3))
axes[1, 1].set(xlabel="x [bohr]")
figure.supylabel("y [bohr]", fontsize="medium")
figure.suptitle("Orbitals and their energies [hartree]", fontsize="medium")
figure.colorbar(shown, ax=axes, orientation="horizontal", label="orbital (largest = 1)", ticks=(-1, 0, 1), aspect=40)
plt.show()
