"""MCCA: agreement with a dense decomposition, lists and tables of views."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from splitmerge.learn import CCA, MCCA

RNG = np.random.default_rng(0)
COMMON = RNG.standard_normal((200, 2)) * [1.0, 0.5]
VIEWS = [COMMON @ RNG.standard_normal((2, p)) + 0.5 * RNG.standard_normal((200, p)) for p in (3, 4, 5)]


def oracle(views, ridge):
    """All eigenvalues, by LAPACK."""
    Z = [M - M.mean(axis=0) for M in views]
    C = np.hstack(Z).T @ np.hstack(Z) / len(Z[0])
    own = [M.T @ M / len(M) for M in Z]
    return scipy.linalg.eigvalsh(
        C - scipy.linalg.block_diag(*own), scipy.linalg.block_diag(*(M + ridge * np.eye(len(M)) for M in own))
    )[::-1]


@pytest.mark.parametrize("solver", ["formed", "operators"])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_agreement(solver, ridge):
    for views in (VIEWS, [sp.csr_array(view) for view in VIEWS]):
        mcca = MCCA(3, ridge=ridge, scale=False, solver=solver, random_state=0).fit(views)
        assert np.allclose(mcca.eigenvalues_, oracle(VIEWS, ridge)[:3], rtol=0, atol=1e-10)
        assert np.allclose(mcca.correlations_, mcca.eigenvalues_ / 2)
    scores = mcca.transform(VIEWS)
    assert [S.shape for S in scores] == [(200, 3)] * 3
    if not ridge:
        assert np.allclose(sum(S.T @ S for S in scores) / 200, 3 * np.eye(3), atol=1e-6)


def test_two_views_are_cca():
    cca, mcca = CCA(2).fit(VIEWS[0], VIEWS[1]), MCCA(2).fit(VIEWS[:2])
    assert np.allclose(cca.correlations_, mcca.correlations_)
    assert np.allclose(cca.transform(*VIEWS[:2])[1], mcca.transform(VIEWS[:2])[1])


def test_one_table_of_views():
    table = np.hstack(VIEWS)
    separate = MCCA(2).fit(VIEWS)
    for views in ([3, 4, 5], [slice(0, 3), slice(3, 7), [7, 8, 9, 10, 11]]):
        together = MCCA(2, views=views).fit(table)
        assert np.allclose(together.eigenvalues_, separate.eigenvalues_)
        assert np.allclose(together.transform(table), np.mean(separate.transform(VIEWS), axis=0))
    piped = make_pipeline(MCCA(2, views=[3, 4, 5]), LinearRegression()).fit(table, COMMON)
    assert piped.score(table, COMMON) > 0.8


def test_every_column_a_view_is_principal_components():
    table = np.hstack(VIEWS)
    Z = (table - table.mean(axis=0)) / table.std(axis=0)
    found, pca = MCCA(3).fit(table), PCA(3).fit(Z)
    assert np.allclose(found.eigenvalues_ + 1, pca.explained_variance_ * 199 / 200)


def test_weights_and_warm_starts():
    w = RNG.integers(0, 3, 200)
    weighted = MCCA(2).fit(VIEWS, sample_weight=w)
    repeated = MCCA(2).fit([np.repeat(view, w, axis=0) for view in VIEWS])
    assert np.allclose(weighted.eigenvalues_, repeated.eigenvalues_)
    warm = MCCA(2, solver="operators", warm_start=True, random_state=0).fit(VIEWS)
    assert np.allclose(warm.set_params(ridge=1e-6).fit(VIEWS).eigenvalues_, oracle(scaled(VIEWS), 1e-6)[:2])


def scaled(views):
    return [(view - view.mean(axis=0)) / view.std(axis=0) for view in views]


def test_tables_with_names():
    import pandas

    frames = [pandas.DataFrame(view) for view in VIEWS]
    mcca = MCCA(2, views=[3, 4, 5]).set_output(transform="pandas")
    assert list(mcca.fit_transform(np.hstack(VIEWS)).columns) == ["mcca0", "mcca1"]
    assert np.allclose(mcca.fit_transform(frames)[2], MCCA(2).fit(VIEWS).transform(VIEWS)[2])


@parametrize_with_checks([MCCA()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_bad_input():
    with pytest.raises(ValueError, match="at least two are needed"):
        MCCA().fit(VIEWS[:1])
    with pytest.raises(ValueError, match="different numbers of rows"):
        MCCA().fit([VIEWS[0], VIEWS[1][:-1]])
    with pytest.raises(ValueError, match="View 1 contains NaN"):
        MCCA().fit([VIEWS[0], VIEWS[1] * np.nan])
    constant = [VIEWS[0], np.hstack([VIEWS[1], np.ones((200, 1))]), VIEWS[2]]
    with pytest.raises(ValueError, match="view 1 has 1 constant column"):
        MCCA(b_policy="error").fit(constant)
    with pytest.warns(UserWarning, match="view 1 has 1 constant column"):
        assert np.allclose(MCCA().fit(constant).eigenvalues_, MCCA().fit(VIEWS).eigenvalues_)
    with pytest.raises(ValueError, match=r"upper bound is 12\. Got 13"):
        MCCA(13).fit(VIEWS)
    with pytest.raises(ValueError, match="views has 11 columns, but X has 12"):
        MCCA(views=[3, 4, 4]).fit(np.hstack(VIEWS))
    with pytest.raises(ValueError, match="each column in one view only"):
        MCCA(views=[[0, 1], [1, 2]]).fit(np.hstack(VIEWS))
    fitted = MCCA().fit(VIEWS)
    with pytest.raises(ValueError, match="Expected 3 views, got 2"):
        fitted.transform(VIEWS[:2])
    with pytest.raises(ValueError, match="a list of views was fitted"):
        fitted.transform(np.hstack(VIEWS))
