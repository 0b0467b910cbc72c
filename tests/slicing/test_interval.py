"""All eigenvalues in an interval: as many as there are, each once, with bounds and a proof."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

import data
import splitmerge as sm
from checking import choices, dense, exhaustive, figures_of, operator_of
from pairs import pair_of
from splitmerge import Reason
from splitmerge.planning.decision import Choice
from splitmerge.slicing import interval as slicing
from splitmerge.slicing import sweep
from splitmerge.slicing.slices import slices

INF = np.inf


def expected(every, a, b):
    """The eigenvalues in [a, b]; those within rounding of an end are in it."""
    slack = 1e-12 * np.abs(every).max()
    return np.sort(every[(every >= a - slack) & (every <= b + slack)])


def check(A, B, every, a, b, **options):
    """Number, values, order, B-orthonormality, residuals, bounds and verdict."""
    options.setdefault("rng", 0)
    sol = sm.solve(A, B, interval=(a, b), **options)
    wanted, radius = expected(every, a, b), np.abs(every).max()
    eps = np.finfo(sol.eigenvectors.dtype).eps
    assert sol.eigenvalues.shape == wanted.shape, f"{sol.eigenvalues.size} in place of {wanted.size}"
    assert sol.converged
    assert sol.verdict == "certified", sol.verdict.why
    assert (np.diff(sol.eigenvalues) >= 0).all()
    assert np.abs(sol.eigenvalues - wanted).max(initial=0) <= 200 * np.sqrt(len(every)) * eps * radius
    U = sol.eigenvectors.astype(np.result_type(sol.eigenvectors.dtype, np.float64))
    BU = U if B is None else B @ U
    assert np.abs(U.conj().T @ BU - np.eye(wanted.size)).max(initial=0) <= max(1e-10, 1e3 * eps)
    errors = np.abs(sol.eigenvalues - wanted)
    assert (errors <= 1.01 * sol.error_bounds + 100 * eps * radius).all()
    assert sol.residuals.shape == sol.error_bounds.shape == sol.angle_bounds.shape == sol.clusters.shape == wanted.shape
    R = A @ U - BU * sol.eigenvalues
    scale = np.linalg.norm(BU, axis=0) * radius
    assert (np.linalg.norm(R, axis=0) <= max(1e-7, 1e3 * eps) * scale).all()
    return sol


def blocks(*parts):
    return sp.csr_array(sp.block_diag(parts, format="csr"))


GRID = sm.gallery.grid_laplacian([19, 24])[0]
GRID_VALUES = np.sort(sm.gallery.grid_laplacian_values([19, 24]))
CUBE = sm.gallery.grid_laplacian([9, 9, 9], neumann=True)[0]
CUBE_VALUES = np.sort(sm.gallery.grid_laplacian_values([9, 9, 9], neumann=True))
ELEMENTS = sm.gallery.element_laplacian([25, 30])
ELEMENT_VALUES = np.sort(sm.gallery.element_laplacian_values([25, 30]))
PATHS = blocks(*(sm.gallery.grid_laplacian([m], neumann=True)[0] for m in range(3, 33)))
PATH_VALUES = np.sort(np.concatenate([sm.gallery.grid_laplacian_values([m], neumann=True) for m in range(3, 33)]))


class TestLaplacians:
    @pytest.mark.parametrize(("a", "b"), [(0, 0.5), (0.3, 0.7), (3.9, 4.1), (7.7, 9), (2.0, 2.2)])
    def test_grid(self, a, b):
        check(GRID, None, GRID_VALUES, a, b)

    @pytest.mark.parametrize(("a", "b"), [(-1, 0.2), (0, 0.6), (1, 1.2), (5.5, 5.7), (11, 12)])
    def test_cube(self, a, b):
        """Most of its eigenvalues are triple or sixfold."""
        check(CUBE, None, CUBE_VALUES, a, b)

    @pytest.mark.parametrize(("first", "last"), [(0, 40), (100, 130), (300, 400), (690, 695), (5, 5)])
    def test_elements(self, first, last):
        """The ends are eigenvalues."""
        check(*ELEMENTS, ELEMENT_VALUES, ELEMENT_VALUES[first], ELEMENT_VALUES[last])

    @pytest.mark.parametrize(("a", "b"), [(0, 0.4), (0.3, 0.7), (3.9, 4.1), (7.7, 9), (GRID_VALUES[3], GRID_VALUES[9])])
    def test_three_copies(self, a, b):
        check(blocks(GRID, GRID, GRID), None, np.tile(GRID_VALUES, 3), a, b)

    @pytest.mark.parametrize(("a", "b"), [(-1, 1e-6), (0, 0), (-0.5, 0.05), (0, 0.02), (1, 1.1)])
    def test_disconnected_graph(self, a, b):
        """As many zeros as components."""
        assert PATHS.shape[0] > 500
        sol = check(PATHS, None, PATH_VALUES, a, b)
        if a == b == 0:
            assert sol.eigenvalues.size == 30

    def test_many_slices(self):
        A, every = sm.gallery.grid_laplacian([45, 46])[0], np.sort(sm.gallery.grid_laplacian_values([45, 46]))
        sol = check(A, None, every, (every[99] + every[100]) / 2, (every[399] + every[400]) / 2)
        assert sol.eigenvalues.size == 300
        sizes = [count for count, _ in figures_of(sol, "SLICED")["slices"]]
        assert sum(sizes) == 300
        assert max(sizes) <= sweep.SLICE_PAIRS


class TestRealPairs:
    @pytest.mark.parametrize("place", [0.0, 0.2, 0.5, 0.8, 0.97])
    @pytest.mark.parametrize("name", ["07", "lund"])
    def test_harwell_boeing(self, name, place):
        A, B = data.lund() if name == "lund" else data.harwell_boeing(name)
        every = scipy.linalg.eigh(A.toarray(), B.toarray(), eigvals_only=True)
        first = int(place * every.size)
        last = min(first + 15, every.size - 1)
        low = every[first] * 0.9 if first == 0 else (every[first - 1] + every[first]) / 2
        high = every[-1] * 1.1 if last == every.size - 1 else (every[last] + every[last + 1]) / 2
        check(A, B, every, low, high)

    @pytest.mark.parametrize("share", exhaustive([0.002, 0.03, 0.01, 0.1, 0.2], quick=2))
    def test_lapla3(self, share):
        """Against the nearest to a shift, one by one certified."""
        A, B = data.lapla3()
        low = sm.solve(A, B, 1, which="smallest", rng=0).eigenvalues[0]
        top = sm.solve(A, B, 1, rng=0).eigenvalues[0]
        centre = low + share * (top - low)
        near = sm.solve(A, B, 20, sigma=centre, certify=True, rng=0)
        distances = np.sort(np.abs(near.eigenvalues - centre))
        reach = (distances[-2] + distances[-1]) / 2
        sol = sm.solve(A, B, interval=(centre - reach, centre + reach), rng=0)
        assert sol.verdict == "certified"
        wanted = np.sort(near.eigenvalues[np.abs(near.eigenvalues - centre) < reach])
        np.testing.assert_allclose(sol.eigenvalues, wanted, rtol=1e-9)


class TestEnds:
    @pytest.mark.parametrize("interval", [(-9, -8), (9, 12), (0.5, 0.5), (1e300, 1e301), (-1e301, -1e300)])
    @pytest.mark.parametrize("A", [GRID, GRID.toarray(), GRID[:20, :20]], ids=["sparse", "dense", "small"])
    def test_empty(self, A, interval):
        sol = check(A, None, np.linalg.eigvalsh(dense(A)), *interval)
        assert sol.eigenvectors.shape == (A.shape[0], 0)
        assert sol.reason is Reason.RESIDUAL
        assert sol.steps == 0

    @pytest.mark.parametrize("interval", [(-INF, INF), (-1, 9), (-1e300, 1e300), (0, INF), (-INF, 8)])
    @pytest.mark.parametrize("stop", [None, sm.Residual(1e-9)], ids=["LAPACK", "slices"])
    def test_whole_spectrum(self, interval, stop):
        sol = check(GRID, None, GRID_VALUES, *interval, stop=stop)
        assert ("LAPACK" in choices(sol)) == (stop is None)

    @pytest.mark.parametrize(("a", "b"), [(-INF, 0.3), (7.8, INF), (-1e9, 0.3), (7.8, 1e9)])
    def test_unbounded(self, a, b):
        check(GRID, None, GRID_VALUES, a, b)

    @pytest.mark.parametrize("kind", [np.diag, lambda d: sp.csr_array(sp.diags_array(d))], ids=["dense", "sparse"])
    @pytest.mark.parametrize("interval", [(3, 5), (3, 3), (2.5, 3), (4, 4.5), (5, 7)])
    def test_multiple_eigenvalues_at_the_ends(self, kind, interval):
        every = np.repeat(np.arange(1.0, 81.0), 5)
        check(kind(np.random.default_rng(0).permutation(every)), None, every, *interval)

    def test_just_beside_an_eigenvalue(self):
        """Nearer than a count can tell, farther than rounding."""
        every = np.arange(1.0, 401.0)
        A = sp.csr_array(sp.diags_array(every))
        for distance, count in ((1e-11, 2), (-1e-11, 4), (1e-9, 2), (-1e-9, 4)):
            sol = sm.solve(A, interval=(7 + distance, 10 - distance), rng=0)
            assert sol.eigenvalues.size == count
            assert sol.verdict == "certified"

    def test_no_bound(self):
        """The finite eigenvalues of a singular B may be anywhere."""
        with pytest.raises(ValueError, match=r"^interval has no finite upper end|^B is not positive definite"):
            sm.solve(GRID, sp.csr_array(sp.diags_array(np.r_[0.0, np.ones(455)])), interval=(0, INF))


class TestKinds:
    @pytest.mark.parametrize("n", [1, 2, 3])
    @pytest.mark.parametrize("stop", [None, sm.Residual(1e-10)], ids=["LAPACK", "slices"])
    def test_tiny(self, n, stop):
        every = np.arange(1.0, n + 1)
        for a, b in ((0, 9), (1, 1), (1.5, 2.5), (n, n + 1), (-3, 0.5)):
            check(np.diag(every), None, every, a, b, stop=stop)
            check(sp.csr_array(np.diag(every)), None, every, a, b, stop=stop)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
    @pytest.mark.parametrize("n", [60, 240])
    def test_dtypes(self, n, dtype):
        every = np.linspace(-1, 2, n)
        A, B = pair_of(every, dtype=complex if np.dtype(dtype).kind == "c" else float)
        sol = check(A.astype(dtype), B.astype(dtype), every, every[10] - 0.4 * 3 / n, every[20] + 0.4 * 3 / n)
        assert sol.eigenvalues.size == 11
        assert sol.eigenvectors.dtype == dtype

    @pytest.mark.parametrize("scale", [1e-150, 1e150, 1e-30, 1e30])
    @pytest.mark.parametrize("stop", [None, sm.Residual(1e-9)], ids=["LAPACK", "slices"])
    def test_scaling(self, scale, stop):
        A, B = ELEMENTS
        low, high = (ELEMENT_VALUES[20] + ELEMENT_VALUES[21]) / 2, (ELEMENT_VALUES[60] + ELEMENT_VALUES[61]) / 2
        sol = sm.solve(A * scale, B, interval=(low * scale, high * scale), stop=stop, rng=0)
        np.testing.assert_allclose(sol.eigenvalues / scale, ELEMENT_VALUES[21:61], rtol=1e-9)
        sol = sm.solve(A, B * scale, interval=(low / scale, high / scale), stop=stop, rng=0)
        np.testing.assert_allclose(sol.eigenvalues * scale, ELEMENT_VALUES[21:61], rtol=1e-9)
        assert sol.verdict == "certified"

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
    def test_zero(self, kind):
        for interval, count in (((-1, 1), 300), ((0, 0), 300), ((1, 2), 0), ((-INF, INF), 300)):
            assert sm.solve(kind(np.zeros((300, 300))), interval=interval, rng=0).eigenvalues.size == count

    def test_indefinite(self):
        A = sp.csr_array(GRID - 4 * sp.eye_array(GRID.shape[0]))
        check(A, None, GRID_VALUES - 4, -0.3, 0.2)
        check(A, None, GRID_VALUES - 4, -4, -3)

    def test_dense_slices(self):
        """Few of many: an LDLᴴ factorisation takes less than LAPACK's reduction."""
        every = np.sort(np.random.default_rng(0).uniform(0, 1, 700))
        A, B = pair_of(every)
        sol = check(A, B, every, 0.5, 0.51)
        assert "SLICED" in choices(sol)

    def test_equilibrated(self):
        A, B = ELEMENTS
        D = sp.diags_array(np.logspace(0, 4, A.shape[0]))
        sol = sm.solve(sp.csr_array(D @ A @ D), sp.csr_array(D @ B @ D), interval=(0, ELEMENT_VALUES[60] + 1e-3), rng=0)
        np.testing.assert_allclose(sol.eigenvalues, ELEMENT_VALUES[:61], rtol=1e-9)

    def test_small_operator(self):
        sol = check(operator_of(GRID.toarray()), None, GRID_VALUES, 0.1, 0.3)
        assert "FORMED_A" in choices(sol)
        A, B = ELEMENTS
        check(A, operator_of(B.toarray()), ELEMENT_VALUES, 0, ELEMENT_VALUES[20] + 1)

    def test_large_operator(self):
        big = LinearOperator((2000, 2000), matvec=lambda x: x, dtype=float)
        with pytest.raises(ValueError, match=r"^interval needs the entries of A and B.*k and which"):
            sm.solve(big, interval=(0, 1))

    def test_restricted(self):
        B = sp.csr_array(sp.diags_array(np.r_[np.zeros(3), np.ones(GRID.shape[0] - 3)]))
        A = GRID.toarray()
        schur = A[3:, 3:] - A[3:, :3] @ np.linalg.solve(A[:3, :3], A[:3, 3:])
        every = np.linalg.eigvalsh(schur)
        for policy in ("error", "restrict"):
            sol = sm.solve(GRID, B, interval=(0, 0.4), b_policy=policy, rng=0)
            np.testing.assert_allclose(sol.eigenvalues, expected(every, 0, 0.4), rtol=1e-9)
            assert sol.verdict == "certified"
        assert sol.b_report.dropped == 3


