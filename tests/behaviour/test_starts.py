"""Starts: wrong eigenvectors, null vectors, the answer itself, and every accepted kind."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from checking import check, each_method, operator_of
from pairs import indefinite, pair_of, well_separated


class TestStart:
    @each_method
    @pytest.mark.parametrize("place", [1, 2, 4, -1])
    @pytest.mark.parametrize("make", [well_separated, indefinite], ids=["semidefinite", "indefinite"])
    def test_exact_wrong_eigenvector(self, method, place, make):
        A, B = make(6)
        U = scipy.linalg.eigh(A, B)[1][:, ::-1]
        check(sm.solve(A, B, method=method, x0=U[:, place], rng=0), A, B, 1)

    @each_method
    @pytest.mark.parametrize("place", [1, 5])
    def test_exact_wrong_unit_vector(self, method, place):
        A = np.diag([6.0, 3.0, 2.0, 1.0, 0.5, 0.0])
        for B in (None, np.diag([1.0, 2.0, 1.0, 2.0, 1.0, 2.0])):
            check(sm.solve(A, B, method=method, x0=np.eye(6)[place], rng=0), A, B, 1)
            check(sm.solve(A, B, 2, method=method, x0=np.eye(6)[:, [place, 0]], rng=0), A, B, 2)

    @each_method
    def test_wrong_eigenvector_of_a_larger_pair(self, method):
        A, B = pair_of(np.r_[4.0, 2.0, np.linspace(1, 0, 98)], condition=2.0)
        U = scipy.linalg.eigh(A, B)[1][:, ::-1]
        for place in (1, 50, 99):
            check(sm.solve(A, B, method=method, x0=U[:, place], rng=0), A, B, 1)

    @each_method
    def test_wrong_eigenvectors_for_every_pair(self, method):
        A, B = well_separated(6)
        U = scipy.linalg.eigh(A, B)[1][:, ::-1]
        check(sm.solve(A, B, 3, method=method, x0=U[:, [2, 1, 0]], rng=0, max_steps=5000), A, B, 3)
        check(sm.solve(A, B, 3, method=method, x0=U[:, [0, 4, 5]], rng=0), A, B, 3)

    @each_method
    def test_start_orthogonal_to_the_leader(self, method):
        A = np.diag([8.0, 4.0, 2.0, 1.0, 0.5])
        check(sm.solve(A, None, method=method, x0=[0, 1.0, 1.0, 1.0, 1.0], rng=0), A, None, 1)

    @each_method
    def test_close_leader_with_a_wrong_start(self, method):
        """λ₂ is 0.9 λ₁ and the start is u₂ exactly."""
        A = np.diag(np.r_[1.0, 0.9, np.linspace(0.5, 0.0, 98)])
        check(sm.solve(A, None, method=method, x0=np.eye(100)[1], rng=0), A, None, 1)

    @pytest.mark.parametrize("seed", range(5))
    @each_method
    def test_null_space(self, method, seed):
        A, B = pair_of(np.r_[2.0, 1.0, 0.5, np.zeros(5)], seed)
        null = scipy.linalg.null_space(A, rcond=1e-12)
        assert null.shape == (8, 5)
        check(sm.solve(A, B, method=method, x0=null[:, 0], rng=seed), A, B, 1)
        check(sm.solve(A, B, 2, method=method, x0=null[:, :2], rng=seed), A, B, 2)

    @each_method
    def test_null_space_exactly(self, method):
        A = np.diag([2.0, 1.0, 0.0, 0.0])
        check(sm.solve(A, None, method=method, x0=np.eye(4)[3], rng=0), A, None, 1)
        check(sm.solve(A, None, 3, method=method, x0=np.eye(4)[:, 3], rng=0), A, None, 3)

    @each_method
    def test_the_answer(self, method):
        A, B = indefinite(6)
        U = scipy.linalg.eigh(A, B)[1][:, ::-1]
        # an operator, as the default would count the eigenvalues of a matrix instead
        sol = sm.solve(operator_of(A), B, 2, method=method, x0=U[:, :2], rng=0)
        check(sol, A, B, 2)
        # the confirmation from a perturbed or random vector is monitoring
        assert sol.steps <= 4
        assert sol.counts.monitoring.A_products > 4

    @each_method
    def test_kinds(self, method):
        A, B = well_separated(6)
        x0 = np.arange(1, 7)
        starts = [x0, x0.tolist(), x0[:, None], x0.astype(np.float32), x0.astype(bool), x0[::-1].copy()[::-1], x0 * 1.0]
        for start in starts:
            before = np.array(start)
            check(sm.solve(A, B, method=method, x0=start, rng=0), A, B, 1)
            assert np.array_equal(before, start)

    @each_method
    def test_complex_numbers_without_imaginary_part(self, method):
        A, B = well_separated(6)
        check(sm.solve(A, B, method=method, x0=np.ones(6) + 0j, rng=0), A, B, 1)

    def test_complex_start_of_locally_optimal(self):
        A = np.diag(np.arange(1.0, 41))
        check(sm.solve(A, None, 2, method=sm.LocallyOptimal(), x0=np.eye(40)[:, :2] + 0j, rng=0), A, None, 2)
        with pytest.raises(ValueError, match=r"^x0 is complex but A and B are real"):
            sm.solve(A, None, 2, method=sm.LocallyOptimal(), x0=np.ones(40) + 1j, rng=0)

    @each_method
    def test_complex(self, method):
        A, B = indefinite(6, dtype=complex)
        check(sm.solve(A, B, method=method, x0=np.ones(6), rng=0), A, B, 1)
        check(sm.solve(A, B, method=method, x0=np.ones(6) * 1j, rng=0), A, B, 1)

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, operator_of], ids=["dense", "csr", "operator"])
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_wrong_starts_of_the_default(self, kind, which):
        """An isolated leader that the start knows nothing of must be found by the probe."""
        values = np.r_[1.0, 0.9, 0.85, np.linspace(0.5, 0.3, 144), 0.1, 0.05, 0.01]
        A, B = pair_of(values, condition=2.0)
        U = scipy.linalg.eigh(A, B)[1]
        U = U[:, ::-1] if which == "largest" else U
        for places in ([1], [2, 1], [70, 80]):
            k = len(places)
            sol = sm.solve(kind(A), kind(B), k, which=which, x0=U[:, places], rng=0)
            check(sol, A, B, k, which)

    @each_method
    def test_duplicate_starts(self, method):
        A, B = well_separated(6)
        check(sm.solve(A, B, 3, x0=np.ones((6, 3)), method=method, rng=0), A, B, 3)

    @each_method
    def test_start_inside_the_span_already_found(self, method):
        """The second start is the first answer: nothing is left of it, and that is not B's fault."""
        A = np.diag([4.0, 2.0, 1.0, 0.5])
        sol = sm.solve(A, None, 2, x0=np.eye(4)[:, [0, 0]], method=method, rng=0, max_steps=2000)
        check(sol, A, None, 2)

    @pytest.mark.parametrize("method", [None, sm.LocallyOptimal()], ids=["default", "lobpcg"])
    @pytest.mark.parametrize(("gap", "noise"), [(1e-7, 1e-3), (1e-9, 0.0)])
    def test_probes_that_straddle_the_start(self, method, gap, noise):
        """Eigenvalues 1 ± gap around the start's: a probe that mixes them must not pass for converged below it."""
        n = 150
        d = np.r_[1 + gap, 1.0, np.linspace(0, 1 - gap, n - 2)]
        for seed in (3, 12, 28, 37):
            x0 = np.eye(n)[1]
            x0[2:] = noise * np.random.default_rng(seed).standard_normal(n - 2)
            sol = sm.solve(operator_of(np.diag(d)), x0=x0, method=method, rng=seed)
            right = abs(sol.eigenvalues[0] - d[0]) <= gap / 2 + sol.error_bounds[0]
            assert right or sol.verdict == "unchecked"
            assert right or method is not None
