"""All methods on one pair: who is right is found out, who is wrong as well."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from splitmerge.bench import contest as contests
from splitmerge.bench import counted, rivals
from splitmerge.bench.cases import Case, synthetic
from splitmerge.bench.contest import Challenge, Entry, contest, names, spelled, table
from splitmerge.bench.external import EXTERNALS, External
from splitmerge.bench.measure import COUNTS

LARGER = [pytest.param(512, kappa, marks=pytest.mark.slow) for kappa in (5, 50)]
CELLS = [(256, 3), (256, 10), (256, 100), *LARGER]


@pytest.mark.parametrize(("n", "kappa"), CELLS)
def test_every_rival_is_right_on_the_cells(n, kappa):
    case = synthetic(n, kappa, seed=0)
    entries = {entry.name: entry for entry in contest(Challenge(case.A, case.B))}
    assert set(entries) == set(names())
    present = {entry.name for entry in entries.values() if entry.outcome != "absent"}
    assert {spelled(name) for name in rivals.__all__} <= present
    for name in present:
        entry = entries[name]
        assert entry.outcome == "right", f"{name}: {entry.outcome}, {entry.why}"
        # ours measure relative to the same size, up to the radius
        assert entry.residual <= 1.01e-8
        assert entry.error <= 1e-12
        assert entry.A_products > 0 or name == "eigh"


@pytest.mark.parametrize("which", ["largest", pytest.param("smallest", marks=pytest.mark.slow)])
def test_several_pairs_at_both_ends(which):
    A, B = sm.gallery.mikota_chain(60)
    task = Challenge(A, B, k=3, which=which, max_seconds=2)
    entries = list(contest(task))
    found = {entry.name: entry.outcome for entry in entries}
    assert found["splitmerge (default)"] == found["Split-Merge"] == found["eigsh"] == found["eigh"] == "right"
    assert "WRONG" not in found.values()


@pytest.mark.parametrize("tol", [1e-1, 1e-3])
def test_the_reference_is_accurate_at_a_loose_tolerance(tol):
    """Whoever is more accurate than was asked for is right."""
    (entry,) = contest(Challenge(sm.gallery.grid_laplacian((29, 31))[0], None, 3, tol=tol), ["eigh"])
    assert entry.outcome == "right"
    assert entry.error <= 1e-12


def test_the_absent_say_why(monkeypatch):
    absent = replace(EXTERNALS[0], name="imagined", modules=("no_such_module",))
    monkeypatch.setattr(contests, "EXTERNALS", (absent,))
    (entry,) = contest(Challenge(*sm.gallery.mikota_chain(10)), ["imagined"])
    assert (entry.outcome, entry.why) == ("absent", "no_such_module is not installed")


def test_a_wrong_answer_is_called_wrong(monkeypatch):
    """A solver that gives the second pair: its residual is small, its values are not those sought."""

    def second(task):
        values, vectors = np.linalg.eigh(task.A)
        return values[-2:-1], vectors[:, -2:-1]

    monkeypatch.setattr(contests, "EXTERNALS", (replace(EXTERNALS[0], name="liar", run=second),))
    A = np.diag([3.0, 2.0, 1.0])
    (entry,) = contest(Challenge(A, None), ["liar"])
    assert entry.outcome == "WRONG"
    assert entry.residual <= 1e-8
    assert entry.error == pytest.approx(1 / 3)


@pytest.mark.parametrize("found", [1, 2, 3, 4])
def test_as_many_pairs_as_were_asked_for_are_right(found):
    """Exact pairs are not the answer if there are fewer of them, or more."""
    A = np.diag([4.0, 3.0, 2.0, 1.0])
    _, error = contests._judge(Challenge(A, None, 3), A.diagonal()[:3], A.diagonal()[:found], np.eye(4)[:, :found])
    assert contests._outcome(True, error) == ("right" if found == 3 else "WRONG")


def test_who_fails_or_refuses_is_not_converged(monkeypatch):
    def broken(task):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(contests, "EXTERNALS", (replace(EXTERNALS[0], name="broken", run=broken),))
    A, B = sm.gallery.synthetic_pair(40, 3, rng=0)
    chosen = ["broken", "Power", "Rayleigh Quotient Iteration"]
    entries = {entry.name: entry for entry in contest(Challenge(A, B, max_seconds=1e-9), chosen)}
    assert "out of luck" in entries["broken"].why
    assert all(entry.outcome == "not converged" and entry.why for entry in entries.values())


class Counting(sp.csr_array):
    """A sparse matrix that counts the columns it is multiplied by."""

    columns = 0

    def __matmul__(self, X):
        self.columns += X.size // self.shape[1]
        return sp.csr_array(self) @ X


# of A and of B, for the tolerance of lobpcg, which are none of its own
BEFORE = {"lobpcg": 1, "lobpcg preconditioned": 1}
SOLVES = {
    ("eigsh", "largest"): ["B_solves"],
    ("eigsh", "smallest"): ["B_solves"],
    ("eigsh sigma=0", "smallest"): ["K_solves"],
    ("lobpcg preconditioned", "largest"): ["B_solves"],
    ("lobpcg preconditioned", "smallest"): ["K_solves"],
}


@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("name", ["eigsh", "eigsh sigma=0", "eigh", "lobpcg", "lobpcg preconditioned"])
def test_counts_of_externals_are_those_that_were_made(name, which, monkeypatch):
    """Products and solves with A and with B, counted by the matrices and their factors themselves."""
    A, B = (Counting(M) for M in sm.gallery.mikota_chain(16))
    solves, made = {}, {}

    def factorised(M):
        solve, letter = factorise(M), "A" if M is A else "B"

        def counting(X):
            solves[letter] = solves.get(letter, 0) + X.size // 16
            return solve(X)

        return counting

    def watched(self, *arguments):
        solves.clear()
        A.columns = B.columns = 0
        answer = count(self, *arguments)
        made.update({f"{letter}_products": M.columns - BEFORE.get(name, 0) for letter, M in (("A", A), ("B", B))})
        made.update(B_solves=solves.get("B", 0), K_solves=solves.get("A", 0))
        return answer

    factorise, count = counted._sparse_solve, External.counted
    monkeypatch.setattr(counted, "_sparse_solve", factorised)
    monkeypatch.setattr(External, "counted", watched)
    (entry,) = contest(Challenge(A, B, 2, which, 1e-5), [name])
    if name == "eigsh sigma=0" and which == "largest":
        assert entry.outcome == "absent"
        return
    assert entry.outcome == "right"
    # LAPACK has neither
    expected = dict.fromkeys(made, 0) if name == "eigh" else made
    assert {count: getattr(entry, count) for count in made} == expected
    assert {count for count in ("B_solves", "K_solves") if expected[count]} == {*SOLVES.get((name, which), [])}


@pytest.mark.parametrize(
    ("name", "method", "which", "solving"),
    [
        ("splitmerge (default)", None, "largest", "B_solves"),
        ("splitmerge (default)", None, "smallest", "K_solves"),
        ("Accelerated", sm.Accelerated(), "smallest", "K_solves"),
        ("Lanczos", sm.Lanczos(), "largest", "B_solves"),
        ("Mirror Descent", sm.MirrorDescent(), "largest", "P_solves"),
        ("LazyEV", rivals.LazyEV(), "largest", "P_solves"),
        ("Auchmuty Newton", rivals.AuchmutyNewton(), "largest", "K_solves"),
        ("Rayleigh Quotient Iteration", rivals.RayleighQuotientIteration(), "largest", "K_solves"),
    ],
)
def test_counts_of_methods_are_those_of_their_solves(name, method, which, solving):
    A, B = sm.gallery.mikota_chain(40)
    (entry,) = contest(Challenge(A, B, 2, which, 1e-6, seed=3), [name])
    stop = sm.Residual(1e-6) | sm.MaxSeconds(60)
    counts = sm.solve(A, B, 2, which=which, method=method, stop=stop, rng=3).counts
    found = {name: getattr(entry, name) for name in COUNTS}
    assert found == {name: getattr(counts, name) for name in COUNTS}
    assert found[solving] > 0


def test_every_count_is_in_its_column():
    entry = Entry("one", "ours", "right", steps=2, A_products=30, B_products=400, B_solves=5000, P_solves=1, K_solves=7)
    found = table([entry], "caption")
    shown = dict(zip([column.name for column in found.columns], [cell.key for cell in found.rows[0]], strict=True))
    assert [shown[head] for head in ("steps", "A", "B", "solves", "shifted")] == [2, 30, 400, 5001, 7]


def test_table_shows_every_entry():
    entries = [
        Entry("one", "ours", "right", "why", 0.5, 0.1, 3, 4, 5, 6, residual=1e-9, error=0.0),
        Entry("two", "external", "absent", "not installed"),
    ]
    found = table(entries, "caption", "name")
    assert [row[0].text for row in found.rows] == ["one", "two"]
    assert [cell.key for cell in found.rows[0][3:]] == [3, 4, 5, 6, 0, 1e-9, 0.0, 500.0, 100.0]
    assert all(cell.key is None and cell.text == "–" for cell in found.rows[1][3:])


def test_cases_have_the_same_starts_everywhere():
    case = synthetic(60, 5, seed=3)
    again = synthetic(60, 5, seed=3)
    np.testing.assert_array_equal(case.A, again.A)
    np.testing.assert_array_equal(case.start(7), again.start(7))
    assert not np.array_equal(case.start(7), case.start(8))
    assert not np.array_equal(case.start(7), synthetic(60, 5, seed=4).start(7))
    # what a method draws at random comes after the start
    np.testing.assert_array_equal(case.generator(7).standard_normal(60), case.start(7))


def test_a_multiple_leader_has_its_whole_space_as_reference():
    case = Case("double", "diag", np.diag([2.0, 2.0, 1.0, 0.5]), np.eye(4))
    value, U = case.leading
    assert value == 2
    assert U.shape == (4, 2)
    assert case.sine(np.array([3.0, -4.0, 0.0, 0.0])) == pytest.approx(0, abs=1e-15)
    assert case.sine(np.array([1.0, 0.0, 1.0, 0.0])) == pytest.approx(math.sqrt(0.5))


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("values", [[3, 2, 1], [-1, -2, -3], [1, -2, -3], [2, 1, -3], [0, 0, -3], [3, 0, 0]], ids=str)
def test_errors_are_relative_to_the_largest_magnitude(monkeypatch, values, which, scale):
    """Of the reference values, whatever their signs: that decides who is right."""
    values = scale * np.array(values, float)
    reference = values[:2] if which == "largest" else values[:0:-1]
    size = np.abs(reference).max() or 1.0

    def entry(error):
        def external(task):
            columns = [0, 1] if task.largest else [2, 1]
            return reference + error * size * np.array([1, 0]), np.eye(3)[:, columns]

        # a residual of the size of the error is no failure here
        solver = replace(EXTERNALS[0], name="almost", run=external)
        monkeypatch.setattr(contests, "EXTERNALS", (solver,))
        return next(contest(Challenge(np.diag(values), None, 2, which, tol=1e3), ["almost"]))

    for error, outcome in ((0.0, "right"), (1e-7, "right"), (1e-4, "WRONG")):
        found = entry(error)
        assert found.outcome == outcome
        assert found.error == pytest.approx(error, rel=1e-6, abs=1e-12)
