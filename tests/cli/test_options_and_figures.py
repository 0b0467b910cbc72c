"""Each option of `solve` and `resume` reaches the library, and each figure of the output is the solution's."""

import dataclasses
import json
import sys

import numpy as np
import pytest

import splitmerge as sm
from commands import refused, solved
from pairs import pair_of
from splitmerge.cli import main
from splitmerge.cli.show import as_csv, as_json, as_text, cluster_numbers, table


class Asked(ValueError):
    """Carries what `solve` was asked."""


@pytest.fixture
def asked(monkeypatch):
    """The arguments of the library's `solve`, which does nothing."""
    found = {}

    def solve(A, B=None, k=1, **options):
        found.update(options, k=k, n=A.shape[0], has_B=B is not None)
        raise Asked("asked")

    monkeypatch.setattr(sys.modules["splitmerge.solve"], "solve", solve)
    return found


PLAIN = {"k": 6, "rng": 0, "progress": False, "n": 30, "has_B": True}
OPTIONS = [
    ([], {}),
    (["-k", 3], {"k": 3}),
    (["--which", "smallest"], {"which": "smallest"}),
    (["--which", "magnitude"], {"which": "magnitude"}),
    (["--which", "ends"], {"which": "ends"}),
    (["--sigma", 2.5], {"sigma": 2.5}),
    (["--sigma", "-1e-3"], {"sigma": -1e-3}),
    (["--sigma", 0], {"sigma": 0.0}),
    (["--interval", -2, 7.5], {"interval": (-2.0, 7.5), "k": 1}),
    (["--interval", "-inf", "-1e-3"], {"interval": (-np.inf, -1e-3), "k": 1}),
    (["--tol", 1e-5], {"tol": 1e-5}),
    (["--certify"], {"certify": True}),
    (["--b-policy", "restrict"], {"b_policy": "restrict"}),
    (["--b-policy", "error"], {"b_policy": "error"}),
    (["--method", "lanczos"], {"method": sm.Lanczos()}),
    (["--method", "default"], {"method": None}),
    (["--preconditioner", "multigrid"], {"preconditioner": sm.MultiGrid()}),
    (["--preconditioner", "incomplete-cholesky"], {"preconditioner": sm.IncompleteCholesky()}),
    (["--inner", "cholesky"], {"method": sm.Accelerated(inner=sm.Cholesky())}),
    (["--max-steps", 17], {"max_steps": 17}),
    (["--seed", 9], {"rng": 9}),
    (["--checkpoint", "run.ckpt"], {"checkpoint": sm.Checkpoint("run.ckpt")}),
    (["--checkpoint", "run.ckpt", "--checkpoint-every", 5], {"checkpoint": sm.Checkpoint("run.ckpt", seconds=5.0)}),
    (["--max-seconds", 50], {"stop": sm.Residual(1e-8) | sm.MaxSeconds(50.0)}),
    (["--max-seconds", 50, "--tol", 1e-3], {"tol": 1e-3, "stop": sm.Residual(1e-3) | sm.MaxSeconds(50.0)}),
]


@pytest.mark.parametrize(("words", "expected"), OPTIONS, ids=lambda value: " ".join(map(str, value)) or "-")
def test_options_reach_solve(here, capsys, asked, words, expected):
    """And nothing else does: what is not given has the default of the library."""
    assert main(["solve", "K.mtx", "M.mtx", *map(str, words)]) == 2
    assert "asked" in capsys.readouterr().err
    assert asked == PLAIN | expected


def test_two_options_of_different_groups(here, capsys, asked):
    words = ["-k", "2", "--sigma", "3", "--tol", "1e-6", "--max-steps", "5", "--seed", "1", "--certify"]
    assert main(["solve", "K.mtx", *words]) == 2
    expected = {"k": 2, "sigma": 3.0, "tol": 1e-6, "max_steps": 5, "rng": 1, "certify": True, "has_B": False}
    assert asked == PLAIN | expected


@pytest.mark.parametrize("n", [1, 5, 6, 7])
def test_six_pairs_or_all(here, capsys, asked, n):
    np.save("A.npy", np.diag(np.arange(1.0, n + 1)))
    main(["solve", "A.npy"])
    assert asked["k"] == min(6, n)


