"""What holds for counted products: exact counts, views that share everything but the tally, and deflation."""

from dataclasses import asdict

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from asking import Counted
from checking import operator_of
from spaces import hermitian_pair
from splitmerge.linalg.cholesky import DenseFactor
from splitmerge.problem.products import Counts, Deflated, Products, Tally, shifted

N = 12
KINDS = {"dense": np.asarray, "sparse": sp.csr_array, "operator": operator_of}
each_kind = pytest.mark.parametrize("kind", KINDS)
each_dtype = pytest.mark.parametrize("dtype", [float, complex], ids=["real", "complex"])
NONE = asdict(Tally())


def vectors(dtype, count=3):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, count))
    return np.asfortranarray((X + 1j * rng.standard_normal((N, count)) if dtype is complex else X).astype(dtype))


def made(kind, dtype, *, identity=False, solver=None):
    A, B = hermitian_pair(N, dtype)
    make = KINDS[kind]
    pencil = sm.Pencil(make(A), None if identity else make(B))
    if solver == "CG":
        solver = sm.ConjugateGradient(None, tol=1e-14).prepare(Products(pencil))
    elif not identity:
        solver = DenseFactor(np.asfortranarray(B))
    return Products(pencil, solver=solver), A, np.eye(N, dtype=dtype) if identity else B


def own(counts):
    return {name: getattr(counts, name) for name in NONE}


class Solves:
    """(PᴴP)⁻¹ and (A − σB)⁻¹, both the identity."""

    def gram_solve(self, b):
        return b

    solve = gram_block = gram_solve


# each call, what it is booked as, and the matrix that it multiplies by
CALLS = {
    "apply_A": (lambda p, X: p.apply_A(X[:, 0].copy(), None), {"A_products": 1}),
    "apply_plain_A": (lambda p, X: p.apply_plain_A(X[:, 0].copy()), {"A_products": 1}),
    "apply_B": (lambda p, X: p.apply_B(X[:, 0].copy()), {"B_products": 1}),
    "products_A": (lambda p, X: p.products_A(X), {"A_products": 3}),
    "products_B": (lambda p, X: p.products_B(X), {"B_products": 3}),
    "in_double": (lambda p, X: p.in_double(X), {"A_products": 3, "B_products": 3}),
    "solve_B": (lambda p, X: p.solve_B(X[:, 0].copy()), {"B_solves": 1}),
    "solves_B": (lambda p, X: p.solves_B(X), {"B_solves": 3}),
    "apply_whitened": (lambda p, X: p.apply_whitened(X[:, 0].copy()), {"A_products": 1, "B_solves": 1}),
    "solve_K": (lambda p, X: p.solve_K(Solves(), X[:, 0]), {"K_solves": 1}),
    "solve_P": (lambda p, X: p.solve_P(Solves(), X[:, 0]), {"P_solves": 1}),
    "solves_P": (lambda p, X: p.solves_P(Solves(), X), {"P_solves": 3}),
    "project": (lambda p, X: p.project(X[:, 0], X[:, 0]), {}),
    "B_norm": (lambda p, X: p.B_norm(X[:, 0], X[:, 0]), {}),
}
each_call = pytest.mark.parametrize("name", CALLS)


