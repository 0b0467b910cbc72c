"""The figures of an operator, by hand: its norm and size, units of rounding, sign and scale, and what they allow."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import splitmerge as sm
from checking import dense
from pairs import pair_of
from splitmerge.problem.adapt import BLOCK_COLUMNS, adapt
from splitmerge.problem.operator import Operator, as_dense, congruent, plus, with_dtype
from splitmerge.problem.products import Products
from splitmerge.problem.symmetry import tolerable
from strategies import hermitian, normal

N = 9
KINDS = {"dense": np.asarray, "sparse": sp.csr_array, "operator": aslinearoperator}
ENTRIES = {"dense": np.asarray, "sparse": sp.csr_array}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
each_with_entries = pytest.mark.parametrize("kind", ENTRIES.values(), ids=ENTRIES)
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])


def matrix(dtype=float, n=N, seed=0):
    return hermitian(normal(np.random.default_rng(seed), (n, n), dtype)).astype(dtype)


def arrow(n, longest, dtype=float):
    """A sparse matrix with one row of that many entries."""
    M = sp.lil_array((n, n), dtype=dtype)
    M.setdiag(2.0)
    M[0, :longest] = M[:longest, 0] = 1.0
    return sp.csr_array(M)


class TestAsymmetry:
    """Rounding explains eps^⅔ of the largest entry, in every unit, precision and format, and no more."""

    @each_dtype
    @each_with_entries
    @pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
    def test_of_an_entry(self, kind, dtype, unit):
        M = (matrix(dtype) + 9 * np.eye(N, dtype=dtype)) * dtype(unit)
        size, allowed = float(np.abs(M).max()), float(np.finfo(dtype).eps ** (2 / 3))
        assert tolerable(size, np.dtype(dtype)) == pytest.approx(allowed * size)
        # in single precision an entry is rounded by a tenth of what is allowed
        for share in (0.4, 2.5):
            bad = M.copy()
            bad[2, 5] += dtype(share * allowed * size)
            given = kind(bad)
            if share < 1:
                adapt(given, "A")
                continue
            with pytest.raises(ValueError, match=r"^A is not (symmetric|Hermitian)"):
                adapt(given, "A")

    @pytest.mark.parametrize("dtype", [float, complex])
    @pytest.mark.parametrize("unit", [1e-30, 1e-9, 1.0, 1e9, 1e30])
    @pytest.mark.parametrize("share", [1e-14, 1e-6])
    def test_of_an_operator(self, dtype, unit, share):
        M = matrix(dtype) * unit
        W = np.zeros_like(M)
        W[1, 4], W[4, 1] = share * unit, -share * unit
        given = LinearOperator((N, N), matvec=lambda x: (M + W) @ x.ravel(), dtype=dtype)
        if share < 1e-10:
            adapt(given, "B")
            return
        with pytest.raises(ValueError, match=r"^B is not (symmetric|Hermitian): \|⟨v, Xu⟩"):
            adapt(given, "B")

    @each_with_entries
    def test_an_imaginary_diagonal(self, kind):
        for share, fine in ((1e-13, True), (1e-6, False)):
            M = matrix(complex)
            M[3, 3] += 1j * share
            if fine:
                adapt(kind(M), "A")
            else:
                with pytest.raises(ValueError, match="not Hermitian"):
                    adapt(kind(M), "A")


class TestFigures:
    @each_dtype
    @each_with_entries
    @pytest.mark.parametrize("unit", [1e-12, 1e12])
    def test_norm_and_size(self, kind, dtype, unit):
        unit = unit if np.dtype(dtype).char in "dD" else unit**0.25
        M = matrix(dtype) * dtype(unit)
        op = adapt(kind(M), "A")
        assert op.scale == 1
        assert op.norm == pytest.approx(np.linalg.norm(M, 1), rel=1e-5)
        assert op.size == pytest.approx(np.abs(M).max(), rel=1e-5)
        assert op.negated().norm == pytest.approx(op.norm)

    def test_imaginary_entries_count(self):
        """Of i times a skew-symmetric matrix, too."""
        S = np.triu(np.random.default_rng(0).standard_normal((N, N)), 1)
        M = 1j * (S - S.T)
        for kind in (np.asarray, np.asfortranarray, sp.csr_array):
            op = adapt(kind(M), "A")
            assert op.size == pytest.approx(np.abs(M).max())
            assert op.norm == pytest.approx(np.linalg.norm(M, 1))
            bad = M.copy()
            bad[0, 1], bad[1, 0] = complex(0, np.inf), complex(0, -np.inf)
            with pytest.raises(ValueError, match="NaN or infinity"):
                adapt(kind(bad), "A")

    def test_an_operators_norm_is_that_of_its_products(self):
        """Which exceeds that of each row, but for the few that a random vector misses."""
        M = matrix(n=60, seed=3)
        op = adapt(aslinearoperator(M), "A")
        assert op.norm == op.size
        assert np.linalg.norm(M, axis=1).max() / 2 < op.size < 5 * np.linalg.norm(M, axis=1).max()

    @pytest.mark.parametrize(("n", "units"), [(20, 32.0), (384, 32.0), (600, 50.0)])
    def test_units_of_a_dense_matrix_grow_with_its_rows(self, n, units):
        assert adapt(np.eye(n), "A").units == pytest.approx(units)
        assert adapt(aslinearoperator(sp.eye_array(n)), "A").units == pytest.approx(units)

    @pytest.mark.parametrize("n", [4000, 12_000])
    def test_units_of_a_large_operator(self, n):
        op = Operator("operator", n, np.dtype(float), np.copy, np.copy, None, 1.0, 1.0)
        assert op.units == pytest.approx(n / 12)

    @pytest.mark.parametrize(("longest", "units"), [(3, 32.0), (96, 32.0), (150, 50.0), (600, 200.0)])
    def test_units_of_a_sparse_matrix_grow_with_its_longest_row(self, longest, units):
        assert adapt(arrow(1000, longest), "A").units == pytest.approx(units)

    @pytest.mark.parametrize("which", "AB")
    def test_a_pair_has_the_larger_units(self, which):
        one, other = arrow(1000, 600), arrow(1000, 3)
        scale = Products(sm.Pencil(*((one, other) if which == "A" else (other, one)))).scale
        assert scale.units == pytest.approx(200.0)
        np.testing.assert_allclose(
            (scale.A_norm, scale.B_norm), [abs(M).sum(axis=0).max() for M in (one, other)][:: 1 if which == "A" else -1]
        )
        assert Products(sm.Pencil(other)).scale.B_norm == 1.0

    @pytest.mark.parametrize(("value", "length"), [(0.0, 1.0), (-3.0, 2.0), (1e6, 1e-2)])
    def test_what_rounding_moves(self, value, length):
        """units · eps (‖A‖ + |λ| ‖B‖) ‖x‖²."""
        A, B = 5 * arrow(500, 300), 7 * arrow(500, 3)
        scale = Products(sm.Pencil(A, B)).scale
        norms = 5 * 300.0 + abs(value) * 7 * 3
        found = scale.perturbation(np.array([value]), np.array([length]))
        np.testing.assert_allclose(found, 100 * 2.0**-52 * norms * length**2)


class TestRecast:
    """In another dtype an operator stays `scale` times the user's matrix, its sign included."""

    @each_kind
    @pytest.mark.parametrize("sign", [1, -1])
    @pytest.mark.parametrize("unit", [2.0**-200, 1.0, 2.0**200])
    @pytest.mark.parametrize("narrow", [float, np.float32])
    def test_to_complex(self, kind, sign, unit, narrow):
        if narrow is np.float32:
            unit = {2.0**-200: 2.0**-60, 1.0: 1.0, 2.0**200: 2.0**60}[unit]
        M = matrix().astype(narrow)
        op = adapt(kind(M * narrow(unit)), "A", sign)
        wide = with_dtype(op, np.dtype(complex))
        assert wide.dtype == np.dtype(complex)
        assert (wide.scale, wide.size) == (op.scale, op.size)
        assert np.sign(wide.scale) == sign
        X = np.asfortranarray(normal(np.random.default_rng(1), (N, 3), complex))
        expected = op.scale * unit * (M.astype(float) @ X)
        np.testing.assert_allclose(wide.times(np.ascontiguousarray(X[:, 0])), expected[:, 0], rtol=0, atol=1e-5)
        np.testing.assert_allclose(wide.times_block(X), expected, rtol=0, atol=1e-5)
        np.testing.assert_allclose(wide.in_double(X), expected, rtol=0, atol=1e-5)

    @pytest.mark.parametrize("method", [None, sm.SplitMerge(), sm.Accelerated(), sm.Lanczos()], ids=repr)
    @pytest.mark.parametrize("which", ["largest", "smallest"])
    @pytest.mark.parametrize("other", [np.asarray, sp.csr_array])
    def test_a_real_operator_beside_a_complex_matrix(self, method, which, other):
        values = np.r_[-9.0, -6.5, np.linspace(-2, 2, 8), 7.0]
        A = np.diag(np.r_[values])
        B = np.eye(len(values), dtype=complex) + 0.3j * (np.eye(len(values), k=1) - np.eye(len(values), k=-1))
        exact = np.sort(np.linalg.eigvals(np.linalg.solve(B, A.astype(complex))).real)
        sol = sm.solve(aslinearoperator(A), other(B), 1, which=which, method=method, rng=0)
        assert sol.eigenvalues[0] == pytest.approx(exact[-1] if which == "largest" else exact[0], rel=1e-8)

    def test_a_congruence_is_recast_with_its_scaling(self):
        M, d = matrix(), np.exp2(np.arange(N) - 4.0)
        op = with_dtype(congruent(adapt(aslinearoperator(M), "A", -1), d), np.dtype(complex))
        X = normal(np.random.default_rng(1), (N, 2), complex)
        expected = -d[:, None] * (M @ (d[:, None] * X))
        np.testing.assert_allclose(op.times_block(X), expected)
        np.testing.assert_allclose(op.times(X[:, 0].copy()), expected[:, 0])
        assert op.scale == -1


