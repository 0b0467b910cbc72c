"""One analysis, however the rows come: in memory, sparse, in batches, from Dask, by products; against SciPy's eigh."""

import dask.array as da
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from splitmerge.learn import CCA, MCCA, View
from splitmerge.learn.dask.views import DaskJoint, DaskView
from splitmerge.learn.data.joint import Joint

pytestmark = pytest.mark.usefixtures("in_this_process")

RNG = np.random.default_rng(4)
ROWS = 90
COMMON = RNG.standard_normal((ROWS, 3)) * [2.0, 1.0, 0.5]
VIEWS = [COMMON @ RNG.standard_normal((3, p)) + RNG.standard_normal((ROWS, p)) for p in (5, 4, 3)]
# columns of other units and about other means, of either sign
VIEWS = [view * np.logspace(-1, 1, view.shape[1]) + np.linspace(-3, 2, view.shape[1]) for view in VIEWS]
X, Y, Z = VIEWS
WEIGHTS = RNG.integers(0, 4, ROWS).astype(float)
PARTS = (slice(0, 9), slice(9, 40), slice(40, None))


def covariance(views, weights, center, scale, ddof=0):
    """The joint covariance of the columns as they are taken, their means and their divisors."""
    joint = np.hstack(views)
    w = np.ones(len(joint)) if weights is None else weights
    mean = w @ joint / w.sum() if center else np.zeros(joint.shape[1])
    C = (joint - mean).T @ (w[:, None] * (joint - mean)) / (w.sum() - ddof)
    spread = np.sqrt(C.diagonal()) if scale else np.ones(len(C))
    return C / np.multiply.outer(spread, spread), mean, spread


def fitted(way, kind, views, weights, options):
    """A model that is fitted in one of the ways."""
    model = kind(2, random_state=0, tol=1e-12, solver="operators" if "products" in way else "formed", **options)
    if way == "batches":
        for rows in PARTS:
            model.partial_fit([view[rows] for view in views], sample_weight=None if weights is None else weights[rows])
        return model
    if way == "a batch after a fit":
        some = slice(0, 50), slice(50, None)
        first, second = (None if weights is None else weights[rows] for rows in some)
        model.fit([view[some[0]] for view in views], sample_weight=first)
        return model.partial_fit([view[some[1]] for view in views], sample_weight=second)
    if "sparse" in way:
        views = [sp.csr_array(view) for view in views]
    elif "Dask" in way:
        views = [da.from_array(view, chunks=(rows, 2)) for view, rows in zip(views, (20, 33, 90), strict=False)]
    elif way == "single":
        views = [view.astype(np.float32) for view in views]
    return model.fit(views, sample_weight=weights)


WAYS = ["memory", "products", "sparse", "sparse products", "Dask", "Dask products", "batches", "a batch after a fit"]
each_way = pytest.mark.parametrize("way", [*WAYS, "single"])
each_weight = pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
OPTIONS = [
    {},
    {"scale": False},
    {"center": False},
    {"center": False, "scale": False, "ridge": 0.2},
    {"ridge": (0.3, 0.1)},
    {"c": (0.2, 0.5), "scale": False, "ddof": 1},
    {"c": 0.4, "center": False, "ddof": 2},
]


@each_way
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_two_views(way, options):
    weights = None if options == {"scale": False} else WEIGHTS
    center, scale, ddof = (options.get(name, default) for name, default in (("center", 1), ("scale", 1), ("ddof", 0)))
    C, mean, spread = covariance([X, Y], weights, center, scale, ddof)
    c, ridge = (np.broadcast_to(options.get(name, 0.0), 2) for name in ("c", "ridge"))
    parts = slice(0, 5), slice(5, 9)
    B = scipy.linalg.block_diag(
        *((1 - c[i]) * C[part, part] + (c[i] + ridge[i]) * np.eye(len(C[part, part])) for i, part in enumerate(parts))
    )
    A = C - scipy.linalg.block_diag(*(C[part, part] for part in parts))
    values, V = scipy.linalg.eigh(A, B)
    values, V = values[::-1][:2], V[:, ::-1][:, :2] * 2**0.5
    V = V * np.sign(V[np.abs(V[:5]).argmax(axis=0), [0, 1]])
    model = fitted(way, CCA, [X, Y], weights, options)
    tol = 1e-4 if way == "single" else 1e-7
    np.testing.assert_allclose(model.correlations_, values, rtol=tol)
    for i, part in enumerate(parts):
        np.testing.assert_allclose(model.means_[i], mean[part], rtol=1e-6 if way == "single" else 1e-12, atol=1e-12)
        np.testing.assert_allclose(model.weights_[i], V[part], atol=tol * np.abs(V[part]).max())
        importance = C.diagonal()[part] * (V[part] ** 2).sum(axis=1)
        np.testing.assert_allclose(model.feature_importances_per_view_[i], importance / importance.sum(), atol=10 * tol)
        # regression of the columns on the scores
        U, CU = V[part], C[part, part] @ V[part]
        loadings = (model.x_loadings_, model.y_loadings_)[i]
        np.testing.assert_allclose(loadings, CU @ np.linalg.inv(U.T @ CU), atol=10 * tol * np.abs(CU).max())
    scores = ((X - mean[:5]) / spread[:5] @ V[:5], (Y - mean[5:]) / spread[5:] @ V[5:])
    for found, expected in zip(model.transform([X, Y]), scores, strict=True):
        np.testing.assert_allclose(found, expected, atol=10 * tol * np.abs(expected).max())
    w = np.ones(ROWS) if weights is None else weights
    S, T = scores[0], Y - mean[5:]
    predicted = S @ np.linalg.solve(S.T @ (w[:, None] * S), S.T @ (w[:, None] * T)) + mean[5:]
    np.testing.assert_allclose(model.predict(X), predicted, atol=10 * tol * np.abs(predicted).max())
    np.testing.assert_allclose((X - mean[:5]) @ model.coef_.T + model.intercept_, predicted, atol=1e-3)
    correlations = [
        np.cov(one[:, j], other[:, j], aweights=w, ddof=0)[0, 1]
        / np.sqrt(np.cov(one[:, j], aweights=w, ddof=0) * np.cov(other[:, j], aweights=w, ddof=0))
        for one, other in [scores]
        for j in range(2)
    ]
    np.testing.assert_allclose(model.correlations(X, Y, sample_weight=weights), correlations, rtol=1e-5)


