"""A B that is not positive definite is refused, with the pivot where that shows."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from checking import METHODS, each_kind, each_route, operator_of, refuse
from data import harwell_boeing
from pairs import N, pair

NOT_DEFINITE = sm.NotPositiveDefinite
each_end = pytest.mark.parametrize("which", ["largest", "smallest"])


def with_block(n, rows, coupling, dtype=float, spread=1.0):
    """A definite chain of all but two rows, which are coupled to each other; scaled by powers of two up to `spread`."""
    unit = 1j if dtype is complex else 1.0
    chain = np.setdiff1d(np.arange(n), rows)
    upper = np.zeros((n, n), dtype)
    upper[chain[:-1], chain[1:]] = -0.3 * unit
    upper[rows[0], rows[1]] = coupling * unit
    d = 2.0 ** np.round(np.linspace(0, np.log2(spread), n)[np.random.default_rng(0).permutation(n)])
    return d[:, None] * (np.eye(n) + upper + upper.conj().T) * d


class TestDefiniteness:
    @each_kind
    @pytest.mark.parametrize("row", [0, 2, 5])
    def test_zero_row(self, kind, row):
        A, B = pair()
        B[row] = B[:, row] = 0
        message = refuse("^B is not positive definite", A, kind(B), error=NOT_DEFINITE)
        assert re.search(rf"pivot {row}\b", message)

    @each_kind
    def test_duplicated_column(self, kind):
        X = np.random.default_rng(3).standard_normal((20, N))
        X[:, 4] = X[:, 1]
        message = refuse("^B is not positive definite", pair()[0], kind(X.T @ X), error=NOT_DEFINITE)
        assert re.search(r"pivot [14]\b", message)

    @pytest.mark.parametrize("method", [None, sm.SplitMerge()], ids=["default", "SplitMerge"])
    @pytest.mark.parametrize("spread", [1.0, 2.0**12], ids=["even", "equilibrated"])
    @pytest.mark.parametrize("dtype", [float, complex])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
    def test_the_row_is_one_of_a_bad_block(self, kind, dtype, spread, method):
        """Whatever order the rows are eliminated in, and whatever they are scaled by: it is the user's row."""
        A = kind(np.diag(np.arange(1.0, 61)))
        for rows in ([5, 42], [0, 59], [17, 18]):
            for coupling, bad in ((1.0, "singular"), (1.5, "indefinite")):
                B = with_block(60, rows, coupling, dtype, spread)
                message = refuse(bad, A, kind(B), 2, error=NOT_DEFINITE, method=method)
                pivot, row = map(int, re.search(r"pivot (\d+) \(row (\d+) from 0\)", message).groups())
                assert pivot == row
                assert row in rows

    @each_kind
    def test_gram_matrix_of_too_few_samples(self, kind):
        X = np.random.default_rng(3).standard_normal((4, N))
        message = refuse("^B is not positive definite", pair()[0], kind(X.T @ X), error=NOT_DEFINITE)
        assert re.search(r"pivot \d", message)

    @each_kind
    @pytest.mark.parametrize("method", METHODS, ids=repr)
    def test_indefinite(self, kind, method):
        B = np.eye(N) * 2
        B[3, 3] = -1
        message = refuse("^B is not positive definite", pair()[0], kind(B), error=NOT_DEFINITE, method=method)
        assert re.search(r"pivot 3\b", message)
        assert "indefinite" in message

    @each_kind
    def test_indefinite_with_a_positive_diagonal(self, kind):
        B = np.full((N, N), 2.0) - np.eye(N)
        message = refuse("^B is not positive definite", pair()[0], kind(B), error=NOT_DEFINITE)
        assert re.search(r"pivot \d", message)

    @each_kind
    def test_zero_diagonal(self, kind):
        B = np.fliplr(np.eye(N))
        message = refuse("^B is not positive definite", pair()[0], kind(B), error=NOT_DEFINITE)
        assert re.search(r"pivot \d", message)

    @each_kind
    def test_negative_definite(self, kind):
        A, B = pair()
        message = refuse("^B is not positive definite", A, kind(-B), error=NOT_DEFINITE)
        assert re.search(r"pivot \d", message)

    @each_kind
    def test_zero(self, kind):
        message = refuse("^B is not positive definite", pair()[0], kind(np.zeros((N, N))), error=NOT_DEFINITE)
        assert re.search(r"pivot \d", message)

    @pytest.mark.parametrize("value", [0.0, -1.0])
    def test_one_by_one(self, value):
        refuse("^B is not positive definite.*pivot 0", [[1.0]], [[value]], error=NOT_DEFINITE)

    @pytest.mark.parametrize("scale", [1e-150, 1e150])
    def test_indefinite_at_an_extreme_scale(self, scale):
        A, B = pair()
        refuse("^B is not positive definite.*pivot", A, -B * scale, error=NOT_DEFINITE)
        refuse("^B is not positive definite.*pivot", A, sp.csr_array(-B * scale), error=NOT_DEFINITE)

    def test_complex_indefinite(self):
        B = np.eye(N, dtype=complex)
        B[0, 1], B[1, 0] = 2j, -2j
        for kind in (np.asarray, sp.csr_array):
            message = refuse("^B is not positive definite", pair()[0], kind(B), error=NOT_DEFINITE)
            assert re.search(r"pivot [01]\b", message)

    @pytest.mark.parametrize("number", ["01", "03", "04"])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_matrix], ids=["dense", "csr", "coo"])
    def test_real_singular_masses(self, number, kind):
        K, M = harwell_boeing(number)
        K, M = (X.toarray() if kind is np.asarray else kind(X) for X in (K, M))
        message = refuse("^B is not positive definite", K, M, error=NOT_DEFINITE)
        assert re.search(r"pivot \d", message)
        assert "singular" in message

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "csr"])
    def test_real_indefinite_mass(self, kind):
        K, M = harwell_boeing("10")
        K, M = (X.toarray() if kind is np.asarray else kind(X) for X in (K, M))
        message = refuse("^B is not positive definite", K, M, error=NOT_DEFINITE)
        assert re.search(r"pivot \d", message)
        assert "indefinite" in message

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, operator_of], ids=["dense", "csr", "operator"])
    @pytest.mark.parametrize("method", [sm.Accelerated, sm.SplitMerge, sm.Power, sm.Lanczos, sm.GradientDescent])
    def test_conjugate_gradients_meet_negative_curvature(self, kind, method):
        Q = np.linalg.qr(np.random.default_rng(1).standard_normal((30, 30)))[0]
        B = (Q * np.r_[np.full(15, -1.0), np.full(15, 2.0)]) @ Q.T
        A, _ = pair(30)
        refuse(
            "B is not positive definite",
            A,
            kind((B + B.T) / 2),
            error=NOT_DEFINITE,
            method=method(inner=sm.ConjugateGradient()),
        )

    @each_route
    @each_end
    @pytest.mark.parametrize("callback", [None, lambda state: False], ids=["direct", "watched"])
    def test_negative_definite_operator(self, method, which, callback):
        A, B = pair()
        message = "B is not positive definite"
        refuse(message, A, operator_of(-B), error=NOT_DEFINITE, method=method, which=which, callback=callback)

    @each_route
    @each_end
    @pytest.mark.parametrize("callback", [None, lambda state: False], ids=["direct", "watched"])
    def test_zero_operator(self, method, which, callback):
        A, B = pair()[0], operator_of(np.zeros((N, N)))
        refuse("B is not positive definite", A, B, error=NOT_DEFINITE, method=method, which=which, callback=callback)

    @each_route
    @each_end
    @pytest.mark.parametrize("value", [0.0, -1.0], ids=["zero", "negative"])
    def test_larger_operator(self, method, which, value):
        A, _ = pair(150)
        B = operator_of(value * np.eye(150))
        refuse("B is not positive definite", A, B, 3, error=NOT_DEFINITE, method=method, which=which)

    @each_route
    @each_end
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "csr"])
    def test_larger_matrix(self, method, which, kind):
        A, B = pair(150)
        message = "B is not positive definite"
        refuse(message, kind(A), kind(-B), 3, error=NOT_DEFINITE, method=method, which=which)
        refuse(message, kind(A), kind(np.zeros((150, 150))), 3, error=NOT_DEFINITE, method=method, which=which)

    def test_real_indefinite_mass_with_conjugate_gradients(self):
        K, M = harwell_boeing("10")
        refuse("B is not", K, M, error=NOT_DEFINITE, method=sm.Power(inner=sm.ConjugateGradient()))


