"""A state carries the products and the inner products of its own vector, also after it was rescaled."""

import numpy as np
import pytest

import splitmerge as sm
from pairs import pair_of
from splitmerge.linalg.cholesky import DenseFactor
from splitmerge.objective.state import as_frame, start
from splitmerge.problem.products import Products, shifted

METHODS = [sm.SplitMerge(), sm.Power(), sm.MirrorDescent(), sm.GradientDescent()]


def products_of(dtype, *, identity, eta=0.0):
    A, B = pair_of(np.linspace(0.5, 4, 20), dtype=dtype)
    solver = None if identity else DenseFactor(B)
    return shifted(Products(sm.Pencil(A, None if identity else B), solver=solver), eta)


def check(state, eta):
    products, x = state.products, state.x
    Bx = x if products.B is None else products.B.matrix @ x
    Ax = products.A.matrix @ x + eta * Bx
    np.testing.assert_allclose(state.Bx, Bx, atol=1e-12)
    np.testing.assert_allclose(state.Ax, Ax, atol=1e-12)
    assert state.s == pytest.approx(np.vdot(x, Ax).real)
    assert state.b == pytest.approx(np.vdot(x, Bx).real)
    assert state.r == pytest.approx(state.s**0.5)
    assert state.f == pytest.approx(state.b - state.s**0.5)
    # the eigenvalue estimate is that of (A, B) itself
    assert state.eigenvalue == pytest.approx(state.s / state.b - eta)


@pytest.mark.parametrize("identity", [False, True], ids=["mass", "identity"])
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("eta", [0.0, 0.7])
class TestConsistent:
    def test_at_the_start(self, identity, dtype, eta):
        products = products_of(dtype, identity=identity, eta=eta)
        x = np.random.default_rng(0).standard_normal(20).astype(dtype)
        given = x.copy()
        state = start(products, x)
        check(state, eta)
        # at the multiple that minimises f, 2r is the Rayleigh quotient
        assert 2 * state.r == pytest.approx(state.value)
        np.testing.assert_array_equal(x, given)

    @pytest.mark.parametrize("method", METHODS, ids=repr)
    def test_after_steps(self, identity, dtype, eta, method):
        products = products_of(dtype, identity=identity, eta=eta)
        rng = np.random.default_rng(0)
        state = method.first(products, rng.standard_normal(20).astype(dtype), method.setup(products, rng))
        for _ in range(3):
            state = method.step(state)
            check(state, eta)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("seed", range(6))
def test_columns_that_are_dependent_up_to_rounding_are_no_frame(dtype, seed):
    """Rounding leaves a small eigenvalue of either sign of their Gram matrix."""
    products, rng = products_of(dtype, identity=False), np.random.default_rng(seed)
    U = rng.standard_normal((20, 3)).astype(dtype)
    U[:, 2] = U[:, :2] @ rng.standard_normal(2)
    with pytest.raises(ValueError, match="linearly dependent"):
        as_frame(U, products)
    frame = as_frame(U[:, :2], products)
    np.testing.assert_allclose(frame.U.conj().T @ frame.BU, np.eye(2), atol=1e-12)
