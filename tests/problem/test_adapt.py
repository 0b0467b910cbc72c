"""Inputs that need care: operators with a mind of their own, labelled tables, and diagonals."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import splitmerge as sm
from checking import check
from splitmerge.problem.adapt import BLOCK_COLUMNS, adapt

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
}


class TestCarelessOperators:
    @pytest.mark.parametrize("name", CARELESS)
    def test_products(self, name):
        op = adapt(CARELESS[name](D), "A")
        X = np.random.default_rng(0).standard_normal((N, BLOCK_COLUMNS + 5))
        before = X.copy()
        first, second = (op.times(np.ascontiguousarray(X[:, i])) for i in range(2))
        np.testing.assert_allclose(np.column_stack([first, second]), D[:, None] * before[:, :2])
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
        check(sm.solve(A, B, method=sm.LocallyOptimal(sm.UserPreconditioner(solve)), rng=0), A, B, 1)


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
