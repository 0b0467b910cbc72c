"""`--checkpoint`, `--checkpoint-every` and `--resume`."""

import json
import os
import signal
import subprocess
import time

import pytest

import splitmerge as sm
from commands import command, environment, refused, solved, write_mikota
from splitmerge.cli import main


@pytest.fixture
def large(tmp_path, monkeypatch):
    write_mikota(tmp_path, 400)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_both_ways(large, capsys):
    words = ("K.mtx", "M.mtx", "-k", 3, "--which", "smallest", "--tol", 1e-9)
    whole = solved(capsys, *words, "--checkpoint", "run.ckpt", "--checkpoint-every", 0)
    assert "The checkpoint run.ckpt was written" in whole["explain"]
    again = solved(capsys, "K.mtx", "M.mtx", "--resume", "run.ckpt")
    assert again["eigenvalues"] == pytest.approx([1, 4, 9])
    assert again["asked"] | {"interval": None} == whole["asked"]
    assert "Resumed from a checkpoint" in again["explain"]
    assert again["provenance"]["seed"] is None
    assert again["counts"]["K_solves"] < whole["counts"]["K_solves"]


QUESTIONS = [
    (["-k", 2, "--which", "smallest"], {"which": "smallest"}),
    (["-k", 2, "--sigma", 5.3], {"sigma": 5.3}),
    (["-k", 2, "--tol", 1e-5], {"tol": 1e-5}),
    (["-k", 2, "--certify"], {"certify": True}),
    (["-k", 2, "--b-policy", "ridge"], {"b_policy": "ridge"}),
]


@pytest.mark.parametrize(("words", "asked"), QUESTIONS, ids=str)
@pytest.mark.parametrize("option", ["-o", "--checkpoint"])
def test_every_option_of_the_problem_is_remembered(large, capsys, option, words, asked):
    """It holds in a resumed run that does not repeat it, from a saved solution and from a checkpoint."""
    name = "modes.npz" if option == "-o" else "run.ckpt"
    solved(capsys, "K.mtx", "M.mtx", *words, option, name)
    again = solved(capsys, "K.mtx", "M.mtx", "--resume", name)["asked"]
    assert again | asked == again
    assert again["k"] == 2


def test_the_command_line_wins(large, capsys):
    solved(capsys, "K.mtx", "M.mtx", "-k", 3, "--which", "smallest", "--tol", 1e-4, "--checkpoint", "run.ckpt")
    again = solved(
        *(capsys, "K.mtx", "M.mtx", "--resume", "run.ckpt", "-k", 2, "--tol", 1e-10, "--seed", 5, "--certify"),
        *("--max-seconds", 50, "--method", "accelerated"),
    )
    assert again["eigenvalues"] == pytest.approx([1, 4])
    assert (again["asked"]["which"], again["asked"]["tol"], again["asked"]["certify"]) == ("smallest", 1e-10, True)
    assert "MaxSeconds(seconds=50.0)" in again["explain"]
    assert again["provenance"]["seed"] == 5
    largest = solved(capsys, "K.mtx", "M.mtx", "--resume", "run.ckpt", "--which", "largest")
    assert largest["eigenvalues"] == pytest.approx([160_000, 399**2, 398**2])


def test_the_default_method_wins_over_a_remembered_one(here, capsys):
    solved(capsys, "K.mtx", "M.mtx", "-k", 1, "--method", "lanczos", "--checkpoint", "run.ckpt")
    assert "Lanczos" in solved(capsys, "K.mtx", "M.mtx", "--resume", "run.ckpt")["method"]
    assert solved(capsys, "K.mtx", "M.mtx", "--resume", "run.ckpt", "--method", "default")["method"] is None


def test_checkpoint_of_a_resumed_run(large, capsys):
    solved(capsys, "K.mtx", "M.mtx", "-k", 3, "--checkpoint", "run.ckpt")
    solved(capsys, "K.mtx", "M.mtx", "--resume", "run.ckpt", "--checkpoint", "run.ckpt")
    assert sm.load("run.ckpt").problem.k == 3


def test_a_saved_solution(here, capsys):
    solved(capsys, "K.mtx", "M.mtx", "-k", 2, "-o", "modes.npz")
    again = solved(capsys, "K.mtx", "M.mtx", "--resume", "modes.npz", "-k", 3)
    assert again["eigenvalues"] == pytest.approx([900, 841, 784])


