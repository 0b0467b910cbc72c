"""Units of the data, of the response and of the noise, signs of all entries, weights that are no whole numbers."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from splitmerge.learn import (
    CCA,
    CSP,
    PrincipalHessianDirections,
    SlicedAverageVariance,
    SlicedInverseRegression,
    SPoC,
    harmonic_retrieval,
)
from splitmerge.learn.harmonic.frames import given_covariance
from splitmerge.learn.sliced.slicing import Slicing, divided

RNG = np.random.default_rng(2)
X = RNG.standard_normal((80, 4)) @ RNG.standard_normal((4, 4))
RESPONSE = (X @ [1.0, -1.0, 0.5, 0.0]) ** 2 - 3 * X[:, 3] ** 2 + X[:, 1]
WEIGHTS = RNG.uniform(0.2, 3.0, 80)
UNITS = [1e-12, 1e-3, 1e12]


def upto_sign(found, expected, tol=1e-7):
    signs = np.sign(np.einsum("ij,ij->i", found, expected))[:, None]
    np.testing.assert_allclose(signs * found, expected, atol=tol * np.abs(expected).max())


class TestSlices:
    @pytest.mark.parametrize(
        ("weights", "number", "expected"),
        [
            # a total of 5.5 in two slices of 2.75: the third row has the middle, and begins the second
            ([1.0, 1.0, 1.0, 1.0, 1.5], 2, [0, 0, 1, 1, 1]),
            ([0.5, 0.5, 0.5, 2.0, 2.0], 2, [0, 0, 0, 1, 1]),
            ([0.25] * 5, 2, [0, 0, 1, 1, 1]),
            ([0.3, 0.3, 0.3, 0.3, 0.3], 3, [0, 1, 1, 2, 2]),
        ],
    )
    def test_equal_weights_where_they_are_no_whole_numbers(self, weights, number, expected):
        y = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
        order = RNG.permutation(5)
        found = Slicing.of(y[order], number, np.array(weights)[order]).members(y)
        np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize("unit", [0.1, 0.37, 7.5])
    @pytest.mark.parametrize("number", [2, 3, 7])
    def test_the_unit_of_the_weights_does_not_matter_to_equal_ones(self, unit, number):
        y = RNG.permutation(84.0 + np.arange(84))
        plain = Slicing.of(y, number).members(y)
        np.testing.assert_array_equal(np.bincount(plain), np.full(number, 84 // number))
        for sizes in (Slicing.of(y, number, np.full(84, unit)).members(y), divided(y, number, np.full(84, unit))[1]):
            assert np.abs(np.bincount(sizes) - 84 / number).max() <= 1


class TestResponses:
    @pytest.mark.parametrize("unit", UNITS)
    @pytest.mark.parametrize("residuals", [False, True])
    def test_of_hessian_directions(self, unit, residuals):
        """The eigenvalues have the unit of y, the directions none."""
        one, other = (PrincipalHessianDirections(residuals=residuals).fit(X, scale * RESPONSE) for scale in (1.0, unit))
        np.testing.assert_allclose(other.eigenvalues_, unit * one.eigenvalues_, rtol=1e-8)
        np.testing.assert_allclose(other.directions_, one.directions_, atol=1e-7)

    @pytest.mark.parametrize("sign", [1, -1])
    def test_of_either_curvature(self, sign):
        """The largest magnitude comes first, with its sign."""
        y = sign * (X[:, 0] ** 2 - 0.2 * X[:, 2] ** 2)
        values = PrincipalHessianDirections().fit(X, y).eigenvalues_
        assert np.sign(values[0]) == sign
        assert (np.diff(np.abs(values)) <= 1e-12).all()

    @pytest.mark.parametrize("kind", [SlicedInverseRegression, SlicedAverageVariance, PrincipalHessianDirections])
    @pytest.mark.parametrize("unit", UNITS)
    def test_units_of_the_columns(self, kind, unit):
        units = np.array([1.0, unit, 1.0, 1 / unit])
        one, other = kind(2).fit(X, RESPONSE), kind(2).fit(X * units, RESPONSE)
        np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-6)
        upto_sign(other.directions_ * units, one.directions_, 1e-6)

    @pytest.mark.parametrize("weights", [None, WEIGHTS[:30]], ids=["plain", "weighted"])
    @pytest.mark.parametrize("residuals", [False, True])
    @pytest.mark.parametrize("columns", [4, 50])
    @pytest.mark.parametrize("shrinkage", [0.1, 0.6])
    def test_of_few_rows_with_weights(self, columns, residuals, weights, shrinkage):
        """By eigh of the moment matrix, also where there are more columns than rows."""
        rows = RNG.standard_normal((30, columns)) + 2.0
        y = rows[:, 0] ** 2 + rows[:, 1] + 0.1 * RNG.standard_normal(30)
        w = np.ones(30) if weights is None else weights
        w = w / w.sum()
        Z, r = rows - w @ rows, y - w @ y
        T = Z.T @ (w[:, None] * Z)
        B = (1 - shrinkage) * T + shrinkage * np.trace(T) / columns * np.eye(columns)
        if residuals:
            r = r - Z @ np.linalg.solve(B, Z.T @ (w * r))
        values, V = scipy.linalg.eigh(Z.T @ ((w * r)[:, None] * Z), B)
        order = np.argsort(-np.abs(values))[:2]
        model = PrincipalHessianDirections(2, residuals=residuals, shrinkage=shrinkage).fit(rows, y, weights)
        np.testing.assert_allclose(model.eigenvalues_, values[order], rtol=1e-7)
        upto_sign(model.directions_, V.T[order], 1e-6)


class TestTrials:
    def trials(self, channels=5, count=40):
        rng = np.random.default_rng(0)
        y = np.arange(count) % 2
        sources = rng.standard_normal((count, channels, 50)) * (
            1 + 2 * (y[:, None, None] == np.arange(channels)[:, None])
        )
        return rng.standard_normal((channels, channels)) @ sources, y

    @pytest.mark.parametrize("kind", [CSP, SPoC])
    @pytest.mark.parametrize("sign", [1, -1])
    def test_signs_of_all_entries(self, kind, sign):
        """Trials that are all negative are no stranger than others; large entries of either sign are refused."""
        X, y = self.trials()
        target = y if kind is CSP else y + RNG.random(len(y))
        X = np.abs(X)
        one, other = kind(3).fit(X, target), kind(3).fit(sign * X, target)
        np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(other.transform(sign * X), one.transform(X), rtol=1e-7)
        for size in (1e80, 1e-80):
            with pytest.raises(ValueError, match="powers of it overflow or underflow; rescale X"):
                kind(3).fit(sign * size * X, target)
        spiked = X.copy()
        spiked[3, 1, 7] = sign * 1e80
        with pytest.raises(ValueError, match="overflow"):
            kind(3).fit(spiked, target)

    @pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e12])
    @pytest.mark.parametrize("kind", [CSP, SPoC])
    def test_volts_and_microvolts(self, kind, unit):
        X, y = self.trials()
        target = y if kind is CSP else y + RNG.random(len(y))
        one, other = kind(3).fit(X, target), kind(3).fit(unit * X, target)
        assert one.rank_ == other.rank_ == 5
        np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-8)
        np.testing.assert_allclose(unit * other.filters_, one.filters_, rtol=1e-6)
        np.testing.assert_allclose(other.patterns_, unit * one.patterns_, rtol=1e-6)

    @pytest.mark.parametrize(("norm_trace", "rank"), [(True, 6), (False, 3)])
    def test_a_faint_class_in_a_space_of_its_own(self, norm_trace, rank):
        """Where each class is divided by its power, its directions count like those of the others."""
        rng = np.random.default_rng(0)
        y = np.arange(40) % 2
        sources = rng.standard_normal((40, 6, 50))
        sources[y == 0, 3:] = 0
        sources[y == 1, :3] = 0
        sources[y == 1] *= 1e-9
        X = np.linalg.qr(rng.standard_normal((6, 6)))[0] @ sources
        assert CSP(2, norm_trace=norm_trace).fit(X, y).rank_ == rank


class TestNoise:
    def record(self, is_complex):
        t = np.arange(80)
        wave = 2 * np.exp(2j * np.pi * 0.21 * t)
        return wave if is_complex else wave.real

    @pytest.mark.parametrize("unit", UNITS)
    @pytest.mark.parametrize("is_complex", [False, True])
    def test_its_unit_changes_no_frequency_and_no_spectrum(self, unit, is_complex):
        N = scipy.linalg.toeplitz(0.6 ** np.arange(20.0))
        x = self.record(is_complex) + 0.1 * np.random.default_rng(0).standard_normal(80)
        one, other = (harmonic_retrieval(x, 1, noise=scale * N, order=12, fs=8.0) for scale in (1.0, unit))
        np.testing.assert_allclose(other.frequencies, one.frequencies, rtol=1e-9)
        np.testing.assert_allclose(other.noise_power * unit, one.noise_power, rtol=1e-8)
        grid = 8.0 * np.append(np.linspace(-0.5, 0.5, 41), one.frequencies / 8.0)
        np.testing.assert_allclose(other.spectrum(grid), one.spectrum(grid), rtol=1e-5)

    @pytest.mark.parametrize("unit", UNITS)
    def test_the_spectrum_at_a_line_without_noise(self, unit):
        found = harmonic_retrieval(self.record(True), 1, noise=unit * np.eye(12), order=12)
        at, apart = found.spectrum(np.array([0.21, 0.4]))
        assert at > 1e6 > 1e3 > apart >= 1

    def test_a_complex_covariance_is_hermitian(self):
        N = np.array([[2.0, 1j], [-1j, 3.0]])
        np.testing.assert_array_equal(given_covariance(N), N)
        for wrong in (np.array([[2.0, 1j], [1j, 3.0]]), np.array([[2.0 + 1j, 0], [0, 3.0]])):
            with pytest.raises(ValueError, match="noise is a matrix that is not Hermitian"):
                given_covariance(wrong)
        C = scipy.linalg.toeplitz(0.7 ** np.arange(15.0) * np.exp(2j * np.pi * 0.1 * np.arange(15)))
        found = harmonic_retrieval(self.record(True), 1, noise=C, order=10)
        np.testing.assert_allclose(found.frequencies, [0.21], atol=1e-6)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("solver", ["formed", "operators"])
def test_units_of_views(unit, stored, solver):
    """Correlations have none."""
    Y = X[:, :2] + RNG.standard_normal((80, 2))
    units = np.array([unit, 1.0, 1 / unit, 1.0])
    options = {"solver": solver, "random_state": 0, "tol": 1e-12}
    one, other = CCA(2).fit(X, Y), CCA(2, **options).fit(stored(X * units), unit * Y)
    np.testing.assert_allclose(other.correlations_, one.correlations_, rtol=1e-9)
    np.testing.assert_allclose(other.predict(X * units), unit * one.predict(X), rtol=1e-6)
    np.testing.assert_allclose(other.coef_ * units, unit * one.coef_, atol=1e-6 * unit)
