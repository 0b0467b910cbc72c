"""The column `products` of a history: what had been made at every state, in terms of the A that was given."""

import numpy as np
import pytest

import splitmerge as sm
from asking import tridiagonal
from checking import METHODS, short
from pairs import EASY, HARD

SPARSE = tridiagonal(300), tridiagonal(300, 4.0, 1.0)
MANY = [*METHODS, sm.LocallyOptimal()]


def watched(*arguments, **options):
    """The solution, and a copy of the counts at every state that the callback has seen."""
    seen = []

    def callback(state):
        counts = state.products.counts
        seen.append({name: getattr(counts, name) for name in ("A_products", "B_products", "B_solves", "K_solves")})

    try:
        return sm.solve(*arguments, callback=callback, rng=0, **options), seen
    except sm.NotConverged as error:
        return error.solution, seen


def column(seen, *names):
    return [sum(counts[name] for name in names) for counts in seen]


@pytest.mark.parametrize("B", [HARD[1], None], ids=["B", "identity"])
@pytest.mark.parametrize("method", MANY, ids=short)
def test_products_with_A(method, B):
    sol, seen = watched(HARD[0], B, 2, method=method, tol=1e-4, max_steps=60)
    assert len(seen) == len(sol.history) > 1
    assert sol.history.products[:-1].tolist() == column(seen, "A_products")[:-1]
    assert sol.history.products[-1] == sol.counts.products


@pytest.mark.parametrize("mass", [SPARSE[1], None], ids=["B", "identity"])
@pytest.mark.parametrize("sigma", [0.3, 0.7])
@pytest.mark.parametrize("k", [1, 9])
def test_solves_with_a_shifted_A(mass, sigma, k):
    """In place of products with A, from the first row on."""
    sol, seen = watched(SPARSE[0], mass, k, sigma=sigma, method=sm.Accelerated())
    assert sol.history.products[:-1].tolist() == column(seen, "A_products", "K_solves")[:-1]
    assert 0 < sol.history.products[0] <= sol.history.products[-1] == sol.counts.products
    assert sol.counts.K_solves > 0


@pytest.mark.parametrize("asked", [{"which": "smallest"}, {"sigma": -0.1}, {"sigma": 5.0}], ids=str)
@pytest.mark.parametrize("mass", [SPARSE[1], None], ids=["B", "identity"])
def test_of_a_swapped_pair(asked, mass):
    """Of (B, A − σB) the matrix B takes the place of A: what the iteration counts as B are products and solves of A."""
    sol, seen = watched(SPARSE[0], mass, 3, method=sm.Accelerated(), **asked)
    assert sol.history.products[:-1].tolist() == column(seen, "B_products", "B_solves")[:-1]
    assert sol.counts.K_solves >= seen[-1]["B_solves"] > 0
    assert sol.history.products[-1] == sol.counts.products == sol.counts.A_products + sol.counts.K_solves


@pytest.mark.parametrize("method", METHODS, ids=short)
@pytest.mark.parametrize("unit", [1e-150, 1e-9, 1e9])
def test_values_are_in_the_units_of_the_user(method, unit):
    """And residuals are relative, so that a unit changes neither them nor the products."""
    A, B = EASY
    reference = watched(A, B, method=method, tol=1e-4, max_steps=30)[0].history
    for pair, factor in (((A * unit, B), unit), ((A, B * unit), 1 / unit), ((-A * unit, B), None)):
        options = {} if factor else {"which": "smallest"}
        found = watched(*pair, method=method, tol=1e-4, max_steps=30, **options)[0]
        last = found.history.value[-1]
        np.testing.assert_allclose(last, found.eigenvalues[0], rtol=0.05)
        if factor is not None:
            length = min(5, len(reference))
            np.testing.assert_allclose(found.history.value[:length], reference.value[:length] * factor, rtol=1e-4)
            np.testing.assert_allclose(found.history.residual[:length], reference.residual[:length], rtol=1e-2)
            assert found.history.products[:length].tolist() == reference.products[:length].tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_no_residual_is_below_the_precision(dtype):
    """As far as numbers of this precision can tell, which is eps of the working precision and not that of double."""
    A = np.diag([4.0, 3.0, 2.0, 1.0] * 20).astype(dtype)
    sol, _ = watched(A, None, 2, method=sm.Accelerated(), tol=1e-3)
    eps = float(np.finfo(dtype).eps)
    assert (sol.history.residual >= eps).all()
    again, _ = watched(A, None, x0=np.eye(80)[0], method=sm.Accelerated(), tol=1e-3)
    assert again.history.residual.min() == eps
