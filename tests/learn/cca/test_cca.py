"""CCA: agreement with QR and SVD, scikit-learn's conventions, bad input."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_linnerud
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import splitmerge as sm
from data import path_of
from splitmerge.learn import CCA

RNG = np.random.default_rng(0)
X, Y = sm.gallery.two_views(300, 6, 4, [0.9, 0.6, 0.3], rng=0)
WEIGHTS = RNG.integers(0, 3, 300).astype(float)


def oracle(X, Y):
    """Canonical correlations by QR and SVD."""
    Q, P = (np.linalg.qr(M - M.mean(axis=0))[0] for M in (X, Y))
    return np.linalg.svd(Q.T @ P, compute_uv=False)


@pytest.mark.parametrize("scale", [True, False])
def test_multiple_features(scale):
    with np.load(path_of("stats", "uci_mfeat.npz")) as file:
        fou, zer = file["fou"], file["zer"]
    found = CCA(3, scale=scale).fit(fou, zer).correlations_
    assert np.allclose(found, [0.94918, 0.88535, 0.83836], atol=5e-6)
    assert np.allclose(found, oracle(fou, zer)[:3], rtol=0, atol=1e-12)


def test_linnerud():
    found = CCA().fit(*load_linnerud(return_X_y=True))
    assert found.correlations_[0] == pytest.approx(0.79561, abs=5e-6)
    assert np.allclose(found.correlations_, oracle(*load_linnerud(return_X_y=True))[:2], rtol=0, atol=1e-13)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.floats(0, 5), st.booleans())
def test_any_views_agree_with_the_oracle(seed, p, q, decades, scale):
    """Columns of any size, and dependent ones up to a condition of 10^5 (10^10 of the covariance)."""
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((40, p)), rng.standard_normal((40, q))
    X = X @ np.linalg.qr(rng.standard_normal((p, p)))[0] * np.logspace(0, -decades, p)
    X = X @ np.linalg.qr(rng.standard_normal((p, p)))[0]
    k = min(p, q)
    cca = CCA(k, scale=scale).fit(X, Y)
    assert np.allclose(cca.correlations_, oracle(X, Y)[:k], rtol=0, atol=1e-10)
    x, y = cca.transform(X, Y)
    assert np.allclose(x.T @ y / 40, np.diag(cca.correlations_), atol=1e-9)


def test_many_columns_and_few_components():
    X, Y = RNG.standard_normal((400, 60)), RNG.standard_normal((400, 50))
    Y[:, :2] += X[:, :2]
    cca = CCA(3).fit(X, Y)
    assert np.allclose(cca.correlations_, oracle(X, Y)[:3], rtol=0, atol=1e-13)
    assert np.allclose(CCA(3).fit(Y, X).correlations_, cca.correlations_, rtol=0, atol=1e-13)


@pytest.mark.parametrize("ridge", [0.0, 0.1, (0.2, 0.01)])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_both_ways_agree(ridge, weights):
    """Products with the data and matrices, dense and sparse."""
    formed = CCA(2, ridge=ridge, solver="formed").fit(X, Y, weights)
    for data in ((X, Y), (sp.csr_array(X), sp.csc_array(Y)), (X.astype(np.float32), Y)):
        single = 1e-4 if data[0].dtype == np.float32 else 1e-7
        search = CCA(2, ridge=ridge, solver="operators", random_state=0).fit(*data, weights)
        for name in ("correlations_", "x_rotations_", "y_rotations_", "x_loadings_", "y_loadings_", "coef_"):
            assert np.allclose(getattr(search, name), getattr(formed, name), atol=single, rtol=single), name
        assert np.allclose(search.intercept_, formed.intercept_, atol=1e-3 if single == 1e-4 else single)
        assert np.allclose(search.correlations_, formed.correlations_, rtol=0, atol=1e-6 if single == 1e-4 else 1e-12)
    assert search.solution_.converged
    assert formed.solution_ is None


def test_the_route_is_described():
    assert "were formed" in CCA(2, solver="formed").fit(X, Y).route_
    assert "were not formed" in CCA(2, solver="operators", random_state=0).fit(X, Y).route_
    assert "partial_fit" in CCA(2).partial_fit(X, Y).route_


def test_files_that_are_mapped(tmp_path):
    mapped = []
    for name, data in (("X", X.astype(np.float32)), ("Y", Y)):
        np.save(tmp_path / f"{name}.npy", data)
        mapped.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    same = CCA(2).fit(X.astype(np.float32).astype(float), Y)
    for solver in ("formed", "operators"):
        cca = CCA(2, solver=solver, random_state=0).fit(*mapped)
        assert np.allclose(cca.correlations_, same.correlations_, rtol=0, atol=1e-12)


def test_scores_signs_and_loadings():
    cca = CCA(4).fit(X, Y)
    x, y = cca.transform(X, Y)
    assert np.allclose(x.T @ x / 300, np.eye(4), atol=1e-12)
    assert np.allclose(x.T @ y / 300, np.diag(cca.correlations_), atol=1e-12)
    assert (cca.x_rotations_[np.abs(cca.x_rotations_).argmax(axis=0), range(4)] > 0).all()
    assert np.allclose(cca.fit_transform(X, Y)[0], x)
    # all four columns of Y are spanned
    assert np.allclose(cca.inverse_transform(x, y)[1], Y)
    assert np.allclose(cca.predict(X), LinearRegression().fit(X, Y).predict(X))
    assert np.allclose((X - X.mean(axis=0)) @ cca.coef_.T + cca.intercept_, cca.predict(X))
    np.testing.assert_array_equal(cca.intercept_, cca._y_mean)
    assert np.allclose(cca.correlations(X, Y), cca.correlations_)
    assert cca.score(X, Y) == pytest.approx(LinearRegression().fit(X, Y).score(X, Y))


def test_more_rows_and_no_rows_are_weights():
    times = WEIGHTS.astype(int)
    weighted = CCA(3, ridge=0.1).fit(X, Y, WEIGHTS)
    repeated = CCA(3, ridge=0.1).fit(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
    assert np.allclose(weighted.correlations_, repeated.correlations_)
    assert np.allclose(weighted.transform(X), repeated.transform(X))
    assert np.allclose(weighted.correlations(X, Y, WEIGHTS), repeated.correlations(X, Y, WEIGHTS))


class TestPartialFit:
    @pytest.mark.parametrize("scale", [True, False])
    def test_batches_add_up(self, scale):
        w = WEIGHTS + 1
        whole, parts = CCA(3, ridge=0.1, scale=scale).fit(X, Y, w), CCA(3, ridge=0.1, scale=scale)
        # the first batches have fewer rows than columns
        for rows in np.split(np.arange(300), [3, 5, 60, 200]):
            parts.partial_fit(X[rows], Y[rows], w[rows])
        assert np.allclose(parts.correlations_, whole.correlations_, rtol=0, atol=1e-13)
        for one, other in zip(parts.transform(X, Y), whole.transform(X, Y), strict=True):
            assert np.allclose(one, other)
        assert np.allclose(parts.predict(X), whole.predict(X))

    def test_a_fit_can_be_added_to(self):
        added = CCA(2).fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:])
        assert np.allclose(added.correlations_, CCA(2).fit(X, Y).correlations_, rtol=0, atol=1e-13)
        again = pickle.loads(pickle.dumps(added))
        np.testing.assert_array_equal(again.correlations_, added.correlations_)

    def test_what_a_search_fitted_cannot(self):
        searched = CCA(2, solver="operators", random_state=0).fit(X, Y)
        with pytest.raises(ValueError, match="begin with partial_fit"):
            searched.partial_fit(X, Y)

    def test_too_few_rows_are_told_when_it_matters(self):
        early = CCA(2).partial_fit(X[:4], Y[:4])
        with pytest.warns(UserWarning, match="only 4 samples.*correlations are close to 1") as told:
            early.transform(X)
        assert len(told) == 2
        with pytest.raises(ValueError, match="y has 3 columns"):
            early.partial_fit(X, Y[:, :3])
        assert early.partial_fit(X, Y).transform(X).shape == (300, 2)


def test_a_warm_start_along_a_ridge_path_takes_fewer_products():
    X, Y = sm.gallery.two_views(500, 80, 70, [0.95, 0.9, 0.85], rng=1)
    warm = CCA(3, solver="operators", warm_start=True, random_state=0, ridge=0.1).fit(X, Y)
    warm.set_params(ridge=0.099).fit(X, Y)
    cold = CCA(3, solver="operators", random_state=0, ridge=0.099).fit(X, Y)
    assert np.allclose(warm.correlations_, cold.correlations_, rtol=0, atol=1e-12)
    assert warm.solution_.counts.B_products < cold.solution_.counts.B_products


class TestConventions:
    @parametrize_with_checks([CCA(), CCA(n_components=1)])
    def test_scikit_learns_own_checks(self, estimator, check):
        check(estimator)

    def test_copies_pipelines_and_grids(self):
        grid = GridSearchCV(CCA(2), {"ridge": [0.0, 0.1, 10.0]}, cv=3).fit(X, Y)
        assert grid.best_params_["ridge"] < 10
        piped = make_pipeline(StandardScaler(), CCA(2)).fit(X, Y)
        assert np.allclose(piped.predict(X), CCA(2).fit(X, Y).predict(X))
        again = pickle.loads(pickle.dumps(grid.best_estimator_))
        assert np.array_equal(again.transform(X), grid.best_estimator_.transform(X))
        assert clone(again).get_params() == again.get_params()

    def test_a_search_leaves_no_data_behind(self):
        searched = CCA(2, solver="operators", random_state=0).fit(X, Y)
        again = pickle.loads(pickle.dumps(searched))
        assert np.array_equal(again.transform(X), searched.transform(X))
        assert again.solution_.problem is None

    def test_tables_with_names(self):
        import pandas

        frame = pandas.DataFrame(X, columns=list("abcdef"))
        cca = CCA(2).fit(frame, pandas.DataFrame(Y)).set_output(transform="pandas")
        assert list(cca.feature_names_in_) == list("abcdef")
        assert list(cca.transform(frame).columns) == ["cca0", "cca1"] == list(cca.get_feature_names_out())

    def test_not_fitted(self):
        for call in (lambda: CCA().transform(X), lambda: CCA().predict(X), lambda: CCA().inverse_transform(X)):
            with pytest.raises(NotFittedError):
                call()
        assert not hasattr(CCA(), "correlations_")

    def test_nothing_is_imported_before_it_is_needed(self):
        code = "import sys, splitmerge, splitmerge.learn; assert not {'sklearn', 'dask', 'pandas'} & set(sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

    def test_a_missing_scikit_learn_is_told(self):
        code = (
            "import sys; sys.modules['sklearn'] = sys.modules['sklearn.base'] = None\n"
            "import splitmerge.learn as learn\n"
            "assert learn.View and learn.view_pair\n"
            "try: learn.CCA\n"
            "except ImportError as error: assert 'CCA needs scikit-learn' in str(error), error\n"
            "else: raise SystemExit('imported')"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


class TestBadInput:
    @pytest.mark.parametrize("solver", ["formed", "operators"])
    def test_constant_columns(self, solver):
        bad = np.hstack([X, np.full((300, 1), 0.1)])
        for scale in (True, False):
            with pytest.raises(ValueError, match=r"X has 1 constant column \(6\).*ridge"):
                CCA(solver=solver, scale=scale, b_policy="error").fit(bad, Y)
            with pytest.warns(UserWarning, match=r"X has 1 constant column \(6\): 1 of 7 dimensions were left out"):
                found = CCA(solver=solver, scale=scale, random_state=0).fit(bad, Y)
            without = CCA(scale=scale).fit(X, Y)
            assert np.allclose(found.correlations_, without.correlations_, rtol=0, atol=1e-12)
            assert np.allclose(found.x_rotations_, np.vstack([without.x_rotations_, [[0, 0]]]), atol=1e-7)
            assert np.allclose(found.predict(bad), without.predict(X), atol=1e-6)
        ridged = CCA(ridge=0.1, solver=solver, random_state=0).fit(bad, Y)
        assert np.allclose(ridged.correlations_, CCA(ridge=0.1).fit(X, Y).correlations_, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("solver", ["formed", "operators"])
    def test_more_columns_than_rows(self, solver):
        with pytest.raises(ValueError, match=r"n_features = 6.*only 6 samples.*ridge"):
            CCA(solver=solver, b_policy="error").fit(X[:6], Y[:6])
        few = "only 6 samples with positive weight"
        told = pytest.warns(UserWarning, match=few) if solver == "formed" else pytest.raises(ValueError, match=few)
        with told:
            CCA(solver=solver).fit(X[:6], Y[:6])
        found = CCA(ridge=0.01, solver=solver, random_state=0).fit(X[:6], Y[:6])
        assert np.isfinite(found.transform(X)).all()

    @pytest.mark.parametrize("policy", ["restrict", "ridge"])
    @pytest.mark.parametrize("scale", [True, False])
    def test_dependent_columns_by_policy(self, policy, scale):
        bad = np.hstack([X, X[:, :2] @ [[1], [1]], np.full((300, 1), 0.1)])
        with pytest.raises(ValueError, match="b_policy"):
            CCA(scale=scale, b_policy="error").fit(bad[:, :-1], Y)
        mended = CCA(3, b_policy=policy, scale=scale).fit(bad, Y)
        assert np.allclose(mended.correlations_, oracle(X, Y)[:3], rtol=0, atol=1e-10)
        assert np.allclose(mended.transform(X=bad), CCA(3).fit(X, Y).transform(X), atol=1e-6)
        assert mended.b_report_[0].dropped == (2 if policy == "restrict" else 0)
        assert mended.b_report_[1].ridge == 0 == mended.b_report_[1].dropped

    def test_dependent_columns_are_left_out(self):
        bad = np.hstack([X, X[:, :2] @ [[1], [1]]])
        with pytest.warns(UserWarning, match="columns of X are linearly dependent.*1 of 7 dimensions were left out"):
            found = CCA(3).fit(bad, Y)
        assert np.allclose(found.correlations_, oracle(X, Y)[:3], rtol=0, atol=1e-10)
        assert np.allclose(found.transform(bad), CCA(3).fit(X, Y).transform(X), atol=1e-6)

    def test_fewer_components_than_asked_for(self):
        """The rank of y is 1 though it has two columns."""
        twice = Y[:, [0, 0]]
        with pytest.warns(UserWarning, match="columns of y are linearly dependent"):
            found = CCA(2).fit(X, twice)
        assert found.n_components_ == 1 == len(found.correlations_) == len(found.n_iter_)
        assert found.transform(X).shape == (300, 1)
        assert np.allclose(found.predict(X), LinearRegression().fit(X, twice).predict(X))
        with pytest.raises(ValueError, match="upper bound is 1"):
            CCA(2, b_policy="restrict").fit(X, twice)

    def test_dependent_columns_in_a_search(self):
        with pytest.raises(ValueError, match="give a ridge"):
            CCA(solver="operators", random_state=0).fit(np.hstack([X, X[:, :2]]), Y)

    def test_fewer_rows_than_columns_restricted(self):
        found = CCA(b_policy="restrict").fit(X[:5], Y[:5])
        assert np.allclose(found.correlations_, 1)
        assert np.isfinite(found.coef_).all()

    def test_one_target_is_least_squares(self):
        short = CCA().fit(X[:4], Y[:4, 0])
        assert short.n_components_ == 1
        assert np.allclose(short.predict(X[:4]), Y[:4, 0])

    def test_too_many_components(self):
        with pytest.raises(ValueError, match=r"upper bound is 4. Got 5 instead.*X: 6, y: 4"):
            CCA(5).fit(X, Y)
        with pytest.raises(ValueError, match="n_components is 0"):
            CCA(0).fit(X, Y)

    def test_the_rest(self):
        with pytest.raises(ValueError, match="NaN"):
            CCA().fit(np.where(X > 0, X, np.nan), Y)
        with pytest.raises(ValueError, match="NaN"):
            CCA().fit(X, np.where(Y > 0, Y, np.nan))
        with pytest.raises(ValueError, match="sample_weight is zero"):
            CCA().fit(X, Y, np.zeros(300))
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            CCA().fit(X, Y[:-1])
        with pytest.raises(ValueError, match="only 1 sample with positive weight"):
            CCA().fit(X, Y, np.eye(300)[0])
        with pytest.raises(ValueError, match=r"y has 1 constant column .*no correlations"):
            CCA().fit(X, np.ones(300))
        with pytest.raises(ValueError, match="b_policy is 'drop'"):
            CCA(b_policy="drop").fit(X, Y)
        with pytest.raises(ValueError, match="y has 3 features, expected 4"):
            CCA().fit(X, Y).transform(X, Y[:, :3])


class TestWideViews:
    """More columns than rows, in as many coordinates as there are rows."""

    @pytest.mark.parametrize("weights", [None, "some"])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
    def test_they_agree_with_the_whole(self, kind, weights, monkeypatch):
        X, Y = RNG.standard_normal((40, 90)), RNG.standard_normal((40, 15))
        Y[:, :2] += X[:, :2]
        X[:, 7] = 0.1
        w = None if weights is None else RNG.integers(0, 3, 40)
        whole = CCA(2, ridge=(0.5, 0.0), solver="formed").fit(X, Y, w)
        monkeypatch.setattr("splitmerge.learn.covariance.choice.MIN_REDUCED_COLUMNS", 0)
        wide = CCA(2, ridge=(0.5, 0.0), solver="formed").fit(kind(X), Y, w)
        for name in ("correlations_", "x_rotations_", "y_rotations_", "x_loadings_", "y_loadings_", "coef_"):
            assert np.allclose(getattr(wide, name), getattr(whole, name), atol=1e-9), name
        swapped = CCA(2, ridge=(0.0, 0.5), solver="formed").fit(Y, X, w)
        assert np.allclose(swapped.correlations_, whole.correlations_)
        assert np.allclose(
            swapped.transform(Y, X)[1], whole.transform(X) * np.sign(swapped.y_rotations_[0] / whole.x_rotations_[0])
        )

    def test_the_policies(self, monkeypatch):
        X, Y = RNG.standard_normal((40, 90)), RNG.standard_normal((40, 15))
        whole = CCA(2, b_policy="restrict").fit(X, Y[:, 0])
        monkeypatch.setattr("splitmerge.learn.covariance.choice.MIN_REDUCED_COLUMNS", 0)
        with pytest.raises(ValueError, match="only 40 samples"):
            CCA(b_policy="error").fit(X, Y)
        with pytest.warns(UserWarning, match="X has 90 columns.*only 40 samples.*51 of 90 dimensions were left out"):
            assert np.allclose(CCA().fit(X, Y).correlations_, 1)
        found = CCA(2, b_policy="restrict").fit(X, Y)
        assert np.allclose(found.correlations_, 1)
        assert found.b_report_[0].rank == 39
        single = CCA().fit(X, Y[:, 0])
        assert np.allclose(single.predict(X), Y[:, 0])
        assert np.allclose(single.coef_, whole.coef_)


def test_correlations_are_weighted():
    X, y = sm.gallery.two_views(200, 5, 4, [0.9, 0.5], rng=0)
    cca = CCA(n_components=2).fit(X, y)
    chosen = np.r_[np.ones(50), np.zeros(150)]
    np.testing.assert_allclose(cca.correlations(X, y, chosen), cca.correlations(X[:50], y[:50]), rtol=1e-10)
