"""The command line as a whole: help and its examples, errors, streams, names, provenance, the demo."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import splitmerge as sm
from commands import ROOT, command, environment, refused, shell, words_of, write_mikota
from splitmerge.bench import rivals
from splitmerge.bench.provenance import provenance
from splitmerge.cli import main
from splitmerge.cli.arguments import Mistake
from splitmerge.cli.entry import COMMANDS
from splitmerge.cli.names import build, methods
from splitmerge.cli.output import plain

NAMES = [module.__name__.rpartition(".")[2] for module in COMMANDS]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with K.mtx, M.mtx and pair.npz, to be in."""
    write_mikota(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def examples():
    """Every line of the helps and of the README that calls us."""
    found = [line for module in COMMANDS for line in module.EXAMPLES.splitlines()]
    for block in re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S):
        found += block.splitlines()
    return sorted({line.strip() for line in found if line.strip().startswith("splitmerge ")})


class TestHelp:
    @pytest.mark.parametrize("words", [["--help"], *([name, "--help"] for name in NAMES)])
    def test_tells_the_exit_codes(self, capsys, words):
        assert main(words) == 0
        said = capsys.readouterr()
        assert said.err == ""
        assert re.search(r"exit codes:\n  0 .*\n  1 .*\n  2 .*\n  130 ", said.out)
        if words[0] in NAMES:
            assert COMMANDS[NAMES.index(words[0])].EXAMPLES in said.out

    @pytest.mark.parametrize("line", examples())
    def test_examples_run(self, capsys, here, line):
        words = words_of(line)
        small = ["--n", "40"] if words == ["demo"] else []
        assert main(words + small) == 0
        said = capsys.readouterr()
        assert said.err == ""
        assert bool(said.out) is ("--quiet" not in words)

    def test_version(self, capsys):
        assert main(["--version"]) == 0
        assert capsys.readouterr().out == f"splitmerge {sm.__version__}\n"

    def test_readme_has_the_exit_codes(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        assert all(f"| {code} |" in text for code in (0, 1, 2, 130))

    def test_is_light(self):
        code = (
            "import sys; from splitmerge.cli import main; main(['--help']);"
            "print([m for m in ('matplotlib', 'tqdm', 'splitmerge.bench') if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
        assert done.stdout.splitlines()[-1] == "[]"


class TestMistakes:
    def test_of_the_arguments(self, capsys):
        assert "give a command (solve, info, demo" in refused(capsys)
        assert "invalid choice" in refused(capsys, "slove")
        assert "the following arguments are required: A" in refused(capsys, "solve")
        assert "unrecognized arguments: --methd" in refused(capsys, "solve", "K.mtx", "--methd=power")
        assert "invalid int value: 'many'" in refused(capsys, "solve", "K.mtx", "-k", "many")
        assert "--n of at least 2" in refused(capsys, "demo", "--n", "1")

    def test_debug_shows_the_traceback(self, capsys):
        for words in (["--debug", "info", "absent.mtx"], ["info", "absent.mtx", "--debug"]):
            assert main(words) == 2
            said = capsys.readouterr().err
            assert "Traceback" in said
            assert said.splitlines()[-1] == "splitmerge: error: absent.mtx: there is no such file"

    @pytest.mark.parametrize(
        ("error", "said"),
        [
            (MemoryError(), "the memory does not suffice"),
            (MemoryError("9 GiB"), "the memory does not suffice: 9 GiB"),
            (ModuleNotFoundError("No module named 'h5py'", name="h5py"), "h5py is needed for this and not installed"),
            (PermissionError(13, "Permission denied", "K.mtx"), "K.mtx: Permission denied"),
            (ValueError("two\nlines"), "two lines"),
        ],
    )
    def test_one_sentence_for_each_kind(self, capsys, monkeypatch, error, said):
        def fail(args):
            raise error

        monkeypatch.setattr("splitmerge.cli.solve.read", fail)
        assert said in refused(capsys, "solve", "K.mtx")

    def test_interrupted_before_there_was_a_result(self, capsys, monkeypatch):
        def fail(args):
            raise KeyboardInterrupt

        monkeypatch.setattr("splitmerge.cli.solve.read", fail)
        assert main(["solve", "K.mtx"]) == 130
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err == "splitmerge: interrupted before there was anything to show\n"


class TestStreams:
    def test_a_process_of_its_own(self, here):
        done = shell("solve", "K.mtx", "M.mtx", "-k", 2, "--json", cwd=here)
        assert done.returncode == 0
        assert done.stderr == ""
        assert json.loads(done.stdout)["eigenvalues"] == pytest.approx([900, 841])
        done = shell("solve", "absent.mtx", cwd=here)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "splitmerge: error: absent.mtx: there is no such file\n"

    @pytest.mark.skipif(os.name != "posix", reason="a shell is needed")
    def test_a_reader_that_goes_away(self, here):
        solve = " ".join(command("solve", "K.mtx", "M.mtx", "-k", 20, "-o", "modes.npz"))
        script = f"{{ {solve}; echo $? > code; }} | true; cat code"
        done = subprocess.run(
            ["sh", "-c", script], capture_output=True, text=True, env=environment(), cwd=here, timeout=60
        )
        assert done.stderr == ""
        assert done.stdout == "0\n"
        assert sm.load(here / "modes.npz").eigenvalues.size == 20

    @pytest.mark.skipif(os.name != "posix", reason="a shell is needed")
    def test_no_stdout_at_all(self, here):
        solve = " ".join(command("solve", "K.mtx", "M.mtx", "-o", "modes.npz"))
        done = subprocess.run(["sh", "-c", f"{solve} >&-"], capture_output=True, env=environment(), cwd=here)
        assert (done.returncode, done.stderr) == (0, b"")
        assert (here / "modes.npz").exists()

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
    def test_a_full_disk(self, here):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                command("--version"), stdout=full, stderr=subprocess.PIPE, text=True, env=environment()
            )
        assert done.returncode == 2
        assert done.stderr == "splitmerge: error: No space left on device\n"

    def test_letters_that_the_stream_does_not_know(self, here):
        done = subprocess.run(
            command("solve", "K.mtx", "M.mtx"),
            capture_output=True,
            env=environment() | {"PYTHONIOENCODING": "ascii"},
            cwd=here,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"900.0" in done.stdout


class TestNames:
    def test_of_the_library(self):
        made = {name: make() for name, make in methods().items()}
        assert made["default"] is None
        expected = (
            "accelerated locally-optimal split-merge power mirror-descent gradient-descent lanczos".split(),
            (sm.Accelerated, sm.LocallyOptimal, sm.SplitMerge, sm.Power, sm.MirrorDescent, sm.GradientDescent, sm.Lanczos),
        )
        for name, cls in zip(*expected, strict=True):
            assert type(made[name]) is cls

    def test_rivals_are_picked_up(self, monkeypatch):
        class NestedPower(sm.Power):
            pass

        monkeypatch.setattr(rivals, "NestedPower", NestedPower, raising=False)
        monkeypatch.setattr(rivals, "helper", len, raising=False)
        monkeypatch.setattr(rivals, "__all__", ["NestedPower", "helper"], raising=False)
        assert isinstance(build("nested-power", None, None, None)[0], NestedPower)
        assert "helper" not in methods()

    def test_unknown(self):
        with pytest.raises(Mistake, match=r"'splitmerge' \(did you mean split-merge\?\); give one of default, acc"):
            build("splitmerge", None, None, None)
        with pytest.raises(Mistake, match="unknown preconditioner 'ilu'; give one of diagonal, incomplete-cholesky, mul"):
            build(None, None, None, "ilu")

    def test_where_a_preconditioner_goes(self):
        assert build(None, None, None, "multigrid") == (None, sm.MultiGrid())
        assert build("accelerated", None, None, "diagonal") == (sm.Accelerated(), sm.Diagonal())
        assert build("locally-optimal", None, None, "diagonal") == (sm.LocallyOptimal(sm.Diagonal()), None)
        assert build("mirror-descent", None, None, "diagonal") == (sm.MirrorDescent(sm.Diagonal()), None)
        inner = sm.ConjugateGradient(12, sm.IncompleteCholesky())
        assert build("split-merge", "cg", 12, "incomplete-cholesky") == (sm.SplitMerge(inner=inner), None)
        assert build("power", "cg", None, None) == (sm.Power(inner=sm.ConjugateGradient()), None)
        assert build("power", "cholesky", None, None) == (sm.Power(inner=sm.Cholesky()), None)
        assert build(None, "cg", None, None)[0].inner.tol == 1e-13

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            (("gradient-descent", None, None, "diagonal"), "has no use for one"),
            (("split-merge", "cholesky", None, "diagonal"), "which is exact"),
            (("split-merge", None, 5, None), "is for --inner cg"),
            (("locally-optimal", "cg", None, None), "locally-optimal never solves with B"),
        ],
    )
    def test_what_does_not_go_together(self, asked, message):
        with pytest.raises(Mistake, match=message):
            build(*asked)


