"""Bad input is refused before any iteration, by a ValueError that names the argument; nothing is modified."""

import re

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import splitmerge as sm
from data import harwell_boeing

N = 6


def pair(n=N, seed=0):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, n, n))
    return (A + A.T) / 2, B @ B.T + n * np.eye(n)


def snapshot(M):
    """All bytes of an input, for comparison afterwards."""
    if sp.issparse(M):
        if M.format in ("csr", "csc", "bsr"):
            return [M.data.tobytes(), M.indices.tobytes(), M.indptr.tobytes(), M.shape, M.dtype]
        if M.format == "coo":
            return [M.data.tobytes(), M.row.tobytes(), M.col.tobytes(), M.shape, M.dtype]
        return [M.toarray().tobytes(), M.shape, M.dtype]
    if isinstance(M, np.ndarray) and M.dtype != object:
        return [M.tobytes(), M.shape, M.dtype, M.strides]
    return []


def refuse(pattern, A, B=None, k=1, *, error=ValueError, **options):
    """`solve` raises `error` matching `pattern`, takes no step and leaves A, B and x0 as they were."""

    def no_step(state):
        pytest.fail(f"step {state.step} was taken before the input was refused")

    inputs = [A, B, options.get("x0")]
    before = [snapshot(M) for M in inputs]
    options.setdefault("callback", no_step)
    with pytest.raises(error, match=pattern) as caught:
        sm.solve(A, B, k, rng=0, **options)
    assert isinstance(caught.value, ValueError)
    assert [snapshot(M) for M in inputs] == before
    return str(caught.value)


def operator_of(M):
    M = np.asarray(M)
    return LinearOperator(M.shape, matvec=lambda x: M @ x, dtype=M.dtype)


KINDS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "csr": sp.csr_array,
    "csc_matrix": sp.csc_matrix,
    "coo": sp.coo_array,
    "dia": sp.dia_array,
    "lil": sp.lil_array,
    "dok": sp.dok_array,
}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
each_name = pytest.mark.parametrize("name", ["A", "B"])


def place(name, bad):
    """The bad matrix as A or as B, beside a good one."""
    A, B = pair(N)
    return (bad, B) if name == "A" else (A, bad)


class TestShape:
    @each_name
    @each_kind
    def test_not_square(self, name, kind):
        message = refuse(rf"^{name}\b.*shape \(6, 5\).*square", *place(name, kind(np.ones((6, 5)))))
        assert "square" in message

    @each_name
    def test_operator_not_square(self, name):
        refuse(rf"^{name}\b.*shape \(6, 5\)", *place(name, aslinearoperator(np.ones((6, 5)))))

    @each_kind
    def test_sizes_differ(self, kind):
        A, _ = pair(6)
        _, B = pair(5)
        refuse(r"A.*6.*B.*5", kind(A), kind(B))
        refuse(r"A.*5.*B.*6", kind(B), kind(A + 9 * np.eye(6)))

    def test_operator_sizes_differ(self):
        refuse(r"A.*6.*B.*5", operator_of(pair(6)[0]), operator_of(pair(5)[1]))

    @each_name
    @pytest.mark.parametrize(
        "bad",
        [np.zeros((0, 0)), sp.csr_array((0, 0)), [], [[]]],
        ids=["dense", "sparse", "list", "nested"],
    )
    def test_empty(self, name, bad):
        refuse(rf"^{name}\b", *place(name, bad))

    def test_both_empty(self):
        refuse(r"^A\b.*empty", np.zeros((0, 0)), np.zeros((0, 0)))

    @each_name
    @pytest.mark.parametrize("shape", [(), (6,), (36,), (6, 6, 1), (2, 6, 6)])
    def test_not_a_matrix(self, name, shape):
        refuse(rf"^{name}\b.*shape", *place(name, np.ones(shape)))

    @each_name
    def test_one_dimensional_sparse(self, name):
        refuse(rf"^{name}\b.*shape \(6,\)", *place(name, sp.coo_array(np.ones(6))))

    @each_name
    @pytest.mark.parametrize("shape", [6, None, ("six", "six")])
    def test_object_with_an_odd_shape(self, name, shape):
        class Odd:
            def __matmul__(self, x):
                return x

        odd = Odd()
        odd.shape = shape
        refuse(rf"^{name}\b", *place(name, odd))


