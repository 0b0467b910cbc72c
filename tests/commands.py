"""Files for the tests of the command line, and ways to run it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tools.package import readme

from splitmerge import gallery
from splitmerge.cli import main

ROOT = Path(__file__).resolve().parents[1]
mikota, write_mikota = gallery.mikota_chain, readme.write_mikota


def solved(capsys, *words, code=0):
    """The JSON that `solve` prints."""
    assert main(["solve", *map(str, words), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def refused(capsys, *words, code=2):
    """What is said on stderr, in one sentence and without a traceback; nothing is on stdout."""
    assert main([str(word) for word in words]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("splitmerge: error: ")
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    return said.err


def environment():
    """That of the tests, with this checkout's package and one thread."""
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    return os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}


def command(*words):
    return [sys.executable, "-m", "splitmerge", *map(str, words)]


def listen():
    """For a child whose parent was started in the background, where shells let Ctrl-C be ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def shell(*words, **options):
    """A process of its own."""
    return subprocess.run(
        command(*words), capture_output=True, text=True, timeout=60, env=environment(), encoding="utf-8", **options
    )
