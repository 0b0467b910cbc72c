"""All methods on one pair: who is right is found out, who is wrong as well."""

import math
from dataclasses import replace

import numpy as np
import pytest

import splitmerge as sm
from splitmerge.bench import contest as contests
from splitmerge.bench import rivals
from splitmerge.bench.cases import Case, synthetic
from splitmerge.bench.contest import Challenge, Entry, contest, names, spelled, table
from splitmerge.bench.external import EXTERNALS

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


def test_who_fails_or_refuses_is_not_converged(monkeypatch):
    def broken(task):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(contests, "EXTERNALS", (replace(EXTERNALS[0], name="broken", run=broken),))
    A, B = sm.gallery.synthetic_pair(40, 3, rng=0)
    chosen = ["broken", "Power", "Rayleigh Quotient Iteration"]
    entries = {entry.name: entry for entry in contest(Challenge(A, B, max_seconds=1e-9), chosen)}
    assert "out of luck" in entries["broken"].why
    assert all(entry.outcome == "not converged" and entry.why for entry in entries.values())


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