class TestKind:
    @each_name
    @pytest.mark.parametrize(
        "bad",
        ["matrix", b"bytes", {"a": 1}, {1, 2}, object(), 3, 2.5, lambda x: x, int],
        ids=["str", "bytes", "dict", "set", "object", "int", "float", "function", "type"],
    )
    def test_not_a_matrix(self, name, bad):
        refuse(rf"^{name}\b", *place(name, bad))

    def test_none_as_A(self):
        refuse(r"^A\b.*None", None, pair()[1])
        refuse(r"^A\b.*None", None)

    @each_name
    @pytest.mark.parametrize(
        "bad",
        [
            np.eye(6, dtype=object),
            np.array([["1", "0"], ["0", "1"]]),
            [["a", "b"], ["b", "c"]],
            np.zeros((6, 6), "datetime64[s]"),
            np.zeros((6, 6), "timedelta64[s]"),
            np.zeros((6, 6), [("re", float), ("im", float)]),
            [[None, 1.0], [1.0, None]],
        ],
        ids=["object", "strings", "list of strings", "datetime", "timedelta", "record", "None entries"],
    )
    def test_not_numbers(self, name, bad):
        refuse(rf"^{name}\b.*dtype", *place(name, bad))

    @each_name
    @pytest.mark.parametrize("bad", [[[1.0, 2.0], [3.0]], [[1.0], 2.0], [[1.0, [2.0]], [3.0, 4.0]]])
    def test_ragged(self, name, bad):
        refuse(rf"^{name}\b.*rectangular", *place(name, bad))

    @each_name
    def test_masked(self, name):
        A, B = pair()
        bad = np.ma.masked_array(A if name == "A" else B, mask=np.eye(N, dtype=bool))
        refuse(rf"^{name}\b.*mask", *place(name, bad))

    @each_name
    def test_object_whose_product_has_the_wrong_shape(self, name):
        for product in (np.ones(N + 1), np.ones((N, 1)), np.float64(1), np.ones((N, N))):

            class Wrong:
                shape = (N, N)

                def __matmul__(self, x, product=product):
                    return product

            refuse(rf"^{name}\b.*shape", *place(name, Wrong()))

    @each_name
    @pytest.mark.parametrize("product", [None, "no"])
    def test_object_whose_product_is_no_vector(self, name, product):
        class Wrong:
            shape = (N, N)

            def __matmul__(self, x):
                return product

        refuse(rf"^{name}\b", *place(name, Wrong()))


class TestValues:
    @each_name
    @each_kind
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_not_finite(self, name, kind, value):
        M = pair()[0 if name == "A" else 1].copy()
        M[1, 2] = M[2, 1] = value
        refuse(rf"^{name}\b.*(NaN|infinity)", *place(name, kind(M)))

    @each_name
    @pytest.mark.parametrize("where", [(0, 0), (5, 5), (299, 299), (299, 0)])
    def test_a_single_nan(self, name, where):
        A, B = pair(300)
        (A if name == "A" else B)[where] = np.nan
        refuse(rf"^{name}\b.*NaN", A, B)
        refuse(rf"^{name}\b.*NaN", sp.csr_array(A), sp.csr_array(B))

    @each_name
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64, np.complex128])
    def test_not_finite_of_other_dtypes(self, name, dtype):
        M = np.eye(N, dtype=dtype)
        M[0, 0] = np.nan
        refuse(rf"^{name}\b.*NaN", *place(name, M))

    @each_name
    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_operator_not_finite(self, name, value):
        bad = LinearOperator((N, N), matvec=lambda x: np.full(N, value), dtype=float)
        refuse(rf"^{name}\b.*(NaN|infinity)", *place(name, bad))

    @each_name
    def test_imaginary_nan(self, name):
        M = np.eye(N, dtype=complex)
        M[0, 1], M[1, 0] = complex(1, np.nan), complex(1, np.nan)
        refuse(rf"^{name}\b.*NaN", *place(name, M))

    @each_name
    def test_longdouble_beyond_double(self, name):
        M = np.eye(N, dtype=np.longdouble)
        M[0, 0] = np.finfo(np.longdouble).max
        if np.isinf(np.float64(np.finfo(np.longdouble).max / 2)):
            refuse(rf"^{name}\b.*infinity", *place(name, M))