class TestClusters:
    @pytest.mark.parametrize("width", [0.0, 1e-13, 1e-9, 1e-5])
    @pytest.mark.parametrize("size", [10, 70])
    def test_at_a_slice_border(self, width, size, monkeypatch):
        """In the middle of the interval, where the first cut would be."""
        monkeypatch.setattr(sweep, "SLICE_PAIRS", 24)
        cluster = 0.5 + width * np.linspace(-1, 1, size)
        every = np.sort(np.r_[np.linspace(0, 1, 400), cluster])
        check(sp.csr_array(sp.diags_array(every)), None, every, 0.41, 0.59)

    def test_cluster_far_from_the_ends(self):
        every = np.r_[7 + 1e-6 * np.arange(120), np.linspace(-100, -50, 500), np.linspace(50, 100, 500)]
        check(sp.csr_array(sp.diags_array(every)), None, every, -40, 40)

    @settings(max_examples=60, deadline=None)
    @given(data=st.data())
    def test_random_spectra(self, data):
        """Integers and clusters around them, each with a multiplicity; ends at, next to, and away from them."""
        centres = data.draw(st.lists(st.integers(-6, 6), min_size=1, max_size=8))
        sizes = [data.draw(st.integers(1, 12)) for _ in centres]
        spread = data.draw(st.sampled_from([0.0, 1e-14, 1e-10, 1e-4]))
        # the last one fixes the size of A, and with it what is within rounding
        every = np.concatenate([*(c + spread * np.arange(m) for c, m in zip(centres, sizes, strict=True)), [50.0]])
        ends = st.one_of(
            st.integers(-7, 7).map(float), st.floats(-7.4, 7.4).map(lambda x: np.floor(x) + 0.5), st.just(INF)
        )
        low, high = data.draw(ends), data.draw(ends)
        low, high = min(-low if low == INF else low, high), max(-low if low == INF else low, high)
        seed = data.draw(st.integers(0, 10))
        A, B = pair_of(every, seed=seed)
        slack = 1e-15
        sol = sm.solve(A, B, interval=(low, high), stop=sm.Residual(1e-9), rng=seed)
        sure = (every > low + 1e-9) & (every < high - 1e-9) | (np.abs(every - low) <= slack)
        sure |= np.abs(every - high) <= slack
        possible = (every > low - 1e-8) & (every < high + 1e-8)
        assert sure.sum() <= sol.eigenvalues.size <= possible.sum()
        assert sol.converged
        assert sol.verdict in ("certified", "probed")
        if sure.sum() == possible.sum():
            np.testing.assert_allclose(sol.eigenvalues, np.sort(every[sure]), atol=1e-8)


