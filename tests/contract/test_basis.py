"""What holds for a Krylov basis whatever has been done to it: V orthonormal, H the projection, T V = V H + Q C."""

import numpy as np
import pytest

import splitmerge as sm
from spaces import SPACES, Space
from splitmerge.methods.krylov.basis import Basis
from splitmerge.problem.products import Products
from splitmerge.problem.target import Target
from splitmerge.transforms import Whitened

N, CAPACITY = 48, 24
# the null space of a semidefinite B has no coordinates, and MINRES has too few digits
NAMES = ["Whitened, identity", "Whitened", "BInner", "ShiftInvert, negated"]
each_space = pytest.mark.parametrize("name", NAMES)
each_dtype = pytest.mark.parametrize("dtype", [float, complex], ids=["real", "complex"])
each_width = pytest.mark.parametrize("width", [1, 2, 3])


@pytest.fixture
def space(name, dtype):
    return SPACES[name](N, dtype)


def basis_of(space, width, target=Target.LARGEST):
    rng = np.random.default_rng(0)
    basis = Basis(space.transform, CAPACITY, target, rng)
    X = rng.standard_normal((N, width)).astype(space.transform.dtype)
    if space.transform.dtype.kind == "c":
        X = X + 1j * rng.standard_normal((N, width))
    basis.start(np.asfortranarray(X))
    return basis


def grown(space, width, size, **options):
    basis = basis_of(space, width, **options)
    while basis.size < size:
        basis.grow(size - basis.size)
    return basis


def projection(basis):
    """H, of which the lower triangle is stored."""
    H = np.tril(basis.H[: basis.size, : basis.size])
    return H + np.tril(H, -1).conj().T


def check(space, basis, tol=1e-10, dropped=0.0):
    """The invariant, up to components of the norm `dropped` that were left out on purpose."""
    T, G = space.matrix, space.gram
    size, width, reach = basis.size, basis.width, basis.reach
    V, Q = basis.V[:, :size], basis.V[:, size : size + width]
    both = basis.V[:, : size + width]
    assert np.abs(both.conj().T @ G @ both - np.eye(size + width)).max() <= tol, "V and Q are not orthonormal"
    scale = max(1.0, basis.radius)
    H = projection(basis)
    assert np.abs(V.conj().T @ G @ T @ V - H).max(initial=0.0) <= tol * scale + dropped, "H is not the projection of T"
    C = np.zeros((width, size), basis.V.dtype)
    C[:, size - reach :] = basis.coupling
    rest = T @ V - V @ H - Q @ C
    norm = np.sqrt(max(np.linalg.eigvalsh(rest.conj().T @ G @ rest)[-1], 0.0)) if size else 0.0
    assert norm <= tol * scale * size + 2 * dropped, "T V is not V H + Q C"
    return norm


def ritz_values(space, basis):
    """Those of the span of V, computed afresh."""
    T, G = space.matrix, space.gram
    V = basis.V[:, : basis.size]
    H = V.conj().T @ G @ T @ V
    return np.linalg.eigvalsh((H + H.conj().T) / 2)


