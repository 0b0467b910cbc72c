"""Iterations that compute all pairs in one subspace: what their states carry, and when all pairs stand."""

from types import SimpleNamespace

import numpy as np
import pytest

import splitmerge as sm
from pairs import pair_of
from splitmerge.linalg.cholesky import DenseFactor
from splitmerge.methods.krylov.thick_restart import ThickRestart
from splitmerge.methods.lobpcg.iteration import Lobpcg
from splitmerge.methods.setup import Setup
from splitmerge.methods.subspace import SubspaceIteration
from splitmerge.objective.state import State
from splitmerge.problem.products import Products
from splitmerge.problem.target import Target
from splitmerge.run.reason import Reason
from splitmerge.transforms import Whitened

K = 3
EVERY = np.linspace(-9, 5, 60)


def search_of(kind, dtype=float, mass=1.0):
    A, B = pair_of(EVERY, dtype=dtype)
    products = Products(sm.Pencil(A * mass, B * mass), solver=DenseFactor(B * mass))
    setup = Setup(products, Target.LARGEST, K, np.random.default_rng(0), transform=Whitened(products))
    search = kind(setup)
    search.launch(np.random.default_rng(1).standard_normal((60, 1)).astype(dtype))
    for _ in range(4):
        search.advance()
    return search


each_kind = pytest.mark.parametrize("kind", [ThickRestart, Lobpcg])


@each_kind
@pytest.mark.parametrize("dtype", [float, complex])
def test_states_carry_the_products_of_the_shifted_pair(kind, dtype):
    """s = xᴴ(A + ηB)x, also where η is not zero because A has negative eigenvalues."""
    search = search_of(kind, dtype)
    assert (search.scale.shift > 0) == (kind is ThickRestart)
    products = search.products
    for index in range(K):
        state = search.ritz_pair(index)
        shifted = products.A.matrix + search.scale.shift * products.B.matrix
        np.testing.assert_allclose(state.Bx, products.B.matrix @ state.x, atol=1e-12)
        np.testing.assert_allclose(state.Ax, shifted @ state.x, atol=1e-10)
        assert np.vdot(state.x, state.Ax).real == pytest.approx(state.s)
        assert state.eigenvalue == pytest.approx(search.values[index])


@each_kind
@pytest.mark.parametrize("mass", [1e-4, 1.0, 1e4])
def test_errors_hold_whatever_the_unit_of_B(kind, mass):
    """They are at least the distance of a value from an eigenvalue."""
    search = search_of(kind, mass=mass)
    for value, error in zip(search.values[:K], search.errors[:K], strict=True):
        assert np.abs(EVERY - value).min() <= error


@each_kind
def test_the_last_pair_does_not_end_it_if_an_earlier_one_has_moved(kind):
    """Steps for later pairs may bring a better one in front: the first are looked at again."""
    search = search_of(kind)
    stands = [True]

    def check(state: State) -> Reason | None:
        return Reason.RESIDUAL if stands[0] else None

    def accepted():
        state = search.resumed()
        for _ in range(K - 1):
            state = search.accept(state, Reason.RESIDUAL, check)
            state.step = 1
        return search.accept(state, Reason.RESIDUAL, check)

    assert accepted() is Reason.RESIDUAL
    stands[0] = False
    again = accepted()
    assert isinstance(again, State)
    assert search.pair == 0


@pytest.mark.parametrize(
    ("target", "low", "high"),
    [(Target.ENDS, 2e-4, 1e-3), (Target.MAGNITUDE, 1e-3, 1e-3), (Target.LARGEST, 1e-3, 1e-3)],
    ids=["ends", "magnitude", "largest"],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_end_has_its_own_slack(target, low, high, dtype):
    """Of the ends of the spectrum every other pair is one of the lower end; rounding of the largest value is added."""
    eps = float(np.finfo(dtype).eps)
    errors = np.array([1e-3, 1e-4, 5e-4, 2e-4, 1.0, 2.0])
    values = np.array([3.0, -50.0, 2.0, -1.0, 1e9, 1e9])
    search = SimpleNamespace(errors=errors, values=values, k=4, target=target, products=SimpleNamespace(eps=eps))
    slack = SubspaceIteration._slack(search)
    rounding = slack.low - low
    assert 0 < rounding <= 1e3 * eps * 50
    assert slack.high - high == pytest.approx(rounding)
    search.values = 10 * values
    assert SubspaceIteration._slack(search).low - low == pytest.approx(10 * rounding, rel=1e-3)