@pytest.mark.parametrize(
    "request_",
    [
        {"k": 3},
        {"k": 2, "which": "smallest"},
        {"k": 2, "sigma": 5.3, "certify": True, "tol": 1e-10},
        {"interval": (0.5, 17.0)},
        {"k": 2, "method": sm.Lanczos(), "rng": 3},
        {"k": 1, "method": sm.SplitMerge(), "tol": 1e-5},
    ],
    ids=str,
)
def test_json_is_the_solution(request_):
    A, B = sm.gallery.mikota_chain(40)
    sol = sm.solve(A, B, **({"rng": 0} | request_))
    found = as_json(sol, "splitmerge solve", 4)
    for name in ("eigenvalues", "residuals", "error_bounds", "angle_bounds"):
        np.testing.assert_array_equal(found[name], getattr(sol, name))
    for name in ("converged", "reason", "verdict", "n", "steps", "counts", "shift", "b_report"):
        assert found[name] == getattr(sol, name)
    assert found["advice"] == sol.reason.advice
    assert found["why"] == sol.verdict.why
    assert found["method"] == (None if sol.method is None else repr(sol.method))
    assert found["explain"] == sol.explain()
    assert found["seconds"] == dataclasses.asdict(sol.seconds) | {"total": sol.seconds.total}
    assert found["seconds"]["total"] >= found["seconds"]["iteration"] > 0
    defaults = {"k": 1, "which": "largest", "sigma": None, "tol": 1e-8, "b_policy": "error", "certify": False}
    expected = defaults | {"interval": None} | request_
    for name, value in found["asked"].items():
        if name != "k" or "interval" not in request_:
            assert value == expected[name], name
    assert found["provenance"]["seed"] == 4
    assert found["provenance"]["command"] == "splitmerge solve"


def test_csv_is_the_solution_to_the_last_bit():
    A, B = pair_of([1e9 / 3, 1e9 / 3, 2 / 3, -1 / 7])
    sol = sm.solve(A, B, 4)
    head, *lines = as_csv(sol).splitlines()
    assert head == "number,eigenvalue,residual,error_bound,cluster"
    for i, line in enumerate(lines):
        number, *values, cluster = line.split(",")
        assert int(number) == i + 1
        assert [float(x) for x in values] == [sol.eigenvalues[i], sol.residuals[i], sol.error_bounds[i]]
        assert cluster == ("1" if i < 2 else "")


def test_text_has_the_figures_of_each_pair():
    A, B = pair_of([7.0, 7.0, 3.0, 1.0])
    sol = sm.solve(A, B, 3)
    sol.residuals[:] = [1.25e-10, 2.5e-11, 0.0]
    sol.error_bounds[:] = [3e-9, np.inf, 5e-12]
    lines = as_text(sol).splitlines()
    assert lines[0].split() == ["#", "eigenvalue", "residual", "error", "bound", "cluster"]
    rows = [line.split() for line in lines[1:4]]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert [float(row[1]) for row in rows] == pytest.approx([7, 7, 3])
    assert [float(row[2]) for row in rows] == pytest.approx([1.25e-10, 2.5e-11, 0], rel=0.05)
    assert [row[3] for row in rows] == ["3.0e-09", "unknown", "5.0e-12"]
    assert [row[4] for row in rows] == ["1", "1", "-"]
    assert lines[5] == f"{sol.verdict}: {sol.verdict.why}."
    assert lines[6] == sol.summary()


@pytest.mark.parametrize(
    ("labels", "numbers"),
    [
        ([0, 1, 2], [None, None, None]),
        ([0, 0, 1], [1, 1, None]),
        ([0, 1, 1, 2, 2, 2], [None, 1, 1, 2, 2, 2]),
        ([5, 5, 3, 1, 1], [1, 1, None, 2, 2]),
    ],
)
def test_numbers_of_clusters(labels, numbers):
    class Some:
        clusters = np.array(labels)

    assert cluster_numbers(Some()) == numbers


def test_columns_of_a_table():
    lines = table(("name", "x", "long head"), [("a", "10", "1"), ("bcd", "2", "30")], words=1)
    assert lines == ["name   x  long head", "a     10          1", "bcd    2         30"]
    assert table(("a", "b"), []) == ["a  b"]