@each_dtype
@each_space
@each_width
class TestInvariant:
    def test_start(self, space, width):
        basis = basis_of(space, width)
        assert (basis.size, basis.width, basis.products) == (0, width, 0)
        check(space, basis)

    def test_grow(self, space, width):
        basis = basis_of(space, width)
        for asked in (1, 1, 2, 5):
            before = basis.size
            made = basis.grow(asked)
            assert basis.size == before + made == basis.products
            check(space, basis)

    def test_the_products_are_counted(self, space, width):
        basis = basis_of(space, width)
        before = [getattr(space.products.tally, name) for name in ("A_products", "K_solves")]
        while basis.size < 9:
            basis.grow(9)
        after = [getattr(space.products.tally, name) for name in ("A_products", "K_solves")]
        assert sum(after) - sum(before) == basis.products == basis.size

    def test_restart(self, space, width):
        basis = grown(space, width, 18)
        values, S, _ = basis.ritz(basis.size)
        basis.restart(values[:7], S[:, :7])
        assert (basis.size, basis.reach, basis.width) == (7, 7, width)
        check(space, basis)
        # the first expansion after a restart is coupled to all of V
        for asked in (1, 1, 4):
            basis.grow(asked)
            check(space, basis)

    def test_restart_again_and_again(self, space, width):
        basis = basis_of(space, width)
        for _ in range(3):
            while not basis.full:
                basis.grow(1)
            assert basis.size + basis.width <= CAPACITY
            values, S, _ = basis.ritz(basis.size)
            basis.restart(values[:8], S[:, :8])
        basis.grow(3)
        check(space, basis)

    @pytest.mark.parametrize("again", [1, 4])
    def test_start_again(self, space, width, again):
        """Nothing is left of a basis that was larger, or wider, or restarted."""
        basis = grown(space, width, 18)
        values, S, _ = basis.ritz(basis.size)
        basis.restart(values[:7], S[:, :7])
        basis.grow(5)
        X = np.random.default_rng(1).standard_normal((N, again)).astype(space.transform.dtype)
        basis.start(np.asfortranarray(X))
        assert (basis.size, basis.width) == (0, again)
        while basis.size < 14:
            basis.grow(2)
            check(space, basis)

    def test_scatter(self, space, width):
        """A random vector in place of the waiting block: what is left out is the coupling to that."""
        basis = grown(space, width, 15)
        dropped = float(np.linalg.norm(basis.coupling, 2))
        basis.scatter()
        assert (basis.width, basis.reach, basis.coupling.shape) == (1, 0, (1, 0))
        norm = check(space, basis, dropped=dropped)
        assert norm == pytest.approx(dropped, rel=1e-6)
        basis.grow(1)
        check(space, basis, dropped=dropped)

    def test_restart_without_the_waiting_block(self, space, width):
        """As a probe does it, with Ritz pairs that have converged: nothing is lost then."""
        basis = basis_of(space, width)
        for _ in range(40):
            if basis.full:
                values, S, _ = basis.ritz(basis.size)
                basis.restart(values[:10], S[:, :10])
            basis.grow(4)
        values, S, errors = basis.ritz(basis.size)
        lost = float(errors[:2].max())
        assert lost < 1e-6
        basis.restart(values[:2], S[:, :2], couple=False)
        assert (basis.size, basis.width, basis.reach) == (2, 1, 0)
        check(space, basis, dropped=2 * lost)
        basis.grow(5)
        check(space, basis, dropped=2 * lost)

    def test_ritz(self, space, width):
        """Ritz values and the norms of their residuals."""
        T, G = space.matrix, space.gram
        basis = grown(space, width, 12)
        values, S, errors = basis.ritz(basis.size)
        np.testing.assert_allclose(np.sort(values), ritz_values(space, basis), atol=1e-9 * basis.radius)
        assert (np.diff(values) <= 0).all(), "the largest first"
        Y = basis.V[:, : basis.size] @ S
        R = T @ Y - Y * values
        norms = np.sqrt(np.abs(np.einsum("ij,ij->j", R.conj(), G @ R)))
        np.testing.assert_allclose(errors, norms, atol=1e-9 * basis.radius)
        for i in range(3):
            waiting = basis.V[:, basis.size : basis.size + basis.width]
            np.testing.assert_allclose(waiting @ basis.tail(S[:, i : i + 1]), R[:, i], atol=1e-9 * basis.radius)

    def test_fewer_ritz_values(self, space, width):
        basis = grown(space, width, 12)
        values, S, errors = basis.ritz(basis.size)
        some, coefficients, their_errors = basis.ritz(2)
        assert some.size >= 2
        np.testing.assert_allclose(some[:2], values[:2], atol=1e-10 * basis.radius)
        np.testing.assert_allclose(their_errors[:2], errors[:2], atol=1e-10 * basis.radius)
        angles = np.abs(np.einsum("ij,ij->j", coefficients[:, :2].conj(), S[:, :2]))
        np.testing.assert_allclose(angles, 1, atol=1e-8)

    def test_vectors(self, space, width):
        G = space.gram
        basis = grown(space, width, 12)
        _, S, _ = basis.ritz(basis.size)
        for count in (1, 3):
            Y = basis.vectors(S[:, :count])
            np.testing.assert_allclose(Y, basis.V[:, : basis.size] @ S[:, :count], atol=1e-10)
            np.testing.assert_allclose(Y.conj().T @ G @ Y, np.eye(count), atol=1e-10)

    def test_settle(self, space, width):
        """A run that is broken off in its first products has the waiting block for a basis."""
        basis = basis_of(space, width)
        basis.settle()
        assert (basis.size, basis.width) == (width, 0)
        T, G = space.matrix, space.gram
        V = basis.V[:, :width]
        np.testing.assert_allclose(V.conj().T @ G @ T @ V, projection(basis), atol=1e-10 * max(1.0, basis.radius))


