"""What a search decides by its Ritz values, and a decomposition by its eigenvalues: both sides of each threshold."""

import math

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from asking import asked
from pairs import pair_of
from rotated import pair as rotated_pair
from splitmerge.linalg.cholesky import DenseFactor
from splitmerge.methods.deflation import Ended
from splitmerge.methods.direct import Direct, hides_others
from splitmerge.methods.krylov.thick_restart import ThickRestart
from splitmerge.methods.lobpcg.iteration import Lobpcg
from splitmerge.methods.probe import outside, unless_converged, unseen_distance
from splitmerge.methods.setup import Setup
from splitmerge.methods.survey import survey
from splitmerge.objective.state import State
from splitmerge.planning.choose import choose
from splitmerge.preparation.prepare import bind, setups
from splitmerge.preparation.workspace import Workspace
from splitmerge.problem.products import Products
from splitmerge.problem.target import Target
from splitmerge.run.reason import Reason
from splitmerge.transforms import Whitened

EPS = float(np.finfo(float).eps)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("others", [[], [1.0], [1.0] * 20], ids=len)
def test_rounding_of_the_largest_hides_the_smallest(others, unit):
    """By ten units of it beyond a millionth; whatever lies between, and of either sign."""
    edge = 1e6 * 10 * EPS
    for factor, hidden in ((1.1, False), (0.9, True)):
        for sign in (1, -1):
            values = [unit * value for value in (1.0, *others, sign * factor * edge)]
            assert hides_others(values) is hidden
            assert hides_others(np.array(values[::-1])) is hidden


def search_with(values, k, target, errors):
    products = Products(sm.Pencil(np.diag(np.arange(1.0, 61.0))))
    search = ThickRestart(Setup(products, target, k, np.random.default_rng(0), transform=Whitened(products)))
    search.values, search.errors = np.array(values), np.array(errors)
    return search


GOOD, BAD = 1e-9, 1.0


@pytest.mark.parametrize(
    ("target", "values", "errors", "settled"),
    [
        # a Ritz value may hide an eigenvalue ten times its error away
        (Target.LARGEST, [9.0, 5.0], [GOOD, 0.39], True),
        (Target.LARGEST, [9.0, 5.0], [GOOD, 0.41], False),
        (Target.LARGEST, [9.0, -50.0], [GOOD, 5.8], True),
        # by magnitude on either side of zero, with one value that follows or two
        (Target.MAGNITUDE, [9.0, 5.0], [GOOD, BAD], False),
        (Target.MAGNITUDE, [9.0, -5.0], [GOOD, BAD], False),
        (Target.MAGNITUDE, [-9.0, 5.0], [GOOD, BAD], False),
        (Target.MAGNITUDE, [-9.0, -5.0], [GOOD, BAD], False),
        (Target.MAGNITUDE, [9.0, 5.0, -4.0], [GOOD, 0.3, 0.3], True),
        (Target.MAGNITUDE, [9.0, 5.0, -4.0], [GOOD, GOOD, BAD], False),
        (Target.MAGNITUDE, [9.0, -5.0, 4.0], [GOOD, GOOD, BAD], False),
        (Target.MAGNITUDE, [9.0, -5.0, 4.0], [GOOD, BAD, GOOD], False),
        (Target.MAGNITUDE, [9.0, -5.0, 4.0], [GOOD, 0.3, 0.3], True),
        # at both ends: the window is between the worst of each
        (Target.ENDS, [9.0, -9.0, 5.0], [GOOD, GOOD, 0.3], True),
        (Target.ENDS, [9.0, -9.0, 5.0], [GOOD, GOOD, 0.5], False),
        (Target.ENDS, [9.0, -9.0, -5.0], [GOOD, GOOD, 0.5], False),
    ],
)
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_search_is_settled_on_both_sides(target, values, errors, settled, unit):
    k = 2 if target is Target.ENDS else 1
    assert search_with(unit * np.array(values), k, target, unit * np.array(errors)).settled() is settled


def test_a_whole_space_is_settled():
    search = search_with([9.0], 1, Target.LARGEST, [BAD])
    assert search.settled()


def test_outside():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    assert [outside(values, low, high) for low, high in ((1, 4), (1.5, 4), (1, 3.5), (2.5, 2.6), (0, 9))] == [
        *(0, 1, 1, 4, 0)
    ]


