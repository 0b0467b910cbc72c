"""Columns that are constant, or have means far from zero: alone among others, of any value, in every kind of data."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

from splitmerge.learn import CCA, CSP, MCCA, LinearDiscriminantAnalysis, SPoC, View
from splitmerge.learn.data.joint import Joint
from splitmerge.learn.data.view import constant_threshold
from splitmerge.learn.moments.moments import Comoments

pytestmark = pytest.mark.usefixtures("in_this_process")

RNG = np.random.default_rng(8)
X = RNG.standard_normal((70, 4)) @ RNG.standard_normal((4, 4))
Y = X[:, :3] + RNG.standard_normal((70, 3))
VALUES = [0.0, 0.1, -0.1, 7e9, -7e9, -1e-9, 1 / 3]
KINDS = {
    "memory": np.asarray,
    "sparse": sp.csr_array,
    "Dask": lambda view: da.from_array(view, chunks=(20, -1)),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


class TestConstant:
    @each_kind
    @pytest.mark.parametrize("value", VALUES)
    def test_in_a_fit_and_in_batches(self, value, kind):
        """It takes no part, whatever its sign is, and does nothing to the others."""
        scale = value != 1 / 3
        data = np.insert(X, 1, value, axis=1)
        plain = CCA(2, scale=scale, ridge=1e-3).fit(X, Y)
        found = [CCA(2, scale=scale, ridge=1e-3).fit(KINDS[kind](data), Y)]
        if kind != "Dask":
            found.append(CCA(2, scale=scale, ridge=1e-3))
            for rows in (slice(0, 20), slice(20, 21), slice(21, None)):
                found[1].partial_fit(KINDS[kind](data[rows]), Y[rows])
        for model in found:
            np.testing.assert_allclose(model.correlations_, plain.correlations_, rtol=1e-8)
            np.testing.assert_allclose(model.x_weights_[[0, 2, 3, 4]], plain.x_weights_, atol=1e-6)
            np.testing.assert_allclose(model.x_weights_[1], 0, atol=1e-12)
            np.testing.assert_allclose(model.coef_[:, 1], 0, atol=1e-12)
            np.testing.assert_allclose(model.means_[0][1], value, rtol=1e-14)
            np.testing.assert_allclose(model.predict(data), plain.predict(X), atol=1e-6)

    @pytest.mark.parametrize("value", VALUES)
    def test_its_divisor_is_one(self, value):
        data = np.insert(X, 2, value, axis=1)
        moments = Comoments.of(Joint([View(data)]))
        for batches in (moments, Comoments.of(Joint([View(data[:30])])) + Comoments.of(Joint([View(data[30:])]))):
            C, spread = batches.covariance(scale=True)
            expected = np.insert(X.std(axis=0), 2, 1.0)
            np.testing.assert_allclose(spread, expected, rtol=1e-12)
            np.testing.assert_allclose(C.diagonal()[[0, 1, 3, 4]], 1, rtol=1e-12)
            assert np.abs(C[2]).max() < 1e-12 * max(1.0, abs(value))
        for kind in (np.asarray, sp.csr_array):
            np.testing.assert_allclose(View(kind(data), scale=True).spread, expected, rtol=1e-12)

    @pytest.mark.parametrize("mean", [1.0, -1.0, 1e6, -1e6])
    def test_both_sides_of_the_threshold(self, mean):
        """Deviations above a hundred roundings of the mean are variation, those below are none."""
        signs = np.where(np.arange(70) % 2, 1.0, -1.0)
        assert constant_threshold(70) == pytest.approx(100 * 2.0**-52)
        assert constant_threshold(40_000) == pytest.approx(200 * 2.0**-52)
        for factor, varies in ((8.0, True), (0.02, False)):
            data = (mean + factor * 100 * 2.0**-52 * abs(mean) * signs)[:, None]
            assert (View(data, scale=True).spread[0] != 1.0) == varies
            assert (Comoments.of(Joint([View(data)])).covariance(scale=True)[1][0] != 1.0) == varies

    @each_kind
    @pytest.mark.parametrize("value", [-5.0, 3.0])
    def test_in_a_list_of_views(self, value, kind):
        views = [X, np.insert(Y, 0, value, axis=1), X[:, :2] - Y[:, 1:]]
        found = MCCA(2, ridge=0.1).fit([KINDS[kind](view) for view in views])
        same = MCCA(2, ridge=0.1).fit([X, Y, views[2]])
        np.testing.assert_allclose(found.eigenvalues_, same.eigenvalues_, rtol=1e-8)
        np.testing.assert_allclose(found.rotations_[1][1:], same.rotations_[1], atol=1e-6)
        np.testing.assert_allclose(found.deviations_[1], np.insert(same.deviations_[1], 0, 1.0), rtol=1e-10)

    @pytest.mark.parametrize("value", [-5.0, 0.0, 3.0])
    @pytest.mark.parametrize("options", [{}, {"shrinkage": 0.2, "between": "means"}], ids=str)
    def test_in_a_discriminant(self, value, options):
        labels = np.arange(70) % 3
        data = X + labels[:, None] * [1.0, 0.0, -0.5, 0.0]
        plain = LinearDiscriminantAnalysis(**options).fit(data, labels)
        found = LinearDiscriminantAnalysis(**options).fit(np.insert(data, 2, value, axis=1), labels)
        np.testing.assert_allclose(found.coef_[:, 2], 0, atol=1e-9)
        if not options:
            np.testing.assert_allclose(
                found.predict_proba(np.insert(data, 2, value, axis=1)), plain.predict_proba(data)
            )


class TestFarMeans:
    @pytest.mark.parametrize("mean", [9.0, 30.0, 1e4, -1e4, 1e8, -1e8])
    @pytest.mark.parametrize("column", range(4))
    @pytest.mark.parametrize("scale", [False, True])
    def test_one_column_of_sparse_data(self, mean, column, scale):
        """Such as a year beside counts: its covariances keep their digits, whichever column it is."""
        data = np.where(RNG.random((70, 4)) < 0.4, RNG.standard_normal((70, 4)), 0.0)
        far = data.copy()
        far[:, column] += mean
        joint = Joint([View(sp.csr_array(part), scale=scale) for part in (far[:, :2], far[:, 2:])])
        # subtracted before it is stored, so that the expectation has the rounding of the data only
        near = np.where(np.arange(4) == column, far - mean, far)
        C = np.cov(near, rowvar=False, bias=True)
        C = np.corrcoef(near, rowvar=False) if scale else C
        np.testing.assert_allclose(joint.gram(), C, atol=1e-12 + 3e-16 * abs(mean) * 10)
        np.testing.assert_allclose(joint.variances(), C.diagonal(), rtol=1e-6)

    @pytest.mark.parametrize("mean", [1e3, -1e6])
    @each_kind
    def test_of_all_columns(self, mean, kind):
        plain = CCA(2).fit(X, Y)
        for shift in ([mean] * 4, [0, 0, mean, 0], [mean, -mean, 0, mean]):
            found = CCA(2).fit(KINDS[kind](X + np.array(shift)), Y - mean)
            np.testing.assert_allclose(found.correlations_, plain.correlations_, rtol=1e-7)
            np.testing.assert_allclose(found.x_weights_, plain.x_weights_, atol=1e-6)


class TestSinglePrecision:
    """Trials in float32: what their rounding leaves of a direction that was removed is no data."""

    def trials(self, channels, common):
        rng = np.random.default_rng(channels)
        y = np.arange(40) % 2
        sources = rng.standard_normal((40, channels, 60)) * (1 + 2 * (y[:, None, None] == np.arange(channels)[:, None]))
        raw = sources + 0.3 * np.roll(sources, 1, axis=1)
        # a potential of the reference electrode that is much larger than what is recorded
        raw += common * rng.standard_normal((40, 1, 60))
        raw = raw.astype(np.float32)
        return raw - raw.mean(axis=1, keepdims=True), y

    @pytest.mark.parametrize(("channels", "common"), [(6, 0.0), (6, 6.0), (12, 4.5), (24, 3.0)])
    @pytest.mark.parametrize("kind", [CSP, SPoC])
    def test_average_reference(self, kind, channels, common):
        X, y = self.trials(channels, common)
        assert X.dtype == np.float32
        model = kind(channels).fit(X, y if kind is CSP else y + RNG.random(40))
        assert model.rank_ == channels - 1
        # filters of rounding would be larger than all others by many decades
        norms = np.linalg.norm(model.filters_, axis=1)
        assert norms.max() < 100 * norms.min()
        np.testing.assert_allclose(model.filters_.sum(axis=1), 0, atol=1e-3 * norms.max())

    @pytest.mark.parametrize("size", [1e-5, 1e-3])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_a_weak_direction_is_kept(self, size, dtype):
        """Well above the rounding of single precision."""
        X, y = self.trials(6, 0.0)
        X = X.astype(float)
        X = (X + size * np.random.default_rng(1).standard_normal((40, 1, 60))).astype(dtype)
        assert CSP(6).fit(X, y).rank_ == 6
