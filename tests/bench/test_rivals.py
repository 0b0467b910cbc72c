"""The published methods that the benchmarks compare with: right answers, costs as stated, theory that holds."""

import dataclasses
import functools
import inspect
import itertools
import pickle
import re

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import data
import splitmerge as sm
from checking import check, exhaustive, operator_of, refuse
from pairs import EASY, indefinite, pair_of, well_separated
from splitmerge import Reason, SineAngle
from splitmerge.bench import rivals
from splitmerge.bench.rivals.direction import ascent
from splitmerge.bench.rivals.quartic import line_search, quartic
from theory import first_states

DEFAULTS = [getattr(rivals, name)() for name in rivals.__all__]
QUARTIC = [rivals.AuchmutyDescent(), rivals.AuchmutyConjugateGradient(), rivals.AuchmutyNewton()]
SPHERE = [rivals.RiemannianGradient(), rivals.RiemannianConjugateGradient()]
FACTORISING = (rivals.RayleighQuotientIteration, rivals.AuchmutyNewton)
# thousands of products where B is badly conditioned or the gap is small
SLOW = (rivals.GenELinK, rivals.AuchmutyDescent)
CELLS = [(256, 10), (512, 5), (256, 3), (256, 100), (512, 50)]


def short(method):
    return type(method).__name__


each_rival = pytest.mark.parametrize("method", DEFAULTS, ids=short)
each_quartic = pytest.mark.parametrize("method", QUARTIC, ids=short)
each_on_sphere = pytest.mark.parametrize("method", SPHERE, ids=short)


@functools.cache
def cell(n, kappa, seed):
    """A synthetic pair and what LAPACK makes of it."""
    A, B = sm.gallery.synthetic_pair(n, kappa, rng=seed)
    w, U = scipy.linalg.eigh(A, B, subset_by_index=[n - 1, n - 1])
    return A, B, w[0], U[:, 0]


def agrees(method, A, B, value, u):
    """Both rules stop at LAPACK's pair, and something was counted."""
    by_residual = sm.solve(A, B, method=method, tol=1e-8, rng=0)
    assert by_residual.reason is Reason.RESIDUAL
    by_angle = sm.solve(A, B, method=method, stop=SineAngle(u, 1e-5), rng=0)
    assert by_angle.reason is Reason.ANGLE
    for sol, accuracy in ((by_residual, 1e-12), (by_angle, 1e-9)):
        assert sol.eigenvalues[0] == pytest.approx(value, rel=accuracy)
        assert abs(sol.eigenvectors[:, 0] @ (B @ u)) >= 1 - accuracy
        assert sol.steps > 0
        assert sol.counts.A_products >= sol.steps
        assert (sol.counts.B_solves > 0) == method.solves


@each_rival
@pytest.mark.parametrize(("n", "kappa"), exhaustive(CELLS, quick=2))
def test_synthetic_pairs(method, n, kappa):
    for seed in (1,) if isinstance(method, SLOW) or n > 256 else (1, 2, 3):
        agrees(method, *cell(n, kappa, seed))


@each_rival
def test_lund(method):
    A, B = data.lund()
    w, U = scipy.linalg.eigh(A.toarray(), B.toarray())
    agrees(method, A, B, w[-1], U[:, -1])