class TestSymmetry:
    @each_name
    @each_kind
    def test_asymmetric(self, name, kind):
        M = pair()[0 if name == "A" else 1].copy()
        M[0, 3] += 0.125
        message = refuse(rf"^{name}\b is not symmetric", *place(name, kind(M)))
        assert "0.125" in message

    @each_name
    def test_asymmetry_far_from_the_diagonal(self, name):
        A, B = pair(600)
        (A if name == "A" else B)[10, 590] += 0.25
        assert "0.25" in refuse(rf"^{name}\b is not symmetric", A, B)
        assert "0.25" in refuse(rf"^{name}\b is not symmetric", sp.csr_array(A), sp.csr_array(B))

    @each_name
    def test_small_asymmetry(self, name):
        A, B = pair()
        M = A if name == "A" else B
        M[0, 1] += 1e-6
        assert "1e-06" in refuse(rf"^{name}\b is not symmetric", A, B)

    @each_name
    def test_triangle_only(self, name):
        M = np.triu(pair()[1])
        refuse(rf"^{name}\b is not symmetric", *place(name, M))
        refuse(rf"^{name}\b is not symmetric", *place(name, sp.csr_array(M)))

    @each_name
    @each_kind
    def test_complex_symmetric_is_not_hermitian(self, name, kind):
        M = np.eye(N, dtype=complex) * 10
        M[0, 1] = M[1, 0] = 0.25j
        assert "0.5" in refuse(rf"^{name}\b is not Hermitian", *place(name, kind(M)))

    @each_name
    @each_kind
    def test_imaginary_diagonal(self, name, kind):
        M = np.eye(N, dtype=complex)
        M[2, 2] = 1 + 0.25j
        assert "0.5" in refuse(rf"^{name}\b is not Hermitian", *place(name, kind(M)))

    @each_name
    def test_operator(self, name):
        M = pair()[1].copy()
        M[0, 3] += 1.0
        message = refuse(rf"^{name}\b is not symmetric", *place(name, operator_of(M)))
        assert re.search(r"= \d", message)

    @each_name
    def test_complex_operator(self, name):
        M = np.eye(N) * (1 + 0.5j)
        refuse(rf"^{name}\b is not Hermitian", *place(name, operator_of(M)))

    @each_name
    @pytest.mark.parametrize("scale", [1e-200, 1e200])
    def test_extreme_scale(self, name, scale):
        M = np.eye(N)
        M[0, 1] = 0.5
        refuse(rf"^{name}\b is not symmetric", *place(name, M * scale))
        refuse(rf"^{name}\b is not symmetric", *place(name, operator_of(M * scale)))

    @each_name
    def test_integers(self, name):
        M = np.eye(N, dtype=np.uint8) * 9
        M[0, 1] = 3
        assert "3" in refuse(rf"^{name}\b is not symmetric", *place(name, M))


NOT_DEFINITE = sm.NotPositiveDefinite
METHODS = [
    sm.SplitMerge(),
    sm.Power(),
    sm.MirrorDescent(),
    sm.GradientDescent(),
    sm.Lanczos(),
    sm.Lanczos(reorthogonalise=False),
]


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
    @pytest.mark.parametrize("method", [sm.SplitMerge, sm.Power, sm.Lanczos, sm.GradientDescent])
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

    def test_negative_definite_operator(self):
        A, B = pair()
        refuse("B is not positive definite", A, operator_of(-B), error=NOT_DEFINITE)

    def test_zero_operator(self):
        refuse("B is not positive definite", pair()[0], operator_of(np.zeros((N, N))), error=NOT_DEFINITE)

    def test_real_indefinite_mass_with_conjugate_gradients(self):
        K, M = harwell_boeing("10")
        refuse("B is not", K, M, error=NOT_DEFINITE, method=sm.Power(inner=sm.ConjugateGradient()))