class TestStopping:
    def test_interrupted(self):
        """The pairs of the slices before, and of the present one as they are."""
        options = {"interval": (0, 3.0), "stop": sm.Residual(1e-9), "rng": 0}
        half, seen = len(sm.solve(GRID, **options).history) // 2, 0

        def press(state):
            nonlocal seen
            seen += 1
            if seen == half:
                raise KeyboardInterrupt

        sol = sm.solve(GRID, callback=press, **options)
        assert sol.reason is Reason.INTERRUPTED
        assert not sol.converged
        assert sol.verdict == "unchecked"
        assert sol.eigenvalues.size > 0
        good = sol.residuals <= 1e-9
        assert good.sum() >= sweep.SLICE_PAIRS / 2
        assert np.abs(sol.eigenvalues[good][:, None] - GRID_VALUES).min(axis=1).max() < 1e-9
        assert (np.diff(sol.eigenvalues) >= 0).all()

    def test_interrupted_while_factorising(self, monkeypatch):
        def interrupted(counter, low, high, size):
            parts = slices(counter, low, high, size)
            yield next(parts)
            raise KeyboardInterrupt

        monkeypatch.setattr(sweep, "slices", interrupted)
        sol = sm.solve(GRID, interval=(0, 3.0), stop=sm.Residual(1e-9), rng=0)
        assert sol.reason is Reason.INTERRUPTED
        assert 0 < sol.eigenvalues.size <= sweep.SLICE_PAIRS
        assert (sol.residuals <= 1e-9).all()

    @pytest.mark.parametrize(
        ("stop", "reason"),
        [(sm.Residual(1e-9) | sm.MaxSeconds(1e-3), Reason.MAX_SECONDS), (sm.MaxSteps(1), Reason.MAX_STEPS)],
    )
    def test_limits(self, stop, reason):
        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(GRID, interval=(0, 3.0), stop=stop, rng=0)
        assert caught.value.solution.reason is reason
        assert caught.value.solution.verdict == "unchecked"

    def test_callback_and_history(self):
        steps = []
        sol = sm.solve(GRID, interval=(0, 0.9), callback=steps.append, rng=0)
        assert len(sol.history) == len(steps)
        assert sol.history.pair.max() == sol.eigenvalues.size - 1
        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(GRID, interval=(0, 0.9), callback=lambda state: True, rng=0)
        assert caught.value.solution.reason is Reason.CALLBACK

    def test_rows_of_all_slices_have_the_numbers_of_the_eigenvalues(self):
        """A slice seeks the nearest to its centre first, and the eigenvalues are in ascending order."""
        A = sp.diags_array(np.arange(1.0, 2001.0))
        sol = sm.solve(A, interval=(100.5, 170.5), callback=lambda state: None, rng=0)
        (sliced,) = (decision for decision in sol.decisions if decision.choice is Choice.SLICED)
        assert len(sliced["slices"]) > 1
        wanted = sol.history.pair < 70
        assert set(sol.history.pair[wanted]) == set(range(70))
        settled = wanted & (sol.history.residual < 1e-8)
        np.testing.assert_allclose(sol.history.value[settled], sol.eigenvalues[sol.history.pair[settled]], rtol=1e-8)
        assert (np.diff(sol.history.products) >= 0).all()
        assert sol.history.products[-1] == sol.counts.products

    def test_memory(self, monkeypatch):
        monkeypatch.setattr(sweep, "free_memory", lambda: 1e4)
        with pytest.raises(MemoryError, match="narrower"):
            sm.solve(GRID, interval=(0, 0.9), rng=0)

    def test_a_wrong_count_is_noticed(self, monkeypatch):
        found = figures_of(sm.solve(GRID, interval=(0, 0.3), rng=0), "COUNTED")["above"]

        def wrong(counter, a, b):
            ends = counted(counter, a, b)
            cut = ends.high.border._replace(below=ends.high.border.below + 1)
            return replace(ends, high=type(ends.high)(cut, cut))

        counted = slicing.counted_ends
        monkeypatch.setattr(slicing, "counted_ends", wrong)
        with pytest.raises(sm.NotConverged) as caught:
            sm.solve(GRID, interval=(0, 0.3), rng=0)
        assert caught.value.solution.reason is Reason.MISCOUNTED
        assert caught.value.solution.eigenvalues.size == found

    def test_reproducible(self):
        one, two = (sm.solve(*ELEMENTS, interval=(0, 2000), rng=3) for _ in range(2))
        assert (one.eigenvalues == two.eigenvalues).all()
        assert (one.eigenvectors == two.eigenvectors).all()


