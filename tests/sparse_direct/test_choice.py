"""Every sparse factorisation that is installed does the same, and the choice is said."""

from __future__ import annotations

import gc
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import splitmerge as sm
from checking import choices, figures_of
from splitmerge import sparse_direct as backends
from splitmerge.solution import back_transform
from splitmerge.sparse_direct import costs
from splitmerge.sparse_direct.backends import mumps, pardiso, superlu
from splitmerge.sparse_direct.fill import ordering

# In the order in which they are chosen.
PACKAGES = {
    "CHOLMOD": "sksparse",
    "PARDISO": "pypardiso",
    "MUMPS": "mumps",
    "QDLDL": "qdldl",
    "nested dissection": "pymetis",
}
BACKENDS = (*PACKAGES, "minimum degree")
PIVOTING = {"PARDISO": pardiso, "MUMPS": mumps}


def grid(m: int, dtype: type = float) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and mass of bilinear elements on an oblong grid; with phases on the couplings if complex."""
    ones = np.ones(m)
    K1 = sp.diags_array([-ones[1:], 2 * ones, -ones[1:]], offsets=[-1, 0, 1])
    M1 = sp.diags_array([ones[1:], 4 * ones, ones[1:]], offsets=[-1, 0, 1]) / 6
    K, M = sp.kron(K1, M1) + 1.1 * sp.kron(M1, K1), sp.kron(M1, M1)
    if np.dtype(dtype).kind == "c":
        phase = sp.diags_array(np.exp(1j * np.arange(m * m)))
        K, M = phase @ K @ phase.conj(), phase @ M @ phase.conj()
    return sp.csr_array(K), sp.csr_array(M)


@pytest.fixture(params=BACKENDS)
def backend(request, monkeypatch):
    """The name of the backend that is taken when the packages before it are missing, for small matrices, too."""
    for name in BACKENDS[: BACKENDS.index(request.param)]:
        monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    costs._is_installed.cache_clear()
    if request.param in PACKAGES:
        pytest.importorskip(PACKAGES[request.param])
    monkeypatch.setattr(superlu, "NESTED_DISSECTION_MIN_ROWS", 10)
    # tridiagonal matrices would not be reordered
    monkeypatch.setattr(ordering, "NARROW_BAND", 0)
    monkeypatch.setattr(costs, "EXTERNAL_BACKEND_MIN_ROWS", 10)
    monkeypatch.setitem(costs.COSTS, "MUMPS", replace(costs.COSTS["MUMPS"], row=0.0, flop=0.0))
    yield request.param
    costs._is_installed.cache_clear()


@pytest.fixture(params=PIVOTING)
def pivoting(request):
    """A backend that counts negative eigenvalues."""
    pytest.importorskip(PACKAGES[request.param])
    return PIVOTING[request.param]


def skip_complex(backend: str, dtype: type) -> None:
    if backend in ("MUMPS", "QDLDL") and dtype is complex:
        pytest.skip(f"{backend} does not factorise Hermitian matrices")


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("which", ["smallest", "largest"])
def test_pairs(backend, which, dtype):
    skip_complex(backend, dtype)
    K, M = grid(17, dtype)
    sol = sm.solve(K, M, 6, which=which, rng=0)
    values = scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)
    np.testing.assert_allclose(sol.eigenvalues, values[:6] if which == "smallest" else values[::-1][:6], rtol=1e-10)
    assert backend in figures_of(sol, "SWAPPED" if which == "smallest" else "SOLVER")["backend"]


@pytest.mark.parametrize("dtype", [float, complex])
def test_factors(backend, dtype):
    skip_complex(backend, dtype)
    K, _ = grid(9, dtype)
    factors = backends.definite_factors(K)
    assert backend in factors.name
    assert factors.negative == 0
    assert np.linalg.cond(K.toarray()) ** -1 < factors.least <= 1
    b = np.random.default_rng(0).standard_normal((81, 3)).astype(dtype)
    for rhs in (b, np.ascontiguousarray(b[:, 0]), np.asfortranarray(b)):
        before = rhs.copy()
        np.testing.assert_allclose(K @ factors.solve(rhs), rhs, atol=1e-10)
        np.testing.assert_array_equal(rhs, before)


@pytest.mark.parametrize("dtype", [float, complex])
def test_triangular_factors(backend, dtype):
    K, _ = grid(9, dtype)
    factors = backends.triangular_factors(K)
    L, order = factors.L.toarray(), factors.order
    permuted = K.toarray()[np.ix_(order, order)]
    np.testing.assert_allclose((L * factors.pivots) @ L.conj().T, permuted, atol=1e-12)


def test_exact_preconditioner(backend):
    """It needs L, which not every backend shows."""
    K, M = grid(10)
    method = sm.Power(inner=sm.ConjugateGradient(30, sm.Exact()))
    for chosen in (method, sm.MirrorDescent(preconditioner=sm.Exact())):
        sol = sm.solve(M, K, rng=0, method=chosen, max_steps=20_000)
        np.testing.assert_allclose(sol.eigenvalues, scipy.linalg.eigh(M.toarray(), K.toarray())[0][-1], rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision(backend, dtype):
    """All but SuperLU are made for double precision only."""
    K, _ = grid(9, dtype)
    factors = backends.definite_factors(sp.csr_array(K.astype(dtype)))
    assert "SuperLU" in factors.name
    assert factors.solve(np.ones(81, dtype)).dtype == dtype


class TestPivoting:
    """PARDISO and MUMPS count the negative eigenvalues, and call nothing definite that is not."""

    @pytest.mark.parametrize("dtype", [float, complex])
    @pytest.mark.parametrize("shift", [0.0, 1.0, 3.3, 100.0])
    def test_inertia(self, pivoting, shift, dtype):
        skip_complex(pivoting.__name__.rpartition(".")[2].upper(), dtype)
        K, M = grid(11, dtype)
        S = sp.csr_array(K - shift * M)
        factors = pivoting.indefinite(S)
        assert factors.negative == (np.linalg.eigvalsh(S.toarray()) < 0).sum()
        b = np.random.default_rng(0).standard_normal((121, 2)).astype(dtype)
        w = factors.solve(b)
        np.testing.assert_allclose(S @ (w + factors.solve(b - S @ w)), b, atol=1e-9)

    def test_zero_diagonal(self, pivoting):
        """A saddle point: without pivoting there would be a zero pivot."""
        n = 40
        C = sp.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, 1])
        K = sp.csr_array(sp.block_array([[None, C], [C.T, None]]))
        factors = pivoting.indefinite(K)
        if factors is not None:
            assert factors.negative == n
            np.testing.assert_allclose(K @ factors.solve(np.ones(2 * n)), np.ones(2 * n), atol=1e-8)

    @pytest.mark.parametrize("distance", [1e-3, 1e-8, 1e-15, 0.0, -1e-15, -1e-8, -1e-3])
    def test_nearly_singular(self, pivoting, distance):
        K, _ = grid(12)
        lowest = np.linalg.eigvalsh(K.toarray())[0]
        factors = pivoting.definite(sp.csr_array(K + (distance - lowest) * sp.eye_array(144)))
        assert (factors is not None) == (distance >= 1e-8)

    def test_singular(self, pivoting):
        """The Laplacian of a cycle, which is singular but for rounding, and a matrix with an empty row."""
        n = 50
        cycle = sp.lil_array(sp.diags_array([-np.ones(n - 1), np.full(n, 2.0), -np.ones(n - 1)], offsets=[-1, 0, 1]))
        cycle[0, n - 1] = cycle[n - 1, 0] = -1
        assert pivoting.definite(sp.csr_array(cycle)) is None
        assert pivoting.definite(sp.csr_array(sp.diags_array(np.arange(n, dtype=float)))) is None
        factors = pivoting.indefinite(sp.csr_array(cycle))
        assert factors is None or not np.abs(cycle @ factors.solve(np.ones(n)) - 1).max() < 1e-3

    @pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
    def test_scale(self, pivoting, scale):
        K, _ = grid(9)
        factors = pivoting.definite(scale * K)
        np.testing.assert_allclose(scale * (K @ factors.solve(np.ones(81))), np.ones(81), rtol=1e-10)

    def test_many_at_once(self, pivoting):
        """Each has a memory of its own, and gives it back."""
        K, M = grid(9)
        kept = [pivoting.definite(sp.csr_array(K + s * M)) for s in range(20)]
        del kept[::2]
        gc.collect()
        for s, factors in zip(range(1, 20, 2), kept, strict=True):
            np.testing.assert_allclose((K + s * M) @ factors.solve(np.ones(81)), np.ones(81), rtol=1e-10)


@pytest.mark.parametrize("sigma", [2.0, 7.7])
def test_sigma(backend, sigma):
    K, M = grid(16)
    sol = sm.solve(K, M, 5, sigma=sigma, rng=0)
    values = scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True)
    expected = values[np.argsort(np.abs(values - sigma))][:5]
    np.testing.assert_allclose(np.sort(sol.eigenvalues), np.sort(expected), rtol=1e-9)
    # CHOLMOD does not do it, so whatever comes next
    made = [decision["backend"] for decision in sol.decisions if "backend" in decision.figures]
    assert backend == "CHOLMOD" or backend in made[-1]


class TestAdvice:
    def test_without_a_matrix(self, backend):
        sentence = backends.advice()
        assert (sentence is None) == (backend == "CHOLMOD")
        assert sentence is None or "scikit-sparse" in sentence

    def test_of_factors(self, backend):
        factors = backends.definite_factors(grid(9)[0])
        assert backends.advice(factors) == backends.advice()

    @pytest.mark.parametrize(
        ("size", "dtype", "said"), [(20, float, True), (21, float, False), (20, np.float32, False)]
    )
    def test_large_pairs_are_told(self, backend, size, dtype, said, monkeypatch):
        monkeypatch.setattr(back_transform, "WORTH_A_WORD", size**2)
        K, M = (sp.csr_array(X.astype(dtype)) for X in grid(20))
        sol = sm.solve(K, M, 2, rng=0)
        assert ("BACKEND_ADVICE" in choices(sol)) == (said and backend != "CHOLMOD")


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_bad_B_is_refused_by_all(backend, value):
    K, M = grid(9)
    M = M.tolil()
    M[40, :] = M[:, 40] = 0
    M[40, 40] = value
    with pytest.raises(sm.NotPositiveDefinite, match=r"pivot 40|row 40"):
        sm.solve(K, sp.csr_array(M), 3, rng=0)


@pytest.mark.parametrize("which", ["smallest", "largest"])
def test_indefinite_stiffness(backend, which):
    K, M = grid(12)
    sol = sm.solve(K - 2 * M, M, 4, which=which, rng=0, certify=True)
    values = scipy.linalg.eigh((K - 2 * M).toarray(), M.toarray(), eigvals_only=True)
    np.testing.assert_allclose(sol.eigenvalues, values[:4] if which == "smallest" else values[::-1][:4], rtol=1e-9)
    assert sol.verdict == "certified"


class TestDefiniteWithoutAFactor:
    """Where nothing solves with B, a few products show that it is a mass matrix; else it is factorised."""

    def test_singular_to_rounding(self):
        K, _ = grid(10)
        M = sp.csr_array(sp.kron(sp.eye_array(50), np.ones((2, 2))))
        with pytest.raises(sm.NotPositiveDefinite, match="singular to working precision"):
            sm.solve(K, M, 3, rng=0, method=sm.Accelerated())
        # its infinite eigenvalues are at the other end
        assert sm.solve(K, M, 3, which="smallest", rng=0, method=sm.Accelerated()).converged

    @pytest.mark.parametrize("low", [-1e-2, -1e-4, -1e-8])
    def test_one_bad_direction(self, low):
        """A path's Laplacian that is moved so that its least eigenvalue is negative."""
        K, _ = grid(12)
        path = sp.diags_array([-np.ones(143), np.full(144, 2.0), -np.ones(143)], offsets=[-1, 0, 1])
        M = sp.csr_array(path + (low - np.linalg.eigvalsh(path.toarray())[0]) * sp.eye_array(144))
        with pytest.raises(sm.NotPositiveDefinite):
            sm.solve(K, M, 3, which="smallest", rng=0, method=sm.Accelerated())