class TestCounts:
    @each_call
    @each_dtype
    @each_kind
    def test_exact(self, kind, dtype, name):
        call, price = CALLS[name]
        products, _, _ = made(kind, dtype)
        for times in (1, 2):
            call(products, vectors(dtype))
            assert own(products.counts) == NONE | {key: times * number for key, number in price.items()}
        assert asdict(products.counts.setup) == asdict(products.counts.monitoring) == NONE

    @each_call
    def test_the_identity_is_free(self, name):
        call, price = CALLS[name]
        products, _, _ = made("dense", float, identity=True)
        call(products, vectors(float))
        assert own(products.counts) == NONE | {key: n for key, n in price.items() if not key.startswith("B_")}

    @each_call
    @pytest.mark.parametrize("phase", ["setup", "monitoring"])
    def test_phases_are_counted_apart(self, name, phase):
        call, price = CALLS[name]
        products, _, _ = made("dense", float)
        call(getattr(products, phase), vectors(float))
        other = {"setup": "monitoring", "monitoring": "setup"}[phase]
        assert asdict(getattr(products.counts, phase)) == NONE | price
        assert own(products.counts) == asdict(getattr(products.counts, other)) == NONE

    def test_a_column_is_a_product_of_the_operator(self):
        """What is counted is what was done."""
        A, B = (Counted(M) for M in hermitian_pair(N, float))
        products = Products(sm.Pencil(A, B))
        before = A.columns, B.columns
        X = vectors(float)
        products.apply_A(X[:, 0].copy(), None)
        products.products_A(X)
        products.monitoring.products_B(X)
        products.setup.in_double(X)
        counts = products.counts
        assert A.columns - before[0] == counts.A_products + counts.setup.A_products == 7
        assert B.columns - before[1] == counts.monitoring.B_products + counts.setup.B_products == 6

    def test_a_solver_that_multiplies_is_counted_where_it_is_used(self):
        products, _, B = made("operator", float, solver="CG")
        x = vectors(float)[:, 0].copy()
        w, Bw = products.solve_B(x)
        np.testing.assert_allclose(B @ w, x, atol=1e-10)
        np.testing.assert_allclose(Bw, B @ w, atol=1e-10)
        made_here = products.counts.B_products
        assert made_here > 0
        assert asdict(products.counts.monitoring) == NONE
        products.monitoring.solve_B(x)
        assert products.counts.B_products == made_here
        assert products.counts.monitoring.B_products == made_here
        assert products.counts.monitoring.B_solves == products.counts.B_solves == 1

    def test_swapped(self):
        """The products with (B, A − σB) in terms of (A, B)."""
        assert Tally(1, 2, 3, 4, 5).swapped() == Tally(2, 1, 4, 3, 5)
        counts = Counts(1, 0, 0, 0, 0)
        counts.add_swapped(Counts(1, 2, 3, 4, 5, setup=Tally(7), monitoring=Tally(0, 0, 8)))
        assert own(counts) == asdict(Tally(3, 1, 4, 3, 5))
        assert counts.setup == Tally(0, 7)
        assert counts.monitoring == Tally(0, 0, 0, 8)


class TestValues:
    @each_dtype
    @each_kind
    def test_products(self, kind, dtype):
        products, A, B = made(kind, dtype)
        X = vectors(dtype)
        x = X[:, 0].copy()
        pairs = [
            (products.apply_A(x, None), A @ x),
            (products.apply_plain_A(x), A @ x),
            (products.apply_B(x), B @ x),
            (products.products_A(X), A @ X),
            (products.products_B(X), B @ X),
            (products.in_double(X)[0], A @ X),
            (products.in_double(X)[1], B @ X),
            (products.solve_B(x)[0], np.linalg.solve(B, x)),
            (products.solves_B(X)[0], np.linalg.solve(B, X)),
        ]
        for found, expected in pairs:
            np.testing.assert_allclose(found, expected, atol=1e-11)
        assert products.B_norm(x, B @ x) == pytest.approx(np.sqrt((x.conj() @ B @ x).real))
        np.testing.assert_array_equal(X[:, 0], x)

    def test_identity(self):
        products, _, _ = made("dense", float, identity=True)
        X = vectors(float)
        assert products.apply_B(X[:, 0]).base is X
        assert products.products_B(X) is products.solves_B(X)[0] is X

    def test_a_negative_square_is_refused(self):
        products, _, _ = made("dense", float)
        with pytest.raises(sm.NotPositiveDefinite):
            products.B_norm(np.ones(N), -np.ones(N))


def deflated(kind, dtype, *, shift=0.7, found=2, identity=False):
    """The view, and the dense matrix Pᴴ(A + ηB)P with P = I − U UᴴB."""
    products, A, B = made(kind, dtype, identity=identity)
    U = vectors(dtype, 4)[:, :found]
    L = np.linalg.cholesky(U.conj().T @ B @ U) if found else np.zeros((0, 0), dtype)
    U = np.asfortranarray(np.linalg.solve(L, U.conj().T).conj().T if found else U)
    P = np.eye(N) - U @ U.conj().T @ B
    view = Deflated.of(products, shift, 3.0, U, np.asfortranarray(B @ U))
    return products, view, P.conj().T @ (A + shift * B) @ P, P, B


