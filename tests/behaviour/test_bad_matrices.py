"""A bad matrix is refused before any iteration, by a ValueError that names it; nothing is modified."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import splitmerge as sm
from checking import each_kind, each_name, operator_of, place, refuse
from pairs import N, pair


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
    @pytest.mark.parametrize("shape", [(), (5,), (36,), (6, 6, 1), (2, 6, 6)])
    def test_not_a_matrix(self, name, shape):
        refuse(rf"^{name}\b.*shape", *place(name, np.ones(shape)))

    def test_a_diagonal_is_not_an_A(self):
        refuse(r"^A\b.*shape \(6,\)", np.ones(6), pair()[1])

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


def test_pencil_refuses_the_same():
    A, B = pair()
    with pytest.raises(ValueError, match=r"^A\b.*square"):
        sm.Pencil(A[:3])
    with pytest.raises(ValueError, match=r"^B\b.*NaN"):
        sm.Pencil(A, B * np.nan)
