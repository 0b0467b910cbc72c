"""`c` in place of a ridge, second moments in place of covariances: against SciPy, by matrices and by products."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.learn import CCA, MCCA

RNG = np.random.default_rng(0)
X, Y = sm.gallery.two_views(150, 6, 4, [0.9, 0.6, 0.3], rng=0)
X, Y = X * np.logspace(0, -1, 6) + 0.5, Y + RNG.standard_normal(4)
Z = RNG.standard_normal((150, 3)) + X[:, :3]
WEIGHTS = RNG.integers(0, 3, 150)
each_solver = pytest.mark.parametrize("solver", ["formed", "operators"])


def oracle(views, c, center=True):
    """All eigenvalues, and the vectors by view in the norm of B, by LAPACK."""
    views = [view - view.mean(axis=0) * center for view in views]
    joint = np.hstack(views)
    C = joint.T @ joint / len(joint)
    own = [view.T @ view / len(joint) for view in views]
    B = scipy.linalg.block_diag(*((1 - s) * M + s * np.eye(len(M)) for M, s in zip(own, c, strict=True)))
    values, V = scipy.linalg.eigh(C - scipy.linalg.block_diag(*own), B)
    return values[::-1], V[:, ::-1] * len(views) ** 0.5


@each_solver
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("c", [0.0, 0.3, 1.0, (0.2, 0.0), (0.0, 1.0)])
def test_agreement(c, center, solver):
    values, V = oracle([X, Y], np.broadcast_to(c, 2), center)
    for views in ((X, Y), (sp.csr_array(X), Y)):
        cca = CCA(3, c=c, scale=False, center=center, solver=solver, random_state=0).fit(*views)
        np.testing.assert_allclose(cca.correlations_, values[:3], rtol=1e-10)
        found = np.vstack([cca.x_weights_, cca.y_weights_])
        np.testing.assert_allclose(np.abs(found), np.abs(V[:, :3]), atol=1e-6)


@each_solver
@pytest.mark.parametrize("c", [0.2, (0.0, 0.5, 1.0)])
def test_several_views(c, solver):
    views = [X, Y, Z]
    values, V = oracle(views, np.broadcast_to(c, 3))
    mcca = MCCA(2, c=c, scale=False, solver=solver, random_state=0).fit(views)
    np.testing.assert_allclose(mcca.eigenvalues_, values[:2], rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.vstack(mcca.rotations_)), np.abs(V[:, :2]), atol=1e-6)


def test_c_is_a_ridge_in_other_units():
    """(1 − c) C + c I is 1 − c times C + ridge I with ridge = c / (1 − c)."""
    mixed, ridged = CCA(2, c=0.2).fit(X, Y), CCA(2, ridge=0.25).fit(X, Y)
    np.testing.assert_allclose(mixed.correlations_ * 0.8, ridged.correlations_, rtol=1e-12)
    np.testing.assert_allclose(mixed.x_weights_ * 0.8**0.5, ridged.x_weights_, rtol=1e-9)
    np.testing.assert_allclose(mixed.predict(X), ridged.predict(X), rtol=1e-9)


def test_an_ill_conditioned_view():
    """The data are whitened twice, with the regularisation of each view."""
    bad = X @ np.linalg.qr(RNG.standard_normal((6, 6)))[0] * np.logspace(0, -4, 6)
    bad = bad @ np.linalg.qr(RNG.standard_normal((6, 6)))[0]
    c = (1e-9, 0.4)
    Q = []
    for view, s in zip((bad, Y), c, strict=True):
        rows = (view - view.mean(axis=0)) / len(view) ** 0.5
        R = np.linalg.qr(np.vstack([(1 - s) ** 0.5 * rows, s**0.5 * np.eye(rows.shape[1])]), mode="r")
        Q.append(scipy.linalg.solve_triangular(R, rows.T, trans="T"))
    values = np.linalg.svd(Q[0] @ Q[1].T, compute_uv=False)
    np.testing.assert_allclose(CCA(3, c=c, scale=False).fit(bad, Y).correlations_, values[:3], rtol=1e-11)


@pytest.mark.parametrize("options", [{"c": 0.3}, {"center": False}, {"center": False, "scale": False, "c": 0.1}])
def test_weights_and_batches(options):
    """Weights are repetitions, and batches add up."""
    weighted = CCA(2, **options).fit(X, Y, WEIGHTS)
    repeated = CCA(2, **options).fit(np.repeat(X, WEIGHTS, axis=0), np.repeat(Y, WEIGHTS, axis=0))
    parts = CCA(2, **options)
    for rows in (slice(0, 7), slice(7, 100), slice(100, 150)):
        parts.partial_fit(X[rows], Y[rows], WEIGHTS[rows])
    for other in (repeated, parts):
        np.testing.assert_allclose(other.correlations_, weighted.correlations_, rtol=1e-10)
        np.testing.assert_allclose(other.predict(X), weighted.predict(X), rtol=1e-8)


def test_constant_column_without_centring():
    """It is no constant then, but a column like others."""
    with_column = np.insert(X, 2, 1.7, axis=1)
    cca = CCA(2, center=False, scale=False).fit(with_column, Y)
    np.testing.assert_allclose(cca.correlations_, oracle([with_column, Y], (0, 0), center=False)[0][:2], rtol=1e-10)
    np.testing.assert_array_equal(cca.intercept_, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"c": 1.5}, "c is 1.5; give a number of at least 0 and of at most 1"),
        ({"c": (0.1, -0.1)}, "c is -0.1"),
        ({"c": [0.1, 0.2, 0.3]}, "c has 3 numbers for 2 views"),
        ({"c": np.nan}, "c is nan"),
        ({"c": 0.1, "ridge": 0.1}, "ridge is 0.1 and c is 0.1; give one of them only"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        CCA(**options).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        MCCA(**options).fit([X, Y])


@pytest.mark.parametrize("solver", ["formed", "operators"])
@pytest.mark.parametrize("scale", [False, True], ids=["raw", "scaled"])
@pytest.mark.parametrize("options", [{}, {"ridge": 0.3}, {"c": 0.4}], ids=str)
def test_the_divisor_of_covariances(options, scale, solver):
    """With ddof = 1 the scores of variance 1 are those by the covariances of NumPy; predictions do not change."""
    views, weights = [X, Y], np.random.default_rng(1).integers(1, 4, len(X))
    total = weights.sum()
    given = {"scale": scale, "solver": solver, "random_state": 0, "tol": 1e-12, **options}
    found = CCA(2, ddof=1, **given).fit(views, sample_weight=weights)
    C = np.cov(np.hstack(views).T, fweights=weights)
    spread = np.sqrt(C.diagonal()) if scale else np.ones(len(C))
    C = C / np.multiply.outer(spread, spread)
    share, ridge = 1 - options.get("c", 0.0), options.get("ridge", options.get("c", 0.0))
    p = X.shape[1]
    for part, V in zip((slice(0, p), slice(p, None)), found.weights_, strict=True):
        B = share * C[part, part] + ridge * np.eye(len(V))
        np.testing.assert_allclose(V.T @ B @ V, np.eye(2), atol=1e-8)
    U, V = found.weights_
    np.testing.assert_allclose(np.diag(U.T @ C[:p, p:] @ V), found.correlations_, atol=1e-8)
    if scale or not options:
        other = CCA(2, **given).fit(views, sample_weight=weights)
        np.testing.assert_allclose(found.correlations_, other.correlations_, atol=1e-10)
        np.testing.assert_allclose(found.predict(X), other.predict(X), atol=1e-7)
        np.testing.assert_allclose(found.transform(X) * np.sqrt(total / (total - 1)), other.transform(X), atol=1e-6)


def test_the_divisor_of_batches_and_bad_ones():
    for kind in (CCA, MCCA):
        options = {"c": 0.3, "scale": False, "ddof": 1}
        whole, batches = kind(2, **options).fit([X, Y]), kind(2, **options)
        for rows in (slice(0, 30), slice(30, None)):
            batches.partial_fit([X[rows], Y[rows]])
        for one, other in zip(batches.weights_, whole.weights_, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-10)
        with pytest.raises(ValueError, match="must sum to more than 1, which is ddof"):
            kind(ddof=1).fit([X, Y], sample_weight=np.full(len(X), 1e-3))
        for scale in (False, True):
            with pytest.raises(ValueError, match=r"n_samples = 1|only 1 sample|minimum of 2"):
                kind(ddof=1, scale=scale).fit([X[:1], Y[:1]])
        with pytest.raises(ValueError, match="ddof is -1; give a whole number"):
            kind(ddof=-1).fit([X, Y])