class TestCombined:
    @each_with_entries
    @pytest.mark.parametrize("c", [-2.5, 0.75])
    @pytest.mark.parametrize("identity", [False, True])
    def test_size_is_the_sum_of_both(self, kind, c, identity):
        """As their rounding errors remain where they cancel."""
        A, B = pair_of(np.arange(1.0, N + 1))
        op = plus(adapt(kind(A), "A"), c, None if identity else adapt(kind(B), "B"))
        mass = np.eye(N) if identity else B
        assert op.size == pytest.approx(np.abs(A).max() + abs(c) * np.abs(mass).max())
        np.testing.assert_allclose(dense(op.matrix), A + c * mass, atol=1e-13)
        assert op.scale == 1

    @pytest.mark.parametrize("sign", [1, -1])
    @pytest.mark.parametrize("unit", [1e-50, 1.0, 1e50])
    @pytest.mark.parametrize("dtype", [float, complex])
    def test_entries_from_products(self, sign, unit, dtype):
        """With the scale that the products had."""
        M = matrix(dtype)
        op = adapt(aslinearoperator(M * unit), "A", sign)
        full = as_dense(op)
        assert full.scale == op.scale
        np.testing.assert_allclose(full.matrix / full.scale, M * unit, rtol=1e-12)
        assert full.size == pytest.approx(np.abs(M).max() * abs(op.scale) * unit)

    @pytest.mark.parametrize("count", [1, BLOCK_COLUMNS - 1, BLOCK_COLUMNS, BLOCK_COLUMNS + 1, 2 * BLOCK_COLUMNS + 3])
    def test_many_columns_of_an_operator(self, count):
        """It is given at most so many at a time, each of them once."""
        M, widths = matrix(), []

        class Blocks(LinearOperator):
            def _matvec(self, x):
                widths.append(1)
                return M @ x

            def _matmat(self, X):
                widths.append(X.shape[1])
                return M @ X

        op = adapt(Blocks(float, (N, N)), "A")
        widths.clear()
        X = np.random.default_rng(0).standard_normal((N, count))
        np.testing.assert_allclose(op.times_block(X), M @ X, atol=1e-12)
        assert sum(widths) == count
        assert max(widths) <= BLOCK_COLUMNS
