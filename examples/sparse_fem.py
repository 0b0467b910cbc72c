"""Vibration of an L-shaped membrane by sparse finite elements: `python examples/sparse_fem.py`.

The stiffness and the mass of quadratic elements are assembled by scikit-fem; their smallest eigenpairs are the modes.
The corner makes the first mode singular, and its eigenvalue is known to 14 digits (Fox, Henrici and Moler 1967).
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from skfem import Basis, ElementTriP2, MeshTri, condense
from skfem.models.poisson import laplace, mass

import splitmerge as sm

FIRST = 9.6397238440219
# The third mode is that of a square of side 1, of which the L consists.
THIRD = 2 * np.pi**2


def membrane(refinements, at_corner):
    """K, M of the inner unknowns and their numbers, on a uniform mesh refined further towards the re-entrant corner."""
    mesh = MeshTri.init_lshaped().refined(refinements)
    for _ in range(at_corner):
        centres = mesh.p[:, mesh.t].mean(axis=1)
        near = np.hypot(*centres)
        mesh = mesh.refined(np.argsort(near)[:40])
    basis = Basis(mesh, ElementTriP2())
    K, M, _, inside = condense(laplace.assemble(basis), mass.assemble(basis), D=basis.get_dofs())
    return K, M, basis, inside


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--refinements", type=int, default=5, help="uniform refinements of the mesh (default: 5)")
    parser.add_argument("--out", type=Path, default=Path("out/sparse_fem.png"), help="output figure")
    options = parser.parse_args(argv)
    K, M, basis, inside = membrane(options.refinements, at_corner=5)
    sol = sm.solve(K, M, k=6, which="smallest", certify=True, rng=0)
    print(f"{sol.n} unknowns, {K.nnz} entries of K, {sol.seconds.total:.2f} s")
    print("mode    eigenvalue   error bound   residual")
    for i in range(6):
        print(f"{i + 1:4d}  {sol.eigenvalues[i]:12.7f}   {sol.error_bounds[i]:11.1e}   {sol.residuals[i]:8.1e}")
    print(f"known: {FIRST:.7f} (mode 1), {THIRD:.7f} (mode 3)")
    print(f"verdict: {sol.verdict} ({sol.verdict.why})")
    figure = Figure(figsize=(9, 5.8), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True, sharey=True)
    for i, ax in enumerate(axes.flat):
        shown = draw(ax, basis, inside, sol.eigenvectors[:, i])
        ax.set_title(f"mode {i + 1}: λ = {sol.eigenvalues[i]:.4f}")
    figure.supxlabel("x")
    figure.supylabel("y")
    figure.colorbar(shown, ax=axes, shrink=0.7, label="deflection (largest = ±1)", ticks=(-1, 0, 1))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out, dpi=110)
    return {"eigenvalues": sol.eigenvalues, "verdict": str(sol.verdict), "n": sol.n}


def draw(axes, basis, inside, mode):
    """Draw a mode by its values at the corners of the triangles."""
    u = np.zeros(basis.N)
    u[inside] = mode / abs(mode).max()
    x, y = basis.mesh.p
    shown = axes.tricontourf(x, y, basis.mesh.t.T, u[basis.nodal_dofs[0]], levels=np.linspace(-1, 1, 20), cmap="PuOr_r")
    axes.set(aspect="equal", xticks=(-1, 0, 1), yticks=(-1, 0, 1))
    return shown


if __name__ == "__main__":
    main()
