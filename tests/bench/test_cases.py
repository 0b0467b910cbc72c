"""Pairs of the benchmarks: starts that are the same on every machine, references, and how a pair can be made again."""

import dataclasses
import os

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import splitmerge as sm
from pairs import pair_of
from splitmerge import gallery
from splitmerge.bench import cases
from splitmerge.bench.cases import Case, from_files, mikota, synthetic
from splitmerge.bench.contest import _residual
from splitmerge.bench.measure import SINE_TOLERANCE, Arpack, Default, Iteration
from splitmerge.bench.provenance import without_homes
from splitmerge.bench.reproduce.results import QUICK_STARTS, Results
from splitmerge.bench.summary import Stat, milliseconds


def dense(M):
    return M.toarray() if sp.issparse(M) else M


class TestStarts:
    @pytest.mark.parametrize("seed", [0, 7])
    @pytest.mark.parametrize("number", [0, 3])
    @pytest.mark.parametrize("name", ["123456789", "mikota-5"])
    def test_they_follow_from_name_seed_and_number(self, name, seed, number):
        """The check value of CRC-32, and a checksum by its definition; a hash of Python differs from run to run."""
        code = {"123456789": 0xCBF43926, "mikota-5": checksum(b"mikota-5")}[name]
        case = Case(name, "", np.eye(6), np.eye(6), seed)
        expected = np.random.default_rng([seed, code, number]).standard_normal(6)
        np.testing.assert_array_equal(case.start(number), expected)
        np.testing.assert_array_equal(case.generator(number).standard_normal(6), expected)

    def test_cases_have_starts_of_their_own(self):
        starts = [Case(name, "", np.eye(9), None, seed).start(k) for name in "ab" for seed in (0, 1) for k in (0, 1)]
        assert len({tuple(start) for start in starts}) == 8


