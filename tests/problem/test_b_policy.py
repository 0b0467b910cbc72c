"""The parts of a B policy: the check of its name, the positive part of a spectrum, the search for a ridge."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from pairs import pair_of
from splitmerge.problem.b_policy import POLICIES, check_policy, mend, positive_part, smallest_ridge

EPS = float(np.finfo(float).eps)


def test_names():
    assert [check_policy(policy) for policy in POLICIES] == list(POLICIES)
    for policy in ("drop", None, 1, ["ridge"]):
        with pytest.raises(ValueError, match=r"b_policy is .* give one of 'error', 'ridge', 'restrict'"):
            check_policy(policy)


@pytest.mark.parametrize("dtype", [float, complex])
def test_the_positive_part_whitens(dtype):
    rng = np.random.default_rng(0)
    M = rng.standard_normal((6, 4)).astype(dtype)
    if dtype is complex:
        M += 1j * rng.standard_normal((6, 4))
    B = M @ M.conj().T
    values, vectors = np.linalg.eigh(B)
    part = positive_part(values, vectors, 6 * EPS * values[-1])
    assert part.rank == 4
    Q = part.whitening
    np.testing.assert_allclose(Q.conj().T @ B @ Q, np.eye(4), atol=1e-12)
    # an eigenvalue at the threshold itself is dropped
    assert positive_part(values, vectors, values[-1]).rank == 0
    assert positive_part(values, vectors, values[-2]).rank == 1


@pytest.mark.parametrize(("size", "unit"), [(3.0, 3.0), (0.0, 1.0)])
def test_the_ridge_grows_by_powers_of_ten(size, unit):
    tried = []

    def attempt(ridge):
        tried.append(ridge)
        return "definite" if len(tried) == 3 else None

    ridge, found = smallest_ridge(attempt, 16, EPS, size)
    assert found == "definite"
    assert ridge == tried[-1]
    np.testing.assert_allclose(tried, np.array([1e2, 1e3, 1e4]) * 4 * EPS * unit)


@pytest.mark.parametrize("unit", [2.0**-400, 1.0, 2.0**400])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_reported_ridge_is_what_was_added(kind, unit):
    """In the units of the given B."""
    B = unit * np.array([[1.0, 1.0], [1.0, 1.0]])
    mended = mend(np.eye(2), kind(B), "ridge")
    added = mended.B.toarray() if sp.issparse(mended.B) else mended.B
    np.testing.assert_allclose((added - B).diagonal() / unit, mended.report.ridge / unit, rtol=0.02)
    assert mended.report.ridge > 0


def condensable(dtype, *, null=3, mixed=True):
    """A nonsingular A and a B of rank 7, whose null space A couples to the rest, and the finite eigenvalues."""
    A, S = pair_of(np.r_[-3.0, 2.0, np.linspace(4, 9, 5 + null)], dtype=dtype)
    m = 7
    B = np.zeros_like(S)
    B[:m, :m] = S[:m, :m]
    schur = A[:m, :m] - A[:m, m:] @ np.linalg.solve(A[m:, m:], A[m:, :m])
    L = np.linalg.cholesky(B[:m, :m])
    C = np.linalg.solve(L, np.linalg.solve(L, schur).conj().T)
    if mixed:
        Q = np.linalg.qr(pair_of(np.arange(1.0, len(A) + 1), 5, dtype)[0])[0]
        A, B = (Q.conj().T @ M @ Q for M in (A, B))
    return (A + A.conj().T) / 2, (B + B.conj().T) / 2, np.linalg.eigvalsh((C + C.conj().T) / 2)


def reduced(mended):
    """The matrices of a restricted pair, dense."""
    return [None if M is None else M.toarray() if sp.issparse(M) else np.asarray(M) for M in (mended.A, mended.B)]


def values_of(mended):
    return scipy.linalg.eigh(*reduced(mended), eigvals_only=True)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("mixed", [False, True])
class TestRestricted:
    """The pair on the range of B has the finite eigenvalues, in whatever units A and B are given."""

    def test_static_condensation(self, dtype, kind, mixed):
        """The eigenvalues are those of the Schur complement, and u = Q z solves the whole pair."""
        A, B, finite = condensable(dtype, mixed=mixed)
        mended = mend(kind(A), kind(B), "restrict")
        values, Z = scipy.linalg.eigh(*reduced(mended))
        np.testing.assert_allclose(values, finite, rtol=1e-9)
        U = mended.Q @ Z
        assert (mended.B is None) == mixed
        np.testing.assert_allclose(A @ U, B @ U * values, atol=1e-9)
        assert (mended.report.rank, mended.report.dropped) == (7, 3)

    @pytest.mark.parametrize("a", [1e-150, 1.0, 1e150])
    @pytest.mark.parametrize("b", [1e-150, 1.0, 1e150])
    def test_units(self, dtype, kind, mixed, a, b):
        A, B, finite = condensable(dtype, mixed=mixed)
        mended = mend(kind(A * a), kind(B * b), "restrict")
        Q = mended.Q.toarray() if sp.issparse(mended.Q) else mended.Q
        mass = np.eye(7) if mixed else reduced(mended)[1] / b
        np.testing.assert_allclose(Q.conj().T @ ((b if mixed else 1) * B @ Q), mass, atol=1e-9)
        images = mended.images.toarray() if sp.issparse(mended.images) else mended.images
        np.testing.assert_allclose(images / b**0.5, b**0.5 * B @ Q, atol=1e-9 * max(b**0.5, 1))
        dual = mended.dual.toarray() if sp.issparse(mended.dual) else mended.dual
        np.testing.assert_allclose(dual.conj().T @ Q, np.eye(7), atol=1e-9)
        if a == b:
            np.testing.assert_allclose(values_of(mended), finite, rtol=1e-9)

    def test_an_uncoupled_null_vector_of_A_is_left_alone(self, dtype, kind, mixed):
        """(NᴴAN)⁺ does not invert what is zero up to rounding."""
        A, B, finite = condensable(dtype, mixed=False)
        n = len(A)
        A, B = (np.pad(M, ((0, 1), (0, 1))) for M in (A, B))
        # the null vectors of B are mixed, so that A is singular there up to rounding only
        Q = np.eye(n + 1, dtype=dtype)
        Q[7:, 7:] = np.linalg.qr(pair_of(np.arange(1.0, n - 5), 6, dtype)[0])[0]
        A, B = (Q.conj().T @ M @ Q for M in (A, B))
        mended = mend(kind((A + A.conj().T) / 2), kind((B + B.conj().T) / 2), "restrict")
        np.testing.assert_allclose(values_of(mended), finite, rtol=1e-9)
        assert np.abs(mended.Q @ np.eye(7)).max() < 1e3


def test_a_null_space_of_both_that_A_couples_is_refused():
    A = np.array([[1.0, 1.0], [1.0, 0.0]])
    with pytest.raises(sm.NotPositiveDefinite, match="infinity cannot be separated"):
        mend(A, np.diag([1.0, 0.0]), "restrict")


@pytest.mark.parametrize("shuffle", [0, 1, 2])
def test_interleaved_blocks(shuffle):
    """The blocks of a sparse B are decomposed one by one, in whatever order their rows are."""
    rng = np.random.default_rng(shuffle)
    B = np.zeros((12, 12))
    start = 0
    for size, rank in ((5, 3), (4, 4), (3, 1)):
        F = rng.standard_normal((size, rank))
        B[start : start + size, start : start + size] = F @ F.T
        start += size
    order = rng.permutation(12)
    B = B[np.ix_(order, order)]
    A = rng.standard_normal((12, 12))
    A = A @ A.T + np.eye(12)
    mended = mend(sp.csr_array(A), sp.csr_array(B), "restrict")
    Q = mended.Q.toarray() if sp.issparse(mended.Q) else mended.Q
    np.testing.assert_allclose(Q.T @ B @ Q, np.eye(8), atol=1e-10)
    # of (B, A), those that are not zero
    finite = 1 / scipy.linalg.eigh(B, A, eigvals_only=True)[:3:-1]
    np.testing.assert_allclose(np.linalg.eigvalsh(np.asarray(mended.A)), finite, rtol=1e-8)


def test_blocks_that_imaginary_entries_connect():
    """Rows are of one block if any entry couples them."""
    B = np.array([[1, 1j, 0], [-1j, 1, 0], [0, 0, 2]])
    A = np.array([[2, 0.5j, 0.3], [-0.5j, 3, 0.2j], [0.3, -0.2j, 4]])
    dense, sparse = mend(A, B, "restrict"), mend(sp.csr_array(A), sp.csr_array(B), "restrict")
    assert dense.report.rank == sparse.report.rank == 2
    values = np.linalg.eigvalsh(np.asarray(dense.A))
    np.testing.assert_allclose(np.linalg.eigvalsh(np.asarray(sparse.A)), values, rtol=1e-12)


def singular_mass(kind, dtype, last, *, zero_first):
    """A B of rank 3 with a zero row and the further eigenvalue `last`; "blocks" couples two of its rows."""
    diagonal = np.r_[2.0, 3.0, 1.5, np.r_[0.0, last][:: 1 if zero_first else -1]]
    B = np.diag(diagonal).astype(dtype)
    if kind == "blocks":
        B[0, 1], B[1, 0] = (0.5j, -0.5j) if np.dtype(dtype).kind == "c" else (0.5, 0.5)
    return B if kind == "dense" else sp.csr_array(B)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
class TestRestrictedSign:
    """Only what rounding can make of zero counts as the null space of B."""

    @pytest.mark.parametrize("kind", ["dense", "diagonal", "blocks"])
    @pytest.mark.parametrize("zero_first", [False, True])
    @pytest.mark.parametrize("last", [-1e-2, -1.0, -2.9])
    def test_a_negative_eigenvalue_is_refused(self, dtype, kind, last, zero_first):
        B = singular_mass(kind, dtype, last, zero_first=zero_first)
        with pytest.raises(sm.NotPositiveDefinite, match="indefinite"):
            sm.solve(np.diag(np.arange(1.0, 6)).astype(dtype), B, b_policy="restrict", rng=0)

    @pytest.mark.parametrize("kind", ["dense", "diagonal"])
    def test_a_negative_rounding_error_is_a_zero(self, dtype, kind):
        B = singular_mass(kind, dtype, -np.finfo(dtype).eps, zero_first=True)
        sol = sm.solve(np.diag(np.arange(1.0, 6)).astype(dtype), B, 3, b_policy="restrict", rng=0)
        assert (sol.b_report.rank, sol.b_report.dropped) == (3, 2)
        np.testing.assert_allclose(sol.eigenvalues, [3 / 1.5, 2 / 3, 1 / 2], rtol=1e-5)


def with_integer_spectrum(seed, n=180, m=16):
    """Integer matrices with finite eigenvalues 1, …, n − m; their block on the null space of B is nearly singular."""
    rng = np.random.default_rng(seed)
    L = np.eye(n)
    for i in range(1, n):
        L[i, i - 1 - int(rng.integers(0, min(i, 4)))] = rng.choice([-1, 1])
    order = rng.permutation(n)
    values, mass = np.r_[np.arange(1.0, n - m + 1), np.full(m, 2.0)], np.r_[np.ones(n - m), np.zeros(m)]
    return tuple(L @ np.diag(d[order]) @ L.T for d in (values, mass))


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array])
def test_restriction_in_single_precision(kind):
    right = refused = 0
    for seed in range(8):
        A, B = (kind(M.astype(np.float32)) for M in with_integer_spectrum(seed))
        try:
            sol = sm.solve(A, B, 3, b_policy="restrict", rng=0)
        except sm.NotPositiveDefinite:
            refused += 1
            continue
        assert sol.eigenvectors.dtype == np.float32
        np.testing.assert_allclose(sol.eigenvalues, [164, 163, 162], atol=0.01)
        right += 1
    assert right >= 2 * refused
