"""Every row of the table for `scipy.sparse.linalg.lobpcg`, both sides run."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import lobpcg

import splitmerge as sm
from tables import Table

TABLE = Table("`scipy.sparse.linalg.lobpcg`")
# large enough not to be given to LAPACK
K, mass = sm.gallery.element_laplacian((24, 19))
X = np.random.default_rng(0).standard_normal((K.shape[0], 4))
M = sp.diags_array(1 / K.diagonal())
REFERENCE = eigh(K.toarray(), mass.toarray(), eigvals_only=True)


def theirs(A=K, **options):
    options = {"B": mass, "M": M, "largest": False, "tol": 1e-3, "maxiter": 400} | options
    return lobpcg(A, X, **options)


@TABLE.checks("`lobpcg(A, X, B)` with k columns")
@pytest.mark.parametrize(
    ("argument", "ours", "wanted"),
    [
        (*pair, wanted)
        for pair, wanted in zip(
            TABLE.pairs("`largest=True` (their default)", "`largest=False`"),
            (REFERENCE[:-5:-1], REFERENCE[:4]),
            strict=True,
        )
    ],
)
def test_which(argument, ours, wanted):
    preconditioner = None if "True" in argument else M
    values = eval(f"theirs(**dict({argument}, M=preconditioner))[0]", globals(), {"preconditioner": preconditioner})
    np.testing.assert_allclose(values, wanted, rtol=1e-6)
    for x0 in (X, None):
        sol = eval(f"sm.solve(K, mass, 4, x0=x0, {ours})", globals(), {"x0": x0})
        np.testing.assert_allclose(sol.eigenvalues, wanted, rtol=1e-9)


@pytest.mark.parametrize("argument", ["preconditioner=M", "method=sm.LocallyOptimal(sm.MultiGrid())"])
@TABLE.checks("`M` (preconditioner)")
def test_preconditioner(argument):
    assert f"`{argument}`" in TABLE.right["`M` (preconditioner)"]
    sol = eval(f'sm.solve(K, mass, 4, which="smallest", {argument})')
    np.testing.assert_allclose(sol.eigenvalues, REFERENCE[:4], rtol=1e-9)


@TABLE.checks("`Y` (constraints)")
def test_constraints():
    first = sm.solve(K, mass, 2, which="smallest").eigenvectors
    np.testing.assert_allclose(theirs(Y=first)[0], REFERENCE[2:6], rtol=1e-6)
    np.testing.assert_allclose(sm.solve(K, mass, 6, which="smallest").eigenvalues[2:], REFERENCE[2:6], rtol=1e-9)


@TABLE.checks("`tol` (norm of the residual, not relative)", "`retLambdaHistory`, `retResidualNormsHistory`")
def test_tolerance_and_history():
    steps, ours = [], []
    for scale in (1e-3, 1.0):
        with_histories = {"tol": 1e-2, "retLambdaHistory": True, "retResidualNormsHistory": True}
        *_, values, norms = theirs(scale * K, M=M / scale, **with_histories)
        assert len(values) == len(norms)
        steps.append(len(norms))
        sol = sm.solve(scale * K, mass, 4, which="smallest", method=sm.LocallyOptimal(sm.Diagonal()), rng=0)
        ours.append(sol.steps)
        assert {"value", "residual"} <= set(sol.history.to_dict())
    # theirs takes more steps in smaller units, ours does not
    assert steps[1] > steps[0] + 5
    assert ours[0] == ours[1]


@TABLE.checks("`maxiter`", "a warning if it does not converge")
def test_limit():
    with pytest.warns(UserWarning, match="Exited"):
        theirs(maxiter=3, tol=1e-9)
    with pytest.raises(sm.NotConverged) as error:
        sm.solve(K, mass, 4, which="smallest", preconditioner=M, max_steps=3)
    assert error.value.solution.eigenvalues.shape == (4,)


def test_every_row_has_a_test():
    assert TABLE.untested == []
