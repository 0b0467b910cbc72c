"""Ends, parts and intervals with numbers: both ends, both sides of each threshold, and any unit."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from checking import figures_of
from pairs import pair_of
from splitmerge import Reason
from splitmerge.slicing import sweep
from splitmerge.slicing.cuts import Counter, Cut
from splitmerge.slicing.ends import End, Ends
from splitmerge.slicing.parts import Part, blurred, chosen, joined, kept, unsure
from splitmerge.slicing.slices import HULL_FRACTION, Slice
from splitmerge.verification.bounds import Bounds
from splitmerge.verification.residuals import COLUMNS, Pairs

UNITS = [1e-9, 1.0, 1e9]
each_unit = pytest.mark.parametrize("unit", UNITS)


def cut(tau, below, nearest=None, rounding=1e-3):
    return Cut(tau, below, tau + 0.2 if nearest is None else nearest, rounding)


def ends_of(low, high, low_border=None, high_border=None, a=2.0, b=5.0):
    """From the counts below the ends and, if they are others, below the borders beyond them."""
    low_tau, high_tau = (a, b) if low_border is None else (a - 0.1, b + 0.1)
    return Ends(
        *(a, b),
        End(cut(low_tau, low), cut(a - 0.3, low if low_border is None else low_border)),
        End(cut(high_tau, high), cut(b + 0.3, high if high_border is None else high_border)),
    )


class TestEnds:
    def test_beyond_each_end(self):
        """Two more below, and three more above, which are not in the interval."""
        ends = ends_of(7, 9, 5, 12)
        assert ends.beyond == (2, 3)
        assert ends.count == 7
        assert ends.clear

    def test_counts_that_rounding_has_made_negative(self):
        assert ends_of(7, 9, 8, 9).beyond == (0, 0)
        assert not ends_of(7, 9, 8, 9).clear
        assert ends_of(7, 9, 7, 8).beyond == (0, 0)
        assert not ends_of(7, 9, 7, 8).clear
        assert ends_of(9, 7, 9, 7).count == 0

    def test_which_end_is_undecided(self):
        """One that was moved, because an eigenvalue is within rounding of it."""
        low, high = End(cut(2.0, 1), cut(2.0, 1)), End(cut(5.1, 3), cut(5.1, 3))
        ends = Ends(2.0, 5.0, low, high)
        assert ends.undecided == (-math.inf, 5.0)
        assert ends.touched
        ends = Ends(2.0, 5.0, low._replace(decided=cut(1.9, 1)), high._replace(decided=cut(5.0, 3)))
        assert ends.undecided == (2.0, math.inf)
        assert not Ends(2.0, 5.0, low, high._replace(decided=cut(5.0, 3))).touched

    @pytest.mark.parametrize("place", range(4))
    def test_one_count_that_is_not_certain(self, place):
        """The nearest eigenvalue is within twice the rounding, on either side."""
        for distance, clear in ((2.1e-3, True), (-2.1e-3, True), (1.9e-3, False), (-1.9e-3, False)):
            cuts = [cut(tau, 4) for tau in (2.0, 1.0, 5.0, 6.0)]
            cuts[place] = cut(cuts[place].tau, 4, cuts[place].tau + distance)
            assert Ends(2.0, 5.0, End(*cuts[:2]), End(*cuts[2:])).clear is clear


def part_of(values, errors, noise=0.0, clusters=None):
    """Pairs of which only values and errors matter."""
    values = np.array(values)
    columns = {name: np.arange(1.0, values.size + 1) for name in COLUMNS}
    for name in ("vectors", "norms", "sizes", "floors"):
        columns[name] = np.stack([columns[name], 10 * columns[name]])
    errors = np.broadcast_to(np.asarray(errors, float), values.shape).copy()
    columns |= {"values": values, "deltas": errors, "estimates": errors, "noise": np.full(values.size, noise)}
    labels = np.arange(values.size) if clusters is None else np.array(clusters)
    return Part(Pairs(**columns), Bounds(errors.copy(), columns["residuals"] / 100, labels))


class TestParts:
    def test_clusters_of_different_parts_have_different_names(self):
        parts = [part_of([1.0, 2.0], 0.1, clusters=[0, 0]), part_of([3.0], 0.1), part_of([4.0, 5.0, 6.0], 0.1)]
        whole = joined(None, parts)
        assert whole.bounds.clusters.tolist() == [0, 0, 1, 2, 3, 4]
        assert whole.pairs.values.tolist() == [1, 2, 3, 4, 5, 6]
        assert whole.pairs.residuals.tolist() == [1, 2, 1, 1, 2, 3]
        assert whole.pairs.norms.tolist() == [[1, 2, 1, 1, 2, 3], [10, 20, 10, 10, 20, 30]]
        assert whole.bounds.angles.tolist() == [0.01, 0.02, 0.01, 0.01, 0.02, 0.03]

    def test_what_is_chosen_keeps_its_figures(self):
        part = chosen(part_of([1.0, 2.0, 3.0, 4.0], [0.1, 0.2, 0.3, 0.4], clusters=[0, 1, 1, 2]), np.array([1, 2]))
        assert part.pairs.values.tolist() == [2, 3]
        assert part.pairs.residuals.tolist() == [2, 3]
        assert part.bounds.values.tolist() == [0.2, 0.3]
        assert part.bounds.angles.tolist() == [0.02, 0.03]
        assert part.bounds.clusters.tolist() == [0, 0]

    @each_unit
    @pytest.mark.parametrize("mirrored", [False, True])
    def test_kept_within_the_least_of_its_errors(self, mirrored, unit):
        """Of the bound, and those in both coordinates; but none of more than 1e-8 of an end."""
        sign = -unit if mirrored else unit
        beyond = np.array([0.0, 0.5e-8, 2e-8])
        for error, inside in ((3e-9, 1), (6e-9, 2), (1e-3, 2)):
            part = part_of(np.sort(sign * (1 + beyond)), unit * error)
            a, b = (-unit, math.inf) if mirrored else (-math.inf, unit)
            assert kept(part, a, b).pairs.values.size == inside
            for name in ("estimates", "deltas"):
                other = part._replace(pairs=replace(part.pairs, **{name: np.zeros(3)}))
                assert kept(other, a, b).pairs.values.size == 1
            other = part._replace(bounds=replace(part.bounds, values=np.zeros(3)))
            assert kept(other, a, b).pairs.values.size == 1

    @each_unit
    def test_unsure_of_what_its_bound_reaches(self, unit):
        """It is not kept, but its error bound, or its rounding, reaches an end from outside."""
        for outside in (0.9, 5.1):
            values = unit * np.sort([2.0, outside])
            for error, noise, expected in ((0.05, 0.0, False), (0.15, 0.0, True), (0.05, 0.15, True)):
                assert unsure(part_of(values, unit * error, unit * noise), unit, 5 * unit) is expected

    @each_unit
    def test_blurred_ends(self, unit):
        """A value within its bound of an end, where the bound is more than ten tolerances of the scale."""
        tol, scale = 1e-4, 5.0
        for value in (1.0005, 4.9995, 0.9995, 5.0005):
            for error, expected in ((0.9 * 10 * tol * scale, False), (1.1 * 10 * tol * scale, True)):
                assert blurred(part_of([unit * value], unit * error), unit, 5 * unit, tol) is expected
                # in the middle nothing is blurred, and a single point is asked for up to rounding
                assert not blurred(part_of([3 * unit], unit * error), unit, 5 * unit, tol)
                assert not blurred(part_of([unit * value], unit * error), 5 * unit, 5 * unit, tol)
        # nor is an end certain that is smaller than the bound, unless it is zero
        assert blurred(part_of([2e-4 * unit], 1e-3 * unit), 1e-4 * unit, 5 * unit, tol)
        assert not blurred(part_of([2e-4 * unit], 1e-3 * unit), 0.0, 5 * unit, tol)


class TestSlices:
    def test_figures(self):
        part = Slice(cut(2.0, 3, 2.5), cut(6.0, 10, 5.5))
        assert (part.count, part.width, part.hull) == (7, 4.0, (2.5, 5.5))
        # the cuts see an eigenvalue on the other side of them
        assert Slice(cut(2.0, 3, 1.5), cut(6.0, 10, 6.5)).hull == (2.0, 6.0)
        # eigenvalues all over it: the middle, and points next to it
        assert part.shifts[0] == (4.0, 4.0)
        assert [sigma for sigma, _ in part.shifts[1:]] == pytest.approx([4 + 0.013 * 4, 4 - 0.017 * 4])
        assert all(centre == 4.0 for _, centre in part.shifts)

    @pytest.mark.parametrize("side", [1.0, -1.0])
    def test_a_shift_beside_a_narrow_cluster(self, side):
        """On the side of the farther end, and in the middle of a wider one."""
        near, far = sorted((side * 3.0, side * 3.01))
        low, high = (Cut(2.0, 0, near, 1e-9), Cut(7.0, 5, far, 1e-9)) if side > 0 else (None, None)
        if side < 0:
            low, high = Cut(-7.0, 0, near, 1e-9), Cut(-2.0, 5, far, 1e-9)
        sigma, centre = Slice(low, high).shifts[0]
        assert centre == pytest.approx(side * 3.005)
        assert sigma == pytest.approx(side * (3.005 + 0.1 * (7 - 3.01)))
        wide = 0.9 * HULL_FRACTION * 5
        sigma, centre = Slice(Cut(2.0, 0, 2.1, 1e-9), Cut(7.0, 5, 2.1 + wide, 1e-9)).shifts[0]
        assert sigma == centre == pytest.approx(2.1 + wide / 2)


EVERY = np.r_[np.linspace(1.0, 3.0, 40), np.linspace(3.5, 9.0, 60)]


@pytest.mark.parametrize(("a", "b"), [(1e9, 1e-9), (1.0, 1.0), (1e-7, 1e7)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("method", [None, sm.Accelerated()], ids=["default", "accelerated"])
def test_intervals_in_any_unit(method, kind, a, b):
    """The same pairs, certified, with what is told in the units of the user; bounds hold, and angles too."""
    A, B = pair_of(EVERY, condition=9.0)
    unit, (low, high) = a / b, (2.02, 4.03)
    sol = sm.solve(kind(a * A), kind(b * B), interval=(low * unit, high * unit), method=method, tol=1e-9, rng=0)
    inside = EVERY[(low < EVERY) & (high > EVERY)]
    np.testing.assert_allclose(sol.eigenvalues, unit * inside, rtol=1e-9)
    assert sol.verdict == "certified"
    assert (np.abs(sol.eigenvalues - unit * inside) <= sol.error_bounds + 1e-13 * unit).all()
    assert np.unique(sol.clusters).size == inside.size
    U = scipy.linalg.eigh(A, B)[1][:, (low < EVERY) & (high > EVERY)] / math.sqrt(b)
    for i, v in enumerate(sol.eigenvectors.T):
        rest = v - U[:, i] * (U[:, i] @ (b * B) @ v)
        assert math.sqrt(rest @ (b * B) @ rest) <= sol.angle_bounds[i] + 1e-12
    if method is not None:
        told = figures_of(sol, "COUNTED")
        assert (told["low"] / unit, told["high"] / unit) == pytest.approx((low, high))
        assert told["above"] - told["below"] == inside.size
        slices = figures_of(sol, "SLICED")["slices"]
        assert sum(count for count, _ in slices) == inside.size
        assert all(low < sigma / unit < high for _, sigma in slices)


@pytest.mark.parametrize("place", ["low", "high", "both", "none"])
@pytest.mark.parametrize("distance", [1e-16, -1e-16, 0.0])
def test_lapack_is_not_certain_of_what_is_at_an_end(place, distance):
    """One eigenvalue at one end is enough: the counts decide, and the verdict says that it is included."""
    values = np.r_[1.0, 2.0, 3.0, 5.0, 8.0, 9.0]
    a = 2.0 * (1 + distance) if place in ("low", "both") else 1.5
    b = 8.0 * (1 + distance) if place in ("high", "both") else 8.5
    A = (pair_of(values, condition=1.0))[0]
    sol = sm.solve(A, interval=(a, b), rng=0)
    assert ("LAPACK" in sol.verdict.why) == (place == "none")
    np.testing.assert_allclose(sol.eigenvalues, [2, 3, 5, 8], rtol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_common_null_vector_is_refused(kind):
    """A − τB is singular for every τ, and a count of it is one of rounding errors."""
    n = 30
    D = np.diag(np.full(n, 2.0)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
    Z = np.zeros((2 * n, 2 * n))
    A, B = Z.copy(), Z.copy()
    # a floating part without mass
    A[:n, :n], B[:n, :n] = D, np.eye(n)
    A[n:, n:] = D
    A[n, n] = A[-1, -1] = 1.0
    # in other units, so that its pivots are rounding
    d = np.random.default_rng(0).uniform(0.5, 2.0, 2 * n)
    A, B = (d[:, None] * M * d for M in (A, B))
    counter = Counter(sm.Pencil(kind(A), kind(B)).products)
    assert all(counter.at(tau) is None for tau in (0.01, 0.3, 1.7))
    for interval in ((0.5, 1.5), (-2.0, -1.0)):
        with pytest.raises(ValueError, match=r"common null vector|singular"):
            sm.solve(kind(A), kind(B), interval=interval, method=sm.Accelerated(), rng=0)


def test_a_slice_at_the_level_of_rounding_is_told_at_last(monkeypatch):
    """A later slice that meets the tolerance does not hide that an earlier one did not; the converse is true, too."""
    run, reasons = sweep.Sweep._run, [Reason.PRECISION, Reason.RESIDUAL, Reason.RESIDUAL]

    def told(self, setup, part):
        reason, pairs = run(self, setup, part)
        return reasons[min(len(self.found), 2)] if reason.converged else reason, pairs

    monkeypatch.setattr(sweep.Sweep, "_run", told)
    monkeypatch.setattr(sweep, "SLICE_PAIRS", 12)
    A = sp.csr_array(sp.diags_array(np.arange(1.0, 61.0)))
    sol = sm.solve(A, interval=(0.5, 30.5), method=sm.Accelerated(), rng=0)
    assert sol.reason is Reason.PRECISION
    assert sol.eigenvalues.size == 30
