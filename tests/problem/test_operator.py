"""Operators made of whatever there is, and of each other: each beside the dense array that it stands for."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from covering import parametrise
from kinds import KINDS, family
from pairs import well_separated
from splitmerge.problem.adapt import adapt
from splitmerge.problem.operator import as_dense, congruent, identity, plus, safe_scaling, with_dtype
from strategies import hermitian, normal

N = 8
THREE = {"dense": np.asarray, "sparse": sp.csr_array, "operator": aslinearoperator}
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
each_of_three = pytest.mark.parametrize("kind", THREE.values(), ids=THREE)
each_dtype = pytest.mark.parametrize("dtype", DTYPES)


def matrix(dtype=float, seed=0):
    return hermitian(normal(np.random.default_rng(seed), (N, N), dtype)).astype(dtype)


def check(op, M, *, dtype=None):
    """Products with vectors and with columns, the diagonal, and what is said of it."""
    dtype = np.dtype(M.dtype if dtype is None else dtype)
    M = M.astype(dtype)
    assert (op.n, op.dtype) == (len(M), dtype)
    X = np.asfortranarray(normal(np.random.default_rng(5), (len(M), 3), dtype).astype(dtype))
    before = X.copy()
    atol = 50 * np.finfo(dtype).eps * max(np.abs(M).max(), np.finfo(dtype).tiny)
    for x in (np.ascontiguousarray(X[:, 0]), X[:, 1]):
        y = op.times(x)
        np.testing.assert_allclose(y, M @ x, atol=atol)
        assert y.dtype == dtype
        assert not np.shares_memory(y, x)
    Y = op.times_block(X)
    np.testing.assert_allclose(Y, M @ X, atol=atol)
    assert Y.dtype == dtype
    assert np.array_equal(X, before)
    if op.matrix is None:
        with pytest.raises(ValueError, match="diagonal"):
            op.diagonal()
    else:
        np.testing.assert_allclose(op.diagonal(), M.diagonal(), atol=atol)
        entries = op.matrix.toarray() if sp.issparse(op.matrix) else op.matrix
        np.testing.assert_allclose(entries, M, atol=atol)
        assert op.size == pytest.approx(np.abs(M).max(), rel=1e-5)


class TestAdapt:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("sign", [1, -1])
    def test_kinds(self, kind, sign):
        M = well_separated()[0]
        op = adapt(KINDS[kind](M), "A", sign)
        check(op, sign * M)
        assert op.kind == family(kind)
        assert op.scale == sign

    @pytest.mark.parametrize(("n", "share", "kind"), [(200, 0.4, "dense"), (200, 0.3, "sparse"), (199, 1, "sparse")])
    def test_a_full_matrix_in_sparse_format_becomes_an_array(self, n, share, kind):
        rng = np.random.default_rng(0)
        M = sp.csr_array(np.where(rng.random((n, n)) < share, rng.standard_normal((n, n)), 0))
        M = sp.csr_array(sp.triu(M) + sp.triu(M, 1).T)
        op = adapt(M, "A", -1)
        check(op, -M.toarray())
        assert op.kind == kind

    @each_of_three
    @each_dtype
    def test_dtypes(self, kind, dtype):
        check(adapt(kind(matrix(dtype)), "A"), matrix(dtype))

    @parametrise(kind=THREE, dtype=[np.float16, np.int8, np.int64, np.bool_, np.longdouble, np.clongdouble])
    def test_other_dtypes(self, kind, dtype):
        if kind is sp.csr_array and dtype is np.float16:
            pytest.skip("SciPy has no such sparse arrays")
        M = np.diag(np.arange(4) % 2).astype(dtype)
        single, complex_ = dtype is np.float16, np.dtype(dtype).kind == "c"
        check(adapt(kind(M), "A"), M, dtype=np.float32 if single else complex if complex_ else float)

    @each_of_three
    @pytest.mark.parametrize("size", [1e-200, 1e-29, 1e29, 1e200])
    def test_extreme_sizes_are_brought_near_one(self, kind, size):
        M = matrix()
        op = adapt(kind(size * M), "A")
        exponent = np.log2(op.scale)
        assert exponent == round(exponent)
        check(op, op.scale * (size * M))
        if size in (1e-200, 1e200):
            assert 0.1 < op.size < 10
        else:
            assert op.scale == 1

    def test_a_product_that_is_its_own_argument(self):
        class Same:
            shape, dtype = (N, N), np.dtype(float)

            def __matmul__(self, x):
                return x

        check(adapt(Same(), "A"), np.eye(N))

    def test_one_buffer_for_all_products(self):
        buffer = np.zeros(N)

        class Twice:
            shape, dtype = (N, N), np.dtype(float)

            def __matmul__(self, x):
                return np.multiply(2, x, out=buffer)

        op = adapt(Twice(), "A")
        one, two = op.times(np.ones(N)), op.times(np.zeros(N))
        assert (one == 2).all()
        assert (two == 0).all()

    def test_entries_are_shared(self):
        M = np.asfortranarray(matrix())
        S = sp.csr_array(matrix())
        assert np.shares_memory(adapt(M, "A").matrix, M)
        assert np.shares_memory(adapt(S, "A").matrix.data, S.data)

    @pytest.mark.parametrize(
        ("bad", "said"),
        [
            (np.ones((2, 3)), "square"),
            (np.zeros((0, 0)), "empty"),
            (np.array([[0.0, 1.0], [2.0, 0.0]]), "not symmetric"),
            (np.array([[1j, 0], [0, 1]]), "not Hermitian"),
            (np.array([[np.nan, 0], [0, 1]]), "NaN"),
            (np.array([["a", "b"], ["c", "d"]]), "dtype"),
            ([[1, 2], [3]], "rectangular"),
            (7, "int"),
        ],
    )
    def test_refused_by_name(self, bad, said):
        with pytest.raises(ValueError, match=rf"the matrix.*{said}"):
            adapt(bad, "the matrix")


@each_of_three
@each_dtype
def test_negated(kind, dtype):
    M = matrix(dtype)
    op = adapt(kind(M), "A")
    check(op.negated(), -M)
    assert op.negated().scale == -1
    check(op.negated().negated(), M)
    check(op, M)


@each_of_three
@pytest.mark.parametrize(
    ("narrow", "wide"), [("f", "d"), ("f", "F"), ("f", "D"), ("d", "D"), ("F", "D"), ("d", "d")], ids="".join
)
def test_with_dtype(kind, narrow, wide):
    M = matrix(narrow)
    check(with_dtype(adapt(kind(M), "A"), np.dtype(wide)), M.astype(wide))


@each_of_three
@each_dtype
def test_congruent(kind, dtype):
    M, d = matrix(dtype), 2.0 ** np.arange(-4, 4)
    op = congruent(adapt(kind(M), "A"), d.astype(np.empty(0, dtype).real.dtype))
    check(op, (d[:, None] * M * d).astype(dtype))
    if op.kind == "operator" and np.dtype(dtype).char == "f":
        check(with_dtype(op, np.dtype(float)), d[:, None] * M.astype(float) * d)


def test_size_of_a_congruent_operator():
    """It is that of D M D, not of M: rounding errors of its products are compared with it."""
    M, d = matrix(), 2.0 ** np.linspace(-30, 0, N)
    op = congruent(adapt(aslinearoperator(M / np.outer(d, d)), "A"), d)
    assert 0.1 < op.size / np.abs(M).max() < 10 * N
    assert op.norm == op.size


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_congruent_of_extreme_size(kind):
    M, d = matrix(), np.full(N, 2.0**120)
    op = congruent(adapt(kind(M), "A"), d)
    assert 0.1 < op.size < 10
    check(op, op.scale * 2.0**240 * M)


@each_of_three
@each_dtype
def test_as_dense(kind, dtype):
    op = as_dense(adapt(kind(matrix(dtype)), "A"))
    assert op.kind == "dense"
    assert op.matrix.flags.f_contiguous
    check(op, matrix(dtype))


@each_dtype
def test_identity(dtype):
    check(identity(N, np.dtype(dtype)), np.eye(N, dtype=dtype))


@pytest.mark.parametrize("kind_A", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind_B", [np.asarray, sp.csr_array, None])
@pytest.mark.parametrize("c", [-2.5, 0.0, 1e-3])
@pytest.mark.parametrize("dtype", [float, complex])
def test_plus(kind_A, kind_B, c, dtype):
    A, B = matrix(dtype), np.eye(N) if kind_B is None else matrix(dtype, 1)
    left = adapt(kind_A(A), "A")
    op = plus(left, c, None if kind_B is None else adapt(kind_B(B), "B"))
    X = normal(np.random.default_rng(0), (N, 3), dtype)
    np.testing.assert_allclose(op.times_block(X), (A + c * B) @ X, atol=1e-13)
    np.testing.assert_allclose(op.times(X[:, 0].copy()), (A + c * B) @ X[:, 0], atol=1e-13)
    # the rounding of both is in it, also where they cancel
    assert op.size == pytest.approx(np.abs(A).max() + abs(c) * np.abs(B).max())
    assert (op is left) == (c == 0)
    check(left, A)


def test_plus_needs_entries():
    A = adapt(aslinearoperator(matrix()), "A")
    with pytest.raises(ValueError, match="entries"):
        plus(A, 1.0, None)
    with pytest.raises(ValueError, match="entries"):
        plus(adapt(matrix(), "A"), 1.0, A)


@pytest.mark.parametrize(("single", "double"), [("f", "d"), ("F", "D")])
@pytest.mark.parametrize("sign", [1, -1])
def test_safe_scaling_depends_on_the_range_of_the_precision(single, double, sign):
    """Squares of 2³⁰ times n overflow nothing in double precision; in single precision they come close."""
    for exponent in (-30, 30):
        assert safe_scaling(2.0**exponent, np.dtype(double), sign) == sign
        assert safe_scaling(2.0**exponent, np.dtype(single), sign) == sign * 2.0 ** -(exponent + 1)
    assert safe_scaling(2.0**300, np.dtype(double), sign) == sign * 2.0**-301
    assert safe_scaling(0.0, np.dtype(single), sign) == sign