class TestOptions:
    @pytest.mark.parametrize("k", [0, -1, N + 1, 10**30])
    def test_k_out_of_range(self, k):
        refuse(rf"^k is {k}.*{N}", *pair(), k)

    @pytest.mark.parametrize("k", [1.5, 2.0, True, np.True_, "2", None, [1], np.array([1, 2]), 1j, np.nan])
    def test_k_not_a_whole_number(self, k):
        refuse(r"^k is ", *pair(), k)

    @pytest.mark.parametrize(
        "tol", [0, 0.0, -1, np.nan, np.inf, -np.inf, "x", None, True, 1j, [1e-8], np.array([1e-8]), np.complex128(1)]
    )
    def test_tol(self, tol):
        refuse(r"^tol is ", *pair(), tol=tol)

    @pytest.mark.parametrize("which", ["middle", "LM", "", None, 1, ["largest"], np.array(["largest", "smallest"])])
    def test_which(self, which):
        refuse(r"^which is ", *pair(), which=which)

    @pytest.mark.parametrize("method", ["power", "", sm.Power, sm.SplitMerge, 1, object(), sm.Cholesky()])
    def test_method(self, method):
        refuse(r"^method is ", *pair(), method=method)

    @pytest.mark.parametrize("stop", ["x", 1e-8, sm.Residual, object(), [sm.Residual()], False])
    def test_stop(self, stop):
        refuse(r"^stop is ", *pair(), stop=stop)

    @pytest.mark.parametrize("max_steps", [0, -1, 1.5, "10", np.nan, np.inf, True, [3]])
    def test_max_steps(self, max_steps):
        refuse(r"^(max_)?steps is ", *pair(), max_steps=max_steps)

    @pytest.mark.parametrize("rng", ["seed", -1, 1.5, object()])
    def test_rng(self, rng):
        with pytest.raises((ValueError, TypeError)):
            sm.solve(*pair(), rng=rng)

    @pytest.mark.parametrize("callback", [1, "x", object()])
    def test_callback(self, callback):
        refuse(r"^callback is ", *pair(), callback=callback)

    @pytest.mark.parametrize("inner", ["cholesky", sm.Cholesky, 1, np.linalg.solve])
    def test_inner(self, inner):
        with pytest.raises(ValueError, match=r"inner"):
            sm.solve(*pair(), method=sm.Power(inner=inner))


class TestStart:
    @pytest.mark.parametrize(
        "x0",
        [
            np.ones(N - 1),
            np.ones(N + 1),
            np.ones((1, N)),
            np.ones((N, 3)),
            np.ones((N, 0)),
            np.ones((N, 1, 1)),
            np.float64(1.0),
            [],
        ],
        ids=["short", "long", "row", "too many columns", "no columns", "3-D", "scalar", "empty list"],
    )
    def test_shape(self, x0):
        refuse(r"^x0 has shape", *pair(), 2, x0=x0)

    def test_zero(self):
        refuse(r"^x0\b.*zero", *pair(), x0=np.zeros(N))
        refuse(r"^x0\b.*zero", *pair(), 2, x0=np.column_stack([np.ones(N), np.zeros(N)]))

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_not_finite(self, value):
        x0 = np.ones(N)
        x0[3] = value
        refuse(r"^x0\b.*(NaN|infinity)", *pair(), x0=x0)

    def test_complex_for_a_real_pair(self):
        refuse(r"^x0\b.*complex", *pair(), x0=np.ones(N) + 1j)

    @pytest.mark.parametrize("x0", ["start", ["a"] * N, np.full(N, None), {"x": 1}, [[1.0]] * 3 + [[1.0, 2.0]] * 3])
    def test_not_numbers(self, x0):
        refuse(r"^x0\b", *pair(), x0=x0)

    def test_masked(self):
        refuse(r"^x0\b.*mask", *pair(), x0=np.ma.masked_array(np.ones(N), mask=np.arange(N) == 2))

    def test_linearly_dependent_columns(self):
        """Two equal starts are poor advice, not an error: the second is projected to nothing."""
        x = np.arange(1.0, N + 1)
        A, B = pair()
        sol = sm.solve(A, B, 2, x0=np.column_stack([x, x]), rng=0)
        np.testing.assert_allclose(sol.eigenvalues, scipy.linalg.eigh(A, B, eigvals_only=True)[::-1][:2], rtol=1e-8)