class TestProvenance:
    def test_says_where_numbers_come_from(self):
        found = provenance("splitmerge solve K.mtx", 7)
        assert found["splitmerge"] == sm.__version__
        assert found["numpy"] == np.__version__
        assert found["command"] == "splitmerge solve K.mtx"
        assert found["seed"] == 7
        assert found["threads"] >= 1
        assert found["date"].endswith("UTC")
        assert all(found[name] for name in ("python", "scipy", "blas", "platform", "processor", "cores"))

    def test_tells_nothing_of_who_ran_it(self, monkeypatch):
        monkeypatch.setenv("HOME", "/some/place")
        found = provenance("splitmerge solve /some/place/K.mtx '/home/ann/a b.mtx' -o=/Users/bob/x.npz /data/K.mtx")
        assert found["command"] == "splitmerge solve ~/K.mtx '~/a b.mtx' -o=~/x.npz /data/K.mtx"
        assert os.uname().nodename not in str(found).replace(found["platform"], "") or os.name != "posix"


def test_json_terms():
    found = plain({"a": np.array([1.0, np.nan, -np.inf]), 2: np.float32(0.5), "c": sm.Reason.RESIDUAL, "d": (True, None)})
    assert found == {"a": [1.0, None, None], "2": 0.5, "c": "RESIDUAL", "d": [True, None]}
    assert json.loads(json.dumps(plain(np.array([0.1, 1e-300, 2 / 3])))) == [0.1, 1e-300, 2 / 3]


class TestDemo:
    def test_json(self, here, capsys):
        assert main(["demo", "--n", "40", "--json", "--out", "deep/demo.png"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert all(row["sine"] <= 1e-5 and row["error"] < 1e-9 for row in told["methods"])
        assert {len(row["sines"]) - len(row["products"]) for row in told["methods"]} == {0}
        assert (here / "deep" / "demo.png").read_bytes()[:4] == b"\x89PNG"

    def test_without_matplotlib(self, here, capsys, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert main(["demo", "--n", "40"]) == 0
        assert "No picture: matplotlib is not installed." in capsys.readouterr().out
        assert not (here / "out").exists()

    def test_no_place_for_the_picture(self, here, capsys):
        assert "K.mtx" in refused(capsys, "demo", "--n", "40", "--out", "K.mtx/demo.png")
