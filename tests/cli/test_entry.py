"""The command line as a whole: help and its examples, errors, streams, the demo."""

import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
import tomllib

import pytest
from tools.package.readme import lines_of, words_of

import splitmerge as sm
from commands import ROOT, command, environment, refused, shell
from splitmerge.cli import main
from splitmerge.cli.entry import COMMANDS, parser

NAMES = [module.__name__.rpartition(".")[2] for module in COMMANDS]


def examples():
    """Every line of the helps and of the README that calls us."""
    found = [line for module in COMMANDS for line in module.EXAMPLES.splitlines()]
    found = [shlex.join(words_of(line)) for line in found]
    found += lines_of((ROOT / "README.md").read_text(encoding="utf-8"))
    return sorted({line for line in found if line.startswith("splitmerge ")})


class TestHelp:
    @pytest.mark.parametrize("words", [["--help"], *([name, "--help"] for name in NAMES)])
    def test_tells_the_exit_codes(self, capsys, words):
        assert main(words) == 0
        said = capsys.readouterr()
        assert said.err == ""
        assert re.search(r"exit codes:\n  0 .*\n  1 .*\n  2 .*\n  130 ", said.out)
        if words[0] in NAMES:
            assert COMMANDS[NAMES.index(words[0])].EXAMPLES in said.out

    # a comparison runs every peer several times
    @pytest.mark.parametrize(
        "line",
        [
            pytest.param(line, marks=pytest.mark.slow) if " compare " in line else line
            for line in examples()
            if " reproduce " not in line
        ],
    )
    def test_examples_run(self, capsys, here, line):
        words = words_of(line)[1:]
        small = ["--n", "40"] if words == ["demo"] else []
        if "--resume" in words:
            assert main(["solve", "K.mtx", "M.mtx", "-k", "2", "--checkpoint", "run.ckpt", "-q"]) == 0
        assert main(words + small) == 0
        said = capsys.readouterr()
        assert said.err == ""
        assert bool(said.out) is ("--quiet" not in words)

    @pytest.mark.parametrize("line", [line for line in examples() if " reproduce " in line])
    def test_examples_that_take_long_are_understood(self, line):
        assert parser().parse_args(words_of(line)[1:]).command == "reproduce"

    def test_the_script_is_installed(self):
        scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
        assert pkgutil.resolve_name(scripts["splitmerge"]) is main

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
        assert "give a command (solve, compare, info, convert, reproduce, demo)" in refused(capsys)
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
            assert said.splitlines()[-1] == "splitmerge: error: absent.mtx: no such file; check the path"

    @pytest.mark.parametrize(
        ("error", "said"),
        [
            (MemoryError(), "not enough memory"),
            (MemoryError("9 GiB"), "not enough memory: 9 GiB"),
            (
                ModuleNotFoundError("No module named 'h5py'", name="h5py"),
                "this command needs h5py, which is not installed; pip install h5py",
            ),
            (
                ModuleNotFoundError("No module named 'sklearn.base'", name="sklearn.base"),
                "this command needs scikit-learn, which is not installed; pip install scikit-learn",
            ),
            (PermissionError(13, "Permission denied", "K.mtx"), "K.mtx: Permission denied"),
            (ValueError("two\nlines"), "two lines"),
        ],
    )
    def test_one_sentence_for_each_kind(self, capsys, monkeypatch, error, said):
        def fail(args):
            raise error

        monkeypatch.setattr("splitmerge.cli.commands.solve.read", fail)
        assert said in refused(capsys, "solve", "K.mtx")

    @pytest.mark.parametrize("in_a_class", [False, True])
    def test_interrupted_before_there_was_a_result(self, capsys, monkeypatch, in_a_class):
        """Within `__set_name__`, Python 3.11 makes a RuntimeError of it."""

        def fail(args):
            if in_a_class:
                raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()
            raise KeyboardInterrupt

        monkeypatch.setattr("splitmerge.cli.commands.solve.read", fail)
        assert main(["solve", "K.mtx"]) == 130
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err == "splitmerge: interrupted before the first result\n"


class TestStreams:
    def test_a_process_of_its_own(self, here):
        done = shell("solve", "K.mtx", "M.mtx", "-k", 2, "--json", cwd=here)
        assert done.returncode == 0
        assert done.stderr == ""
        assert json.loads(done.stdout)["eigenvalues"] == pytest.approx([900, 841])
        done = shell("solve", "absent.mtx", cwd=here)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "splitmerge: error: absent.mtx: no such file; check the path\n"

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
        assert (
            "No plot: it needs matplotlib, which is not installed; pip install matplotlib." in capsys.readouterr().out
        )
        assert not (here / "out").exists()

    def test_no_place_for_the_picture(self, here, capsys):
        assert "K.mtx" in refused(capsys, "demo", "--n", "40", "--out", "K.mtx/demo.png")
