"""Inputs that need care: operators with a mind of their own, labelled tables, and diagonals."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import splitmerge as sm
from checking import check, operator_of
from pairs import pair, well_separated
from splitmerge.problem.adapt import BLOCK_COLUMNS, adapt, as_pair

N = 150
D = np.linspace(1.0, 5.0, N)
MASS = np.linspace(2.0, 1.0, N)


class Careless:
    """A diagonal operator with `shape` and `@` whose product is `act(operator, x)`."""

    shape = (N, N)

    def __init__(self, d, act):
        self.d, self.act = d, act
        self.buffer = np.empty(N)

    def __matmul__(self, x):
        return self.act(self, x)


class CarelessBlocks(LinearOperator):
    """Its block products come in one buffer, and leave zeros in the argument."""

    def __init__(self, d):
        super().__init__(float, (N, N))
        self.d, self.buffer = d, np.empty((N, BLOCK_COLUMNS))

    def _matvec(self, x):
        return self.d * x.ravel()

    def _matmat(self, X):
        out = np.multiply(X, self.d[:, None], out=self.buffer[:, : X.shape[1]])
        X[:] = 0
        return out


class CarelessVectors(LinearOperator):
    """Its products with vectors leave zeros in the argument, those with blocks do not."""

    def __init__(self, d):
        super().__init__(float, (N, N))
        self.d = d

    def _matvec(self, x):
        return _clears(self, x.ravel())

    def _matmat(self, X):
        return self.d[:, None] * X


def _overwrites(operator, x):
    x *= operator.d
    return x


def _clears(operator, x):
    y = operator.d * x
    x[:] = 0
    return y


def _reuses(operator, x):
    return np.multiply(operator.d, x, out=operator.buffer)


def _reuses_a_view(operator, x):
    return np.multiply(operator.d, x, out=operator.buffer)[:]


CARELESS = {
    "overwrites its argument": lambda d: Careless(d, _overwrites),
    "clears its argument": lambda d: Careless(d, _clears),
    "reuses a buffer": lambda d: Careless(d, _reuses),
    "reuses a view of a buffer": lambda d: Careless(d, _reuses_a_view),
    "LinearOperator that overwrites": lambda d: LinearOperator(
        (N, N), matvec=lambda x: np.multiply(x, d, out=x), dtype=float
    ),
    "careless blocks": CarelessBlocks,
    "careless vectors": CarelessVectors,
}


class TestCarelessOperators:
    @pytest.mark.parametrize("name", CARELESS)
    def test_products(self, name):
        op = adapt(CARELESS[name](D), "A")
        X = np.random.default_rng(0).standard_normal((N, BLOCK_COLUMNS + 5))
        before = X.copy()
        columns = [X[:, i].copy() for i in range(2)]
        first, second = map(op.times, columns)
        np.testing.assert_allclose(np.column_stack([first, second]), D[:, None] * before[:, :2])
        assert np.array_equal(np.column_stack(columns), before[:, :2])
        np.testing.assert_allclose(op.times_block(X), D[:, None] * before)
        assert np.array_equal(X, before)

    @pytest.mark.parametrize("name", CARELESS)
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    @pytest.mark.parametrize("method", [None, sm.SplitMerge(), sm.LocallyOptimal()], ids=lambda m: type(m).__name__)
    def test_solve(self, name, which, method):
        A, B = (CARELESS[name](d) for d in (D, MASS))
        check(sm.solve(A, B, which=which, method=method, rng=0), np.diag(D), np.diag(MASS), 1, which)

    def test_well_behaved_operators_are_given_the_vector_itself(self):
        seen = []
        op = adapt(Careless(D, lambda operator, x: seen.append(x) or D * x), "A")
        x = np.ones(N)
        op.times(x)
        assert seen[-1] is x

    @pytest.mark.parametrize("overwrite", [False, True])
    def test_functions_of_the_user_may_overwrite_their_argument(self, overwrite):
        def solve(b):
            return np.divide(b, MASS, out=b if overwrite else None)

        A, B = np.diag(D), np.diag(MASS)
        check(sm.solve(A, B, method=sm.SplitMerge(inner=sm.UserSolve(solve)), rng=0), A, B, 1)
        hint = sm.UserPreconditioner(solve)
        check(sm.solve(A, B, method=sm.LocallyOptimal(hint), rng=0), A, B, 1)
        inner = sm.ConjugateGradient(None, hint, tol=1e-13)
        for method in (sm.Power(inner), sm.Accelerated(inner=inner), sm.MirrorDescent(hint)):
            check(sm.solve(A, B, method=method, tol=1e-6, rng=0), A, B, 1, tol=1e-6)


class TestWrongOperators:
    def test_complex_after_it_was_real(self):
        calls = []
        op = adapt(Careless(D, lambda operator, x: calls.append(x) or D * x * (1j if len(calls) > 3 else 1)), "A")
        op.times(np.ones(N))
        with pytest.raises(ValueError, match=r"^A @ x is complex for a real x"):
            op.times(np.ones(N))

    def test_complex_dtype_without_imaginary_part(self):
        calls = []
        op = adapt(Careless(D, lambda operator, x: calls.append(x) or D * x + (0j if len(calls) > 2 else 0)), "A")
        np.testing.assert_allclose(op.times(np.ones(N)), D)

    def test_integers(self):
        op = adapt(Careless(D, lambda operator, x: np.round(x).astype(int) * 0), "A")
        assert op.times(np.ones(N)).dtype == float

    def test_errors_of_the_operator_come_through(self):
        class Mine(Exception):
            pass

        def fail(operator, x):
            raise Mine

        with pytest.raises(Mine):
            sm.solve(Careless(D, fail))


class TestDiagonalB:
    """A one-dimensional B is a lumped mass."""

    A = well_separated(12)[0]
    b = np.linspace(1.0, 3.0, 12)

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, operator_of, np.ndarray.tolist])
    @pytest.mark.parametrize("form", [np.asarray, list, tuple, lambda b: b[::-1][::-1]])
    def test_is_the_diagonal(self, kind, form):
        check(sm.solve(kind(self.A), form(self.b), 2, rng=0), self.A, np.diag(self.b), 2)

    def test_stays_sparse_beside_a_sparse_or_matrix_free_A(self):
        for kind, sparse in ((np.asarray, False), (sp.csr_array, True), (operator_of, True)):
            assert sp.issparse(as_pair(kind(self.A), self.b)[1]) == sparse

    def test_everywhere(self):
        expected = sm.solve(self.A, np.diag(self.b), 2, rng=0).eigenvalues
        w = sm.eigsh(self.A, 2, self.b, which="LA", return_eigenvectors=False)
        np.testing.assert_allclose(w[::-1], expected)
        w = sm.eigsh(self.A, 1, self.b, sigma=expected[0] + 0.01, return_eigenvectors=False)
        np.testing.assert_allclose(w, expected[:1])
        *_, last = sm.iterates(self.A, self.b, rng=0)
        assert last.eigenvalue == pytest.approx(expected[0])
        np.testing.assert_allclose(sm.Pencil(self.A, self.b).apply_B(np.ones(12)), self.b)

    @pytest.mark.parametrize("policy", ["ridge", "restrict"])
    def test_massless_rows(self, policy):
        b = np.r_[0.0, self.b[1:]]
        with pytest.raises(sm.NotPositiveDefinite):
            sm.solve(self.A, b)
        assert sm.solve(self.A, b, b_policy=policy, rng=0).converged

    @pytest.mark.parametrize("entry", [-1.0, 0.0])
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_not_positive(self, kind, entry):
        with pytest.raises(sm.NotPositiveDefinite):
            sm.solve(kind(self.A), np.r_[self.b[1:], entry])

    @pytest.mark.parametrize(
        ("b", "message"),
        [
            (np.ones(11), r"^B has shape \(11,\), but A has 12 rows"),
            ([], r"^B has shape \(0,\)"),
            (["a"] * 12, r"^B has dtype"),
            (np.r_[np.ones(11), np.nan], r"^B contains NaN"),
            (1j * np.ones(12), r"^B is not Hermitian"),
            (np.ma.masked_array(np.ones(12), mask=np.eye(12)[0]), r"^B has masked entries"),
        ],
    )
    def test_refused(self, b, message):
        with pytest.raises(ValueError, match=message):
            sm.solve(self.A, b)

    def test_eigsh_says_M(self):
        with pytest.raises(ValueError, match=r"^M has shape \(11,\)"):
            sm.eigsh(self.A, 2, np.ones(11))


class TestLabels:
    """Rows and columns of pandas tables belong together by their labels."""

    A, B = pair(5)
    labels = tuple("abcde")
    mixed = tuple("dbeac")

    @pytest.fixture
    def pandas(self):
        return pytest.importorskip("pandas")

    def table(self, pandas, M, rows=labels, columns=labels):
        return pandas.DataFrame(M, index=self.labels, columns=self.labels).loc[list(rows), list(columns)]

    def agrees(self, A, B, order=labels):
        sol = sm.solve(A, B, 2, rng=0)
        places = [self.labels.index(label) for label in order]
        np.testing.assert_allclose(sol.eigenvalues, sm.solve(self.A, self.B, 2, rng=0).eigenvalues)
        M = self.B[np.ix_(places, places)]
        np.testing.assert_allclose(sol.eigenvectors.T @ M @ sol.eigenvectors, np.eye(2), atol=1e-10)

    def test_order_of_B(self, pandas):
        for rows in (self.labels, self.mixed):
            for columns in (self.labels, self.mixed):
                B = self.table(pandas, self.B, rows, columns)
                self.agrees(self.table(pandas, self.A), B)
                self.agrees(self.table(pandas, self.A, self.mixed, columns), B, self.mixed)

    def test_beside_other_kinds(self, pandas):
        self.agrees(self.table(pandas, self.A), self.B)
        self.agrees(self.A, self.table(pandas, self.B, columns=self.mixed))

    def test_series_as_diagonal(self, pandas):
        b = pandas.Series(np.arange(1.0, 6), index=self.labels)
        expected = sm.solve(self.A, np.diag(b), rng=0).eigenvalues
        for given in (b, b.loc[list(self.mixed)]):
            A = self.table(pandas, self.A)
            np.testing.assert_allclose(sm.solve(A, given, rng=0).eigenvalues, expected)
            np.testing.assert_allclose(sm.eigsh(A, 1, given, which="LA", return_eigenvectors=False), expected)
        np.testing.assert_allclose(sm.solve(self.A, b, rng=0).eigenvalues, expected)

    def test_same_repeated_labels_in_the_same_order(self, pandas):
        A, B = (pandas.DataFrame(M, index=list("aabcd"), columns=list("aabcd")) for M in (self.A, self.B))
        self.agrees(A, B)

    @pytest.mark.parametrize(
        ("rows", "columns", "message"),
        [
            ("abcde", "abcdx", r"^B\.columns has not the labels of A\.index"),
            ("abcdx", "abcdx", r"^B\.index has not the labels of A\.index"),
            ("aabcd", "aabcd", r"^B\.index has not the labels of A\.index"),
            (range(5), range(5), r"^B\.index has not the labels of A\.index"),
        ],
    )
    def test_other_labels_are_refused(self, pandas, rows, columns, message):
        A = self.table(pandas, self.A)
        with pytest.raises(ValueError, match=message):
            sm.solve(A, pandas.DataFrame(self.B, index=list(rows), columns=list(columns)))

    def test_other_labels_of_A_itself_are_refused(self, pandas):
        for rows, columns in (("abcde", "abcdx"), ("aabcd", "abacd")):
            with pytest.raises(ValueError, match=r"^A\.columns has not the labels of A\.index"):
                sm.solve(pandas.DataFrame(self.A, index=list(rows), columns=list(columns)))

    def test_series_with_other_labels_is_refused(self, pandas):
        with pytest.raises(ValueError, match=r"^B\.index has not the labels of A\.index"):
            sm.solve(self.table(pandas, self.A), pandas.Series(np.ones(5)))


def only_vectors(x):
    """A product of an operator that implements no others."""
    assert x.shape == (N,)
    return D * x


VECTORS = LinearOperator((N, N), matvec=only_vectors, rmatvec=only_vectors, dtype=float)
MATRIX = aslinearoperator(np.diag(MASS))
COMPOSED = {
    "sum": (VECTORS + MATRIX, D + MASS),
    "sum the other way round": (MATRIX + VECTORS, D + MASS),
    "difference": (MATRIX - 0.5 * VECTORS, MASS - 0.5 * D),
    "product": (MATRIX @ VECTORS @ MATRIX, MASS * D * MASS),
    "power": (VECTORS**2, D * D),
    "nested": (2.0 * (MATRIX + (MATRIX + VECTORS)), 2 * (2 * MASS + D)),
}


@pytest.mark.parametrize("method", [None, sm.LocallyOptimal()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("name", COMPOSED)
def test_operators_composed_of_one_that_takes_vectors_only(name, method):
    """SciPy's default for blocks calls it with columns of shape (n, 1)."""
    A, d = COMPOSED[name]
    check(sm.solve(A, k=2, method=method, rng=0), np.diag(d), None, 2)