class TestObjects:
    """The parameters of rules, steps, solvers and preconditioners are checked when the object is made."""

    @pytest.mark.parametrize("tol", [0, -1, np.nan, np.inf, "x", None, True])
    def test_residual(self, tol):
        with pytest.raises(ValueError, match=r"^tol is "):
            sm.Residual(tol)
        with pytest.raises(ValueError, match=r"^tol is "):
            sm.SineAngle(np.ones(N), tol)

    @pytest.mark.parametrize("steps", [0, -3, 1.5, np.nan, "x", None, True])
    @pytest.mark.parametrize("rule", [sm.MaxSteps, sm.Stagnation])
    def test_steps(self, rule, steps):
        with pytest.raises(ValueError, match=r"^steps is "):
            rule(steps)

    @pytest.mark.parametrize("seconds", [0, -1.0, np.nan, "x", None])
    def test_seconds(self, seconds):
        with pytest.raises(ValueError, match=r"^seconds is "):
            sm.MaxSeconds(seconds)

    @pytest.mark.parametrize("alpha", [0, -1.0, np.nan, np.inf, "x", None])
    def test_fixed(self, alpha):
        with pytest.raises(ValueError, match=r"^alpha is "):
            sm.Fixed(alpha)

    @pytest.mark.parametrize(
        "low_high", [(0, 0.5), (0.5, 1), (0.9, 0.8), (-1, 0.5), (np.nan, 0.5), (0.5, np.nan), ("a", "b")]
    )
    def test_sampled(self, low_high):
        with pytest.raises(ValueError, match=r"low|high|inside"):
            sm.Sampled(*low_high)

    @pytest.mark.parametrize("relaxation", [0, -0.1, 1.1, np.nan, "x", None])
    def test_adaptive(self, relaxation):
        with pytest.raises(ValueError, match=r"^relaxation is "):
            sm.Adaptive(relaxation)

    @pytest.mark.parametrize("stepsize", ["fast", None, 0.0, -1.0, np.nan])
    @pytest.mark.parametrize("method", [sm.GradientDescent, sm.MirrorDescent])
    def test_stepsize_of_a_method(self, method, stepsize):
        with pytest.raises(ValueError, match=r"alpha|stepsize"):
            sm.solve(*pair(), method=method(stepsize=stepsize), rng=0)

    @pytest.mark.parametrize("preconditioner", ["ilu", None, sm.Exact, 3])
    def test_preconditioner_of_mirror_descent(self, preconditioner):
        with pytest.raises(ValueError, match="preconditioner"):
            sm.solve(*pair(), method=sm.MirrorDescent(preconditioner=preconditioner), rng=0)

    @pytest.mark.parametrize("max_steps", [0, -1, 1.5, np.nan, "x", None])
    def test_conjugate_gradient_steps(self, max_steps):
        with pytest.raises(ValueError, match=r"^max_steps is "):
            sm.ConjugateGradient(max_steps=max_steps)

    @pytest.mark.parametrize("tol", [0, -1, 1, 2.0, np.nan, np.inf, "x", None])
    def test_conjugate_gradient_tol(self, tol):
        with pytest.raises(ValueError, match=r"^tol is "):
            sm.ConjugateGradient(tol=tol)

    @pytest.mark.parametrize("drop_tol", [-1e-3, 1, np.nan, "x", None])
    def test_incomplete_cholesky_drop_tol(self, drop_tol):
        with pytest.raises(ValueError, match=r"^drop_tol is "):
            sm.IncompleteCholesky(drop_tol=drop_tol)

    @pytest.mark.parametrize("fill", [0, 0.5, np.nan, np.inf, "x", None])
    def test_incomplete_cholesky_fill(self, fill):
        with pytest.raises(ValueError, match=r"^fill is "):
            sm.IncompleteCholesky(fill=fill)

    @pytest.mark.parametrize("rank", [0, -1, 1.5, np.nan, "x", None])
    def test_low_rank(self, rank):
        with pytest.raises(ValueError, match=r"^rank is "):
            sm.LowRank(rank=rank)

    @pytest.mark.parametrize("max_basis", [1, 0, -1, 2.5, np.nan, "x", None])
    def test_lanczos(self, max_basis):
        with pytest.raises(ValueError, match=r"^max_basis is "):
            sm.Lanczos(max_basis=max_basis)

    @pytest.mark.parametrize("steps", [0, -1, 1.5, "x"])
    def test_lanczos_bound(self, steps):
        with pytest.raises(ValueError, match=r"^steps is "):
            sm.LanczosBound(steps=steps)

    @pytest.mark.parametrize("other", [1e-8, "x", None])
    def test_combining_a_rule_with_something_else(self, other):
        with pytest.raises((TypeError, ValueError)):
            sm.Residual() | other
        with pytest.raises((TypeError, ValueError)):
            sm.Residual() & other


