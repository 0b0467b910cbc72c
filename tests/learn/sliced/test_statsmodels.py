"""statsmodels' own tests of dimension reduction, with our estimators behind its `fit`.

Its models keep a response and return a results object; `fit` of the classes below calls ours and wraps the answer.
`fit_regularized`, which we do not have, is statsmodels' own: its tests compare it with our `fit`.
"""

import numpy as np
import pytest

from splitmerge.learn import PrincipalHessianDirections, SlicedAverageVariance, SlicedInverseRegression

dimred = pytest.importorskip("statsmodels.regression.dimred")
theirs = pytest.importorskip("statsmodels.regression.tests.test_dimred")

# Calls of our `fit` in each test, and the tests of `CORE` and `fit_regularized` that do not call `fit`.
TESTS = {
    "test_poisson": 6,
    "test_sir_regularized_numdiff": 1,
    "test_sir_regularized_1d": 1,
    "test_sir_regularized_2d": 1,
}
# Tests whose time is that of statsmodels.
LONG = {"test_sir_regularized_numdiff", "test_sir_regularized_2d"}
WITHOUT_FIT = {"test_sir_regularized_slice_n", "test_covreduce"}


def results(model, ours):
    found = dimred.DimReductionResults(model, ours.directions_.T, eigs=ours.eigenvalues_)
    return dimred.DimReductionResultsWrapper(found)


@pytest.fixture
def calls(monkeypatch):
    made = []

    class SIR(dimred.SIR):
        def fit(self, slice_n=20):
            made.append(self)
            ours = SlicedInverseRegression(n_slices=len(self.endog) // slice_n, ties="split")
            return results(self, ours.fit(self.exog, self.endog))

    class SAVE(dimred.SAVE):
        def __init__(self, *data, bc=False, **options):
            dimred._DimReductionRegression.__init__(self, *data, **options)
            self.bc = bc

        def fit(self, slice_n=50):
            made.append(self)
            ours = SlicedAverageVariance(n_slices=len(self.endog) // slice_n, ties="split", bias_correction=self.bc)
            return results(self, ours.fit(self.exog, self.endog))

    class PHD(dimred.PHD):
        def fit(self, resid=False):
            made.append(self)
            return results(self, PrincipalHessianDirections(residuals=resid).fit(self.exog, self.endog))

    for name, kind in (("SlicedInverseReg", SIR), ("SAVE", SAVE), ("PHD", PHD)):
        monkeypatch.setattr(theirs, name, kind)
    return made


def test_all_of_their_tests_are_here():
    assert {name for name in vars(theirs) if name.startswith("test_")} <= {*TESTS, *WITHOUT_FIT}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in TESTS]
)
def test_their_tests(name, calls):
    getattr(theirs, name)()
    assert len(calls) == TESTS[name]


@pytest.mark.parametrize("rows_per_slice", [20, 33])
@pytest.mark.parametrize("bias_correction", [False, True])
def test_the_same_numbers_where_y_has_ties(bias_correction, rows_per_slice):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 5)) @ (np.eye(5) + 0.3 * rng.standard_normal((5, 5)))
    y = rng.poisson(np.exp(0.3 * X[:, 0] + 0.2 * X[:, 1] ** 2))
    slices = 500 // rows_per_slice
    assert len(set(y)) < 20
    sir = SlicedInverseRegression(n_slices=slices, ties="split").fit(X, y)
    expected = dimred.SIR(y, X.copy()).fit(slice_n=rows_per_slice)
    np.testing.assert_allclose(sir.eigenvalues_, expected.eigs, atol=1e-12)
    save = SlicedAverageVariance(n_slices=slices, ties="split", bias_correction=bias_correction).fit(X, y)
    expected = dimred.SAVE(y, X.copy(), bc=bias_correction).fit(slice_n=rows_per_slice)
    scale = 1 if bias_correction else 500 / slices
    np.testing.assert_allclose(save.eigenvalues_, expected.eigs / scale, atol=1e-10)
    # T-orthonormal directions, as theirs
    signs = np.sign(np.sum(save.directions_.T * expected.params, axis=0))
    np.testing.assert_allclose(save.directions_.T, signs * expected.params, atol=1e-7)
