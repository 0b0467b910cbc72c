"""The cost model by hand: what its figures depend on, and the edges of what is preferred."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from asking import asked, tridiagonal
from splitmerge.planning import costs
from splitmerge.planning.choose import end_towards
from splitmerge.planning.limit import MaxProducts
from splitmerge.planning.plan import Candidate, Engine, Map, Plan
from splitmerge.problem.adapt import adapt
from splitmerge.problem.pencil import Pencil, is_graded, typical_ratio
from splitmerge.problem.products import Counts, Products, Tally
from splitmerge.run.reason import Reason
from splitmerge.sparse_direct import Prediction
from splitmerge.sparse_direct.costs import COSTS, recount_is_cheap, recount_seconds, solve_seconds

PREDICTION = Prediction(1e6, 1e9, 8e9, "QDLDL", 10.0, 0.25)


class Made:
    """Factors of that many nonzeros."""

    def __init__(self, name, nonzeros, flops=None):
        self.name, self.nonzeros = name, nonzeros
        if flops is not None:
            self.flops = flops


@pytest.mark.parametrize("k", [1, 4])
class TestSeconds:
    def test_of_a_factorisation_and_its_search(self, k):
        """30 + 6k solves; with a count where several are wanted, and what grows with n."""
        assert costs.factorised_seconds(PREDICTION, k) == pytest.approx(10 + (30 + 6 * k) * 0.25)
        count = 0 if k == 1 else 47e-11 * 1e9 + 4e-7 * 5000
        expected = 10 + (30 + 6 * k) * 0.25 + count + 1.6e-5 * 5000
        assert costs.verified_seconds(PREDICTION, 5000, k) == pytest.approx(expected)

    def test_of_a_product(self, k):
        """A fixed time, the entries of A and B, and the columns that a vector is orthogonalised against."""
        A, B = tridiagonal(500), tridiagonal(500, 4.0, 1.0)
        own, columns = 3e-5 + 2 * 500 * (36 + 1.4 * k) * 3e-10, 1498 * 1.5e-9
        assert costs.step_seconds(Pencil(A), k) == pytest.approx(own + columns)
        limit = 0.8 * 3 * 500**3 * 1.2e-10 / (own + columns)
        assert costs.fallback_products(Pencil(A), k) == pytest.approx(max(limit, 500))
        limit = 0.8 * 3 * 500**3 * 1.2e-10 / (own + 2 * columns)
        assert costs.fallback_products(Pencil(A, B), k) == pytest.approx(max(limit, 500))
        dense = 0.8 * 3 * 500**3 * 1.2e-10 / (own + 500**2 * 3e-10)
        assert costs.fallback_products(Pencil(A.toarray()), k) == pytest.approx(max(dense, 500))
        assert costs.fallback_products(Pencil(aslinearoperator(A)), k) == 10 * 500 + 1000

    def test_with_solves(self, k):
        """As many as cost the same, but no fewer than the least; without a limit there is none."""
        pencil = Pencil(tridiagonal(500))
        each = costs.fallback_products(pencil, k) and costs._product_seconds(pencil, k)
        assert costs.with_solves(9000.0, pencil, k, 2 * each) == pytest.approx(3000)
        assert costs.with_solves(9000.0, pencil, k, 1e3) == 500
        assert costs.with_solves(100.0, pencil, k, 1e3) == 100
        assert costs.with_solves(9000.0, pencil, k, 0.0) == 9000
        assert math.isinf(costs.with_solves(math.inf, pencil, k, 1.0))

    def test_of_lobpcg(self, k):
        """2.5 steps per step of conjugate gradients, each of the block of columns."""
        A, B = tridiagonal(500), tridiagonal(500, 4.0, 1.0)
        m = costs.usual_block(k)
        step = m * (700 + 2 * 1498) * 1e-9 + 20 * 500 * m * m * 1.2e-10
        assert costs.lobpcg_seconds(Pencil(A, B), k, 8.0, 700.0) == pytest.approx(20 * step)

    def test_of_candidates(self, k):
        pencil, A = Pencil(tridiagonal(500)), tridiagonal(500)
        products = (18 + 5 * k) * (500 / 512) ** 0.4
        assert costs.expected_products(500, k) == pytest.approx(products)

        def seconds(candidate, prediction=None, pencil=pencil):
            return costs.predicted_seconds(candidate, Plan((candidate,), prediction), pencil, k)

        assert seconds(Candidate(Engine.LAPACK)) == pytest.approx(3 * 500**3 * 1.2e-10)
        assert math.isnan(seconds(Candidate(Engine.SLICING)))
        assert math.isnan(seconds(Candidate(Engine.REFINEMENT)))
        assert math.isnan(seconds(Candidate(Engine.DEFLATION)))
        assert math.isnan(seconds(Candidate(Engine.KRYLOV), None, Pencil(aslinearoperator(A))))
        assert seconds(Candidate(Engine.KRYLOV)) == pytest.approx(products * 1498 * 1.5e-9)
        swapped = Candidate(Engine.KRYLOV, Map.SWAPPED)
        assert seconds(swapped, PREDICTION) == costs.factorised_seconds(PREDICTION, k)
        search = Candidate(Engine.KRYLOV, Map.NEGATED, provisional=True)
        assert seconds(search, PREDICTION) == pytest.approx(products * costs.step_seconds(pencil, k))
        dense = Pencil(A.toarray())
        plain = products * 500**2 * 1.2e-10
        assert seconds(Candidate(Engine.KRYLOV), None, dense) == pytest.approx(plain)
        both = plain + 500**3 / 6 * 1.2e-10
        assert seconds(Candidate(Engine.KRYLOV), None, Pencil(A.toarray(), np.eye(500))) == pytest.approx(both)
        mixed = plain / 2 + 6 * 500**2 * 1.2e-10
        assert seconds(Candidate(Engine.MIXED_PRECISION), None, dense) == pytest.approx(mixed)


class TestBackends:
    def test_counts(self):
        assert recount_seconds(1000, 1e9, "QDLDL") == pytest.approx(47e-11 * 1e9 + 4e-7 * 1000)
        # others show no inertia, and SuperLU counts
        for name in ("SuperLU", "CHOLMOD", "SuperLU (minimum degree)"):
            assert recount_seconds(1000, 1e9, name) == pytest.approx(32e-11 * 1e9 + 5e-6 * 1000)

    @pytest.mark.parametrize("name", ["QDLDL", "SuperLU (natural order)", "CHOLMOD"])
    def test_solves(self, name):
        cost = COSTS[name if name == "QDLDL" else "SuperLU"]
        assert solve_seconds(Made(name, 10**6), 1000) == pytest.approx(cost.nonzero_solve * 1e6 + cost.row_solve * 1000)
        assert solve_seconds(None, 1000) == solve_seconds(Made(name, 0), 1000) == 0

    def test_a_count_is_cheap_beside_many_solves(self):
        factors = Made("QDLDL", 10**5, 1e8)
        limit = recount_seconds(1000, 1e8, "QDLDL") / solve_seconds(factors, 1000)
        assert recount_is_cheap(factors, 1000, 1.01 * limit)
        assert not recount_is_cheap(factors, 1000, 0.99 * limit)
        # unknown operations are those of a full triangle
        factors = Made("SuperLU (minimum degree)", 5000)
        limit = recount_seconds(99, 100.0**6 / 3 / 1e6 * 1, "SuperLU") / solve_seconds(factors, 99)
        assert limit > 0
        assert recount_is_cheap(factors, 99, 1.01 * limit)
        assert not recount_is_cheap(factors, 99, 0.99 * limit)


class TestMemory:
    @pytest.mark.parametrize(("free", "fine"), [(1.01, True), (0.99, False)])
    def test_a_factorisation_may_take_four_fifths(self, free, fine, monkeypatch):
        monkeypatch.setattr(costs, "free_memory", lambda: free * 8e9 / 0.8)
        assert costs.fits(PREDICTION) is fine
        quick = PREDICTION.__class__(1e6, 1e9, 8e9, "QDLDL", 0.1, 0.01)
        assert costs.is_quick(quick, 1) is fine
        assert not costs.is_quick(PREDICTION, 1)
        assert costs.is_quick(None, 1)

    @pytest.mark.parametrize("n", [14_999, 15_000])
    def test_what_does_not_fit_is_refused_before(self, n, monkeypatch):
        """In words, with what it would take and what is free; small ones are factorised."""
        K = adapt(tridiagonal(n), "K")
        monkeypatch.setattr(costs, "free_memory", lambda: 2**20)
        monkeypatch.setattr(costs, "predict", lambda M: PREDICTION)
        if n < 15_000:
            costs.check_fits(K, "A − σB")
            return
        with pytest.raises(
            MemoryError, match=r"^the factorisation of A − σB was predicted to take 7.5 GiB, and 0.00098"
        ):
            costs.check_fits(K, "A − σB")
        monkeypatch.setattr(costs, "free_memory", lambda: 1e10 * 1.01)
        costs.check_fits(K, "A − σB")


class TestPreferred:
    @pytest.mark.parametrize(("n", "k", "short"), [(189, 1, False), (190, 1, True), (540, 1, True), (541, 1, False)])
    def test_a_short_search(self, n, k, short):
        assert costs.prefers_short_search(n, k) is short

    def test_of_several_pairs_from_more_rows_on(self):
        edge = 190 * 10**0.35
        assert not costs.prefers_short_search(int(edge), 10)
        assert costs.prefers_short_search(int(edge) + 1, 10)

    @pytest.mark.parametrize("near", [False, True])
    def test_a_search_with_the_inverse(self, near):
        """Beyond LAPACK, up to 3,000 rows and 30 pairs."""
        assert not costs.prefers_inverse_search(200, 1, near=near)
        assert costs.prefers_inverse_search(201, 1, near=near)
        assert costs.prefers_inverse_search(3000, 30, near=near)
        assert not costs.prefers_inverse_search(3001, 1, near=near)
        assert not costs.prefers_inverse_search(3000, 31, near=near)
        # of several at an end LAPACK takes more rows, of those next to a shift it does not
        assert costs.prefers_inverse_search(230, 5, near=near) is near

    def test_near_a_shift(self):
        assert costs.prefers_lapack_near(200, 1, dense=False)
        assert not costs.prefers_lapack_near(201, 1, dense=False)
        assert costs.prefers_lapack_near(201, 34, dense=False)
        assert costs.prefers_lapack_near(240, 3, dense=True)
        assert not costs.prefers_lapack_near(241, 3, dense=True)


class TestSizes:
    """The typical size of eigenvalues, and whether the largest hide them."""

    def test_the_median_of_quotients(self):
        a, b = np.array([1.0, 6.0, -4.0, 0.0, 9.0, 5.0]), np.array([1.0, 2.0, 1.0, 1.0, 1e-9, 0.0])
        # 1, 3, 4 and 9e9
        assert typical_ratio(a, b) == pytest.approx(3.5)
        assert typical_ratio(np.zeros(3), np.ones(3)) == 0.0

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
    @pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
    @pytest.mark.parametrize(("light", "graded"), [(1.0, False), (1e-5, False), (1e-8, True)])
    def test_rows_with_nearly_no_mass(self, kind, unit, light, graded):
        n = 20
        A, B = unit * np.diag(np.full(n, 2.0)), np.diag(np.r_[np.ones(n - 2), light, light])
        pencil = Pencil(kind(A), kind(B), equilibrate=True)
        typical = 2 * unit / abs(pencil.unit)
        assert pencil.typical == pytest.approx(typical)
        assert pencil.graded is graded
        assert pencil.size == pytest.approx(min(typical / light, 1e3 * typical), rel=0.5)

    def test_edges(self):
        assert is_graded(1.1e6, 1.0)
        assert not is_graded(0.9e6, 1.0)
        assert not is_graded(1.0, 0.0)

    @pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1e-9, 1e9), (1e60, 1.0), (1e60, 1e-40), (1.0, 1e50)])
    @pytest.mark.parametrize("identity", [False, True])
    def test_a_shift_far_beyond_an_end(self, a, b, identity):
        """1/(λ − σ) keeps half of the digits up to 1/√eps times the largest eigenvalue."""
        n = 12
        _, pencil = asked(np.diag(np.linspace(a, 3 * a, n)), None if identity else np.diag(np.full(n, b)))
        largest = 3 * a / (1.0 if identity else b)
        edge = largest * 2.0**26
        assert end_towards(0.99 * edge, pencil) is None
        assert end_towards(-0.99 * edge, pencil) is None
        assert end_towards(1.01 * edge, pencil) == "largest"
        assert end_towards(-1.01 * edge, pencil) == "smallest"


@pytest.mark.parametrize("name", ["A_products", "K_solves"])
@pytest.mark.parametrize(("own", "probes", "fallback", "stops"), [
    (9, 0, False, False), (10, 0, False, True), (9, 10**9, False, False), (9, 10**9, True, True), (0, 0, True, False),
])  # fmt: skip
def test_the_limit_of_a_search(name, own, probes, fallback, stops):
    """Of products with A or of solves with its inverse; probes count only where LAPACK may follow."""
    counts = Counts(monitoring=Tally())
    products = Products(sm.Pencil(np.eye(50)), counts)
    check = MaxProducts(10, 1, fallback).begin(products)
    setattr(counts, name, own)
    setattr(counts.monitoring, name, probes)
    counts.setup.A_products = 10**9
    assert check(None) is (Reason.MAX_STEPS if stops else None)