class TestSolvers:
    @pytest.mark.parametrize(
        "function",
        [lambda b: b, lambda b: 2 * b, lambda b: np.zeros_like(b), lambda b: np.full_like(b, np.nan)],
        ids=["identity", "double", "zero", "nan"],
    )
    def test_user_solve_with_a_wrong_function(self, function):
        refuse("UserSolve", *pair(), method=sm.SplitMerge(inner=sm.UserSolve(function)))

    def test_user_solve_right_for_ones_only(self):
        A, B = pair()
        w = np.linalg.solve(B, np.ones(N))
        refuse("UserSolve", A, B, method=sm.Power(inner=sm.UserSolve(lambda b: w * b.sum() / N)))

    @pytest.mark.parametrize(
        "function", [lambda b: b[:-1], lambda b: b[:, None], lambda b: 1.0], ids=["short", "column", "scalar"]
    )
    def test_user_solve_with_a_wrong_shape(self, function):
        refuse("UserSolve.*shape", *pair(), method=sm.SplitMerge(inner=sm.UserSolve(function)))

    @pytest.mark.parametrize("function", [lambda b: None, lambda b: "x", None, 3], ids=["None", "str", "none", "int"])
    def test_user_solve_without_a_vector(self, function):
        with pytest.raises(ValueError, match="UserSolve"):
            sm.solve(*pair(), method=sm.SplitMerge(inner=sm.UserSolve(function)))

    def test_cholesky_of_an_operator(self):
        A, B = pair()
        refuse("entries of B", A, operator_of(B), method=sm.Power(inner=sm.Cholesky()))

    @pytest.mark.parametrize(
        "preconditioner",
        [sm.Diagonal(), sm.IncompleteCholesky(), sm.LowRank(2), sm.Exact(), sm.SquareRoot()],
        ids=repr,
    )
    def test_preconditioner_of_an_operator(self, preconditioner):
        A, B = pair()
        inner = sm.ConjugateGradient(preconditioner=preconditioner)
        refuse("entries|diagonal", A, operator_of(B), method=sm.Power(inner=inner))

    def test_mirror_descent_on_an_operator(self):
        A, B = pair()
        refuse("entries|diagonal", A, operator_of(B), method=sm.MirrorDescent())

    def test_trace_bound_of_an_operator(self):
        A, B = pair()
        message = refuse("diagonal", A, operator_of(B), method=sm.GradientDescent(curvature=sm.TraceBound()))
        assert re.search(r"\bB\b", message)

    def test_trace_bound_with_a_preconditioner(self):
        method = sm.MirrorDescent(preconditioner=sm.Diagonal(), stepsize=sm.Sampled(), curvature=sm.TraceBound())
        refuse("TraceBound", *pair(), method=method)

    def test_an_operator_that_fails_later(self):
        """NaN at the tenth product of A is reported as such, not iterated upon."""
        A, B = pair(40)
        calls = [0]

        def product(x):
            calls[0] += 1
            return A @ x if calls[0] < 10 else np.full(40, np.nan)

        with pytest.raises(ValueError, match=r"^A\b.*NaN"):
            sm.solve(LinearOperator((40, 40), matvec=product, dtype=float), B, rng=0)


def test_pencil_refuses_the_same():
    A, B = pair()
    with pytest.raises(ValueError, match=r"^A\b.*square"):
        sm.Pencil(A[:3])
    with pytest.raises(ValueError, match=r"^B\b.*NaN"):
        sm.Pencil(A, B * np.nan)