class TestArguments:
    @pytest.mark.parametrize(
        ("name", "options"),
        [
            ("k", {"k": 2}),
            ("which", {"which": "smallest"}),
            ("sigma", {"sigma": 1.0}),
            ("x0", {"x0": np.ones(GRID.shape[0])}),
        ],
    )
    def test_exclusive(self, name, options):
        with pytest.raises(ValueError, match=rf"^{name} and interval are both given; .*leave {name} out"):
            sm.solve(GRID, interval=(0, 1), **options)

    @pytest.mark.parametrize(
        "interval", [1, (1,), (1, 2, 3), "ab", (2, 1), (0, np.nan), (0, None), (INF, INF), (0, 1j)]
    )
    def test_not_an_interval(self, interval):
        with pytest.raises(ValueError, match=r"^(an end of )?interval is "):
            sm.solve(GRID, interval=interval)

    def test_methods(self):
        check(GRID, None, GRID_VALUES, 0, 0.2, method=sm.Accelerated())
        with pytest.raises(ValueError, match="interval"):
            sm.solve(GRID, interval=(0, 1), method=sm.SplitMerge())
        with pytest.raises(ValueError, match="interval"):
            sm.solve(GRID, interval=(0, 1), method=sm.LocallyOptimal())
        with pytest.raises(ValueError, match="interval"):
            sm.solve(GRID, interval=(0, 1), preconditioner=sm.MultiGrid())

    @pytest.mark.parametrize("A", [GRID, GRID.toarray()[:50, :50]], ids=["slices", "LAPACK"])
    def test_indefinite_B(self, A):
        B = np.diag(np.r_[-1.0, np.ones(A.shape[0] - 1)])
        with pytest.raises(sm.NotPositiveDefinite):
            sm.solve(A, B if isinstance(A, np.ndarray) else sp.csr_array(B), interval=(-2, -1))

    def test_saved_and_resumed(self, tmp_path):
        sol = sm.solve(GRID, interval=(-INF, 0.3), rng=0)
        sol.save(tmp_path / "pairs.npz")
        again = sm.load(tmp_path / "pairs.npz")
        assert again.problem.interval == (-INF, 0.3)
        assert (again.eigenvalues == sol.eigenvalues).all()
        finer = again.resume(tol=1e-11, rng=0)
        assert (finer.residuals <= 1e-11).all() or finer.reason is Reason.PRECISION
        assert finer.eigenvalues.size == sol.eigenvalues.size
        empty = sm.solve(GRID, interval=(-2, -1))
        empty.save(tmp_path / "none.npz")
        assert sm.load(tmp_path / "none.npz").eigenvalues.size == 0


@pytest.mark.parametrize("unit", [2.0**-200, 1.0, 2.0**200])
def test_decisions_are_in_the_units_of_the_user(unit):
    a, b = 0.3 * unit, 0.6 * unit
    sol = sm.solve(GRID * unit, interval=(a, b), stop=sm.Residual(1e-9), rng=0)
    (sliced,) = [decision for decision in sol.decisions if decision.choice.name == "SLICED"]
    assert sliced["slices"]
    assert all(a <= shift <= b for _, shift in sliced["slices"])


@pytest.mark.parametrize(("interval", "counted"), [((2.5, 6.5), False), ((3.0, 6.5), True), ((2.5, 6.0), True)])
def test_lapack_leaves_an_eigenvalue_at_either_end_to_a_count(interval, counted):
    sol = sm.solve(np.diag(np.arange(1.0, 11.0)), interval=interval)
    np.testing.assert_allclose(sol.eigenvalues, [3, 4, 5, 6], atol=1e-12)
    assert ("COUNTED" in choices(sol)) == counted