class TestOutputsThatAreInputs:
    @pytest.mark.parametrize("source", ["pair.npz", "pair.npz#K", "./pair.npz", "./pair.npz#M"])
    @pytest.mark.parametrize("option", ["-o", "--report", "--checkpoint"])
    def test_of_solve(self, here, capsys, source, option):
        before = (here / "pair.npz").read_bytes()
        for words in (["solve", source], ["solve", "K.mtx", source]):
            said = refused(capsys, *words, option, "pair.npz")
            assert f"{option} pair.npz: this is an input file" in said
        assert (here / "pair.npz").read_bytes() == before

    def test_by_a_link(self, here, capsys):
        (here / "other.npz").symlink_to("pair.npz")
        (here / "hard.npz").hardlink_to(here / "pair.npz")
        for name in ("other.npz", "hard.npz"):
            assert "this is an input file" in refused(capsys, "solve", "pair.npz#K", "-o", name)

    def test_of_the_other_outputs(self, here, capsys):
        """Whether it exists or not: the results would be written over."""
        for name in ("x.npz", "./x.npz"):
            for option in ("--report", "--checkpoint"):
                said = refused(capsys, "solve", "K.mtx", "-o", "x.npz", option, name)
                assert f"{option} {name}: another option writes this file; give another path" in said
        assert "another option" in refused(capsys, "solve", "K.mtx", "--report", "r", "--checkpoint", "r")
        assert not (here / "x.npz").exists()
        assert "this is an input file" in refused(capsys, "compare", "K.mtx", "M.mtx", "--report", "M.mtx")


class TestExitCodes:
    def test_each(self, here, capsys):
        assert main(["solve", "K.mtx", "M.mtx", "-q"]) == 0
        assert main(["solve", "K.mtx", "M.mtx", "-q", "-k", "1", "--method", "power", "--max-steps", "2"]) == 1
        assert main(["solve", "K.mtx", "M.mtx", "-q", "-k", "99"]) == 2
        assert main(["solve"]) == 2
        assert main([]) == 2
        capsys.readouterr()
        assert main(["--version"]) == 0
        assert capsys.readouterr().out == f"splitmerge {sm.__version__}\n"

    def test_what_is_quiet(self, here, capsys):
        """Only errors, and nothing on stdout; a partial result is one."""
        assert main(["solve", "K.mtx", "M.mtx", "-q", "-k", "1", "--method", "power", "--max-steps", "2"]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert "not converged" in said.err


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_of_the_files(here, capsys, scale):
    """Eigenvalues, bounds and shifts are those of the matrices in the files."""
    K, M = sm.gallery.mikota_chain(12)
    np.savez("scaled.npz", K=scale * K.toarray(), M=M.toarray())
    np.savez("heavy.npz", K=K.toarray(), M=M.toarray() / scale)
    for file in ("scaled.npz", "heavy.npz"):
        for words, values in ((["-k", 2], [144, 121]), (["--sigma", 20 * scale, "-k", 2], [16, 25])):
            found = solved(capsys, file, *words)
            np.testing.assert_allclose(found["eigenvalues"], scale * np.array(values), rtol=1e-9)
            assert max(found["error_bounds"]) < 1e-6 * scale
        found = solved(capsys, file, "--interval", 0.5 * scale, 10 * scale)
        np.testing.assert_allclose(found["eigenvalues"], scale * np.array([1, 4, 9]), rtol=1e-9)


def test_compare_in_units_and_at_an_end(here, capsys):
    """Who is right is found out relative to the eigenvalues."""
    K, M = sm.gallery.mikota_chain(12)
    for scale in (1e-9, 1e9):
        np.savez("scaled.npz", K=scale * K.toarray(), M=M.toarray())
        for which in ("largest", "smallest"):
            words = ["compare", "scaled.npz", "-k", "2", "--which", which, "--only", "default", "eigh", "--json"]
            assert main(words) == 0
            found = json.loads(capsys.readouterr().out)["entries"]
            assert [entry["outcome"] for entry in found] == ["right", "right"]
            assert all(entry["error"] < 1e-9 for entry in found)
            assert all(entry["residual"] <= 1.01e-8 for entry in found)
