"""Eigenvalue solvers for scikit-fem, beside its own."""

import numpy as np
import pytest

import splitmerge as sm

skfem = pytest.importorskip("skfem", reason="scikit-fem is not installed")


@pytest.fixture(scope="module")
def beam():
    """Vibrations of a steel beam that is held at one end, like scikit-fem's example 21, on a mesh of our own."""
    from skfem.helpers import dot
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    sides = ((1.0, 9), (0.1, 3), (0.15, 3))
    mesh = skfem.MeshTet.init_tensor(*(np.linspace(0, length, points) for length, points in sides))
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP2()))
    density = 8050.0
    mass = skfem.BilinearForm(lambda u, v, w: density * dot(u, v)).assemble(basis)
    stiffness = linear_elasticity(*lame_parameters(200e9, 0.3)).assemble(basis)
    return basis, skfem.condense(stiffness, mass, D=basis.get_dofs(lambda x: x[0] == 0.0))


def test_beside_scikit_fems_own_solver(beam):
    basis, pair = beam
    own, _ = skfem.solve(*pair, solver=skfem.utils.solver_eigen_scipy_sym(k=6, sigma=0.0))
    solver = sm.skfem_solver(k=6)
    values, modes = skfem.solve(*pair, solver=solver)
    np.testing.assert_allclose(values, np.sort(own), rtol=1e-9)
    assert modes.shape == (basis.N, 6)
    # the unknowns that are held are in the vectors, too
    assert not modes[basis.get_dofs(lambda x: x[0] == 0.0)].any()
    K, M, _, inside = pair
    assert inside.size == K.shape[0]
    np.testing.assert_allclose(modes[inside].T @ (M @ modes[inside]), np.eye(6), atol=1e-9)
    assert solver.solution.converged
    assert solver.solution.residuals.max() <= 1e-8


def test_options_of_a_call_replace_those_of_the_solver(beam):
    _, pair = beam
    solver = sm.skfem_solver(k=2, tol=1e-6)
    assert skfem.solve(*pair, solver=solver, k=3)[0].size == 3
    assert skfem.solve(*pair, solver=solver)[0].size == 2
    assert solver.solution.problem.tol == 1e-6
    assert repr(solver) == "skfem_solver(k=2, tol=1e-06)"


def test_what_is_asked_for(beam):
    _, pair = beam
    values, _ = skfem.solve(*pair, solver=sm.skfem_solver())
    assert values.size == 5
    middle = (values[2] + values[3]) / 2
    nearest, _ = skfem.solve(*pair, solver=sm.skfem_solver(k=2, sigma=middle))
    np.testing.assert_allclose(np.sort(nearest), values[2:4], rtol=1e-8)
    within, _ = skfem.solve(*pair, solver=sm.skfem_solver(interval=(0, middle)))
    np.testing.assert_allclose(within, values[:3], rtol=1e-8)
    largest, _ = skfem.solve(*pair, solver=sm.skfem_solver(k=1, which="largest"))
    assert largest[0] > values[-1]


def test_mistakes_are_those_of_solve(beam):
    _, pair = beam
    with pytest.raises(ValueError, match="sigma"):
        skfem.solve(*pair, solver=sm.skfem_solver(sigma=1.0, which="smallest"))
