"""The modes of `eigsh` for operators: the shift is in the units of the scaled pair."""

import sys

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import splitmerge as sm
from splitmerge.preparation.modes import mode_transform
from splitmerge.problem.products import Products
from splitmerge.transforms.modes import reduce

N, SIGMA = 120, 5.0
D = np.r_[np.linspace(1, 1.01, 60), np.linspace(9, 9.01, 55), 4.0, 4.5, 5.2, 5.4, 6.0]
# extreme powers of two, which change no digit of a product
SCALES = 2.0**-133, 2.0**133


def near(scale, mode, which, *, inverse):
    """Two eigenvalues of `scale` times diag(D) that are picked by the shift, over `scale`, and the products with it."""
    products = []

    def times(x):
        products.append(x)
        return scale * D * x.ravel()

    A = LinearOperator((N, N), matvec=times, dtype=float)
    given = LinearOperator((N, N), matvec=lambda x: x.ravel() / (scale * (D - SIGMA)), dtype=float)
    options = {"OPinv": given} if inverse else {}
    w = sm.eigsh(A, 2, sigma=SIGMA * scale, which=which, mode=mode, rng=0, return_eigenvectors=False, **options)
    return w / scale, len(products)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("mode", "which"), [("normal", "LM"), ("normal", "SA"), ("cayley", "LM"), ("cayley", "SA")])
def test_the_callers_inverse_of_a_pair_of_extreme_size(mode, which, scale):
    """What is picked does not depend on the units of A."""
    found, _ = near(scale, mode, which, inverse=True)
    expected, _ = near(1.0, mode, which, inverse=True)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_products_alone_with_a_pair_of_extreme_size(monkeypatch, scale):
    """They serve an operator that is too large for a matrix, and no more of them than in other units."""
    for module in ("eigsh_request", "preparation.modes", "preparation.solver", "planning.costs"):
        monkeypatch.setattr(sys.modules[f"splitmerge.{module}"], "MAX_DENSE_N", 10)
    found, count = near(scale, "normal", "LM", inverse=False)
    expected, usual = near(1.0, "normal", "LM", inverse=False)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert count <= 1.5 * usual


@pytest.mark.parametrize("above", [2, 3, 4])
def test_infinite_eigenvalues_are_on_no_side_of_the_shift(above):
    """Of a singular M they are far from it: LAPACK finds what a search for more than the others would not."""
    finite = np.arange(1.0, 81)
    A, M = np.diag(np.r_[finite, np.ones(40)]), np.diag(np.r_[np.ones(80), np.zeros(40)])
    reduced = reduce(A, M, finite[-above] - 0.5, "normal", "LA")
    pencil = sm.Pencil(reduced.A, reduced.B)
    found = mode_transform(reduced, Products(pencil), 3, None)
    assert (found is None) == (above < 3)
