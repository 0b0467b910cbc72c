"""The iterates of a method outside of `solve`: its options are those of the method."""

import itertools

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import splitmerge as sm
from checking import METHODS, short
from pairs import EASY, HARD, pair_of


@pytest.mark.parametrize("kind", [sm.Power, sm.SplitMerge, sm.Lanczos, sm.Accelerated])
def test_systems_with_B_are_solved_by_the_solver_of_the_method(kind):
    """As many of them as are counted, beside the one that checks the solver."""
    A, B = EASY
    solved = []

    def solve(b):
        solved.append(b)
        return np.linalg.solve(B, b)

    pencil = sm.Pencil(A, B)
    states = sm.iterates(pencil, method=kind(inner=sm.UserSolve(solve)), rng=0)
    values = [next(states).eigenvalue for _ in range(5)]
    counts = pencil.counts
    assert len(solved) == counts.B_solves + counts.setup.B_solves + counts.monitoring.B_solves + 1
    assert counts.B_solves > 0
    plain = sm.iterates(A, B, method=kind(), rng=0)
    np.testing.assert_allclose(values, [next(plain).eigenvalue for _ in range(5)], rtol=1e-6)


@pytest.mark.parametrize("method", [method for method in METHODS if method.solves], ids=short)
@pytest.mark.parametrize("lowest", [-0.2, -3.0])
def test_an_indefinite_A_is_shifted(method, lowest):
    """The largest eigenvalue is found, also where the lowest is larger in magnitude."""
    A, B = pair_of(np.r_[2.0, np.linspace(1, lowest, 19)])
    *_, last = itertools.islice(sm.iterates(A, B, method=method, rng=0), 300)
    assert last.eigenvalue == pytest.approx(2, abs=1e-3)
    assert last.residual <= 0.05


def dense_pair(unit, dtype, *, mass):
    """Indefinite: the lowest eigenvalue is −3, the largest 2; without a B where `mass` is False."""
    A, B = pair_of(np.r_[2.0, np.linspace(1, -3.0, 19)], dtype=dtype, condition=3.0 if mass else 1.0)
    return (A * unit, B) if mass else (A * unit, None)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, aslinearoperator], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("mass", [True, False], ids=["B", "identity"])
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("dtype", [float, complex])
def test_the_leading_pair_of_every_kind(kind, mass, unit, dtype):
    """Also where A is indefinite and B left out: in the units and coordinates of the user."""
    A, B = dense_pair(unit, dtype, mass=mass)
    expected = scipy.linalg.eigh(A, B)[1][:, -1]
    *_, last = itertools.islice(sm.iterates(kind(A), B, method=sm.SplitMerge(), rng=0), 200)
    assert last.eigenvalue == pytest.approx(2 * unit, rel=1e-4)
    u = last.vector
    Bu = u if B is None else B @ u
    assert abs(np.vdot(expected, Bu)) / np.sqrt(np.vdot(u, Bu).real) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("method", [method for method in METHODS if method.solves], ids=short)
def test_without_B_is_with_the_identity(method):
    A = dense_pair(1.0, float, mass=False)[0]
    start = np.linspace(1, 2, len(A))
    ours, theirs = (
        [state.eigenvalue for state in itertools.islice(sm.iterates(A, B, method=method, x0=start, rng=0), 12)]
        for B in (None, np.eye(len(A)))
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-7)


@pytest.mark.parametrize("method", METHODS, ids=short)
@pytest.mark.parametrize("columns", [1, 3])
def test_a_start_is_taken_as_it_is(method, columns):
    """The first column of a block, whose Rayleigh quotient is that of the first state."""
    A, B = EASY
    X = np.random.default_rng(5).standard_normal((len(A), columns))
    given = X[:, 0] if columns == 1 else X
    first = next(sm.iterates(A, B, method=method, x0=given, rng=0))
    x = X[:, 0]
    assert first.step == 0
    if not method.subspace:
        assert first.eigenvalue == pytest.approx((x @ A @ x) / (x @ B @ x), rel=1e-10)
    again = next(sm.iterates(A, B, method=method, x0=x, rng=0))
    assert again.eigenvalue == pytest.approx(first.eigenvalue, rel=1e-10)


def test_a_seed_and_its_generator():
    """The same seed gives the same iterates, another one others, and a generator goes on."""
    A, B = EASY

    def first(rng):
        return next(sm.iterates(A, B, method=sm.Power(), rng=rng)).eigenvalue

    generator = np.random.default_rng(3)
    one, two = first(generator), first(generator)
    assert first(3) == first(np.random.default_rng(3)) == one
    assert two != one != first(4)


@pytest.mark.parametrize("given", [sm.Power, "power", 3])
def test_no_method(given):
    with pytest.raises(ValueError, match=r"^method is .*give an object such as SplitMerge"):
        sm.iterates(*EASY, method=given)


def test_the_preconditioner_of_the_method_is_used():
    """With B⁻¹ itself LOBPCG needs far fewer steps than without anything."""
    A, B = HARD
    residuals = []
    for P in (None, sm.Exact()):
        *_, last = itertools.islice(sm.iterates(A, B, method=sm.LocallyOptimal(P), rng=0), 15)
        residuals.append(last.residual)
    assert residuals[1] < 0.1 * residuals[0]
