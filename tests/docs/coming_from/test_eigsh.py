"""Every row of the table for `scipy.sparse.linalg.eigsh`, both sides run."""

import numpy as np
import pytest
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, factorized

import splitmerge as sm
from tables import Table

TABLE = Table("`scipy.sparse.linalg.eigsh`")
K, M = sm.gallery.element_laplacian((12, 9))
# both signs, and no eigenvalue of multiplicity two
A, s = K - 300 * M, 42.0
v0 = np.random.default_rng(0).standard_normal(K.shape[0])


def agree(ours, theirs):
    np.testing.assert_allclose(np.sort(ours), np.sort(theirs), rtol=1e-9)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    TABLE.pairs(
        '`which="LA"`',
        '`which="SA"`',
        '`which="LM"` (their default)',
        '`which="SM"`',
        '`which="BE"`',
        '`sigma=s, which="LM"`',
    ),
)
@pytest.mark.parametrize("k", [4, 5])
def test_which(theirs, ours, k):
    values = eval(f"eigsh(A, k, M, maxiter=10_000, return_eigenvectors=False, {theirs})", globals(), {"k": k})
    agree(eval(f"sm.solve(A, M, k, {ours})", globals(), {"k": k}).eigenvalues, values)
    agree(eval(f"sm.eigsh(A, k, M, {theirs})", globals(), {"k": k})[0], values)


@TABLE.checks("`eigsh(A, k, M)`", "`sigma=0` for the smallest of a positive definite A")
def test_calls():
    agree(sm.solve(K, M, 4).eigenvalues, eigsh(K, 4, M)[0])
    agree(sm.solve(K, M, 4, which="smallest").eigenvalues, eigsh(K, 4, M, sigma=0)[0])


@TABLE.checks('`mode="buckling"`, `mode="cayley"`')
@pytest.mark.parametrize("mode", ["buckling", "cayley"])
def test_modes(mode):
    agree(sm.eigsh(K, 4, M, sigma=s, mode=mode)[0], eigsh(K, 4, M, sigma=s, mode=mode)[0])
    with pytest.raises(TypeError, match="mode"):
        sm.solve(K, M, 4, sigma=s, mode=mode)


@TABLE.checks("`Minv`", "`OPinv`")
def test_solves_of_the_user():
    calls = []
    solve_M = factorized(M.tocsc())

    def function(b):
        calls.append(b)
        return solve_M(b)

    inverse = LinearOperator(M.shape, matvec=solve_M, dtype=float)
    ours = eval(f"sm.solve(K, M, 4, {code_of('`Minv`')})", globals(), {"function": function})
    agree(ours.eigenvalues, eigsh(K, 4, M, Minv=inverse)[0])
    assert len(calls) > 4
    inverse = LinearOperator(M.shape, matvec=factorized((K - s * M).tocsc()), dtype=float)
    agree(sm.eigsh(K, 4, M, sigma=s, OPinv=inverse)[0], eigsh(K, 4, M, sigma=s, OPinv=inverse)[0])


def code_of(left):
    return TABLE.pairs(left)[0][1]


@TABLE.checks("`v0`", "`ncv`")
def test_start_and_size_of_the_space():
    block = np.random.default_rng(1).standard_normal((K.shape[0], 3))
    for x0 in (v0, block):
        agree(sm.solve(K, M, 4, x0=x0).eigenvalues, eigsh(K, 4, M, v0=v0)[0])
    ours = eval(f"sm.solve(K, M, 4, {code_of('`ncv`')})", globals(), {"ncv": 15})
    assert ours.method.max_basis == 15
    agree(ours.eigenvalues, eigsh(K, 4, M, ncv=15)[0])


@TABLE.checks("`maxiter` (restarts)", "`ArpackNoConvergence.eigenvalues`")
def test_limits():
    with pytest.raises(ArpackNoConvergence) as theirs:
        eigsh(K, 4, M, maxiter=1, ncv=6)
    assert theirs.value.eigenvalues.size < 4
    with pytest.raises(sm.NotConverged) as ours:
        sm.solve(K, M, 4, max_steps=1)
    assert ours.value.solution.steps == 1
    assert ours.value.solution.eigenvalues.shape == (4,)


@TABLE.checks("`tol=0` (machine precision)", "`return_eigenvectors=False`")
def test_defaults():
    assert sm.solve(K, M, 4).residuals.max() <= 1e-8
    agree(sm.solve(K, M, 4).eigenvalues, eigsh(K, 4, M, tol=0, return_eigenvectors=False))


def test_every_row_has_a_test():
    assert TABLE.untested == []
