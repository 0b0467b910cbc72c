"""The solvers of others: each present one is right at both ends, the absent ones say so, counting changes nothing."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from splitmerge import gallery
from splitmerge.bench.external import EXTERNALS, TOLERANCE_LADDER, External, Failed, at_accuracy

PAIRS = {
    "dense": gallery.synthetic_pair(120, 10.0, rng=4),
    "sparse": gallery.element_laplacian((9, 8, 7)),
    "standard": gallery.grid_laplacian((9, 8)),
}
CASES = [(external, end) for external in EXTERNALS for end in external.ends]
IDS = [f"{external.name}, {end}" for external, end in CASES]


def dense(M):
    return M.toarray() if sp.issparse(M) else M


def exact(A, B, k, which):
    values = scipy.linalg.eigh(dense(A), dense(B), eigvals_only=True)
    return values[::-1][:k] if which == "largest" else values[:k]


def residual(A, B, values, X):
    BX = X if B is None else B @ X
    return (np.linalg.norm(A @ X - BX * values, axis=0) / (abs(values) * np.linalg.norm(BX, axis=0))).max()


def present(external):
    if external.absent:
        pytest.skip(external.absent)
    return external


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(("external", "which"), CASES, ids=IDS)
def test_finds_the_pairs(external, which, pair, k):
    A, B = PAIRS[pair]
    answer = present(external).solve(A, B, k, which, tol=1e-12)
    assert answer.vectors.shape == (A.shape[0], k)
    assert answer.products == {}
    assert answer.seconds > 0
    np.testing.assert_allclose(answer.values, exact(A, B, k, which), rtol=1e-7)
    assert residual(A, B, answer.values, answer.vectors) < 1e-4


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(("external", "which"), CASES, ids=IDS)
def test_counting_changes_nothing(external, which, pair):
    A, B = PAIRS[pair]
    x0 = np.random.default_rng(3).standard_normal(A.shape[0])
    answer = present(external).counted(A, B, 2, which, 1e-10, x0)
    plain = external.solve(A, B, 2, which, 1e-10, x0)
    np.testing.assert_allclose(answer.values, plain.values, rtol=1e-7)
    assert bool(answer.products) == external.by_tol
    assert all(0 < count < 100_000 for count in answer.products.values())


def test_products_are_those_of_the_matrices():
    A, B = PAIRS["dense"]
    by_name = {external.name: external for external in EXTERNALS}
    assert {"A_products", "B_products", "B_solves"} == set(by_name["eigsh"].counted(A, B, 2).products)
    assert {"A_solves", "B_products"} == set(by_name["eigsh sigma=0"].counted(A, B, 2, "smallest").products)
    assert {"A_products", "B_products"} == set(by_name["lobpcg"].counted(A, B, 2).products)
    assert "B_solves" in by_name["lobpcg preconditioned"].counted(A, B, 2).products


@pytest.mark.parametrize(("external", "which"), CASES, ids=IDS)
def test_the_loosest_tolerance_that_reaches_the_goal(external, which):
    A, B = PAIRS["sparse"]

    def goal(values, vectors):
        return residual(A, B, values, vectors) / 1e-6

    reached = at_accuracy(present(external), A, B, 2, which, goal)
    assert reached.error <= 1
    np.testing.assert_allclose(reached.answer.values, exact(A, B, 2, which), rtol=1e-6)
    # PRIMME chooses its method by the clock, so another run may do better
    if external.by_tol and reached.tol != TOLERANCE_LADDER[0] and external.name != "PRIMME":
        looser = external.solve(A, B, 2, which, TOLERANCE_LADDER[TOLERANCE_LADDER.index(reached.tol) - 1])
        assert goal(looser.values, looser.vectors) > 1


def test_a_goal_out_of_reach_is_a_failure_with_the_best_error():
    with pytest.raises(Failed, match=r"eigh: 5 times the allowed error"):
        at_accuracy(EXTERNALS[2], *PAIRS["dense"], 1, "largest", lambda values, vectors: 5.0)


def test_what_a_solver_raises_is_told():
    A, B = PAIRS["dense"]
    with pytest.raises(Failed, match=r"eigh: LinAlgError: .*positive definite"):
        EXTERNALS[2].solve(A, -B)

    def short(task):
        return np.ones(1), np.ones((A.shape[0], 1))

    with pytest.raises(Failed, match="short: 1 of 3 pairs"):
        External("short", short, "").solve(A, B, 3)


def test_warnings_are_kept():
    # five vectors for seven unknowns: lobpcg goes to LAPACK and says so
    lobpcg = next(external for external in EXTERNALS if external.name == "lobpcg")
    answer = lobpcg.solve(*gallery.mikota_chain(7), 5)
    np.testing.assert_allclose(answer.values, [49, 36, 25, 16, 9])
    assert any("dense" in text for text in answer.warnings)


def test_absent_solvers_say_so():
    external = External("Nothing", lambda task: None, "", ("no_such_module", "nor_this"))
    assert external.absent == "no_such_module and nor_this are not installed"
    with pytest.raises(Failed, match="Nothing: no_such_module and nor_this are not installed"):
        external.solve(*PAIRS["dense"])
    assert {external.name for external in EXTERNALS if external.absent} <= {"PRIMME", "SLEPc", "SLEPc about 0"}


def test_wrong_end_is_refused():
    with pytest.raises(ValueError, match="is for 'smallest'"):
        EXTERNALS[1].solve(*PAIRS["dense"], which="largest")


def test_nothing_of_others_is_imported_before_it_is_called():
    code = "import sys, splitmerge.bench.external; print({'primme', 'petsc4py', 'slepc4py'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "set()"