@pytest.mark.parametrize("spread", [1e-6, 1.0, 1e6])
def test_what_a_probe_has_not_seen(spread):
    """θ/(1 − ε) where 1.648 √n exp(−√ε (2j − 1)) is a thousandth, as a fraction of the width of the spectrum."""
    for steps, n in ((20, 100), (50, 10_000)):
        root = math.log(1.648 * math.sqrt(n) / 1e-3) / (2 * steps - 1)
        assert unseen_distance(steps, n, spread) == pytest.approx(spread * root**2 / (1 - root**2))
    assert unseen_distance(3, 100, spread) == math.inf


def test_doubts_of_values_that_have_not_converged():
    """At least what was not seen; a converged one hides what is within a thousand of its errors."""
    doubt, hidden = unless_converged(np.array([10.0, -10.0, 10.0]), np.array([0.9e-3, 1.1e-3, 5.0]), 1e-4, 2.0)
    np.testing.assert_allclose(doubt, [0.9e-3, 2.0, 5.0])
    np.testing.assert_allclose(hidden, [0.9, 2.0, 5.0])


def search_of(kind, target=Target.LARGEST, mass=1.0, k=3, steps=6, n=60, dtype=float):
    every = np.r_[np.linspace(-8, 8, n - 4), -12.0, -9.5, 10.0, 13.0]
    A, B = pair_of(every, dtype=dtype)
    products = Products(sm.Pencil(A, mass * B), solver=DenseFactor(mass * B))
    search = kind(Setup(products, target, k, np.random.default_rng(0), transform=Whitened(products)))
    search.launch(np.random.default_rng(1).standard_normal((n, 1)).astype(dtype))
    for _ in range(steps):
        search.advance()
    return search, A, mass * B, every / mass


@pytest.mark.parametrize("target", [Target.LARGEST, Target.MAGNITUDE, Target.ENDS], ids=lambda target: target.name)
@pytest.mark.parametrize("dtype", [float, complex])
def test_a_checkpoint_holds_the_wanted_vectors(target, dtype):
    """The Ritz vectors of the present wanted values, on whichever side they are, and no product is made for it."""
    search, A, B, _ = search_of(ThickRestart, target, dtype=dtype)
    counts = search.products.counts
    before = counts.products, counts.A_products, counts.B_solves, counts.B_products
    X = search.checkpoint()
    assert (counts.products, counts.A_products, counts.B_solves, counts.B_products) == before
    H, G = (X.conj().T @ M @ X for M in (A, B))
    kept = scipy.linalg.eigh(H, G, eigvals_only=True)
    for value in search.values[:3]:
        assert np.abs(kept - value).min() <= 1e-8 * abs(value)
    np.testing.assert_allclose(kept[target.order(kept)][:3], search.values[:3], rtol=1e-8)


