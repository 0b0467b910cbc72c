"""What is drawn and listed are the figures of the solution, each in its place: checked on figures made by hand."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import splitmerge as sm
from splitmerge.problem.products import Counts
from splitmerge.run.history import History
from splitmerge.solution.display.curves import curves, tolerance
from splitmerge.solution.display.picture import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, picture
from splitmerge.solution.display.words import digits_of
from splitmerge.solution.solution import Seconds

# pair, step, value, residual, f, products, seconds: two pairs, one that they displaced, and a row without a residual
ROWS = [
    (0, 0, 4.5, 1e-1, 0.0, 2, 0.5),
    (0, 1, 5.0, 1e-6, 0.0, 6, 1.0),
    (2, 0, 3.0, 1e-2, 0.0, 8, 1.5),
    (2, 1, 3.5, 1e-3, 0.0, 10, 2.0),
    (1, 0, 3.9, math.nan, 0.0, 12, 2.5),
    (1, 1, 4.0, 1e-8, 0.0, 15, 3.0),
]


def made(**changes):
    """A solution with these figures, whose A and B are those of another one."""
    sol = sm.solve(np.diag([5.0, 4.0, 3.0]), k=2)
    figures = {
        "residuals": np.array([2e-7, 3e-9]),
        "error_bounds": np.array([4e-5, 5e-4]),
        "angle_bounds": np.array([6e-3, 7e-2]),
        "clusters": np.array([0, 1]),
        "history": History.of_rows(ROWS),
        "steps": 4,
        "counts": Counts(A_products=20, B_products=30, B_solves=40, K_solves=50),
        "seconds": Seconds(11.0, 13.0, 2.0),
    }
    return replace(sol, **figures | changes)


class TestCurves:
    @pytest.mark.parametrize(("by", "column", "end"), [("products", 5, 70.0), ("seconds", 6, 13.0)])
    def test_each_pair_has_its_rows(self, by, column, end):
        first, second, other = curves(made(), by)
        rows = {pair: [row for row in ROWS if row[0] == pair and not math.isnan(row[3])] for pair in range(3)}
        for curve, pair in ((first, 0), (second, 1), (other, 2)):
            assert curve.pair == pair
            assert curve.x.tolist() == [row[column] for row in rows[pair]]
            assert curve.y.tolist() == [row[3] for row in rows[pair]]
            assert curve.end == end
        assert (first.confirmed, second.confirmed, other.confirmed) == (2e-7, 3e-9, None)
        assert (first.wanted, second.wanted, other.wanted) == (True, True, False)
        assert (first.value, second.value, other.value) == (5.0, 4.0, 3.5)

    def test_a_pair_without_rows_has_its_ring(self):
        """But one that is not wanted has nothing to show."""
        rows = [row for row in ROWS if row[0] == 2] + [(4, 0, 1.0, 1e-1, 0.0, 16, 3.5)]
        found = curves(made(history=History.of_rows(rows)))
        assert [curve.pair for curve in found] == [0, 1, 2, 4]
        assert [curve.x.size for curve in found] == [0, 0, 2, 1]

    def test_a_row_that_is_not_finite_shows_nothing(self):
        rows = [(2, 0, 3.0, math.nan, 0.0, 1, 1.0), (3, 0, 3.0, math.inf, 0.0, 1, 1.0), *ROWS[:2]]
        assert [curve.pair for curve in curves(made(history=History.of_rows(rows)))] == [0, 1]

    def test_no_history(self):
        assert curves(made(history=History())) == []


@pytest.mark.parametrize(
    ("asked", "tol"),
    [
        ({}, 1e-8),
        ({"tol": 1e-5}, 1e-5),
        ({"stop": sm.Residual(1e-4)}, 1e-4),
        ({"stop": sm.Residual(1e-4) | sm.Residual(1e-6)}, 1e-4),
        ({"stop": sm.Residual(1e-4) & sm.Residual(1e-6)}, 1e-6),
        ({"stop": sm.MaxSteps(5)}, None),
    ],
    ids=str,
)
def test_the_tolerance_that_is_drawn_is_that_of_the_rule(asked, tol):
    """A rule takes the place of `tol`."""
    sol = made()
    assert tolerance(replace(sol, problem=replace(sol.problem, **asked))) == tol
    assert tolerance(replace(sol, problem=None)) is None


@pytest.mark.parametrize(
    ("values", "bounds", "digits"),
    [
        ([5.0], [1e-9], 11),
        ([5e9], [1.0], 11),
        ([5e-9], [1e-18], 11),
        ([-5.0], [1e-9], 11),
        ([5.0, 4.0], [1e-2, 1e-9], 11),
        ([5.0, 4.0], [1e-9, 1e-2], 11),
        ([5.0], [1e-2], 6),
        ([5.0], [1e-30], 16),
        ([5.0], [np.inf], 6),
        ([0.0], [1e-9], 6),
        ([], [], 6),
    ],
)
def test_digits(values, bounds, digits):
    """As many as the best of the bounds guarantees and one more, from 6 to those of the precision."""
    sol = made(eigenvalues=np.array(values), error_bounds=np.array(bounds))
    assert digits_of(sol) == digits
    single = np.array(values, np.float32)
    assert digits_of(replace(sol, eigenvalues=single)) == min(digits, 8)


class TestTable:
    def cells(self, sol):
        rows = re.findall(r"<tr>(.*?)</tr>", sol._repr_html_())
        return [
            [re.sub(r"<.*?>", "", cell).strip() for cell in re.findall(r"<t[dh].*?>(.*?)</t[dh]>", row)] for row in rows
        ]

    def test_figures_are_below_their_names(self):
        head, *rows = self.cells(made())
        assert head == ["", "eigenvalue", "error bound", "residual"]
        assert rows == [["● 1", "5.000000", "4.0e-05", "2.0e-07"], ["● 2", "4.000000", "5.0e-04", "3.0e-09"]]

    @pytest.mark.parametrize(
        ("labels", "told"), [([7, 7, 3], ["7", "7", "–"]), ([1, 2, 1], ["1", "–", "1"]), ([4, 4, 4], ["4"] * 3)]
    )
    def test_clusters_of_two_or_more_are_named(self, labels, told):
        sol = sm.solve(np.diag([5.0, 4.0, 3.0, 2.0]), k=3)
        head, *rows = self.cells(replace(sol, clusters=np.array(labels)))
        assert head[-1] == "cluster"
        assert [row[-1] for row in rows] == told

    @pytest.mark.parametrize(("k", "left"), [(19, None), (20, None), (21, "and 1 more"), (23, "and 3 more")])
    def test_rows_that_are_left_out(self, k, left):
        _, *rows = self.cells(sm.solve(np.diag(np.arange(30.0, 0.0, -1)), k=k))
        assert len(rows) == min(k, 20) + (left is not None)
        assert rows[-1] == ([left] if left else rows[-1])
        assert rows[19 if k > 19 else 18][1].startswith("11." if k > 19 else "12.")

    def test_state_and_sums(self):
        html = made()._repr_html_()
        assert "<div>Converged: " in html
        assert "<b>Not converged</b>: " in made(converged=False)._repr_html_()
        for told in ("20 products with A, 30 with B", "11 s of set-up", "13 s of iteration (2 s of them verification)"):
            assert told in html


class TestText:
    def test_every_figure(self):
        text = repr(made())
        assert "residuals ≤ 2.0e-07, error bounds ≤ 5.0e-04\n" in text
        assert "  4 steps, 20 products with A, 30 with B, 40 solves with B, 50 solves with A − σB, 11 + 13 s" in text
        assert "\n  converged: " in text

    @pytest.mark.parametrize(
        ("counts", "told"),
        [
            (Counts(B_products=3, K_solves=7), "4 steps, 3 products with B, 7 solves with A − σB, 11"),
            (Counts(A_products=1234), "4 steps, 1,234 products with A, 11"),
            (Counts(B_solves=2), "4 steps, 2 solves with B, 11"),
            (Counts(), "4 steps, 11"),
        ],
    )
    def test_what_was_not_made_is_left_out(self, counts, told):
        assert told in repr(made(counts=counts))

    @pytest.mark.parametrize(
        ("k", "told"), [(1, "9"), (5, "9  8  7  6  5"), (6, "9  8  7  6  …  4"), (9, "9  8  7  6  …  1")]
    )
    def test_values_at_both_ends(self, k, told):
        text = repr(sm.solve(np.diag(np.arange(9.0, 0.0, -1)), k=k))
        assert f"  eigenvalues {told}\n" in text

    def test_an_unknown_bound(self):
        assert "error bounds unknown\n" in repr(made(error_bounds=np.array([1e-9, np.inf])))

    def test_one_step(self):
        assert "  1 step, " in repr(made(steps=1))
        assert "after 1 step, " in made(steps=1).summary()

    def test_the_largest_residual_is_told(self):
        for residuals in ([2e-7, 3e-9], [3e-9, 2e-7]):
            assert made(residuals=np.array(residuals)).summary().endswith("largest relative residual 2e-07.")


class TestSeconds:
    def test_parts(self):
        seconds = Seconds(11.0, 13.0, 2.0)
        assert (seconds.search, seconds.total) == (11.0, 24.0)
        assert Seconds(1.0, 2.0).search == 2.0


class TestPicture:
    def places(self, by="products", tol=1e-8):
        drawn = picture(curves(made(), by), "products", tol)
        rings = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="3.5"', drawn)
        lines = re.findall(r'<polyline points="([^"]*)"', drawn)
        return drawn, [tuple(map(float, ring)) for ring in rings], lines

    def test_rings_are_at_the_end_at_the_confirmed_residual(self):
        """Axes go from 0 to the last product, and over all decades of the residuals."""
        drawn, rings, lines = self.places()
        height = (HEIGHT - TOP - BOTTOM) / 8
        expected = [(WIDTH - RIGHT, TOP + height * (-1 - math.log10(y))) for y in (2e-7, 3e-9)]
        np.testing.assert_allclose(rings, expected, atol=0.06)
        assert len(lines) == 3
        points = [tuple(map(float, point.split(","))) for point in lines[0].split()]
        width = (WIDTH - LEFT - RIGHT) / 70
        np.testing.assert_allclose(points, [(LEFT + 2 * width, TOP), (LEFT + 6 * width, TOP + 5 * height)], atol=0.06)
        assert "Residuals of 3 pairs against products" in drawn

    def test_labels_fall_from_above(self):
        drawn, *_ = self.places()
        labels = re.findall(r'y="([\d.]+)" text-anchor="end">1e(-?\d+)<', drawn)
        decades = [int(decade) for _, decade in labels]
        heights = [float(height) for height, _ in labels]
        assert decades == sorted(decades, reverse=True)
        assert decades[0] == -1
        assert heights == sorted(heights)
        height = (HEIGHT - TOP - BOTTOM) / 8
        np.testing.assert_allclose(heights, [TOP + 4 + height * (-1 - decade) for decade in decades], atol=0.06)

    def test_the_tolerance_is_a_dashed_line(self):
        drawn, *_ = self.places(tol=1e-8)
        (height,) = re.findall(r'y1="([\d.]+)"[^>]*stroke-dasharray', drawn)
        assert float(height) == pytest.approx(TOP + (HEIGHT - TOP - BOTTOM) * 7 / 8, abs=0.06)
        assert "stroke-dasharray" not in self.places(tol=None)[0]

    def test_the_last_label_is_the_end(self):
        assert ">70</text>" in self.places()[0]
        assert ">13</text>" in self.places("seconds")[0]


class TestAxes:
    @pytest.fixture(autouse=True)
    def _closed(self):
        matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
        matplotlib.use("agg")
        yield
        from matplotlib import pyplot

        pyplot.close("all")

    @pytest.mark.parametrize(
        ("by", "label"), [("products", "products with A and solves with A − σB"), ("seconds", "seconds")]
    )
    def test_names(self, by, label):
        axes = made().plot(by=by)
        assert axes.get_xlabel() == label
        assert axes.get_ylabel() == "relative residual"

    def test_rings(self):
        rings = [line for line in made().plot().lines if line.get_markerfacecolor() == "none" and line.get_xdata().size]
        assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in rings] == [(70, 2e-7), (70, 3e-9)]

    def test_error_bars_are_as_long_as_the_bounds(self):
        axes = made().plot("spectrum")
        (bars,) = axes.containers
        lengths = [np.ptp(segment[:, 1]) / 2 for segment in bars[2][0].get_segments()]
        np.testing.assert_allclose(lengths, [4e-5, 5e-4], rtol=1e-6)
        np.testing.assert_allclose([segment[:, 1].mean() for segment in bars[2][0].get_segments()], [5, 4], rtol=1e-12)
        assert axes.get_xlabel() == "pair (error bars: at most 5.0e-04)"


def test_a_table_of_pandas_has_every_figure_in_its_column():
    pytest.importorskip("pandas", reason="pandas is not installed")
    sol = made()
    frame = sol.to_frame()
    columns = ("eigenvalues", "residuals", "error_bounds", "angle_bounds", "clusters")
    for name, figures in zip(("value", "residual", "error_bound", "angle_bound", "cluster"), columns, strict=True):
        assert frame[name].tolist() == getattr(sol, figures).tolist()