class TestInputs:
    @each_rival
    @pytest.mark.parametrize("dtype", [float, complex])
    def test_three_pairs_by_deflation(self, method, dtype):
        A, B = well_separated(12, dtype=dtype)
        check(sm.solve(A, B, 3, method=method, rng=0), A, B, 3, orthonormal=1e-7)

    @each_rival
    @pytest.mark.parametrize("dtype", [np.float32, np.complex64])
    def test_single_precision(self, method, dtype):
        A, B = (M.astype(dtype) for M in well_separated(12, dtype=dtype))
        sol = sm.solve(A, B, method=method, rng=0)
        assert sol.eigenvectors.dtype == dtype
        check(sol, A, B, 1, values=1e-5, orthonormal=1e-5)

    @each_rival
    @pytest.mark.parametrize("dtype", [float, complex])
    def test_indefinite(self, method, dtype):
        A, B = indefinite(dtype=dtype)
        for which in ("largest", "smallest"):
            check(sm.solve(A, B, which=which, method=method, rng=0), A, B, 1, which)

    @each_rival
    @pytest.mark.parametrize("with_B", [True, False])
    def test_sparse(self, method, with_B):
        n = 60
        A = sp.diags_array([np.linspace(1, 3, n) ** 3, np.full(n - 1, 0.3)], offsets=[0, 1])
        A = sp.csr_array(A + sp.triu(A, 1).T)
        B = sp.csr_array(sp.diags_array([np.ones(n - 1), np.full(n, 4.0), np.ones(n - 1)], offsets=[-1, 0, 1]))
        check(
            sm.solve(A, B if with_B else None, 2, method=method, rng=0), A, B if with_B else None, 2, orthonormal=1e-7
        )

    @each_rival
    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_tiny(self, method, n):
        A, B = pair_of(np.arange(n, 0, -1.0))
        check(sm.solve(A, B, n, method=method, rng=0), A, B, n, orthonormal=1e-7)

    @each_rival
    def test_equal_eigenvalues(self, method):
        _, B = EASY
        check(sm.solve(B, B, 2, method=method, rng=0), B, B, 2)

    @each_rival
    def test_double_eigenvalue(self, method):
        A, B = pair_of([2.0, 2.0, 1.0, 0.5, 0.25, 0.1])
        check(sm.solve(A, B, 3, method=method, rng=0), A, B, 3, orthonormal=1e-7)

    @each_rival
    def test_zero(self, method):
        check(sm.solve(np.zeros((4, 4)), np.eye(4), method=method, rng=0), np.zeros((4, 4)), np.eye(4), 1)

    @each_rival
    def test_operators(self, method):
        A, B = well_separated(12)
        if isinstance(method, FACTORISING):
            refuse("needs the entries of A and B", operator_of(A), operator_of(B), method=method)
        else:
            check(sm.solve(operator_of(A), operator_of(B), method=method, rng=0), A, B, 1)

    @each_rival
    def test_inexact_solves(self, method):
        if method.solves:
            A, B = EASY
            method = dataclasses.replace(method, inner=sm.ConjugateGradient(5))
            sol = sm.solve(A, B, method=method, rng=0)
            assert sol.reason is Reason.RESIDUAL
            assert sol.eigenvalues[0] == pytest.approx(scipy.linalg.eigh(A, B)[0][-1], rel=1e-12)


class TestOptions:
    @each_rival
    def test_immutable_printable_picklable(self, method):
        assert repr(pickle.loads(pickle.dumps(method))) == repr(method)
        with pytest.raises(dataclasses.FrozenInstanceError):
            method.inner = None

    @each_rival
    def test_cites_its_publication(self, method):
        assert re.search(r"\b(19|20)\d\d\b", inspect.getdoc(type(method)))

    @pytest.mark.parametrize(
        ("name", "options"),
        [
            ("GenELinK", {"block": 0}),
            ("GenELinK", {"accuracy": -1.0}),
            ("JacobiDavidson", {"minres_steps": 0}),
            ("JacobiDavidson", {"max_basis": 1}),
            ("JacobiDavidson", {"max_basis": 5, "keep": 6}),
            ("LazyEV", {"gap": 1.0}),
            ("LazyEV", {"steps": 0}),
            ("LazyEV", {"reduction": 0.0}),
            ("RiemannianGradient", {"sufficient": 0.0}),
            ("RiemannianGradient", {"shorten": 1.0}),
        ],
    )
    def test_bad_ones_are_refused(self, name, options):
        with pytest.raises(ValueError, match=f"^{list(options)[-1]} is "):
            getattr(rivals, name)(**options)

    @each_rival
    def test_inner_must_be_an_object(self, method):
        with pytest.raises(ValueError, match="inner is 'cholesky'"):
            type(method)(inner="cholesky")

    @pytest.mark.parametrize(
        "method",
        [
            rivals.GenELinK(block=3),
            rivals.GenELinK(accuracy=1.0),
            rivals.JacobiDavidson(minres_steps=1),
            rivals.JacobiDavidson(max_basis=2, keep=1),
            rivals.LazyEV(gap=1e-4, steps=1, reduction=0.5),
            rivals.RiemannianGradient(sufficient=0.1, shorten=0.3),
        ],
        ids=repr,
    )
    def test_others_than_the_defaults(self, method):
        A, B = EASY
        check(sm.solve(A, B, 2, method=method, rng=0), A, B, 2, orthonormal=1e-7)

    def test_a_block_as_large_as_the_pair(self):
        A, B = well_separated(6)
        check(sm.solve(A, B, 2, method=rivals.GenELinK(block=9), rng=0), A, B, 2, orthonormal=1e-7)


