"""Ill-conditioned views are whitened a second time, in all directions or in the leading ones."""

import numpy as np
import pytest

from splitmerge.learn import CCA
from splitmerge.learn.data.joint import Joint

ROWS, SIZES = 600, (90, 80)


def views(decades, correlations):
    """Two views with these canonical correlations in population, of columns mixed to a condition of 10^decades."""
    rng = np.random.default_rng(0)
    X, Y = (rng.standard_normal((ROWS, p)) for p in SIZES)
    r = np.asarray(correlations)
    Y[:, : len(r)] = r * X[:, : len(r)] + np.sqrt(1 - r**2) * Y[:, : len(r)]
    return [M @ (np.linalg.qr(rng.standard_normal((M.shape[1],) * 2))[0] * spread(M, decades)) for M in (X, Y)]


def spread(M, decades):
    return np.logspace(0, -decades, M.shape[1])[:, None]


def oracle(X, Y):
    """Canonical correlations and the spans of the scores, by QR and SVD."""
    Q, P = (np.linalg.qr(M - M.mean(axis=0))[0] for M in (X, Y))
    U, values, Vt = np.linalg.svd(Q.T @ P)
    return values, Q @ U, P @ Vt.T


@pytest.fixture
def widths(monkeypatch):
    """The numbers of directions in which covariances were computed, None for all columns."""
    made, whole = [], Joint.gram

    def gram(self, W=None):
        made.append(None if W is None else [M.shape[1] for M in W])
        return whole(self, W)

    monkeypatch.setattr(Joint, "gram", gram)
    return made


@pytest.mark.parametrize(
    ("decades", "expected"),
    [(0, [None]), (2.5, [None, [32, 32]]), (6, [None, [90, 80]])],
    ids=["well", "ill", "very ill"],
)
def test_directions_that_are_whitened_again(decades, expected, widths):
    X, Y = views(decades, [0.95, 0.9, 0.3])
    cca = CCA(2).fit(X, Y)
    assert widths == expected
    values, x, y = oracle(X, Y)
    np.testing.assert_allclose(cca.correlations_, values[:2], rtol=0, atol=1e-12)
    for found, span in zip(cca.transform(X, Y), (x, y), strict=True):
        aligned = np.abs(span[:, :2].T @ found) / ROWS**0.5
        np.testing.assert_allclose(aligned, np.eye(2), atol=1e-7)


def test_a_cluster_that_is_cut_is_whitened_as_a_whole(widths):
    """Between the second and the 33rd correlation there is no gap."""
    X, Y = views(2.5, [0.9])
    X[:, :1] += 1e-3 * Y[:, :1]
    Y = np.hstack([Y[:, :10], X[:, :60] @ np.random.default_rng(1).standard_normal((60, 60))])
    cca = CCA(2).fit(X, Y)
    assert widths == [None, [90, 70]]
    np.testing.assert_allclose(cca.correlations_, 1.0, rtol=0, atol=1e-12)


def test_many_components_take_all_directions(widths):
    X, Y = views(2.5, [0.95, 0.9])
    cca = CCA(12).fit(X, Y)
    assert widths == [None, [90, 80]]
    np.testing.assert_allclose(cca.correlations_, oracle(X, Y)[0][:12], rtol=0, atol=1e-12)
