"""What holds for every spectral transformation: coordinates, inner product, eigenvalues and counts."""

import dataclasses

import numpy as np
import pytest
import scipy.linalg

from spaces import SIGMA, SPACES
from splitmerge.transforms import (
    BInner,
    LumpedInverse,
    LumpedShiftInvert,
    SemidefiniteShiftInvert,
    ShiftInvert,
    Whitened,
)

N = 14
each_dtype = pytest.mark.parametrize("dtype", [float, complex], ids=["real", "complex"])
each_space = pytest.mark.parametrize("name", SPACES)


@pytest.fixture
def space(name, dtype):
    # made anew for each test, as they count
    return SPACES[name](N, dtype)


# They leave their coordinates by a solve.
SOLVING = LumpedInverse, LumpedShiftInvert, SemidefiniteShiftInvert


def some_vectors(space, count=3, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, count))
    if space.transform.dtype.kind == "c":
        X = X + 1j * rng.standard_normal((N, count))
    return np.asfortranarray(X.astype(space.transform.dtype))


def entered(space, X):
    """Coordinates that a vector of the pencil can have, and their duals."""
    return [part.copy() for part in space.transform.enter(X)]


def close(a, b, tol=1e-9):
    np.testing.assert_allclose(a, b, rtol=0, atol=tol * max(1.0, float(np.abs(b).max(initial=0.0))))


def inner(space):
    """The matrix of the inner product."""
    return space.A if isinstance(space.transform, LumpedInverse) else space.mass


def tallies(space):
    counts = space.products.counts
    own = {name: getattr(counts, name) for name in ("A_products", "B_products", "B_solves", "K_solves", "P_solves")}
    return own, dataclasses.asdict(counts.setup), dataclasses.asdict(counts.monitoring)