class TestCosts:
    @staticmethod
    def run(method, steps=12):
        A, B, _, _ = cell(256, 10, 1)
        pencil = sm.Pencil(A, B)
        states = first_states(pencil, method, np.random.default_rng(0).standard_normal(256), steps)
        assert len(states) == steps + 1
        return states, pencil.counts

    @pytest.mark.parametrize("method", [*SPHERE, *QUARTIC[:2]], ids=short)
    def test_a_product_and_a_solve_a_step(self, method):
        _, counts = self.run(method)
        assert (counts.A_products, counts.B_products, counts.B_solves, counts.K_solves) == (13, 1, 12, 0)

    def test_jacobi_davidson(self):
        _, counts = self.run(rivals.JacobiDavidson(minres_steps=7))
        assert (counts.A_products, counts.B_products, counts.B_solves) == (1 + 12 * 8, 1 + 12 * 8, 0)

    @pytest.mark.parametrize("block", [1, 3])
    def test_genelink(self, block):
        _, counts = self.run(rivals.GenELinK(block=block))
        inner = int(np.ceil(4 * 10**0.5))
        assert (counts.A_products, counts.B_solves) == (block * 13, 0)
        assert counts.B_products == block * (1 + 12 * (inner + 1))

    def test_lazy_ev(self):
        _, counts = self.run(rivals.LazyEV())
        assert counts.A_products == counts.B_products == 1 + 12 + counts.P_solves
        assert counts.B_solves == 0

    @pytest.mark.parametrize("method", [rivals.RayleighQuotientIteration(), rivals.AuchmutyNewton()], ids=short)
    def test_factorising(self, method):
        A, B = well_separated(12)
        pencil = sm.Pencil(A, B)
        states = first_states(pencil, method, np.ones(12), 8)
        fast = sum(state.memory.low is not None for state in states[:-1])
        assert 2 < fast < 8
        counts = pencil.counts
        assert (counts.K_solves, counts.B_solves) == (fast, 8 - fast)
        assert (counts.A_products, counts.B_products) == (1 + 8, 1 + fast)