@each_dtype
@pytest.mark.parametrize("name", ["Whitened", "BInner", "ShiftInvert"])
class TestBreakdown:
    def test_an_invariant_subspace(self, space):
        """A start in it is exhausted after as many products, and a random vector goes on without coupling."""
        rng = np.random.default_rng(0)
        basis = Basis(space.transform, CAPACITY, Target.LARGEST, rng)
        X = space.finite_pairs()[1][:, [3, 20, 41]].sum(axis=1, keepdims=True)
        basis.start(np.asfortranarray(X.astype(space.transform.dtype)))
        while basis.size < 3:
            basis.grow(3)
        check(space, basis, tol=1e-6)
        assert basis.width == 1
        assert np.abs(basis.coupling).max(initial=0.0) <= 1e-6 * basis.radius
        basis.grow(4)
        check(space, basis, tol=1e-6)

    def test_two_columns_in_an_invariant_subspace(self, space):
        """One of them is exhausted before the other, and what is left of it is rounding."""
        rng = np.random.default_rng(0)
        basis = Basis(space.transform, CAPACITY, Target.LARGEST, rng)
        U = space.finite_pairs()[1]
        X = np.column_stack([U[:, [3, 20, 41]].sum(axis=1), rng.standard_normal(N)])
        basis.start(np.asfortranarray(X.astype(space.transform.dtype)))
        while basis.size < 6:
            basis.grow(6)
        check(space, basis, tol=1e-6)
        basis.grow(4)
        check(space, basis, tol=1e-6)

    def test_dependent_columns(self, space):
        """Only the independent ones wait."""
        rng = np.random.default_rng(0)
        basis = Basis(space.transform, CAPACITY, Target.LARGEST, rng)
        x = rng.standard_normal((N, 2)).astype(space.transform.dtype)
        basis.start(np.asfortranarray(np.column_stack([x, x[:, :1] + x[:, 1:], 2 * x[:, 1:]])))
        assert basis.width == 2
        basis.grow(2)
        check(space, basis)

    def test_the_whole_space(self, space):
        basis = Basis(space.transform, N, Target.LARGEST, np.random.default_rng(0))
        basis.start(np.asfortranarray(np.ones((N, 1), space.transform.dtype)))
        while basis.width:
            basis.grow(N)
        assert basis.complete
        check(space, basis, tol=1e-8)
        values, _, errors = basis.ritz(N)
        assert errors.max() <= 1e-8 * basis.radius
        found = np.sort([space.transform.value(theta) for theta in values.tolist()])
        np.testing.assert_allclose(found, space.finite_pairs()[0], rtol=1e-6, atol=1e-8)


@each_dtype
@pytest.mark.parametrize("target", [Target.MAGNITUDE, Target.ENDS, Target.farthest(0.5)], ids=lambda t: t.name)
def test_the_order_of_the_target(dtype, target):
    space = SPACES["Whitened"](N, dtype)
    basis = grown(space, 1, 12, target=target)
    values, _, _ = basis.ritz(basis.size)
    rising = np.sort(values)
    np.testing.assert_array_equal(values, rising[target.order(rising)])
    assert basis.shift == 0


