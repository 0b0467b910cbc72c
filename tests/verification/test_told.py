"""Reasons, verdicts and their sentences: what is met, what is excused, what was looked at; both sides of thresholds."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from checking import operator_of
from pairs import make_pair, pair_of
from splitmerge.methods.survey import Survey
from splitmerge.problem.pencil import Pencil
from splitmerge.problem.products import Products
from splitmerge.run.reason import Reason
from splitmerge.verification import verdict
from splitmerge.verification.decomposed import standing
from splitmerge.verification.inertia import clear_gap, definite_without
from splitmerge.verification.projection import rayleigh_ritz, swapped_ritz
from splitmerge.verification.verdict import by_lapack, probed, surveyed

EVERY = np.r_[np.linspace(0.5, 6.0, 56), 8.0, 9.5, 11.0, 14.0]
KINDS = {"dense": np.asarray, "sparse": sp.csr_array, "operator": operator_of}
WAYS = {"default": None, "accelerated": sm.Accelerated(), "LOBPCG": sm.LocallyOptimal(), "Lanczos": sm.Lanczos()}
UNITS = [(1.0, 1.0), (1e9, 1e-9), (1e-8, 1e8)]
each_unit = pytest.mark.parametrize("unit", UNITS, ids=str)


@pytest.mark.parametrize("tol", [1e-3, 1e-8, 1e-16])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_residuals_that_only_rounding_excuses_do_not_meet_the_tolerance(way, kind, tol):
    """RESIDUAL is said where all of them meet it, and nowhere else."""
    A, B = pair_of(EVERY, condition=9.0)
    try:
        sol = sm.solve(kind(A), B, 2, method=WAYS[way], tol=tol, rng=0)
    except sm.NotConverged as error:
        sol = error.solution
        assert sol.reason not in (Reason.RESIDUAL, Reason.PRECISION)
        return
    BU = B @ sol.eigenvectors
    errors = np.linalg.norm(A @ sol.eigenvectors - BU * sol.eigenvalues, axis=0)
    sizes = np.abs(sol.eigenvalues) * np.linalg.norm(BU, axis=0)
    assert (sol.reason is Reason.RESIDUAL) == bool((sol.residuals <= tol).all())
    # as far as rounding shows them
    assert sol.reason is not Reason.RESIDUAL or (errors <= 1.01 * tol * sizes + 1e-14 * sizes).all()
    assert tol > 1e-15 or sol.reason is Reason.PRECISION


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("place", [1, 3])
def test_a_start_on_another_eigenvector_is_seen_through(place, which, way, kind):
    """The first pair is found, and nothing is said of a random start that there never was."""
    A, B = pair_of(EVERY, condition=9.0)
    exact, U = scipy.linalg.eigh(A, B)
    order = np.argsort(-exact if which == "largest" else exact)
    if which == "smallest" and (kind is operator_of or place > 1):
        return
    sol = sm.solve(kind(A), B, which=which, method=WAYS[way], x0=U[:, order[place]], tol=1e-6, rng=0)
    assert sol.eigenvalues[0] == pytest.approx(exact[order[0]], rel=1e-6)
    if way in ("accelerated", "LOBPCG"):
        assert sol.verdict.why not in (verdict.RANDOM_START.why, verdict.TWO_STARTS.why)


@each_unit
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("identity", [False, True], ids=["mass", "identity"])
def test_nothing_else_is_beyond_a_point(identity, dtype, unit):
    """Once the known vectors are moved: definite without them all, and not without all but one."""
    A, B, U = make_pair(np.r_[-3.0, -1.0, 0.2, 0.5, 1.0, 1.5, 2.5, 4.0], 0, dtype, 1.0 if identity else 10.0)
    A, B = (np.asfortranarray(u * M) for u, M in zip(unit, (A, B), strict=True))
    U, values = U / math.sqrt(unit[1]), np.r_[-3.0, -1.0, 0.2, 0.5, 1.0, 1.5, 2.5, 4.0] * unit[0] / unit[1]
    if identity:
        A, B, U, values = A / unit[1], None, U * math.sqrt(unit[1]), values
    BU = U if B is None else B @ U
    for tau, above in ((2.0, True), (3.0, True), (0.3, True), (0.0, False), (0.3, False), (-2.0, False)):
        tau *= unit[0] / unit[1]
        beyond = np.flatnonzero(values > tau if above else values < tau)
        for precision in (dtype, np.complex64 if dtype is complex else np.float32):
            check = [A, B], tau, np.dtype(precision)
            for missing in (None, *beyond):
                known = beyond[beyond != missing] if missing is not None else beyond
                answer = definite_without(*check[0], BU[:, known], values[known], *check[1:], above=above)
                assert answer is (missing is None)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("above", [True, False])
def test_a_point_in_a_clear_gap(above, unit):
    """A tenth of the gap from the last, or twice the rounding; it needs half of the gap, and all deltas to fit."""
    sign = unit if above else -unit
    values = sign * np.array([9.0, 7.0, 5.0])
    gap = clear_gap(values, np.full(3, 0.1 * unit), sign * 3.0, 0.05 * unit, above=above)
    assert gap.tau == pytest.approx(sign * (5 - 0.2))
    assert gap.clearance == pytest.approx(0.15 * unit)
    gap = clear_gap(values, np.full(3, 0.1 * unit), sign * 3.0, 0.4 * unit, above=above)
    assert gap.tau == pytest.approx(sign * (5 - 0.8))
    assert gap.clearance == pytest.approx(0.4 * unit)
    for rounding, clear in ((0.49, True), (0.51, False)):
        found = clear_gap(values, np.full(3, 0.1 * unit), sign * 3.0, rounding * unit, above=above)
        assert (found is not None) is clear
    for place, edge in enumerate((4.2, 2.2, 0.2)):
        for factor, clear in ((0.99, True), (1.01, False)):
            deltas = np.full(3, 0.01 * unit)
            deltas[place] = factor * edge * unit
            assert (clear_gap(values, deltas, sign * 3.0, 0.05 * unit, above=above) is not None) is clear


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(("sigma", "sign"), [(0.0, 1), (-2.0, 1), (-0.01, 1), (20.0, -1)])
@pytest.mark.parametrize("lowest", [1.0, 0.0, -0.005])
def test_ritz_vectors_of_the_inverse(lowest, sigma, sign, dtype):
    """Of B and ±(A − σB), also for a singular or indefinite A: B-orthonormal, and the best first."""
    every = np.r_[lowest, np.linspace(1.5, 9.0, 13)]
    A, B = pair_of(every, dtype=dtype)
    U = scipy.linalg.eigh(A, B)[1]
    if lowest <= 0 and (sigma == 0 or lowest < sigma):
        return
    wanted = U[:, :3] if sign > 0 else U[:, -3:]
    rng = np.random.default_rng(0)
    mixed = wanted @ (rng.standard_normal((3, 3)) + np.eye(3) * 3)
    found = swapped_ritz(Products(Pencil(A, B)), mixed, sigma, sign).X
    np.testing.assert_allclose(found.conj().T @ B @ found, np.eye(3), atol=1e-10)
    quotients = np.einsum("ij,ij->j", found.conj(), A @ found).real
    np.testing.assert_allclose(quotients, every[:3] if sign > 0 else every[::-1][:3], atol=1e-9)
    plain = rayleigh_ritz(Products(Pencil(A, B)), mixed, lambda values: np.arange(3)[::sign]).X
    np.testing.assert_allclose(np.abs(plain.conj().T @ B @ found), np.eye(3), atol=1e-8)


@each_unit
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("identity", [False, True], ids=["mass", "identity"])
def test_pairs_of_a_decomposition_stand(identity, dtype, unit):
    """Each by its own residual: within the tolerance or a hundred units of rounding; infinite ones are not checked."""
    unit = unit if np.dtype(dtype).itemsize > 8 or dtype == np.float64 else (1e3, 1e-3)
    A, B = pair_of(np.arange(1.0, 11.0), dtype=np.result_type(dtype, float), condition=1.0 if identity else 4.0)
    A, M = (unit[0] * A).astype(dtype), None if identity else (unit[1] * B).astype(dtype)
    values, X = scipy.linalg.eigh(A.astype(np.result_type(dtype, float)), None if M is None else M.astype(complex))
    assert standing(A, M, values, X, 0.0).all()
    wrong = values.copy()
    wrong[3] *= 1.01
    assert standing(A, M, wrong, X, 1e-3).tolist() == [i != 3 for i in range(10)]
    assert standing(A, M, wrong, 1e20 * X, 1e-3).tolist() == [i != 3 for i in range(10)]
    # relative to |λ|‖Mv‖
    assert standing(A, M, wrong, X, 0.0101).all()
    assert not standing(A, M, wrong, X, 0.0098)[3]
    wrong[3] = math.inf
    assert standing(A, M, wrong, X, 1e-3).all()
    eps = float(np.finfo(dtype).eps)
    size = np.abs(A).sum(axis=0).max() + values[3] * (1.0 if M is None else np.abs(M).sum(axis=0).max())
    image = np.linalg.norm(X[:, 3] if M is None else M @ X[:, 3]) / np.linalg.norm(X[:, 3])
    for units, stands in ((95, True), (115, False)):
        wrong = values.copy()
        wrong[3] += units * eps * size / image
        assert standing(A, M, wrong, X, 0.0)[3] == stands


def survey_of(count):
    return Survey(np.arange(count, 0.0, -1.0), np.ones(3), 0.0, 1.0)


@pytest.mark.parametrize(("pairs", "bounds", "said"), [(1, 20, "first pair is"), (2, 20, "first 2 pairs are")])
def test_how_many_pairs_a_survey_was_compared_with(pairs, bounds, said):
    told = surveyed(survey_of(bounds), pairs, Reason.RESIDUAL)
    assert told == "unchecked"
    assert said in told.why
    assert f"survey of {bounds} steps" in told.why
    assert "missed" in surveyed(survey_of(bounds), pairs, Reason.MISSED).why


def test_a_survey_with_fewer_bounds_than_pairs():
    assert "first 3 pairs are" in surveyed(survey_of(3), 5, Reason.RESIDUAL).why
    assert "first pair is" in surveyed(survey_of(1), 5, Reason.RESIDUAL).why


def test_how_many_probes_were_made():
    assert probed(1).startswith("a random-start probe of")
    assert probed(2).startswith("the last of 2 random-start probes of")


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_lapack_may_confuse_small_values_of_a_graded_pair(size):
    """All of them, none of them, and those of an inverse are not in doubt."""
    pencil = SimpleNamespace(A=SimpleNamespace(size=size), B=SimpleNamespace(size=1.0), n=9, inverse=None, graded=True)
    tiny, large = size * np.array([1e-13, 2e-13]), size * np.array([1.0, 0.5])
    assert by_lapack(pencil, tiny) is verdict.BLURRED
    assert by_lapack(pencil, large) is verdict.BY_LAPACK
    assert by_lapack(pencil, tiny[:0]) is verdict.BY_LAPACK
    assert by_lapack(pencil, np.repeat(tiny[0], 9)) is verdict.BY_LAPACK
    for changed in ({"inverse": (0.0, 1)}, {"graded": False}, {"B": None}):
        assert by_lapack(SimpleNamespace(**{**vars(pencil), **changed}), tiny) is verdict.BY_LAPACK