def checksum(data):
    """CRC-32 bit by bit."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


class TestReferences:
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    @pytest.mark.parametrize("values", [[5.0, 3, 2, 1], [5.0, 5, 2, 1], [4.0, 4, 4, 4], [5.0, 5 - 1e-6, 2, 1], [2.0]])
    @pytest.mark.parametrize("has_B", [True, False])
    def test_leading_space(self, values, kind, has_B):
        A, B = pair_of(values) if has_B else (np.diag(values), None)
        case = Case("some", "", kind(A), None if B is None else kind(B))
        found, U = case.leading
        assert found == pytest.approx(values[0], rel=1e-12)
        count = sum(value >= values[0] * (1 - 1e-8) for value in values)
        assert U.shape == (len(values), count)
        B = np.eye(len(values)) if B is None else B
        np.testing.assert_allclose(U.T @ B @ U, np.eye(count), atol=1e-10)
        np.testing.assert_allclose(A @ U, values[0] * B @ U, atol=1e-7)
        assert case.n == len(values)

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
    def test_the_angle_is_in_the_metric_of_B(self, kind):
        A, B = np.diag([8.0, 1.0]), np.diag([4.0, 1.0])
        case = Case("two", "", kind(A), kind(B))
        for x, y in ((1.0, 0.0), (1.0, 1.0), (-2.0, 3.0), (0.0, 1.0)):
            expected = abs(y) / np.sqrt(4 * x**2 + y**2)
            assert case.sine(np.array([x, y])) == pytest.approx(expected, abs=1e-12)
            assert case.sine(-7.0 * np.array([x, y])) == pytest.approx(expected, abs=1e-12)


class TestMade:
    def again(self, case):
        return eval(case.made, {"gallery": gallery, "read_pair": sm.read_pair})

    @pytest.mark.parametrize(
        "case", [synthetic(12, 3, 0), synthetic(9, 50, 7), mikota(8, 1)], ids=lambda case: case.name
    )
    def test_of_the_gallery(self, case):
        for found, own in zip(self.again(case), (case.A, case.B), strict=True):
            np.testing.assert_array_equal(dense(found), dense(own))
        assert case.name in ("synthetic-12-3", "synthetic-9-50", "mikota-8")
        assert case.seed in (0, 7, 1)

    def test_of_files(self, here):
        for paths, name in ((("K.mtx", "M.mtx"), "K"), (("pair.npz", None), "pair"), (("pair.npz#M", "K.mtx"), "pair")):
            case = from_files(*paths, 4)
            assert (case.name, case.seed) == (name, 4)
            for found, own in zip(self.again(case), (case.A, case.B), strict=True):
                np.testing.assert_array_equal(dense(found), dense(own))

    def test_seeds_make_other_pairs(self):
        assert not np.array_equal(synthetic(12, 3, 0).A, synthetic(12, 3, 1).A)
        assert not np.array_equal(synthetic(12, 3, 0).A, synthetic(12, 5, 0).A)
        assert cases.synthetic(12, 3, 0).name != cases.synthetic(12, 5, 0).name


class TestTrials:
    CASE = Case("separated", "", *pair_of(2.0 ** -np.arange(12)))

    def test_what_a_step_limit_says(self):
        trial = Iteration(self.CASE, "short", sm.Power(), max_steps=2).trial(0)
        assert (trial.success, trial.reason, trial.steps) == (False, "steps", 2)
        assert trial.sine > SINE_TOLERANCE

    def test_success_is_the_angle(self):
        for side in (Iteration(self.CASE, "m", sm.Power()), Default(self.CASE, "m"), Arpack(self.CASE, "m")):
            for number in (0, 4):
                trial = side.trial(number)
                assert trial.success
                assert (trial.method, trial.start) == ("m", number)
                assert trial.sine <= 1.001e-5

    def test_a_time_limit_of_the_default(self):
        trial = Default(self.CASE, "m", sm.Power(), max_seconds=1e-9).trial(0)
        assert (trial.success, trial.reason) == (False, "max_seconds")

    def test_counts_of_the_default_are_those_of_its_solution(self):
        trial = Default(self.CASE, "m", sm.SplitMerge()).trial(2)
        stop = sm.SineAngle(self.CASE.leading[1], SINE_TOLERANCE)
        sol = sm.solve(self.CASE.A, self.CASE.B, method=sm.SplitMerge(), stop=stop, rng=self.CASE.generator(2))
        assert (trial.steps, trial.A_products, trial.B_products) == (sol.steps, *counts(sol, "A", "B"))
        assert trial.B_solves == sol.counts.B_solves > 0

    @pytest.mark.parametrize("name", ["sine", "angle"])
    def test_a_pair_that_is_not_the_leading_one_is_no_success(self, name, monkeypatch):
        """The angle is recomputed: that of the iteration is not believed."""
        monkeypatch.setattr(Case, "sine", lambda self, x: 1.01e-5)
        assert not Iteration(self.CASE, "m", sm.Power()).trial(0).success
        assert not Default(self.CASE, "m").trial(0).success


def counts(sol, *letters):
    return [getattr(sol.counts, f"{letter}_products") for letter in letters]


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_residuals_are_relative(scale):
    """To |λ| ‖Bu‖, by hand; below √eps of the largest, to that."""
    A, B = np.diag([4.0, 1.0, 0.0]) * scale, np.diag([2.0, 1.0, 1.0])
    task = type("Task", (), {"A": A, "B": B})()
    e = np.eye(3)
    assert _residual(task, scale * np.array([2.0, 1.0]), e[:, :2]) == 0
    assert _residual(task, scale * np.array([2.2]), e[:, :1]) == pytest.approx(0.4 / 4.4)
    assert _residual(task, scale * np.array([2.0, 1.5]), e[:, :2]) == pytest.approx(0.5 / 1.5)
    assert _residual(task, scale * np.array([2.0, 1.5]), 9 * e[:, :2]) == pytest.approx(0.5 / 1.5)
    found = _residual(task, scale * np.array([2.0, 1e-12]), e[:, [0, 2]])
    assert found == pytest.approx(1e-12 / (2 * np.sqrt(np.finfo(float).eps)), rel=1e-6)


class TestStarts10And100:
    def stat(self, count):
        return Stat(count, count, 1.0, 0.1, 0.0, 5.0, 6.0, 1.0, 5.0, 0.0)

    @pytest.mark.parametrize("counts", [(2, 100), (100, 2), (100, 100), (7, 9)])
    def test_the_fewest_of_any_mean(self, counts):
        """Of all cells and methods: a verdict rests on each of them."""
        across = {(256, kappa): {"Power": self.stat(count)} for kappa, count in zip((3, 5), counts, strict=True)}
        within = {(256, 3): {name: self.stat(count) for name, count in zip("ab", counts, strict=True)}}
        for cells in (across, within):
            results = Results(cells=cells)
            assert results.starts("cells") == min(counts)
            assert results.starts("pairs") == results.starts("theory") == 0
            assert results.quick == (min(counts) <= QUICK_STARTS)
            assert Results(pairs={"x": cells[256, 3]}).starts("pairs") == min(s.count for s in cells[256, 3].values())

    def test_quick_by_either(self):
        many, few = {(256, 3): {"a": self.stat(100)}}, {"x": {"a": self.stat(2)}}
        assert Results(cells=many, pairs=few).quick
        assert not Results(cells=many).quick
        assert not Results().quick


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.5, "500"), (0.0995, "99.5"), (0.00995, "9.95"), (0.000995, "0.995"), (12.3456, "12,300"), (np.inf, "–")],
)
def test_milliseconds(seconds, text):
    assert milliseconds(seconds) == text
    assert milliseconds(np.nan) == "–"


@pytest.mark.parametrize("home", ["/home/ann", "/Users/ann", "/root", "/data/people/ann"])
def test_homes_of_any_system(monkeypatch, home):
    monkeypatch.setenv("HOME", home)
    for text, told in (
        (f"splitmerge solve {home}/K.mtx", "splitmerge solve ~/K.mtx"),
        (f"solve '{home}/a b.mtx' -o={home}/x", "solve '~/a b.mtx' -o=~/x"),
        (f"solve {home}", "solve ~"),
        ("solve /home/bob/K.mtx /Users/eve/M.mtx", "solve ~/K.mtx ~/M.mtx"),
        (f"solve {home}ette.mtx", f"solve {home}ette.mtx" if home[1:5] not in ("home", "User") else "solve ~"),
        ("solve /data/home/K.mtx", "solve /data/home/K.mtx"),
    ):
        assert without_homes(text) == told
    assert os.path.expanduser("~") == home


def test_every_field_of_a_trial_is_kept():
    trial = Iteration(TestTrials.CASE, "m", sm.Power()).trial(1)
    assert trial.to_dict() == dataclasses.asdict(trial)
    values = scipy.linalg.eigvalsh(*(dense(M) for M in (TestTrials.CASE.A, TestTrials.CASE.B)))
    assert TestTrials.CASE.leading[0] == pytest.approx(values[-1])
