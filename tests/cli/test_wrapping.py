"""Help, text and tables in a narrow terminal, and terminals without colours."""

import os
import re
import shlex
import subprocess

import numpy as np
import pytest

from checking import exhaustive
from commands import command, environment, shell
from pairs import pair_of
from splitmerge.cli import main
from splitmerge.cli.entry import COMMANDS, parser
from splitmerge.cli.show import table
from splitmerge.cli.wrapping import columns, wrapped

NAMES = [module.__name__.rpartition(".")[2] for module in COMMANDS]


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")


def widest(capsys):
    return max(capsys.readouterr().out.splitlines(), key=len)


@pytest.mark.parametrize("words", [["--help"], *([name, "--help"] for name in NAMES)])
def test_help(narrow, capsys, words):
    assert main(words) == 0
    assert len(widest(capsys)) <= 60


@pytest.mark.parametrize(
    "words",
    [
        ["solve", "K.mtx", "M.mtx"],
        ["solve", "K.mtx", "M.mtx", "--explain", "-o", "modes.npz"],
        ["info", "K.mtx", "M.mtx"],
        ["compare", "K.mtx", "M.mtx", "--only", "default", "eigsh"],
        ["demo", "--n", "30"],
    ],
)
def test_output(here, narrow, capsys, words):
    assert main(words) == 0
    assert len(widest(capsys)) <= 60


def test_a_pipe_gets_long_lines(here, capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert columns() is None
    assert main(["solve", "K.mtx", "M.mtx"]) == 0
    assert len(widest(capsys)) > 100


def test_names_and_options_stay_whole(narrow, capsys):
    assert main(["solve", "--help"]) == 0
    said = capsys.readouterr().out
    assert "locally-optimal" in said
    assert "[--which {largest,smallest,magnitude,ends}]" in said


def test_wrapped_examples_can_be_copied(narrow, capsys):
    assert main(["solve", "--help"]) == 0
    said = capsys.readouterr().out
    (line,) = (line for line in said.replace("\\\n", " ").splitlines() if "--inner cg" in line)
    assert parser().parse_args(shlex.split(line)[1:]).inner == "cg"


def test_items_hang_below_their_text():
    text = "  130  interrupted by Ctrl-C: the partial result"
    assert wrapped(text, 30).splitlines() == ["  130  interrupted by Ctrl-C:", "       the partial result"]
    assert wrapped("a sentence of many words, wrapped", 20).splitlines() == ["a sentence of many", "  words, wrapped"]
    assert wrapped(text, None) == text


def test_a_wide_table_becomes_several():
    lines = table(("name", "first", "second", "third"), [("one", "1", "2", "3")], 1, 20)
    assert lines == ["name  first  second", "one       1       2", "", "name  third", "one       3"]
    assert table(("a", "b"), [("x" * 30, "y" * 30)], 1, 20) == [f"{'a':<30}  {'b':>30}", f"{'x' * 30}  {'y' * 30}"]


def on_a_terminal(words, folder, variables, columns=80):
    """What the command shows on a terminal with so many columns, as bytes."""
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    process = subprocess.Popen(command(*words), stdout=theirs, stderr=theirs, env=variables, cwd=folder)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 10_000)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    process.wait(timeout=60)
    os.close(ours)
    return shown


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
@pytest.mark.parametrize(("columns", "most"), [(60, 60), (0, 1000)])
def test_messages_are_wrapped_on_a_terminal(here, columns, most):
    """A terminal that says 0 does not know its size."""
    np.save("triangle.npy", np.tril(np.ones((4, 4))))
    variables = {name: value for name, value in environment().items() if name != "COLUMNS"}
    lines = on_a_terminal(["solve", "triangle.npy"], here, variables, columns).decode().splitlines()
    assert "A is not symmetric" in lines[0]
    assert max(map(len, lines)) <= most
    assert len(lines) == (1 if columns == 0 else 5)


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
@pytest.mark.parametrize("variables", exhaustive([{}, {"NO_COLOR": "1"}], quick=1))
@pytest.mark.parametrize("words", [["--help"], ["solve", "pair.npz", "--method", "lanczos"], ["solve", "none.mtx"]])
def test_no_colours_on_a_terminal(here, variables, words):
    quiet = {name: value for name, value in environment().items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    shown = on_a_terminal(words, here, quiet | variables)
    assert shown
    assert re.search(rb"\x1b\[[0-9;]*m", shown) is None


def test_no_colour_in_tracebacks(here):
    done = shell("solve", "none.mtx", "--debug", cwd=here)
    assert "\x1b" not in done.stderr


def test_digits_of_clusters_in_a_narrow_terminal(here, narrow, capsys):
    """Sixteen digits and a cluster number still fit into a line."""
    np.savez("two.npz", A=pair_of([1.0, 1.0, 0.1])[0])
    assert main(["solve", "two.npz", "-k", "3"]) == 0
    assert "cluster" in capsys.readouterr().out.splitlines()[0]
