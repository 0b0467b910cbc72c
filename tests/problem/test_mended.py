"""A singular B mended in any units: the ridge, the norms that rounding is measured by, and what is said."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from checking import dense, figures_of
from pairs import pair_of
from splitmerge.problem.adapt import adapt
from splitmerge.problem.b_policy import BReport, mend, semidefinite_root

EPS = 2.0**-52
KINDS = {"dense": np.asarray, "sparse": sp.csr_array}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
each_dtype = pytest.mark.parametrize("dtype", [float, complex])
UNITS = [1e-9, 1.0, 1e5]


def gram(n, rank, dtype=float, seed=4):
    X = np.random.default_rng(seed).standard_normal((2, n, rank))
    X = X[0] + 1j * X[1] if np.dtype(dtype).kind == "c" else X[0]
    return X @ X.conj().T


@each_kind
@each_dtype
@pytest.mark.parametrize("unit", UNITS)
class TestRidge:
    def test_in_the_units_of_B(self, kind, dtype, unit):
        """ε = 10^j √n eps times the largest entry, j ≥ 2, with as small a j as makes B + εI definite."""
        B = gram(9, 5, dtype)
        mended = mend(np.eye(9), kind(B * unit), "ridge")
        j = np.log10(mended.report.ridge / (3 * EPS * np.abs(B).max() * unit))
        assert j == pytest.approx(round(j), abs=1e-6)
        assert 2 <= round(j) <= 5
        np.testing.assert_allclose(dense(mended.B) - B * unit, mended.report.ridge * np.eye(9), atol=EPS * 100 * unit)
        assert (mended.report.policy, mended.report.rank, mended.report.dropped) == ("ridge", 9, 0)

    def test_eigenvalues_hardly_move(self, kind, dtype, unit):
        """Those that are small beside the inverse of the ridge."""
        A, _ = pair_of(np.arange(1.0, 10.0), dtype=dtype)
        B = gram(9, 5, dtype) * unit
        exact = np.sort(1 / scipy.linalg.eigvalsh(B, A)[-3:])
        sol = sm.solve(kind(A), kind(B), 3, which="smallest", b_policy="ridge", rng=0)
        np.testing.assert_allclose(np.sort(sol.eigenvalues), exact, rtol=1e-8)

    def test_none_where_B_is_definite(self, kind, dtype, unit):
        B = kind(pair_of(np.arange(1.0, 10.0), dtype=dtype)[1] * unit)
        for policy in ("ridge", "restrict"):
            mended = mend(np.eye(9), B, policy)
            assert mended.B is B
            assert (mended.Q, mended.report) == (None, BReport(policy, 0.0, 9, 0))


@each_kind
@each_dtype
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1e-9, 1e9), (1e120, 1e-120)])
def test_rounding_of_a_restricted_pair_is_that_of_the_given_one(kind, dtype, a, b):
    """By the 1-norms of the given matrices, not by their entries or by those of QᴴAQ."""
    n = 40
    A = pair_of(np.linspace(1, 9, n), dtype=dtype)[0] * a
    B = gram(n, 30, dtype) * b
    mended = mend(kind(A), kind(B), "restrict")
    np.testing.assert_allclose(mended.norms, [np.linalg.norm(A, 1), np.linalg.norm(B, 1)], rtol=1e-12)
    U = np.random.default_rng(0).standard_normal((n, 2)).astype(dtype)
    np.testing.assert_allclose(mended.times(U), A @ U, rtol=1e-9, atol=1e-12 * a)
    np.testing.assert_allclose(dense(mended.dual), B @ dense(mended.Q), atol=1e-9 * b**0.5)


@each_dtype
@pytest.mark.parametrize("unit", [1e-40, 1.0, 1e40])
@pytest.mark.parametrize("negate", [False, True])
def test_a_restricted_operator(dtype, unit, negate):
    """Its products are those with QᴴAQ, in its units and with its sign."""
    A, B = pair_of(np.linspace(-3, 9, 12), dtype=dtype)[0], gram(12, 8, dtype)
    A = A if not negate else -A
    whole = mend(A * unit, B, "restrict")
    mended = mend(aslinearoperator(A * unit), B, "restrict")
    columns = np.column_stack([mended.A @ e for e in np.eye(8)])
    np.testing.assert_allclose(columns / unit, whole.A / unit, atol=1e-9)
    assert mended.A.dtype == np.dtype(dtype)
    U = np.random.default_rng(0).standard_normal((12, 3)).astype(dtype)
    np.testing.assert_allclose(mended.times(U) / unit, A @ U, atol=1e-9)


@each_kind
@each_dtype
class TestCondensed:
    def test_negative_eigenvalues_in_the_null_space(self, kind, dtype):
        """They are condensed as the positive ones are."""
        n, m = 10, 6
        A = pair_of(np.arange(1.0, n + 1), dtype=dtype)[0]
        A[m:, m:] = np.diag([-2.0, 3.0, -1e-3, 5.0])
        b = np.r_[np.linspace(1, 2, m), np.zeros(n - m)].astype(dtype)
        schur = A[:m, :m] - A[:m, m:] @ np.linalg.solve(A[m:, m:], A[m:, :m])
        exact = scipy.linalg.eigvalsh(schur, np.diag(b[:m]))
        mended = mend(kind(A), kind(np.diag(b)), "restrict")
        np.testing.assert_allclose(scipy.linalg.eigvalsh(dense(mended.A), dense(mended.B)), exact, rtol=1e-9)

    @pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
    def test_rounding_in_the_null_space_is_not_inverted(self, kind, dtype, unit):
        """A is zero there up to rounding of its own units."""
        X = pair_of(np.arange(1.0, 11.0), 3, dtype)[0]
        Q = np.linalg.qr(X)[0]
        A = (Q * np.r_[np.linspace(1, 5, 6), np.zeros(4)]) @ Q.conj().T * unit
        B = (Q * np.r_[np.ones(6), np.zeros(4)]) @ Q.conj().T
        mended = mend(kind((A + A.conj().T) / 2), kind((B + B.conj().T) / 2), "restrict")
        np.testing.assert_allclose(np.linalg.eigvalsh(dense(mended.A)) / unit, np.linspace(1, 5, 6), rtol=1e-9)
        assert np.abs(dense(mended.Q)).max() < 1e2

    @pytest.mark.parametrize(("k", "which"), [(1, "largest"), (3, "smallest")])
    def test_what_is_reported(self, kind, dtype, k, which):
        """Residuals and B-orthonormality of the user's pair, and how many eigenvalues were left out."""
        n, m = 60, 50
        A = pair_of(np.linspace(1, 9, n), dtype=dtype)[0]
        B = np.zeros((n, n), dtype)
        B[:m, :m] = pair_of(np.linspace(1, 9, m), 2, dtype)[1]
        sol = sm.solve(kind(A), kind(B), k, which=which, b_policy="restrict", rng=0)
        U, w = sol.eigenvectors, sol.eigenvalues
        assert U.shape == (n, k)
        np.testing.assert_allclose(A @ U, B @ U * w, atol=1e-8)
        np.testing.assert_allclose(U.conj().T @ B @ U, np.eye(k), atol=1e-10)
        report = figures_of(sol, "B_POLICY")["report"]
        assert (report.rank, report.dropped) == (m, n - m)
        assert str(report).startswith(f"B is not positive definite: {n - m} infinite eigenvalues were left out")
        assert f"{m} are finite" in str(report)
        assert (sol.error_bounds < 1e-6).all()