@each_dtype
@each_space
class TestLaws:
    def test_leave_undoes_enter(self, space):
        """Where a solve leads back, on eigenvectors and up to their sign: a singular B has no other coordinates."""
        semidefinite = isinstance(space.transform, SOLVING)
        X = space.finite_pairs()[1] if semidefinite else some_vectors(space)
        for block in (X, X[:, :1]):
            back = space.transform.leave(entered(space, np.asfortranarray(block))[0])
            if semidefinite:
                close(np.abs(np.einsum("ij,ij->j", back.conj(), space.mass @ block)), np.ones(block.shape[1]))
                back = back * np.sign(np.einsum("ij,ij->j", back.conj(), space.mass @ block).real)
            close(back, block)

    def test_the_inner_product_is_that_of_B(self, space):
        """⟨y, y'⟩ = zᴴy' = xᴴBx'; of an inverted pair (B, K) it is still that of B."""
        X = some_vectors(space)
        Y, Z = entered(space, X)
        close(Z.conj().T @ Y, X.conj().T @ inner(space) @ X)

    def test_duals(self, space):
        Y, Z = entered(space, some_vectors(space))
        close(space.duals(Y), Z)
        if space.transform.single:
            close(Y, Z, 0.0)

    def test_the_dual_of_a_product(self, space):
        for y in entered(space, some_vectors(space))[0].T:
            Ty, dual = space.times(y)
            close(dual, space.transform.dual(np.ascontiguousarray(Ty)))

    def test_hermitian(self, space):
        """⟨T y, y'⟩ = ⟨y, T y'⟩."""
        Y, Z = entered(space, some_vectors(space, 4))
        TY, TZ = (np.column_stack(parts) for parts in zip(*[space.times(y) for y in Y.T], strict=True))
        close(TZ.conj().T @ Y, Z.conj().T @ TY)

    def test_what_it_multiplies_by(self, space):
        """T is B⁻¹A or ±(A − σB)⁻¹B in the coordinates of the pencil."""
        X = some_vectors(space)
        expected = np.linalg.solve(space.A - SIGMA * space.mass, space.mass @ X)
        if space.transform.direct:
            expected = np.linalg.solve(space.mass, space.A @ X)
        else:
            expected *= space.transform.sign
        TY = np.column_stack([space.times(y)[0] for y in entered(space, X)[0].T])
        close(TY, entered(space, np.asfortranarray(expected))[0])

    def test_a_block_is_its_columns(self, space):
        """The same products, their duals, and the same counts."""
        transform = space.transform
        Y, _ = entered(space, some_vectors(space))
        Z = np.asfortranarray(space.duals(Y))
        before = tallies(space)[0]
        singles = [
            transform.complete(transform.apply(y.copy(), z)) for y, z in zip(Y.T.copy(), Z.T.copy(), strict=True)
        ]
        between = tallies(space)[0]
        TY, TZ = transform.complete_block(transform.apply_block(np.asfortranarray(Y), Z))
        after = tallies(space)[0]
        close(TY, np.column_stack([single for single, _ in singles]))
        close(TZ, np.column_stack([dual for _, dual in singles]))
        assert {name: after[name] - between[name] for name in after} == {
            name: between[name] - before[name] for name in after
        }

    def test_eigenvalues(self, space):
        """`value` maps those of T to those of the pencil."""
        T = space.matrix
        G = space.gram
        thetas = scipy.linalg.eigh((G @ T + (G @ T).conj().T) / 2, (G + G.conj().T) / 2, eigvals_only=True)
        if not space.transform.direct:
            thetas = thetas[np.abs(thetas) > 1e-8]
        close(np.sort([space.transform.value(theta) for theta in thetas.tolist()]), space.finite_pairs()[0], 1e-8)

    def test_direct_or_not(self, space):
        assert space.transform.value(0.7) == 0.7 if space.transform.direct else space.transform.value(0.0) == np.inf

    def test_image(self, space):
        """‖Bx‖ for the x of these coordinates."""
        X = some_vectors(space)
        for x, y in zip(X.T, entered(space, X)[0].T, strict=True):
            found = np.linalg.norm(space.transform.image(np.ascontiguousarray(y)))
            assert found == pytest.approx(float(np.linalg.norm(inner(space) @ x)), rel=1e-9)

    def test_monitoring_is_counted_apart(self, space):
        """A monitored transformation does the same, but everything is booked as monitoring."""
        transform, monitored = space.transform, space.transform.monitored()
        assert type(monitored) is type(transform)
        before = tallies(space)
        Y, Z = monitored.enter(some_vectors(space))
        for y, z in zip(Y.T.copy(), Z.T.copy(), strict=True):
            monitored.complete(monitored.apply(y, z))
            monitored.dual(y)
        monitored.leave(Y.copy(order="F"))
        after = tallies(space)
        assert after[:2] == before[:2]
        assert sum(after[2].values()) > sum(before[2].values())
        # and the other way round
        y, z = (np.ascontiguousarray(part[:, 0]) for part in (Y, Z))
        transform.complete(transform.apply(y, z))
        assert tallies(space)[0] != after[0]
        assert tallies(space)[1:] == after[1:]

    def test_a_norm_is_monitoring(self, space):
        before = tallies(space)
        space.transform.image(np.ascontiguousarray(entered(space, some_vectors(space))[0][:, 0]))
        entering = tallies(space)
        space.transform.image(np.ones(N, space.transform.dtype))
        assert tallies(space)[0] == entering[0]
        assert tallies(space)[1] == before[1]

    def test_the_input_of_enter_stays(self, space):
        X = some_vectors(space)
        kept = X.copy()
        for part in space.transform.enter(X):
            part[:] = 0
        assert np.array_equal(X, kept)


# what one product with T is booked as: with an A, a solve with B, a solve with A − σB and a product with B
PRICES = {
    "Whitened, identity": {"A_products": 1},
    "Whitened": {"A_products": 1, "B_solves": 1},
    "Whitened, formed": {"A_products": 1},
    "BInner": {"A_products": 1, "B_solves": 1},
    "ShiftInvert, identity": {"K_solves": 1},
    "ShiftInvert": {"K_solves": 1, "B_products": 1},
    "ShiftInvert, sparse": {"K_solves": 1, "B_products": 1},
    "SemidefiniteShiftInvert": {"K_solves": 1},
}


@each_dtype
@pytest.mark.parametrize("name", PRICES)
def test_what_a_product_costs(space, name):
    y = np.ones(N, space.transform.dtype)
    z = space.transform.dual(y).copy()
    before = tallies(space)[0]
    space.transform.complete(space.transform.apply(y, z))
    spent = {key: value - before[key] for key, value in tallies(space)[0].items() if value != before[key]}
    assert spent == PRICES[name]


def test_every_transformation_is_here():
    kinds = {type(make(N, float).transform) for make in SPACES.values()}
    assert kinds == {Whitened, BInner, ShiftInvert, *SOLVING}
