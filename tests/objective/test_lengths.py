"""What does not depend on the length of an iterate, nor on the unit of B; bounds of the curvature."""

import math

import numpy as np
import pytest
import scipy.linalg

import splitmerge as sm
from pairs import pair_of
from splitmerge.linalg.cholesky import DenseFactor
from splitmerge.objective.state import State, as_frame, sine
from splitmerge.problem.products import Products

N = 12


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("angle", [1e-6, 0.3, math.pi / 2])
def test_the_sine_is_that_of_the_B_angle(angle, columns, mass, dtype):
    """Of a vector that is cos u + sin v for B-orthonormal u and v, times any length."""
    A, B = pair_of(np.linspace(0.5, 4.0, N), dtype=dtype, condition=9.0)
    products = Products(sm.Pencil(A, mass * B))
    scaled = products.pencil.B.matrix
    U = scipy.linalg.eigh(A, scaled)[1]
    frame = as_frame(U[:, :columns] @ np.triu(np.ones((columns, columns))), products)
    for length in (1e-3, 1.0, 1e4):
        x = length * (math.cos(angle) * U[:, 0] + math.sin(angle) * U[:, 7])
        state = State(products, x, A @ x, scaled @ x)
        assert sine(x, scaled @ x, frame.U, frame.BU) == pytest.approx(math.sin(angle), rel=1e-6)
        assert state.sine(frame) == pytest.approx(math.sin(angle), rel=1e-6)


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("method", [sm.Power(), sm.SplitMerge()], ids=repr)
def test_a_run_to_an_angle_reaches_it_and_not_much_more(method, unit):
    """Whatever the size of the eigenvalues is, on which the length of the iterates depends."""
    A, B = pair_of(np.r_[np.linspace(0.5, 4.0, N - 1), 6.0], condition=9.0)
    U = scipy.linalg.eigh(unit * A, B)[1][:, -1]
    sol = sm.solve(unit * A, B, method=method, stop=sm.SineAngle(U, 1e-4), x0=np.ones(N), rng=0)
    v = sol.eigenvectors[:, 0]
    rest = v - U * (U @ B @ v)
    assert 1e-6 <= math.sqrt(rest @ B @ rest) <= 1e-4 * (1 + 1e-6)


@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
def test_the_trace_bounds_the_largest_eigenvalue(mass):
    """Also of a B far from diagonal, where no single entry does."""
    for B in (np.full((N, N), 0.9) + 0.1 * np.eye(N), np.eye(N)):
        pencil = sm.Pencil(np.eye(N), mass * B)
        bound = sm.TraceBound().largest(pencil, None, np.random.default_rng(0))
        scaled = pencil.B.matrix
        assert bound == pytest.approx(np.trace(scaled))
        assert bound >= np.linalg.eigvalsh(scaled)[-1]


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_a_rescaled_state_has_the_least_f_on_its_ray(length):
    """And the residual, the value and the vector's direction stay."""
    A, B = pair_of(np.linspace(0.5, 4.0, N), condition=9.0)
    products = Products(sm.Pencil(A, B), solver=DenseFactor(B))
    x = length * np.cos(np.arange(N))
    state = State(products, x, A @ x, B @ x)
    value, residual = state.value, State(products, x, A @ x, B @ x).residual
    factor = state.rescale()
    np.testing.assert_allclose(state.x, factor * length * np.cos(np.arange(N)), rtol=1e-12)
    assert state.value == pytest.approx(value)
    assert state.residual == pytest.approx(residual)
    assert state.f == pytest.approx(-value / 4)
    for other in (0.9, 1.1):
        y = other * state.x
        assert State(products, y, A @ y, B @ y).f > state.f