class TestOperators:
    @pytest.mark.parametrize(("kappa", "formed"), [(1.01, False), (1e4, True)])
    def test_small_operator_B(self, kappa, formed):
        """Its matrix is formed where that takes fewer products than the solves; the products are counted."""
        n, calls = 300, []
        rng = np.random.default_rng(0)
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        B = (Q * np.geomspace(1, kappa, n)) @ Q.T
        B = (B + B.T) / 2
        A = np.diag(np.linspace(0, 1, n))

        def product(x):
            calls.append(x.shape[1] if x.ndim == 2 else 1)
            return B @ x

        operator = LinearOperator((n, n), matvec=product, matmat=product, dtype=float)
        sol = sm.solve(A, operator, 2, rng=0)
        expected = scipy.linalg.eigh(A, B, eigvals_only=True)[::-1][:2]
        np.testing.assert_allclose(sol.eigenvalues, expected, rtol=1e-10)
        counts = sol.counts
        assert (counts.setup.B_products >= n) == formed
        # of a matrix that was formed, later products are its own
        booked = counts.setup.B_products + (0 if formed else counts.B_products + counts.monitoring.B_products)
        # three more show whether the operator is symmetric, and whether it writes to its argument
        assert sum(calls) == booked + 3


@pytest.mark.parametrize("name", ["diagonal", "blocks", "arrow", "half empty"])
def test_graphs_without_or_with_odd_edges(backend, name):
    n = 60
    arrow = sp.lil_array((n, n))
    arrow.setdiag(10.0)
    arrow[0, 1:] = arrow[1:, 0] = 0.1
    path = sp.diags_array([-np.ones(n // 2 - 1), np.full(n // 2, 2.5), -np.ones(n // 2 - 1)], offsets=[-1, 0, 1])
    B = {
        "diagonal": sp.diags_array(np.arange(1.0, n + 1)),
        "blocks": sp.block_diag([np.eye(2) + 1] * (n // 2)),
        "arrow": arrow,
        "half empty": sp.block_diag([sp.eye_array(n // 2), path]),
    }[name]
    factors = backends.definite_factors(sp.csr_array(B))
    assert backend in factors.name
    np.testing.assert_array_equal(np.sort(backends.triangular_factors(sp.csr_array(B)).order), np.arange(n))
    np.testing.assert_allclose(B @ factors.solve(np.ones(n)), np.ones(n), rtol=1e-12)


@pytest.mark.parametrize("certify", [False, True])
def test_floating_bodies(backend, certify):
    """Three bodies that nothing holds: as many zero modes, and all of their other modes three times."""
    m = 12
    ones = np.ones(m)
    ends = np.array([1.0, *2 * ones[2:], 1.0])
    K1 = sp.diags_array([-ones[1:], ends, -ones[1:]], offsets=[-1, 0, 1])
    M1 = sp.diags_array([ones[1:], 2 * ends, ones[1:]], offsets=[-1, 0, 1]) / 6
    K, M = sp.kron(K1, M1) + 1.1 * sp.kron(M1, K1), sp.kron(M1, M1)
    values = np.repeat(scipy.linalg.eigh(K.toarray(), M.toarray(), eigvals_only=True), 3)
    K, M = (sp.csr_array(sp.block_diag([X] * 3)) for X in (K, M))
    sol = sm.solve(K, M, 8, which="smallest", rng=0, certify=certify)
    np.testing.assert_allclose(sol.eigenvalues, values[:8], atol=1e-10 * values[8])
    assert sol.verdict == "certified"
