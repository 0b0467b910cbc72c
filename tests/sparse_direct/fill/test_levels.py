"""The levels of a graph, and the rough price of a factorisation that follows from them."""

import numpy as np
import pytest
import scipy.sparse as sp

from asking import tridiagonal
from physics import cube, heisenberg, random_laplacian, square
from splitmerge.sparse_direct import levels_of, predict, rough_prediction


class TestLevels:
    def test_a_chain(self):
        assert levels_of(tridiagonal(50)) == (50, 1)

    @pytest.mark.parametrize("side", [5, 20])
    def test_a_square_from_its_corner(self, side):
        assert levels_of(square(side)) == (side**2, side)

    def test_of_the_component_of_the_densest_row(self):
        A = sp.block_diag([tridiagonal(30), square(6), sp.eye_array(9)], format="csr")
        assert levels_of(sp.csr_array(A)) == (36, 6)

    def test_no_edges(self):
        assert levels_of(sp.csr_array(sp.eye_array(4))) == (1, 1)

    def test_hubs_do_not_connect_the_levels(self):
        A, row = square(20), np.ones((1, 400))
        assert levels_of(sp.csr_array(sp.block_array([[A, row.T], [row, None]]))) == (400, 21)

    def test_complex_entries(self):
        A = square(7)
        assert levels_of(A.astype(complex) * 1j) == levels_of(A)

    def test_flat(self):
        assert levels_of(square(30)).flat
        assert levels_of(tridiagonal(100)).flat
        for A in (cube(10), heisenberg(10), random_laplacian(2000)):
            assert not levels_of(A).flat


@pytest.mark.parametrize(
    "A", [square(40), square(100), cube(12), cube(20), heisenberg(12)], ids=["40²", "100²", "12³", "20³", "spins"]
)
def test_near_the_full_prediction(A):
    rough, full = rough_prediction(A, levels_of(A)), predict(A)
    assert 1 / 3 < rough.seconds / full.seconds < 3
    assert 1 / 3 < rough.solve_seconds / full.solve_seconds < 3
    assert rough.backend == full.backend


def test_an_expander_is_not_coarsened(monkeypatch):
    """A random graph has no small separators; its fill follows from the number of its edges."""
    from splitmerge.sparse_direct.fill import prediction

    monkeypatch.setattr(prediction, "_coarsened", None)
    A = random_laplacian(12_000)
    full = predict(A)
    assert full.flops > 1e10
    assert 1 / 3 < rough_prediction(A, levels_of(A)).flops / full.flops < 3


def test_at_least_the_entries():
    A = sp.csr_array(sp.diags_array(np.ones(2000)))
    rough = rough_prediction(A, levels_of(A))
    assert rough.nonzeros >= 2000
    assert rough.flops >= 2000