class TestResume:
    """`splitmerge resume FILE [A B]`, which is `solve A B --resume FILE`."""

    def resumed(self, capsys, *words):
        assert main(["resume", *map(str, words), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    def test_a_saved_solution_has_the_matrices(self, here, capsys):
        solved(capsys, "K.mtx", "M.mtx", "-k", 2, "--which", "smallest", "-o", "modes.npz")
        again = self.resumed(capsys, "modes.npz", "-k", 3, "-o", "more.npz", "--report", "r.html")
        assert again["eigenvalues"] == pytest.approx([1, 4, 9])
        assert again["files"] == ["modes.npz"]
        assert [line.partition(":")[0] for line in again["written"]] == ["more.npz", "r.html"]
        assert "Eigenpairs of modes.npz" in (here / "r.html").read_text(encoding="utf-8")
        assert sm.load("more.npz").eigenvalues.size == 3

    def test_the_same_as_the_option(self, large, capsys):
        solved(capsys, "K.mtx", "M.mtx", "-k", 3, "--which", "smallest", "--checkpoint", "run.ckpt")
        one = self.resumed(capsys, "run.ckpt", "K.mtx", "M.mtx", "--tol", 1e-10)
        other = solved(capsys, "K.mtx", "M.mtx", "--resume", "run.ckpt", "--tol", 1e-10)
        for name in ("eigenvalues", "residuals", "counts", "steps", "asked", "files"):
            assert one[name] == other[name], name

    @pytest.mark.parametrize(
        "words", [["-o", "modes.npz"], ["--checkpoint", "run.ckpt"]], ids=["solution", "checkpoint"]
    )
    def test_a_time_limit_leaves_the_tolerance_as_it_was(self, here, capsys, words):
        """What is resumed with a limit meets the tolerance that was asked for at first, not the default."""
        options = ("-k", 1, "--method", "power", "--tol", 1e-11, "--max-steps", 2)
        solved(capsys, "K.mtx", "M.mtx", *options, *words, code=1)
        again = self.resumed(capsys, words[1], "K.mtx", "M.mtx", "--max-seconds", 50, "--max-steps", 100_000)
        assert again["residuals"][0] <= again["asked"]["tol"] == 1e-11

    def test_refused(self, here, capsys):
        solved(capsys, "K.mtx", "M.mtx", "-k", 2, "--checkpoint", "run.ckpt")
        said = refused(capsys, "resume", "run.ckpt")
        assert "run.ckpt has no matrices; give their files: splitmerge resume run.ckpt A B" in said
        assert "none.ckpt" in refused(capsys, "resume", "none.ckpt")
        assert "required: FILE" in refused(capsys, "resume")
        assert "unrecognized arguments: --resume" in refused(capsys, "resume", "run.ckpt", "--resume", "run.ckpt")


def test_refused(here, capsys):
    solved(capsys, "K.mtx", "M.mtx", "-k", 2, "--checkpoint", "run.ckpt")
    pair = ("solve", "K.mtx", "M.mtx")
    assert "--checkpoint none/x: there is no folder none" in refused(capsys, *pair, "--checkpoint", "none/x")
    assert "this is an input file" in refused(capsys, *pair, "--checkpoint", "K.mtx")
    assert "--checkpoint-every is for --checkpoint" in refused(capsys, *pair, "--checkpoint-every", 5)
    assert "seconds is -1" in refused(capsys, *pair, "--checkpoint", "x", "--checkpoint-every", -1)
    assert "none.ckpt" in refused(capsys, *pair, "--resume", "none.ckpt")
    assert "broken" in refused(capsys, *pair, "--resume", "K.mtx")
    assert "interval" in refused(capsys, *pair, "--resume", "run.ckpt", "--interval", 0, 5)
    assert "B was" in refused(capsys, "solve", "K.mtx", "--resume", "run.ckpt")
    data = (here / "run.ckpt").read_bytes()
    (here / "run.ckpt").write_bytes(data[:-1])
    assert "damaged" in refused(capsys, *pair, "--resume", "run.ckpt")


def test_another_size(here, capsys, tmp_path_factory):
    solved(capsys, "K.mtx", "M.mtx", "-k", 2, "--checkpoint", "run.ckpt")
    write_mikota(here, 31)
    assert "30 rows" in refused(capsys, "solve", "K.mtx", "M.mtx", "--resume", "run.ckpt")


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_killed(large):
    """Power steps to a tolerance that rounding does not allow go on until it is killed."""
    words = ("solve", "K.mtx", "M.mtx", "-k", 1, "--method", "gradient-descent", "--tol", 1e-15, "--quiet")
    process = subprocess.Popen(
        command(*words, "--checkpoint", "run.ckpt", "--checkpoint-every", 0.05), env=environment()
    )
    patience = time.monotonic() + 60
    while not os.path.exists("run.ckpt"):
        assert process.poll() is None
        assert time.monotonic() < patience
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert sm.load("run.ckpt").vectors.shape == (400, 1)
    assert main(["solve", "K.mtx", "M.mtx", "--resume", "run.ckpt", "--tol", "1e-6", "--method", "default", "-q"]) == 0