@pytest.mark.parametrize("mass", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("kind", [ThickRestart, Lobpcg])
def test_errors_are_those_of_eigenvalues_in_any_unit_of_B(kind, mass):
    """Neither too small to hold nor larger than ‖r‖‖x‖ times what the condition of B allows."""
    search, A, B, every = search_of(kind, mass=mass, steps=3)
    for index in range(3):
        state = search.ritz_pair(index)
        x, value = state.x, search.values[index]
        r = A @ x - value * (B @ x)
        exact = math.sqrt(r @ np.linalg.solve(B, r))
        # ‖r‖ ‖x‖ is within the root of the condition of B, which is 3
        assert exact / 2 <= search.errors[index] <= 2 * exact + 1e-12 * abs(value)
        assert np.abs(every - value).min() <= 1.01 * exact + 1e-12 * abs(value)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("lowest", [-4.0, -1e-3, 0.0, 0.5])
def test_a_survey_bounds_every_eigenvalue_from_below(lowest, unit):
    """λ_j ≥ bounds[j]; its leader is nearly the first vector, and A + ηB is semidefinite."""
    every = np.r_[np.linspace(lowest, 2.0, 28), 3.0, 4.0]
    A, B = pair_of(every)
    pencil = sm.Pencil(unit * A, B)
    products = Products(pencil, solver=DenseFactor(pencil.B.matrix))
    found = survey(products, np.random.default_rng(0))
    exact = scipy.linalg.eigvalsh(pencil.A.matrix, pencil.B.matrix)
    descending = exact[::-1][: found.bounds.size]
    assert (np.diff(found.bounds) <= 0).all()
    assert (descending >= found.bounds).all()
    np.testing.assert_allclose(found.bounds[:2], descending[:2], rtol=1e-6)
    assert found.radius == pytest.approx(np.abs(exact).max(), rel=1e-6)
    assert (found.shift > 0) == (lowest < 0)
    assert exact[0] + found.shift >= -1e-12 * found.radius
    assert found.shift <= 1.1 * max(-exact[0], 0.0) + 0.1 * found.radius
    x = found.leader
    assert x @ pencil.A.matrix @ x / (x @ pencil.B.matrix @ x) == pytest.approx(exact[-1], rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("k", [1, 2, 9])
def test_a_decomposition_knows_what_follows_in_every_precision(k, dtype):
    """Its vectors are in double precision, and the gap is to the next value."""
    every = np.arange(1.0, 11.0) ** 2
    A, B = (M.astype(dtype) for M in pair_of(every, dtype=np.result_type(dtype, float)))
    iteration = Direct(Setup(Products(sm.Pencil(A, B)), Target.LARGEST, k, np.random.default_rng(0)))
    iteration.start(np.zeros((10, 0)))
    block = iteration.block()
    assert block.vectors.dtype == np.result_type(dtype, float)
    np.testing.assert_allclose(block.gaps, every[::-1][:k] - every[::-1][k], rtol=1e-3)


def test_the_inverse_of_a_definite_shift_is_at_the_shift():
    """Below and above the spectrum of a sparse pair, too, and its solve is that of A − σB, in whatever unit."""
    A, B = pair_of(np.linspace(1.0, 9.0, 30))
    for sigma in (-2.0, 4.1, 11.0):
        for unit in (1e-6, 1.0, 1e6):
            sol = sm.solve(sp.csr_array(unit * A), sp.csr_array(B), 2, sigma=sigma * unit, rng=0, tol=1e-2)
            V, w = sol.eigenvectors, sol.eigenvalues
            for value, v, bound in zip(w, V.T, sol.error_bounds, strict=True):
                r = unit * (A @ v) - value * (B @ v)
                e = np.linalg.solve(unit * A - sigma * unit * B, r)
                relative = math.sqrt(e @ B @ e)
                least = abs(value - sigma * unit) * relative
                assert bound <= 1.01 * least / (1 - relative) + 1e-9 * unit


@pytest.mark.parametrize(
    "question", [{"which": "smallest"}, {"sigma": 5.1}, {"which": "largest"}, {"which": "ends"}], ids=str
)
@pytest.mark.parametrize("masses", ["identity", "lumped", "consistent"])
def test_a_checkpoint_costs_the_iteration_nothing(masses, question):
    """Solves and products that make its vectors are monitoring."""
    A, B = rotated_pair(np.linspace(1, 40, 300) ** 1.5, masses)
    problem, pencil = asked(A, B, 3, method=sm.Accelerated(), **question)
    workspace = Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))
    search = bind(next(iter(setups(workspace)))[1])
    search.launch(np.random.default_rng(1).standard_normal((300, 1)))
    for _ in range(6):
        search.advance()
    counts = search.products.counts
    own = ("A_products", "B_products", "B_solves", "K_solves", "P_solves", "products")
    before = [getattr(counts, name) for name in own]
    X = search.checkpoint()
    assert [getattr(counts, name) for name in own] == before
    assert X.shape[0] == 300


@pytest.mark.parametrize("locked", [0, 1])
def test_a_first_pair_that_was_passed_over_is_sought_from_the_survey(locked):
    """Its leader is nearly the first vector; for later pairs, which it tells nothing of, from a random one."""
    A, B = pair_of(np.r_[np.linspace(0.5, 2, 27), 4.0, 6.0, 9.0])
    U = scipy.linalg.eigh(A, B)[1]
    problem, pencil = asked(A, B, 2, method=sm.Power())
    workspace = Workspace(problem, pencil, choose(problem, pencil), np.random.default_rng(0))
    iteration = bind(next(iter(setups(workspace)))[1])
    state = iteration.start(U[:, -1:])
    if locked:
        state = iteration._settled(Ended(state, Reason.RESIDUAL))
        assert iteration.pair == 1
    x = np.ascontiguousarray(U[:, 3])
    state = State(iteration.deflated, x, A @ x, B @ x)
    again = iteration._restarted(Ended(state, Reason.RESIDUAL))
    assert isinstance(again, State)
    leader = iteration.survey.leader
    cosine = abs(again.x @ B @ leader) / math.sqrt((again.x @ B @ again.x) * (leader @ B @ leader))
    assert (cosine > 0.999) == (locked == 0)
