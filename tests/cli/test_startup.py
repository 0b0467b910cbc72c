"""Ctrl-C from the first moment of the command line to its last: exit code 130 and no traceback."""

import signal
import subprocess
import sys
import threading
import time

import pytest

from commands import environment, listen
from splitmerge.cli import main, output, processes, startup

# The first thing that our code does as a program; then a test knows when to interrupt it.
PROGRAM = """
import sys
from splitmerge.cli import startup
startup.end_on_interrupt()
print("ready", flush=True)
from splitmerge.cli import main
sys.exit(main({words!r}))
"""


def interrupted(words, delay, here):
    """Exit code and stderr of a process that is interrupted some time after its start."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(words=words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        cwd=here,
        preexec_fn=listen,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    return process.returncode, said


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")
@pytest.mark.parametrize(
    ("words", "delay"),
    [
        *((["demo", "--n", "500"], delay) for delay in (0.02, 0.1, 0.3)),
        *((["compare", "K.mtx", "M.mtx"], delay) for delay in (0.05,)),
        *(pytest.param(["demo", "--n", "500"], delay, marks=pytest.mark.slow) for delay in (0.0, 0.05, 0.6, 1.0)),
        pytest.param(["compare", "K.mtx", "M.mtx"], 0.5, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_interrupted_at_any_time(here, words, delay):
    code, said = interrupted(words, delay, here)
    assert "Traceback" not in said
    # the command may be done on a fast machine
    assert code in (130, 0)
    assert said.count("\n") == (code == 130)


class TestIsProgram:
    @pytest.mark.parametrize(
        ("argv", "original", "expected"),
        [
            (["-m"], ["python", "-m", "splitmerge", "info"], True),
            (["-m"], ["python", "-m", "pytest"], False),
            (["/usr/lib/splitmerge/__main__.py", "info"], [], True),
            (["/usr/bin/splitmerge"], [], True),
            (["-c"], ["python", "-c", "import splitmerge"], False),
            (["/home/user/script.py"], [], False),
            ([""], ["python"], False),
            ([], [], False),
        ],
    )
    def test_by_the_arguments(self, monkeypatch, argv, original, expected):
        monkeypatch.setattr(sys, "argv", argv)
        monkeypatch.setattr(sys, "orig_argv", original)
        assert startup.is_program() is expected


class TestHandlers:
    def test_the_handler_is_restored(self, capsys):
        before = signal.getsignal(signal.SIGINT)
        assert main(["--version"]) == 0
        assert signal.getsignal(signal.SIGINT) is before

    def test_an_ignored_interrupt_stays_ignored(self, capsys):
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with startup.importing():
                assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            startup.ignore_interrupts()
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        finally:
            signal.signal(signal.SIGINT, before)

    def test_after_the_start_of_a_program_interrupts_are_exceptions(self):
        # a process in the background of a shell ignores it
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            startup.end_on_interrupt()
            with startup.importing():
                pass
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        finally:
            signal.signal(signal.SIGINT, before)

    def test_in_another_thread(self, capsys):
        codes = []
        thread = threading.Thread(target=lambda: codes.append(main(["--version"])))
        thread.start()
        thread.join()
        assert codes == [0]


def test_the_entry_imports_nothing_heavy():
    """Only the package itself does, and its own first lines are light."""
    program = (
        "import sys, types, importlib.util as u; import pathlib\n"
        "root = pathlib.Path(sys.argv[1])\n"
        "for name, folder in (('splitmerge', root), ('splitmerge.cli', root / 'cli')):\n"
        "    package = types.ModuleType(name); package.__path__ = [str(folder)]; sys.modules[name] = package\n"
        "names = {'__name__': 'splitmerge.cli', '__package__': 'splitmerge.cli'}\n"
        "exec((root / 'cli' / '__init__.py').read_text(), names)\n"
        "print([m for m in ('numpy', 'scipy', 'argparse') if m in sys.modules])"
    )
    from splitmerge import __path__ as paths

    done = subprocess.run([sys.executable, "-c", program, paths[0]], capture_output=True, text=True, env=environment())
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("names", startup.VARIABLES, ids=lambda names: names[0].partition("_")[0])
@pytest.mark.parametrize(("rank", "size"), [(0, 1), (0, 3), (1, 3), (2, 3)])
def test_one_process_speaks(monkeypatch, capsys, names, rank, size):
    """The first of those that a launcher has started, whichever launcher it is."""
    for name in (name for pair in startup.VARIABLES for name in pair):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(names[0], str(rank))
    monkeypatch.setenv(names[1], str(size))
    assert startup.launched() == (rank, size)
    assert processes.speaks() is (rank == 0)
    output.say("words")
    output.complain("more words")
    said = capsys.readouterr()
    assert bool(said.out) is bool(said.err) is (rank == 0)