def kahan(n, c, dtype, others):
    """UᴴU for Kahan's triangle U, whose least pivot is far above its least eigenvalue, and `others` unit rows."""
    s = np.sqrt(1 - c * c)
    U = np.diag(s ** np.arange(n)) @ (np.eye(n) - c * np.triu(np.ones((n, n)), 1))
    phases = np.exp(1j * np.arange(n)) if np.dtype(dtype).kind == "c" else np.ones(n)
    B = phases[:, None] * (U.T @ U) * phases.conj()
    B = np.block([[B, np.zeros((n, others))], [np.zeros((others, n)), np.eye(others)]])
    return (B + B.conj().T) / 2


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize(("n", "c"), [(14, 0.9), (24, 0.8)])
@pytest.mark.parametrize("others", [0, 60])
class TestClearPivots:
    """All pivots of B are far above rounding, and yet its least eigenvalue is nothing but rounding."""

    @pytest.mark.parametrize("method", [None, sm.Power()], ids=["default", "Power"])
    def test_condition_beyond_rounding(self, dtype, kind, n, c, others, method):
        B = kahan(n, c, dtype, others)
        pivots = np.abs(np.linalg.cholesky(B).diagonal()) ** 2
        assert (pivots / B.diagonal().real).min() > 1e-12
        assert np.linalg.cond(B) > 1e16
        A = np.diag(np.arange(1.0, len(B) + 1)).astype(dtype)
        pattern = "^B is not positive definite: its condition number .*b_policy='restrict'"
        refuse(pattern, kind(A), kind(B), error=NOT_DEFINITE, method=method)

    def test_a_condition_within_rounding_is_none(self, dtype, kind, n, c, others):
        B = kahan(n, c, dtype, others) + 1e-9 * np.eye(n + others)
        A = np.diag(np.arange(1.0, len(B) + 1)).astype(dtype)
        sol = sm.solve(kind(A), kind(B), tol=1e-6, rng=0)
        exact = 1 / np.linalg.eigvalsh(B / np.sqrt(np.outer(A.diagonal().real, A.diagonal().real)))[0]
        np.testing.assert_allclose(sol.eigenvalues, exact, rtol=1e-5)