@each_dtype
@each_kind
@pytest.mark.parametrize("shift", [0.0, 0.7])
@pytest.mark.parametrize("found", [0, 1, 3])
class TestDeflated:
    def test_matrix(self, kind, dtype, shift, found):
        _, view, M, P, B = deflated(kind, dtype, shift=shift, found=found)
        for x in vectors(dtype).T:
            x = np.ascontiguousarray(x)
            np.testing.assert_allclose(view.apply_A(x, B @ x), M @ x, atol=1e-10)
            Px, BPx = view.project(x, B @ x)
            np.testing.assert_allclose(Px, P @ x, atol=1e-10)
            np.testing.assert_allclose(BPx, B @ P @ x, atol=1e-10)
            np.testing.assert_allclose(view.project_dual(x), P.conj().T @ x, atol=1e-10)

    def test_one_product_is_counted(self, kind, dtype, shift, found):
        products, view, _, _, B = deflated(kind, dtype, shift=shift, found=found)
        x = vectors(dtype)[:, 0].copy()
        view.apply_A(x, B @ x)
        assert own(products.counts) == NONE | {"A_products": 1}
        view.monitoring.apply_A(x, B @ x)
        view.setup.apply_B(x)
        assert own(products.counts) == NONE | {"A_products": 1}
        assert asdict(products.counts.monitoring) == NONE | {"A_products": 1}
        assert asdict(products.counts.setup) == NONE | {"B_products": 1}

    def test_what_is_neither_shifted_nor_deflated(self, kind, dtype, shift, found):
        products, view, _, _, _ = deflated(kind, dtype, shift=shift, found=found)
        X = vectors(dtype)
        np.testing.assert_array_equal(view.apply_plain_A(X[:, 0].copy()), products.apply_plain_A(X[:, 0].copy()))
        np.testing.assert_array_equal(view.products_A(X), products.products_A(X))
        np.testing.assert_array_equal(view.in_double(X)[0], products.in_double(X)[0])


class TestViews:
    SHARED = ("pencil", "A", "B", "counts", "budget", "explicit", "scale", "kernels")

    @pytest.mark.parametrize("phase", ["setup", "monitoring"])
    @pytest.mark.parametrize("kind", [Products, Deflated])
    def test_everything_but_the_tally(self, phase, kind):
        products, other, *_ = deflated("dense", float)
        whole = products if kind is Products else other
        view = getattr(whole, phase)
        assert type(view) is kind
        assert vars(view).keys() == vars(whole).keys()
        assert [name for name in vars(view) if vars(view)[name] is not vars(whole)[name]] == ["tally"]
        assert view.tally is getattr(whole.counts, phase)
        assert whole.tally is whole.counts, "the products themselves stay as they are"

    def test_a_view_of_a_view(self):
        products, _, _ = made("dense", float)
        assert products.setup.monitoring.tally is products.counts.monitoring
        assert products.monitoring.solving(None).tally is products.counts, "solving is the iteration's own again"

    def test_an_iterative_solver_is_bound_to_the_view(self):
        products, _, _ = made("operator", float, solver="CG")
        view = products.monitoring
        assert view.solver is not products.solver
        assert type(view.solver) is type(products.solver)

    def test_solving(self):
        products, _, B = made("dense", float)
        factor = DenseFactor(np.asfortranarray(B))
        explicit = np.eye(N)
        view = products.solving(factor, explicit)
        assert view.solver is factor
        assert view.explicit is explicit
        assert products.solver is not factor
        assert products.explicit is None

    def test_deflated_shares_the_rest(self):
        products, view, *_ = deflated("dense", float)
        different = [name for name in vars(products) if vars(view)[name] is not vars(products)[name]]
        assert different == ["scale"]
        assert (view.scale.shift, view.scale.radius) == (0.7, 3.0)
        assert (products.scale.shift, products.scale.radius) == (0.0, 0.0)

    def test_shifted(self):
        products, A, B = made("dense", float)
        assert shifted(products, 0.0) is products
        x = vectors(float)[:, 0].copy()
        np.testing.assert_allclose(shifted(products, 0.5).apply_A(x, B @ x), (A + 0.5 * B) @ x, atol=1e-11)

    def test_a_pencil_has_its_own(self):
        """A derived pencil shares no counts with the first."""
        pencil = sm.Pencil(np.eye(3), np.eye(3))
        pencil.apply_B(np.ones(3))
        assert pencil.counts.B_products == 1
        assert pencil.negated().counts.B_products == 0
        assert pencil.products is pencil.products
