"""Files for the tests of the command line, and ways to run it."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

from splitmerge.cli import main

ROOT = Path(__file__).resolve().parents[1]


def mikota(n):
    """Mikota's chain of springs and masses: its eigenvalues are 1, 4, 9, …, n²."""
    springs = np.arange(n, 0, -1.0)
    K = sp.diags_array([springs + np.r_[springs[1:], 0], -springs[1:], -springs[1:]], offsets=[0, -1, 1])
    return sp.csr_array(K), sp.csr_array(sp.diags_array(1 / np.arange(1.0, n + 1)))


def write_mikota(folder, n=30):
    """K.mtx and M.mtx, and pair.npz with both, dense."""
    K, M = mikota(n)
    scipy.io.mmwrite(folder / "K.mtx", K, symmetry="symmetric")
    scipy.io.mmwrite(folder / "M.mtx", M, symmetry="symmetric")
    np.savez(folder / "pair.npz", K=K.toarray(), M=M.toarray())


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


def words_of(line):
    """The arguments of an example, without the comment that follows it."""
    line = line.strip().partition("  ")[0].partition(" #")[0]
    return shlex.split(line)[1:]
