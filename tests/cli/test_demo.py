"""The plot of `splitmerge demo`: every curve has a label beside it, and none hides another."""

import itertools

import numpy as np
import pytest
import scipy.linalg

from splitmerge.cli.commands.demo import compare, distinct, methods, plotted
from splitmerge.gallery import synthetic_pair


@pytest.mark.parametrize(("n", "kappa"), [(256, 10.0), (60, 100.0), (2, 10.0)])
def test_labels(n, kappa):
    rows = compare(n, kappa, 0)
    # LAPACK decomposes two unknowns without a step
    assert all(row.sines[-1] <= 1e-5 for row in rows)
    figure = plotted(rows, "a pair")
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert sum(text.get_text().count(" and ") + 1 for text in axes.texts) == len(methods()) - (n == 2)
    boxes = [text.get_window_extent() for text in axes.texts]
    inside = figure.bbox
    assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 and axes.bbox.y0 <= box.y0 for box in boxes)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    # the labels stand below all curves
    lowest = min(line.get_window_extent().y0 for line in axes.lines if len(line.get_xdata()) > 2)
    assert max(box.y1 for box in boxes) < lowest


def test_curves_that_coincide_are_drawn_once():
    rows = compare(100, 10.0, 0)
    names = [name for name, _ in distinct(rows)]
    assert "Lanczos, three-term and Lanczos, reorthogonalised" in names
    assert "Split-Merge and Split-Merge, CG(30)" in names
    last = [row.solution.history.products[-1] for _, row in distinct(rows)]
    assert np.all(np.diff(last) >= 0)


def test_errors_are_relative_to_the_eigenvalue():
    A, B = synthetic_pair(60, 100.0, rng=0)
    largest = scipy.linalg.eigh(A, B, eigvals_only=True)[-1]
    assert largest > 2
    for row in compare(60, 100.0, 0):
        expected = abs(row.solution.eigenvalues[0] / largest - 1)
        assert row.error == pytest.approx(expected, rel=1e-3, abs=1e-14)