class TestTheory:
    @staticmethod
    def sines(states, u, B):
        L = np.linalg.cholesky(B)
        v = L.conj().T @ u
        y = [L.conj().T @ state.x for state in states]
        return [np.linalg.norm(z - v * (np.vdot(v, z) / np.vdot(v, v))) / np.linalg.norm(z) for z in y]

    @pytest.mark.parametrize("dtype", [float, complex])
    def test_rayleigh_quotient_iteration_is_cubic(self, dtype):
        A, B = well_separated(8, dtype=dtype)
        u = scipy.linalg.eigh(A, B)[1][:, -1]
        noise = np.random.default_rng(1).standard_normal(8)
        states = first_states(sm.Pencil(A, B), rivals.RayleighQuotientIteration(), u + 0.05 * noise, 8)
        sines = self.sines(states, u, B)
        pairs = [p for s, p in zip(states, itertools.pairwise(sines), strict=False) if s.memory.low is not None]
        assert any(before > 1e-4 for before, _ in pairs)
        for before, after in pairs:
            assert after <= max(3 * before**3, 1e-14)

    @pytest.mark.parametrize("dtype", [float, complex])
    def test_newton_is_quadratic(self, dtype):
        A, B = well_separated(8, dtype=dtype)
        w, U = scipy.linalg.eigh(A, B)
        u = U[:, -1] * w[-1] ** 0.5
        noise = np.random.default_rng(1).standard_normal(8)
        states = first_states(sm.Pencil(A, B), rivals.AuchmutyNewton(), u + 0.05 * noise, 10)
        errors = [abs(s.b / w[-1] - 1) + sine for s, sine in zip(states, self.sines(states, u, B), strict=True)]
        pairs = [p for s, p in zip(states, itertools.pairwise(errors), strict=False) if s.memory.low is not None]
        assert any(before > 1e-4 for before, _ in pairs)
        for before, after in pairs:
            assert after <= max(5 * before**2, 1e-14)

    @pytest.mark.parametrize("method", [rivals.RayleighQuotientIteration(), rivals.AuchmutyNewton()], ids=short)
    @pytest.mark.parametrize("second", [1, 3, 7])
    def test_a_nearer_pair_is_not_gone_to(self, method, second):
        """Left to itself from here, either iteration converges to the wrong pair in two steps."""
        A, B = well_separated(8)
        w, U = scipy.linalg.eigh(A, B)
        x = U[:, -1 - second] + 1e-4 * U.sum(axis=1)
        last = first_states(sm.Pencil(A, B), method, x, 60)[-1]
        assert last.value == pytest.approx(w[-1], rel=1e-12)
        assert last.residual <= 1e-10

    @each_quartic
    def test_the_quartic_descends_to_its_minimum(self, method):
        A, B = well_separated(12)
        states = first_states(sm.Pencil(A, B), method, np.ones(12), 80)
        values = [quartic(state) for state in states]
        least = scipy.linalg.eigh(A, B, eigvals_only=True)[-1] ** 2 / -4
        assert all(after <= before + 1e-13 * abs(least) for before, after in itertools.pairwise(values))
        assert values[0] == pytest.approx(-(states[0].value ** 2) / 4)
        assert values[-1] == pytest.approx(least, rel=1e-12)

    @each_on_sphere
    @pytest.mark.parametrize("dtype", [float, complex])
    def test_the_quotient_ascends_on_the_sphere(self, method, dtype):
        A, B = pair_of(np.linspace(1, 0, 30), dtype=dtype)
        states = first_states(sm.Pencil(A, B), method, np.ones(30), 80)
        for before, after in itertools.pairwise(states):
            assert after.value >= before.value * (1 - 1e-14)
        assert all(state.b == pytest.approx(1, abs=1e-12) for state in states)

    @pytest.mark.parametrize("seed", range(5))
    def test_exact_line_searches(self, seed):
        """On a fine grid there is nothing better; on the sphere that is the best of the span of x and d."""
        A, B, _, _ = cell(256, 10, 1)
        x = np.random.default_rng(seed).standard_normal(256)
        state = first_states(pencil := sm.Pencil(A, B), rivals.AuchmutyDescent(), x, 3)[-1]
        g = ascent(state, state.b)
        t = line_search(state, g, g.d @ g.Bd)

        def G(t):
            y = state.x + t * g.d
            return (y @ B @ y) ** 2 / 4 - y @ A @ y / 2

        grid = min(G(s) for s in np.linspace(-5 * abs(t), 5 * abs(t), 1001))
        assert G(t) <= grid + 1e-14 * abs(grid)
        start, state = first_states(pencil, rivals.RiemannianConjugateGradient(), x, 1)
        S = np.column_stack([start.x, ascent(start, start.value).d])
        best = scipy.linalg.eigh(S.T @ A @ S, S.T @ B @ S, eigvals_only=True)[-1]
        assert state.value == pytest.approx(best, rel=1e-12)

    def test_jacobi_davidson_with_exact_corrections_is_cubic(self):
        A, B = well_separated(30)
        u = scipy.linalg.eigh(A, B)[1][:, -1]
        x = u + 0.05 * np.random.default_rng(1).standard_normal(30)
        sines = self.sines(first_states(sm.Pencil(A, B), rivals.JacobiDavidson(minres_steps=30), x, 4), u, B)
        assert sines[0] > 1e-2
        for before, after in itertools.pairwise(sines):
            assert after <= max(3 * before**3, 1e-13)

    def test_genelink_with_many_inner_steps_is_the_power_method(self):
        A, B = EASY
        x = np.ones(40)
        power = first_states(sm.Pencil(A, B), sm.Power(), x, 10)
        for block in (1, 3):
            states = first_states(sm.Pencil(A, B), rivals.GenELinK(block=block, accuracy=60.0), x, 10)
            for one, other in zip(power, states, strict=True):
                assert self.sines([one], other.x, B)[0] <= 1e-10

    def test_the_shift_of_lazy_ev_comes_down_from_above(self):
        A, B, value, _ = cell(256, 10, 1)
        method = rivals.LazyEV(gap=0.3)
        shifts = [s.memory for s in first_states(sm.Pencil(A, B), method, np.ones(256), 500) if s.residual > 1e-12]
        assert all(before.value >= after.value > value for before, after in itertools.pairwise(shifts))
        assert not shifts[0].last
        assert shifts[-1].last
        assert shifts[-1].value - value <= 2 / 3 * 0.3 * shifts[-1].value

    def test_a_shift_that_is_too_low_is_raised(self):
        A, B, value, _ = cell(256, 10, 1)
        method = rivals.LazyEV()
        state = first_states(sm.Pencil(A, B), method, np.ones(256), 0)[0]
        for low in (0.999 * value, 0.9 * state.value):
            state.memory = state.memory._replace(value=low, moved=0.01 * value, last=True)
            for _ in range(400):
                state = method.step(state)
            assert state.memory.value > value
            assert state.value == pytest.approx(value, rel=1e-12)