class TestSaid:
    def test_ridge(self):
        assert str(BReport("ridge", 2.5e-13, 4)).startswith("B is not positive definite: 2.5e-13 times the identity")

    @pytest.mark.parametrize("policy", ["ridge", "restrict"])
    def test_nothing_done(self, policy):
        assert str(BReport(policy, rank=4)) == f"B is positive definite, so b_policy='{policy}' changed nothing."


@each_kind
@each_dtype
@pytest.mark.parametrize(("unit", "rank"), [(1.0, 0), (1e-9, 1), (1.0, 5), (1e9, 9)])
def test_a_root_of_B(kind, dtype, unit, rank):
    """L with B = LLᴴ and as many columns as B has rank, whatever its components and units are."""
    B = np.zeros((14, 14), dtype)
    B[2:11, 2:11] = gram(9, rank, dtype) * unit
    B[12, 12] = 3 * unit
    shuffled = np.random.default_rng(rank).permutation(14)
    B = B[np.ix_(shuffled, shuffled)]
    L = dense(semidefinite_root(adapt(kind(B), "B")))
    assert L.shape == (14, rank + 1)
    np.testing.assert_allclose(L @ L.conj().T, B, atol=1e-12 * unit * 20)


@each_kind
@pytest.mark.parametrize(("entry", "refused"), [(1e-295, True), (9e-293, True), (1.1e-292, False)])
@pytest.mark.parametrize("policy", ["ridge", "restrict"])
def test_a_B_next_to_underflow_is_refused(kind, entry, refused, policy):
    """What is left of it, or what would be added, is not a normal number."""
    B = np.diag([entry, 0.0, entry])
    if not refused:
        mend(np.eye(3), kind(B), policy)
        return
    with pytest.raises(ValueError, match=r"^B has no entry above .*multiply B by a large number"):
        mend(np.eye(3), kind(B), policy)


@each_kind
@pytest.mark.parametrize("policy", ["ridge", "restrict"])
@pytest.mark.parametrize("low", [-1.0, -1e-3, -1e-6])
def test_an_indefinite_B_is_not_mended(kind, policy, low):
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))[0]
    B = (Q * np.r_[low, 0, np.linspace(1, 2, 6)]) @ Q.T
    for unit in (1e-9, 1.0, 1e9):
        with pytest.raises(sm.NotPositiveDefinite) as caught:
            mend(np.eye(8), kind((B + B.T) / 2 * unit), policy)
        assert "indefinite" in str(caught.value)


@pytest.mark.parametrize("policy", ["ridge", "restrict"])
def test_what_cannot_be_mended(policy):
    with pytest.raises(ValueError, match="needs the entries of B"):
        mend(np.eye(3), aslinearoperator(np.diag([1.0, 0, 1])), policy)
    with pytest.raises(sm.NotPositiveDefinite, match="B has no positive eigenvalue"):
        mend(np.eye(3), np.zeros((3, 3)), "restrict")
    with pytest.raises(ValueError, match="A is 4×4 but B is 3×3"):
        mend(np.eye(4), np.diag([1.0, 0, 1]), "restrict")
    assert mend(np.eye(3), None, policy).report is None
    given = np.diag([1.0, 0, 1])
    assert mend(np.eye(3), given, "error").B is given