def test_inexact_solves():
    """With conjugate gradients to nearly the last digit, the invariant holds to nearly the last digit."""
    space = SPACES["BInner by conjugate gradients"](N, complex)
    basis = grown(space, 3, 15)
    values, S, _ = basis.ritz(basis.size)
    basis.restart(values[:7], S[:, :7])
    basis.grow(3)
    check(space, basis)


def test_semi_orthogonal():
    """Where a loose tolerance allows it, orthogonality is kept to √eps only, and H stays the projection."""
    space = SPACES["Whitened, identity"](N, float)
    basis = basis_of(space, 1)
    basis.loose = True
    while not basis.full:
        basis.grow(4)
    V = basis.V[:, : basis.size]
    assert np.abs(V.T @ V - np.eye(basis.size)).max() <= basis.eps**0.5
    np.testing.assert_allclose(V.T @ space.A @ V, projection(basis), atol=1e-6 * basis.radius)


def grown_semi_orthogonal(stride, dtype, period):
    """A value far from the others converges at once, so that orthogonality is lost within a few steps."""
    A = np.diag(np.r_[np.linspace(0, 1, 199), 10.0]).astype(dtype)
    space = Space(Whitened(Products(sm.Pencil(A))), A, None)
    basis = Basis(space.transform, 60, Target.LARGEST, np.random.default_rng(0))
    basis.start(np.ones((200, 1), dtype))
    basis.loose, basis.period = True, period
    while not basis.full:
        basis.grow(stride)
        both = basis.V[:, : basis.size + basis.width]
        assert basis.width == 1
        assert np.abs(both.conj().T @ both - np.eye(both.shape[1])).max() <= basis.eps**0.5
    V = basis.V[:, : basis.size]
    np.testing.assert_allclose(V.conj().T @ A @ V, projection(basis), atol=1e-6)
    return basis


@pytest.mark.parametrize("stride", [1, 2, 30], ids=str)
@pytest.mark.parametrize("dtype", [float, complex])
class TestLostSemiOrthogonality:
    def test_the_period_follows_the_loss(self, stride, dtype):
        basis = grown_semi_orthogonal(stride, dtype, 1)
        assert basis.products == basis.size
        assert basis.period < 10

    def test_steps_without_it_are_discarded(self, stride, dtype):
        basis = grown_semi_orthogonal(stride, dtype, 40)
        # checked in every step, none are
        assert basis.products == basis.size or stride > 1
        assert basis.products > basis.size or stride < 30
        assert basis.products < 3 * basis.size

    def test_few_vectors_are_reorthogonalised(self, stride, dtype, monkeypatch):
        calls = []
        reorthogonalise = Basis._reorthogonalise
        monkeypatch.setattr(Basis, "_reorthogonalise", lambda *given: calls.append(1) or reorthogonalise(*given))
        basis = grown_semi_orthogonal(stride, dtype, 1)
        assert len(calls) < 0.75 * basis.products


@pytest.mark.parametrize("width", [1, 2, 3])
@each_dtype
def test_the_recurrence_leaves_nothing_to_remove(width, dtype):
    """Otherwise the dual of each new vector would be computed again, which takes a product with B.

    It is at most for all but the first of a block, if they cannot be orthonormalised at once.
    """
    space = SPACES["BInner"](N, dtype)
    basis = basis_of(space, width)

    def duals(steps):
        before = space.products.tally.B_products
        for _ in range(steps):
            basis.expand()
        return space.products.tally.B_products - before

    assert duals(4) <= 4 * (width - 1)
    values, S, _ = basis.ritz(basis.size)
    keep = basis.size // 2
    basis.restart(values[:keep], S[:, :keep])
    # the vectors that are kept have no duals
    assert width <= duals(1) <= width + width - 1
    assert duals(1) <= width - 1
