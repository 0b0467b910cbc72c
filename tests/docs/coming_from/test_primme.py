"""Every row of the table for PRIMME, both sides run; `pip install primme` compiles it, which takes minutes."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

import splitmerge as sm
from tables import Table

TABLE = Table("PRIMME")
K, M = sm.gallery.element_laplacian((24, 19))
jacobi = scipy.sparse.diags_array(1 / K.diagonal())
REFERENCE = scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)
# between eigenvalues, and not in the middle of two
s = float(0.6 * REFERENCE[20] + 0.4 * REFERENCE[21])


@pytest.fixture
def primme():
    return pytest.importorskip("primme", reason="PRIMME is not installed")


def theirs(primme, **options):
    options = {"k": 4, "M": M, "tol": 1e-9, "return_eigenvectors": False} | options
    return np.sort(primme.eigsh(K, **options))


def agree(found, wanted):
    np.testing.assert_allclose(np.sort(found), np.sort(wanted), rtol=1e-7)


def test_block(primme):
    names = {"K": K, "M": M, "sm": sm, "jacobi": jacobi}
    exec(TABLE.block(), names)
    agree(names["w"], REFERENCE[:4])
    agree(names["sol"].eigenvalues, REFERENCE[:4])
    assert names["stats"]["numMatvecs"] > 4


@pytest.mark.parametrize(
    ("argument", "ours"), TABLE.pairs('`which="LA"`', '`which="SA"`', '`which="LM"` (their default)')
)
def test_which(primme, argument, ours):
    agree(eval(f"sm.solve(K, M, 4, {ours})").eigenvalues, eval(f"theirs(primme, {argument})", globals(), locals()))


@TABLE.checks('`which=s`, the same as `sigma=s, which="SM"`', '`sigma=s, which="CGT"` or `"CLT"`, on one side of s')
def test_interior(primme):
    nearest = sm.solve(K, M, 4, sigma=s).eigenvalues
    agree(nearest, theirs(primme, which=s))
    agree(nearest, theirs(primme, sigma=s, which="SM"))
    above, below = (theirs(primme, sigma=s, which=side) for side in ("CGT", "CLT"))
    agree(sm.solve(K, M, interval=(s, above[-1] + 1e-6)).eigenvalues, above)
    agree(sm.solve(K, M, interval=(below[0] - 1e-6, s)).eigenvalues, below)


@TABLE.checks("`OPinv` (preconditioner)", "`v0`", "`maxBlockSize`, `ncv`, `minRestartSize`")
def test_options(primme):
    X = np.random.default_rng(0).standard_normal((K.shape[0], 4))
    agree(theirs(primme, which="SA", OPinv=jacobi, v0=X, maxBlockSize=2, ncv=30, minRestartSize=10), REFERENCE[:4])
    for options in (
        {"preconditioner": jacobi, "x0": X},
        {"method": sm.LocallyOptimal(block=6)},
        {"method": sm.Accelerated(max_basis=30)},
    ):
        agree(sm.solve(K, M, 4, which="smallest", **options).eigenvalues, REFERENCE[:4])


@TABLE.checks("`lock=V` (orthogonal constraints)")
def test_constraints(primme):
    # they are orthogonal in the sense of I, so that the standard problem is the one to compare
    lowest = sm.solve(K, k=2, which="smallest").eigenvectors
    values = theirs(primme, M=None, which="SA", lock=lowest)
    agree(sm.solve(K, k=6, which="smallest").eigenvalues[2:], values)


@TABLE.checks(r"`tol`, relative to an estimate of the largest \|λ\|")
def test_tolerance(primme):
    w, V, stats = primme.eigsh(K, k=4, M=M, which="SA", tol=1e-3, return_stats=True)
    assert stats["estimateMaxEVal"] > 10 * w.max()
    relative = np.linalg.norm(K @ V - (M @ V) * w, axis=0) / (w * np.linalg.norm(M @ V, axis=0))
    assert relative.max() > 2e-3
    assert sm.solve(K, M, 4, which="smallest", tol=1e-3).residuals.max() <= 1e-3


@TABLE.checks("`maxiter`, `maxMatvecs`", "`PrimmeError` if it does not converge")
def test_limits(primme):
    for limit in ({"maxiter": 3}, {"maxMatvecs": 10}):
        with pytest.raises(primme.PrimmeError):
            theirs(primme, which="SA", **limit)
    for limit in ({"max_steps": 3}, {"stop": sm.MaxSeconds(1e-9)}):
        with pytest.raises(sm.NotConverged) as error:
            sm.solve(K, M, 4, which="smallest", method=sm.LocallyOptimal(), **limit)
        assert error.value.solution.eigenvalues.shape == (4,)


@TABLE.checks("`return_stats=True`", "`return_stats=True, return_history=True`")
def test_statistics(primme):
    *_, stats = primme.eigsh(K, k=4, M=M, which="SA", return_stats=True, return_history=True)
    assert stats["numMatvecs"] > 0
    assert stats["elapsedTime"] > 0
    assert len(stats["hist"]["resNorm"]) > 1
    sol = sm.solve(K, M, 4, which="smallest", method=sm.LocallyOptimal())
    assert sol.counts.A_products > 0
    assert sol.seconds.total > 0
    assert len(sol.history) > 1


def test_every_row_has_a_test():
    assert TABLE.untested == []
