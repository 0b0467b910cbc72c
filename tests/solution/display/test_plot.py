"""Plots of a solution."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import splitmerge as sm

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402

GRID = sm.gallery.grid_laplacian((30, 30))[0]


@pytest.fixture(autouse=True)
def _closed():
    pyplot.close("all")  # those that other tests of this process left open
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def sol():
    return sm.solve(GRID, k=4, sigma=1.0, rng=0)


def curve(axes, name):
    (line,) = (line for line in axes.lines if line.get_label() == name)
    return line


class TestConvergence:
    @pytest.mark.parametrize("by", ["products", "seconds"])
    def test_curves_are_the_history(self, sol, by):
        axes = sol.plot(by=by)
        assert isinstance(axes, matplotlib.axes.Axes)
        assert axes.get_title() == "4 nearest to 1, n = 900"
        assert axes.get_xlabel() == {"products": "solves with A − σB", "seconds": "seconds"}[by]
        assert axes.get_yscale() == "log"
        for pair in range(4):
            rows = sol.history.pair == pair
            line = curve(axes, f"pair {pair + 1}")
            np.testing.assert_array_equal(line.get_ydata(), sol.history.residual[rows])
            np.testing.assert_array_equal(line.get_xdata(), getattr(sol.history, by)[rows])
        assert curve(axes, "tol").get_ydata()[0] == 1e-8
        axes.figure.canvas.draw()

    @pytest.mark.parametrize("by", ["products", "seconds"])
    def test_confirmed_residuals_are_at_the_end(self, sol, by):
        lines = sol.plot(by=by).lines
        rings = [line for line in lines if line.get_markerfacecolor() == "none" and len(line.get_xdata())]
        assert [line.get_ydata()[0] for line in rings] == sol.residuals.tolist()
        end = {"products": sol.counts.products, "seconds": sol.seconds.iteration}[by]
        assert {line.get_xdata()[0] for line in rings} == {end}

    def test_displaced_pairs_are_dotted(self, sol):
        assert (sol.history.pair >= 4).any()
        assert curve(sol.plot(), "not among them").get_linestyle() == ":"

    def test_into_given_axes(self, sol):
        axes = pyplot.figure().subplots()
        assert sol.plot(ax=axes) is axes
        assert len(pyplot.get_fignums()) == 1

    def test_many_pairs_have_a_scale_of_colours(self):
        axes = sm.solve(GRID, k=12, rng=0).plot()
        assert axes.get_legend() is None
        assert len(axes.figure.axes) == 2
        axes.figure.canvas.draw()

    def test_lapack(self):
        axes = sm.solve(np.diag([2.0, 1.0])).plot()
        assert "no steps" in axes.texts[0].get_text()


class TestSpectrum:
    def test_values_and_errors(self, sol):
        axes = sol.plot("spectrum")
        assert axes.get_ylabel() == "eigenvalue"
        drawn = sorted(
            zip(*(np.concatenate([c[0].get_data()[i] for c in axes.containers]) for i in (0, 1)), strict=True)
        )
        assert [value for _, value in drawn] == sol.eigenvalues.tolist()
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["cluster of 2", "cluster of 2"]
        axes.figure.canvas.draw()

    @pytest.mark.parametrize("which", ["largest", "smallest"])
    def test_clusters_are_in_the_order_of_the_pairs(self, which):
        axes = sm.solve(np.diag([1.0, 1.0, 2.0, 2.0]), k=4, which=which).plot("spectrum")
        assert [c[0].get_xdata().tolist() for c in axes.containers] == [[1, 2], [3, 4]]

    def test_errors_that_are_not_known(self, sol):
        axes = replace(sol, error_bounds=np.full(4, np.inf)).plot("spectrum")
        assert not axes.containers
        assert "unknown" in axes.lines[0].get_label()
        axes.figure.canvas.draw()

    def test_nothing_found(self):
        sm.solve(GRID, interval=(-2, -1)).plot("spectrum").figure.canvas.draw()


@pytest.mark.parametrize(("arguments", "name"), [(("angles",), "kind"), (("convergence", "steps"), "by")])
def test_refused(sol, arguments, name):
    kind, *by = arguments
    with pytest.raises(ValueError, match=f"^{name} is "):
        sol.plot(kind, by=by[0] if by else "products")


def test_without_matplotlib(sol, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        sol.plot()
