"""What a factorisation will cost is known, within a factor of two, before it is made."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from splitmerge import sparse_direct as backends
from splitmerge.sparse_direct import costs
from splitmerge.sparse_direct.fill import prediction
from splitmerge.sparse_direct.fill.coarsening import ball, coarser, hubs_last
from splitmerge.sparse_direct.fill.ordering import graph_of


def path(n: int) -> sp.csr_array:
    return sp.csr_array(sp.diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1]))


def grid(*sizes: int) -> sp.csr_array:
    """Each node is next to 2 in every direction."""
    total = sp.csr_array((int(np.prod(sizes)), int(np.prod(sizes))))
    for place, m in enumerate(sizes):
        before, after = (sp.eye_array(int(np.prod(part))) for part in (sizes[:place], sizes[place + 1 :]))
        total = total + sp.kron(sp.kron(before, path(m)), after)
    return sp.csr_array(total)


def box(*sizes: int) -> sp.csr_array:
    """Each node is next to those across a corner, too."""
    total = sp.csr_array(np.ones((1, 1)))
    for m in sizes:
        total = sp.kron(total, path(m))
    return sp.csr_array(total)


def arrow(base: sp.csr_array, rows: int) -> sp.csr_array:
    """With dense rows."""
    D = np.ones((rows, base.shape[0]))
    return sp.csr_array(sp.block_array([[base, D.T], [D, np.eye(rows)]]))


def copies(base: sp.csr_array, count: int) -> sp.csr_array:
    return sp.csr_array(sp.kron(sp.eye_array(count), base))


def band(n: int, width: int) -> sp.csr_array:
    offsets = range(-width, width + 1)
    return sp.csr_array(sp.diags_array([np.ones(n - abs(k)) for k in offsets], offsets=offsets))


def tangle(n: int, degree: int) -> sp.csr_array:
    """Random edges."""
    ends = np.random.default_rng(0).integers(0, n, (2, n * degree // 2))
    half = sp.coo_array((np.ones(ends.shape[1]), ends), shape=(n, n))
    return sp.csr_array(half + half.T + sp.eye_array(n))


def dominant(pattern: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(pattern + sp.diags_array(pattern.sum(axis=1)))


PATTERNS = {
    "path": path(30_000),
    "band": band(15_000, 20),
    "square": grid(150, 150),
    "square with corners": box(130, 130),
    "cube": grid(24, 24, 24),
    "cube with corners": box(24, 24, 24),
    "plate": grid(70, 70, 4),
    "three unknowns a node": sp.csr_array(sp.kron(box(16, 16, 16), np.ones((3, 3)))),
    "dense rows": arrow(grid(120, 120), 3),
    "dense rows and a diagonal": arrow(sp.csr_array(sp.eye_array(20_000)), 4),
    "many dense rows": arrow(sp.csr_array(sp.eye_array(12_000)), 40),
    "many squares": copies(grid(40, 40), 20),
    "many pairs": copies(sp.csr_array(np.ones((2, 2))), 15_000),
    "half of it a diagonal": sp.csr_array(sp.block_diag([sp.eye_array(15_000), grid(120, 120)])),
    "diagonal": sp.csr_array(sp.eye_array(30_000)),
    "tangle": tangle(12_000, 3),
    "thick tangle": tangle(3000, 150),
}


SLOW = ("many dense rows", "thick tangle", "three unknowns a node")


@pytest.mark.parametrize("name", [pytest.param(p, marks=[pytest.mark.slow] * (p in SLOW)) for p in PATTERNS])
def test_fill(name):
    K = dominant(PATTERNS[name])
    heights = np.diff(backends.symmetric_lu(K).L.indptr).astype(float)
    nonzeros, flops = prediction.predicted_fill(K)
    assert 1 / 2 < nonzeros / heights.sum() < 2
    assert 1 / 4 < flops / (heights**2).sum() < 4


@pytest.mark.parametrize("name", ["band", "square", "cube", "dense rows"])
def test_without_metis(name, monkeypatch):
    """Minimum degree is the order then."""
    monkeypatch.setitem(sys.modules, "pymetis", None)
    K = dominant(PATTERNS[name])
    real = backends.symmetric_lu(K).L.nnz
    assert 1 / 2.5 < prediction.predicted_fill(K).nonzeros / real < 2.5


@pytest.mark.parametrize("n", [1, 2, 40, 300])
def test_columns_are_those_of_a_factor(n):
    K = dominant(tangle(n, 4))
    lu = splu(
        sp.csc_matrix(K), permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True, "Equil": False}
    )
    np.testing.assert_array_equal(prediction.column_heights(graph_of(K)), np.diff(lu.L.indptr))


def test_small_graphs_are_eliminated_exactly(monkeypatch):
    pytest.importorskip("pymetis")
    monkeypatch.setattr("splitmerge.sparse_direct.backends.superlu.NESTED_DISSECTION_MIN_ROWS", 1000)
    K = dominant(grid(60, 60))
    assert prediction.predicted_fill(K).nonzeros == backends.symmetric_lu(K).L.nnz


def test_it_is_the_same_each_time():
    assert backends.predict(PATTERNS["square"]) == backends.predict(PATTERNS["square"])


class TestPrediction:
    def test_fields(self):
        K = dominant(PATTERNS["cube"])
        predicted = backends.predict(K)
        assert (predicted.nonzeros, predicted.flops) == prediction.predicted_fill(K)
        assert predicted.backend in backends.definite_factors(K).name
        assert 8 * predicted.nonzeros < predicted.bytes < 100 * predicted.nonzeros
        assert 0 < predicted.solve_seconds < predicted.seconds < 60

    @pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128])
    def test_other_types(self, dtype):
        K = dominant(PATTERNS["square"])
        double, other = backends.predict(K), backends.predict(sp.csr_array(K.astype(dtype)))
        assert double.nonzeros == other.nonzeros
        if dtype != np.complex128:
            assert other.backend == "SuperLU"
        else:
            assert other.seconds > double.seconds
            assert other.bytes >= 2 * double.bytes

    def test_the_larger_takes_longer(self):
        seconds = [backends.predict(grid(m, m, m)).seconds for m in (10, 20, 30, 40)]
        assert sorted(seconds) == seconds

    def test_mumps_is_for_much_work(self, monkeypatch):
        """For little work SuperLU is faster."""
        monkeypatch.setattr(costs, "_has", lambda name, kind: name in ("MUMPS", "SuperLU"))
        assert backends.predict(grid(100, 100)).backend == "SuperLU"
        assert backends.predict(box(40, 40, 40)).backend == "MUMPS"


class TestAggregation:
    def test_a_coarser_grid_is_a_grid(self):
        graph = graph_of(grid(100, 100))
        rng = np.random.default_rng(0)
        small = coarser(graph, 0, 4.0, rng)
        assert 2 < graph.shape[0] / small.shape[0] < 8
        assert (small != small.T).nnz == 0
        assert not small.diagonal().any()
        assert small.max() == 1
        assert small.nnz / small.shape[0] < 8

    def test_hubs_stay_alone(self):
        first = np.roll(np.arange(5002), 17)
        graph, count = hubs_last(graph_of(arrow(path(5000), 2)[first][:, first]))
        rng = np.random.default_rng(0)
        for _ in range(5):
            assert count == 2
            assert (np.diff(graph.indptr)[-2:] >= graph.shape[0] - 2).all()
            graph = coarser(graph, count, 3.0, rng)
        assert graph.shape[0] < 200

    @pytest.mark.parametrize("name", ["path", "square", "dense rows", "many pairs", "diagonal"])
    def test_balls_have_their_size(self, name):
        graph, hubs = hubs_last(graph_of(PATTERNS[name]))
        part = ball(graph, hubs, 700, np.random.default_rng(1))
        assert part.shape[0] == 700 + hubs
        # as connected as what it is a part of
        assert part.nnz / part.shape[0] >= 0.8 * graph.nnz / graph.shape[0]