@each_way
@pytest.mark.parametrize("options", [{"center": False}, {"c": (0.1, 0.2, 0.3), "scale": False, "ddof": 1}], ids=str)
def test_three_views(way, options):
    weights = WEIGHTS if "c" in options else None
    center, scale, ddof = (options.get(name, default) for name, default in (("center", 1), ("scale", 1), ("ddof", 0)))
    C, mean, spread = covariance(VIEWS, weights, center, scale, ddof)
    parts = slice(0, 5), slice(5, 9), slice(9, 12)
    own = [C[part, part] for part in parts]
    c, ridge = (np.broadcast_to(options.get(name, 0.0), 3) for name in ("c", "ridge"))
    B = scipy.linalg.block_diag(*((1 - c[i]) * M + (c[i] + ridge[i]) * np.eye(len(M)) for i, M in enumerate(own)))
    values, V = scipy.linalg.eigh(C - scipy.linalg.block_diag(*own), B)
    values, V = values[::-1][:2], V[:, ::-1][:, :2] * 3**0.5
    V = V * np.sign(V[np.abs(V[:5]).argmax(axis=0), [0, 1]])
    model = fitted(way, MCCA, VIEWS, weights, options)
    tol = 1e-4 if way == "single" else 1e-7
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=tol)
    np.testing.assert_allclose(model.correlations_, values / 2, rtol=tol)
    scores = [(view - mean[part]) / spread[part] @ V[part] for view, part in zip(VIEWS, parts, strict=True)]
    for i, part in enumerate(parts):
        np.testing.assert_allclose(model.rotations_[i], V[part], atol=tol * np.abs(V[part]).max())
        np.testing.assert_allclose(model.deviations_[i], spread[part], rtol=1e-5 if way == "single" else 1e-10)
        U, CU = V[part], C[part, part] @ V[part]
        np.testing.assert_allclose(model.loadings_[i], CU @ np.linalg.inv(U.T @ CU), atol=20 * tol * np.abs(CU).max())
    for found, expected in zip(model.transform(VIEWS), scores, strict=True):
        np.testing.assert_allclose(found, expected, atol=10 * tol * np.abs(expected).max())
    # what is reconstructed from some of the views: the regression on the mean of all scores
    w = np.ones(ROWS) if weights is None else weights
    M = np.mean(scores, axis=0)
    for known in ([0], [1, 2], [0, 1, 2]):
        given = [view if i in known else None for i, view in enumerate(VIEWS)]
        mean_scores = np.mean([scores[i] for i in known], axis=0)
        for view, found, part in zip(VIEWS, model.predict(given), parts, strict=True):
            T = view - mean[part]
            R = np.linalg.solve(M.T @ (w[:, None] * M), M.T @ (w[:, None] * T))
            expected = mean_scores @ R + mean[part]
            np.testing.assert_allclose(found, expected, atol=50 * tol * np.abs(expected).max())


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
@each_weight
@pytest.mark.parametrize("kind", ["memory", "sparse", "Dask"])
def test_sums_of_views(kind, weights, scale, center):
    """Means, divisors and all products, also where nothing is centred: deviations are root mean squares, then."""
    C, mean, spread = covariance([X, Y], weights, center, scale)
    make = {"memory": np.asarray, "sparse": sp.csr_array, "Dask": lambda view: da.from_array(view, chunks=(31, 2))}
    views = [
        (DaskView if kind == "Dask" else View)(make[kind](view), weights, center=center, scale=scale) for view in (X, Y)
    ]
    if kind == "Dask":
        views[1] = DaskView(da.from_array(Y, chunks=(31, -1)), weights, center=center, scale=scale)
    joint = (DaskJoint if kind == "Dask" else Joint)(views)
    np.testing.assert_allclose(joint.mean, mean, atol=1e-13)
    np.testing.assert_allclose(joint.spread, spread, rtol=1e-12)
    np.testing.assert_allclose(joint.variances(), C.diagonal(), rtol=1e-12)
    np.testing.assert_allclose(joint.gram(), C, atol=1e-12 * np.abs(C).max())
    assert joint.samples == (ROWS if weights is None else np.count_nonzero(weights))
    assert joint.total == (ROWS if weights is None else weights.sum())
    V = RNG.standard_normal((9, 2))
    own = scipy.linalg.block_diag(C[:5, :5], C[5:, 5:])
    np.testing.assert_allclose(joint.own(V), own @ V, atol=1e-11 * np.abs(C).max())
    np.testing.assert_allclose(joint.others(V), (C - own) @ V, atol=1e-11 * np.abs(C).max())
    np.testing.assert_allclose(joint.gram([V[:5], V[5:]]), _reduced(C, V), atol=1e-11 * np.abs(C).max())
    np.testing.assert_allclose(views[0].cross(views[1]), C[:5, 5:], atol=1e-12 * np.abs(C).max())


def _reduced(C, V):
    W = scipy.linalg.block_diag(V[:5], V[5:])
    return W.T @ C @ W
