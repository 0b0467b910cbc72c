"""Covariances that are not formed: the solutions of the formed ones."""

import numpy as np
import pytest
import scipy.sparse as sp

from splitmerge.errors import NotPositiveDefinite
from splitmerge.learn.covariance import implicit
from splitmerge.learn.covariance.implicit import Iterated, Span, Woodbury
from splitmerge.learn.moments.grouped import Grouped

RNG = np.random.default_rng(0)


def iterated(Z, diagonal):
    return Iterated(Z.gram_times, Z.variances(), diagonal)


def rows(count, columns, kind=np.asarray):
    X = RNG.standard_normal((count, columns)) * (RNG.random((count, columns)) < 0.5)
    Z = Grouped(kind(X), np.arange(count) % 3, 3, RNG.uniform(0.5, 2.0, count))
    dense = np.concatenate([block.copy() for _, block in Z.blocks()])
    return Z, dense.T @ dense


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("form", [Woodbury, iterated])
def test_with_a_diagonal(form, order, kind):
    Z, C = rows(20, 30, kind)
    diagonal = np.linspace(0.5, 2.0, 30)
    V = np.array(RNG.standard_normal((30, 3)), order=order)
    V[:, 1] = 0.0
    B, found = C + np.diag(diagonal), form(Z, diagonal)
    np.testing.assert_allclose(found.times(V), B @ V, atol=1e-10)
    np.testing.assert_allclose(found.solve(V), np.linalg.solve(B, V), atol=1e-11)


def test_on_the_span_of_the_rows():
    Z, C = rows(20, 30)
    found = Span(Z, np.sqrt(C.diagonal()), 1e-8)
    assert (found.rank, found.report.rank, found.report.dropped) == (17, 17, 13)
    Q = found.unwhiten(np.eye(17))
    np.testing.assert_allclose(Q.T @ C @ Q, np.eye(17), atol=1e-10)
    np.testing.assert_allclose(found.whiten(C), Q.T @ C, atol=1e-10)


def test_what_conjugate_gradients_cannot_solve_is_refused(monkeypatch):
    Z, _ = rows(20, 30)
    V = np.ones((30, 1))
    with pytest.raises(NotPositiveDefinite, match=r"singular .* larger shrinkage"):
        iterated(Z, np.full(30, -1e3)).solve(V)
    monkeypatch.setattr(implicit, "MAX_CG_STEPS", 3)
    with pytest.raises(NotPositiveDefinite, match=r"ill-conditioned: .* after 3 steps"):
        iterated(Z, np.full(30, 1e-6)).solve(V)


@pytest.mark.parametrize("tol", [1e-4, 1e-2, 0.1])
def test_tol_is_a_deviation_and_its_square_a_variance(tol):
    """A direction whose variance is twice tol² is kept, and one of half of it is dropped."""
    lengths = np.diag(np.sqrt([1.0, 2 * tol**2, 0.5 * tol**2]))
    # the mean is zero, and the Gram matrix of the rows has these eigenvalues
    X = np.vstack([lengths, -lengths]) / np.sqrt(2)
    found = Span(Grouped(X, np.zeros(6, int), 1), np.ones(3), tol)
    assert (found.rank, found.report.dropped) == (2, 1)
